"""The workflow template for GitHub Pages: it is valid, uses what exists, and its scripts do what they say."""

import os
import re
import shlex
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest
import typer.main
import yaml

from fin_tasks.cli import app

DOCS = Path(__file__).parents[2] / "docs"
TEMPLATE = DOCS / "templates" / "leaderboard-pages.yml"

STAND_IN = """#!/bin/sh
# writes down how it was called; a submission whose name begins with bad fails
for word in "$@"; do printf '%s\\037' "$word"; done >> "$CALLS"; printf '\\n' >> "$CALLS"
case "$2" in submissions/bad*) exit 1;; esac
"""


@pytest.fixture(scope="module")
def workflow() -> dict[Any, Any]:
    loaded: dict[Any, Any] = yaml.safe_load(TEMPLATE.read_text(encoding="utf-8"))
    return loaded


def scripts(workflow: dict[Any, Any]) -> dict[str, str]:
    return {step["name"]: step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step}


def calls_in(text: str) -> list[list[str]]:
    lines = re.sub(r"\\\n\s*", " ", text).splitlines()
    found = [re.search(r"(?:^|\$ |&& |\s)(fin-tasks (?:report|verify|compare)\b.*)", line) for line in lines]
    return [
        shlex.split(match[1].split("||")[0].split("&&")[0].split("|")[0], comments=True) for match in found if match
    ]


def test_strangers_get_no_secret_and_no_right_to_write(workflow: dict[Any, Any]) -> None:
    triggers = workflow[True]  # YAML 1.1 reads "on" so
    assert set(triggers) == {"pull_request", "push", "workflow_dispatch"}
    assert workflow["permissions"] == {"contents": "read"}
    verify, publish = workflow["jobs"]["verify"], workflow["jobs"]["publish"]
    assert "permissions" not in verify
    assert verify["if"] == "github.event_name == 'pull_request'"
    assert "github.event_name != 'pull_request'" in publish["if"]
    assert publish["permissions"] == {"contents": "read", "pages": "write", "id-token": "write"}
    assert "secrets." not in TEMPLATE.read_text(encoding="utf-8")
    # an expression within a script would let a branch's or folder's name run
    assert not [name for name, script in scripts(workflow).items() if "${{" in script]


@pytest.mark.parametrize("name", ["templates/leaderboard-pages.yml", "leaderboard.md", "reports.md", "compare.md"])
def test_every_command_shown_is_one_that_exists(name: str) -> None:
    commands: Any = typer.main.get_command(app)
    shown = calls_in((DOCS / name).read_text(encoding="utf-8"))
    assert shown
    for words in shown:
        known = {option for parameter in commands.commands[words[1]].params for option in parameter.opts}
        known |= {option for parameter in commands.commands[words[1]].params for option in parameter.secondary_opts}
        assert {word.partition("=")[0] for word in words[2:] if word.startswith("--")} <= known, words


class Repository:
    """A leaderboard's repository with a base commit and a change."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.calls = folder.parent / "calls"
        program = folder.parent / "bin" / "fin-tasks"
        program.parent.mkdir()
        program.write_text(STAND_IN)
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        self.env = {
            **{
                "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}",
                "CALLS": str(self.calls),
                "TITLE": "A board",
            },
            **{"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "HOME": str(folder.parent)},
        }
        self.git("init", "-q")
        self.write("submissions/old/results.json", "1")
        self.write("readme", "1")
        self.env["BASE"] = self.commit()

    def git(self, *arguments: str) -> str:
        who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        return subprocess.run(
            ["git", *who, *arguments], cwd=self.folder, env=self.env, check=True, capture_output=True, text=True
        ).stdout.strip()

    def write(self, path: str, text: str) -> None:
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / path).write_text(text)

    def commit(self) -> str:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "x")
        return self.git("rev-parse", "HEAD")

    def run(self, script: str) -> int:
        done = subprocess.run(["bash", "-eo", "pipefail", "-c", script], cwd=self.folder, env=self.env, check=False)
        return done.returncode

    def called(self) -> list[list[str]]:
        return [line.split("\x1f")[:-1] for line in self.calls.read_text().splitlines()] if self.calls.exists() else []


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    (tmp_path / "repository").mkdir()
    return Repository(tmp_path / "repository")


def test_submissions_that_changed_are_verified_and_no_others(workflow: dict[Any, Any], repository: Repository) -> None:
    for name in ("new one; rm -rf x", "bad", "more"):
        repository.write(f"submissions/{name}/deep/results.json", "2")
    repository.commit()
    all_of_them = scripts(workflow)
    assert repository.run(all_of_them["No links, and nothing but submissions"]) == 0
    assert repository.run(all_of_them["Verify what changed"]) == 1  # as bad failed, which spares none of the others
    assert repository.called() == [
        ["verify", f"submissions/{name}", "--out", f"verdicts/{name}.json"]
        for name in ("bad", "more", "new one; rm -rf x")
    ]


def test_a_pull_request_with_links_or_other_files_is_refused(workflow: dict[Any, Any], repository: Repository) -> None:
    script = scripts(workflow)["No links, and nothing but submissions"]
    repository.write("submissions/new/results.json", "2")
    repository.commit()
    assert repository.run(script) == 0
    (repository.folder / "submissions" / "link").symlink_to("/etc/passwd")
    repository.commit()
    assert repository.run(script) == 1
    (repository.folder / "submissions" / "link").unlink()
    repository.commit()
    assert repository.run(script) == 0
    repository.write("readme", "2")
    repository.commit()
    assert repository.run(script) == 1


def test_a_report_is_made_of_all_submissions(workflow: dict[Any, Any], repository: Repository) -> None:
    assert repository.run(scripts(workflow)["Report"]) == 0
    assert repository.called() == [["report", "submissions", "--out", "public", "--title", "A board"]]
    upload = next(step for step in workflow["jobs"]["publish"]["steps"] if "upload-pages" in step.get("uses", ""))
    assert upload["with"] == {"path": "public"}
