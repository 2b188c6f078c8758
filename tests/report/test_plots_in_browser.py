"""The plots of the page: programs that ran against accuracy, and the radar of capabilities."""

import math
import re
from pathlib import Path
from typing import Any

import pytest
from browsing import SCREENS, check_access, show, write_page_of
from run_files import PROVENANCE, write_run

CAPABILITIES = ("TU", "TR", "FF", "SP", "NM")
HOSTILE = "<img src=x onerror=alert(1)>"


def write_model(folder: Path, model: str, right: int) -> None:
    """Write statements of which `right` of 10 are right by capability, and programs."""
    statements = []
    docs = []
    for capability in CAPABILITIES:
        # Of numerical modelling all models have all right.
        n_right = 10 if capability == "NM" else right
        for at in range(10):
            acc = float(at < n_right)
            parts = dict.fromkeys([f"acc_{name}" for name in CAPABILITIES])
            statements.append({"acc": acc, **parts, f"acc_{capability}": acc})
            docs.append({"capabilities": [capability]})
    write_run(folder / "cot", {"xfinbench_bool": statements}, model=model, docs=docs)
    programs = []
    for at in range(50):
        ran = float(at < 40)
        near = float(at < 5 * right)
        row = {"acc": 0.0, "acc_err": near * ran, "execution_rate": ran}
        programs.append(row)
    metadata = {"provenance": {**PROVENANCE, "mode": "pot"}}
    write_run(
        folder / "pot", {"xfinbench_calc_pot": programs}, model=model, metadata=metadata
    )


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Ten models, the last one with a hostile name."""
    folder = tmp_path_factory.mktemp("plots")
    for number in range(10):
        model = HOSTILE if number == 9 else f"org/model-{number}"
        write_model(folder / "runs" / str(number), model, number)
    return write_page_of(folder)


def figure(page: Any, title: str) -> Any:
    return page.locator("figure.plotted", has_text=title)


def test_programs_that_ran_stand_against_accuracy(page: Any, address: str) -> None:
    show(page, address, "view=plots")
    plot = figure(page, "programs that ran, and")
    assert plot.locator("circle").count() == 10
    best = plot.locator("ol li").first.inner_text().replace("\u00a0", " ")
    assert "80.0 % ran, 80.0 % right" in best  # 40 of 50 ran; of 45 right ones 40 ran

    def axis(number: int, name: str) -> float:
        return float(plot.locator("line.axis").nth(number).get_attribute(name))

    left, right = axis(1, "x1"), axis(9, "x1")
    x = float(plot.locator("circle").first.get_attribute("cx"))
    assert x == pytest.approx(left + 0.8 * (right - left))
    bottom, top = axis(0, "y1"), axis(8, "y1")
    for circle in plot.locator("circle").all():
        title = circle.locator("title").text_content().replace("\u00a0", " ")
        right_share = float(re.findall(r"([\d.]+) % right", title)[0]) / 100
        y = float(circle.get_attribute("cy"))
        assert y == pytest.approx(bottom + right_share * (top - bottom), abs=0.2)


def test_the_radar_has_an_axis_for_each_capability(page: Any, address: str) -> None:
    show(page, address, "view=plots")
    radar = figure(page, "true or false")
    assert radar.count() == 1
    lines = radar.locator("polygon.look")
    assert lines.count() == 8, "as many as there are looks"
    assert "2 models not drawn" in radar.inner_text()
    looks = set()
    for number in range(8):
        style = (
            "[getComputedStyle(e).stroke, getComputedStyle(e).strokeDasharray].join()"
        )
        looks.add(lines.nth(number).evaluate(f"e => {style}"))
    assert len(looks) == 8
    # The best model has 9 of 10 right, and all of numerical modelling.
    points = lines.first.get_attribute("points").split(" ")
    ring = radar.locator("polygon.ring").last.get_attribute("points").split(" ")
    middle = [
        float(radar.locator("line.axis").first.get_attribute(name))
        for name in ("x1", "y1")
    ]

    def distance(point: str) -> float:
        return math.dist([float(text) for text in point.split(",")], middle)

    shares = [distance(a) / distance(b) for a, b in zip(points, ring, strict=True)]
    assert sorted(shares) == pytest.approx([0.9, 0.9, 0.9, 0.9, 1.0], abs=0.01)


def test_chosen_models_are_drawn_and_have_numbers(page: Any, address: str) -> None:
    show(page, address, "view=plots&models=model-1")
    radar = figure(page, "true or false")
    assert radar.locator("polygon.look").count() == 1
    assert radar.locator(".looks li").count() == 1
    radar.locator("summary").click()
    assert radar.locator("tbody tr").count() == 10


@pytest.mark.slow
@pytest.mark.parametrize("screen", SCREENS)
def test_plots_are_accessible_and_fit_the_screen(
    page: Any, address: str, screen: tuple[int, str]
) -> None:
    check_access(page, address, ["view=plots"], screen)
