"""A judge that obeys responses: what a keeper of a board sees of it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from chat_server import completion, serve
from in_process import run, saved
from plea_texts import PLEAS
from submissions import SAMPLE
from typer.testing import CliRunner

from fin_tasks.cli import app


def obey(body: Mapping[str, Any]) -> Any:
    """Give all points to a response that asks for them, and one point to the others."""
    asked = json.dumps(body, ensure_ascii=False)
    response = asked.rpartition("BEGIN RESPONSE")[2].rpartition("END RESPONSE")[0]
    return completion("5" if any(plea in response for plea in PLEAS) else "1")


@pytest.mark.slow
def test_what_moved_an_obedient_judge_is_listed_and_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)

    def answer(doc: Mapping[str, Any]) -> str:
        number = int(doc["id"])
        plea = PLEAS[number % len(PLEAS)] if number % 2 else ""
        return f"It is {number}. {plea}"

    with serve(obey) as served:
        judge = {"judge_model": "judge", "judge_base_url": served.base_url}
        found = run("mme_finance_en", answer=answer, sees=True, limit=12, **judge)
        folder = saved(found, tmp_path / "run")
        options = ("--judge-model", "judge", "--judge-base-url", served.base_url)
        options += ("--rows", "12")
        done = CliRunner().invoke(
            app, ["verify", str(folder), *SAMPLE, *options, "--json"]
        )
    samples = next(folder.rglob("samples_*")).read_text().splitlines()
    moved = set()
    for sample in map(json.loads, samples):
        if sample["score"] == 100:
            moved.add(str(sample["doc"]["id"]))
    assert len(moved) == 6
    items = json.loads(done.stdout)["tasks"][0]["items"]
    (item,) = (item for item in items if item["name"] == "pleas")
    assert (item["status"], done.exit_code) == ("warning", 0)
    assert {detail.split(":")[0] for detail in item["details"]} == moved
    page = tmp_path / "page"
    done = CliRunner().invoke(app, ["report", str(folder), "--out", str(page)])
    assert done.exit_code == 0, done.output
    shown = next(page.rglob("rows-*.js")).read_text()
    assert shown.count("pleas") == len(moved)
