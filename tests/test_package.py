"""What importing the package costs and pulls in."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import installing
import pytest

from fin_tasks import resources

SCORE_A_TEXT_TASK = """
from fin_tasks.benchmarks.task_file import TaskFile
from fin_tasks.saved.scoring import score_responses

documents = TaskFile("xfinbench_calc").load_documents({"source": "sample"})
responses = {doc["id"]: "The answer is [1]." for doc in documents}
run = score_responses("xfinbench_calc", responses, {"source": "sample"})
assert run.scored.totals()
show()
"""


def modules_after(code: str, *options: str, **environ: str) -> list[set[str]]:
    """Run code in a process of its own, and return what it prints: the modules at several places of it."""
    code = f"import sys\ndef show(): print(sorted(sys.modules))\n{code}"
    command = [sys.executable, *options, "-c", code]
    env = {**os.environ, **environ}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    return [set(ast.literal_eval(line)) for line in done.stdout.splitlines()]


def test_import_needs_no_other_package() -> None:
    """Python starts without the folder of installed packages, so that any import of one fails."""
    source = str(Path(resources.__file__).parents[1])
    code = "import fin_tasks, fin_tasks.adapters.autoload\nshow()"
    environ = {"FIN_TASKS_AUTOLOAD": "0", "PYTHONPATH": source}
    (modules,) = modules_after(code, "-S", **environ)
    assert "dataclasses" not in modules


def test_commands_and_reports_import_little_before_they_are_used() -> None:
    code = "import fin_tasks.cli\nshow()\nimport fin_tasks.report.write\nshow()"
    of_cli, of_report = modules_after(code)
    assert of_cli.isdisjoint({"lm_eval", "torch", "pandas", "matplotlib"})
    # Its distributions take a second, in each process of a report.
    assert "scipy.stats" not in of_report


def test_a_text_task_imports_nothing_for_studies_charts_sheets_and_judges() -> None:
    (modules,) = modules_after(SCORE_A_TEXT_TASK)
    # But pandas, which `datasets` imports, in which harnesses take documents.
    packages = "joblib krippendorff matplotlib mplfinance openai openpyxl pooch scipy"
    assert modules.isdisjoint(packages.split())


@pytest.mark.parametrize("page", installing.PAGES, ids=lambda page: page.name)
def test_a_page_installs_from_where_the_package_is(page: Path) -> None:
    text = page.read_text("utf-8")
    assert installing.with_source(text, on_index=installing.is_on_index()) == text


def test_one_place_switches_all_pages() -> None:
    clone = 'pip install ".[hf]", `pip install .`'
    index = 'pip install "fin-tasks[hf]", `pip install fin-tasks`'
    assert installing.with_source(clone, on_index=True) == index
    assert installing.with_source(index, on_index=False) == clone
