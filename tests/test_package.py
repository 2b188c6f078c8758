"""What importing the package costs and pulls in."""

import os
import subprocess
import sys
from pathlib import Path

import installing
import pytest

from fin_tasks import resources

HEAVY = ("lm_eval", "torch", "pandas", "matplotlib", "numpy", "datasets", "dataclasses")


SCORE_A_TEXT_TASK = """
import sys
from fin_tasks.benchmarks.task_file import TaskFile
from fin_tasks.saved.scoring import score_responses

documents = TaskFile("xfinbench_calc").load_documents({"source": "sample"})
responses = {doc["id"]: "The answer is [1]." for doc in documents}
run = score_responses("xfinbench_calc", responses, {"source": "sample"})
assert run.scored.totals()
print(sorted(set(sys.modules)))
"""


@pytest.mark.parametrize("module", ["fin_tasks", "fin_tasks.adapters.autoload"])
def test_import_is_light(module: str) -> None:
    code = f"import sys; before = set(sys.modules); import {module}; print(sorted(set(sys.modules) - before))"
    env = {
        **os.environ,
        "FIN_TASKS_AUTOLOAD": "0",
        "PYTHONPATH": str(Path(resources.__file__).parents[1]),
    }
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        env=env,
        capture_output=True,
        text=True,
        check=True,
    )
    imported = done.stdout
    assert module in imported
    assert [name for name in HEAVY if f"'{name}'" in imported] == []


def test_the_command_line_imports_nothing_heavy_before_it_is_used() -> None:
    heavy = ("lm_eval", "torch", "pandas", "matplotlib")
    code = f"import sys; import fin_tasks.cli; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_a_report_does_not_import_the_distributions_of_scipy() -> None:
    """They take a second, in each of its processes."""
    code = (
        "import sys; import fin_tasks.report.write; print('scipy.stats' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.stdout.strip() == "False", ran.stderr


def test_a_text_task_imports_nothing_for_studies_charts_sheets_and_judges() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCORE_A_TEXT_TASK],
        capture_output=True,
        text=True,
        check=True,
    )
    # Not pandas, which `datasets` imports, in which harnesses take documents.
    for name in (
        "joblib",
        "krippendorff",
        "matplotlib",
        "mplfinance",
        "openai",
        "openpyxl",
        "pooch",
        "scipy",
    ):
        assert f"'{name}'" not in done.stdout


@pytest.mark.parametrize("page", installing.PAGES, ids=lambda page: page.name)
def test_a_page_installs_from_where_the_package_is(page: Path) -> None:
    text = page.read_text("utf-8")
    assert installing.with_source(text, on_index=installing.is_on_index()) == text


def test_one_place_switches_all_pages() -> None:
    clone = 'pip install ".[hf]", `pip install .`'
    index = 'pip install "fin-tasks[hf]", `pip install fin-tasks`'
    assert installing.with_source(clone, on_index=True) == index
    assert installing.with_source(index, on_index=False) == clone
