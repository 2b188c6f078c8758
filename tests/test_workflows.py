"""The workflows of GitHub: none can run here, so what they call is looked at."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

import fin_tasks

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PAGES = ROOT / "docs" / "templates" / "leaderboard-pages.yml"
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("[!c]*.yml"))


def steps_of(workflow: Path) -> Iterator[dict[str, Any]]:
    """Yield all steps of all jobs."""
    for job in yaml.safe_load(workflow.read_text())["jobs"].values():
        yield from job["steps"]


def make_targets() -> set[str]:
    """Return the targets of the Makefile."""
    return set(
        re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    )


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_shell_steps_are_targets_of_make(workflow: Path) -> None:
    commands = [step["run"] for step in steps_of(workflow) if "run" in step]
    for command in commands:
        if command == "rm dist/sbom.json":  # the file that `make sbom` writes
            continue
        program, *targets = command.split()
        assert program == "make"
        assert set(targets) <= make_targets()


@pytest.mark.parametrize("workflow", [*WORKFLOWS, PAGES], ids=lambda path: path.stem)
def test_actions_are_pinned_by_their_commit(workflow: Path) -> None:
    lines = re.findall(r"uses: (.*)", workflow.read_text())
    assert lines
    assert [
        line for line in lines if not re.fullmatch(r"\S+@[0-9a-f]{40} # v[\d.]+", line)
    ] == []


def test_zizmor_finds_nothing() -> None:
    zizmor = Path(sys.executable).with_name("zizmor")
    if not zizmor.exists():
        pytest.skip("needs zizmor, of the extra dev")
    command = [zizmor, "--offline", "--quiet", ".github", PAGES]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("form", FORMS, ids=lambda path: path.stem)
def test_forms_have_what_github_asks_for(form: Path) -> None:
    content = yaml.safe_load(form.read_text())
    assert {"name", "description", "body"} <= set(content)
    ids = [field["id"] for field in content["body"] if field["type"] != "markdown"]
    assert len(ids) == len(set(ids))


def test_the_citation_names_this_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == fin_tasks.__version__
