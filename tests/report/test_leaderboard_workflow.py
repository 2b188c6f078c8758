"""The workflow template for GitHub Pages: it is valid, uses what exists, and its scripts do what they say."""

import os
import re
import shutil
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

TEMPLATE = Path(__file__).parents[2] / "docs" / "templates" / "leaderboard-pages.yml"

STAND_IN = """#!/bin/sh
# writes down how it was called; a submission's files say what to print and how to end
for word in "$@"; do printf '%s\\037' "$word"; done >> "$CALLS"; printf '\\n' >> "$CALLS"
cat > /dev/null
if [ -f "$2/said" ]; then cat "$2/said" >&2; fi
if [ -f "$2/status" ]; then exit "$(cat "$2/status")"; fi
"""

GH = """#!/bin/sh
# names who opened the pull request of a commit
commit=${2#repos/org/board/commits/}
case $commit in
  *repos*) exit 1 ;;
  */pulls) echo "author of $(printf '%.7s' "$commit")" ;;
esac
"""


@pytest.fixture(scope="module")
def workflow() -> dict[Any, Any]:
    loaded: dict[Any, Any] = yaml.safe_load(TEMPLATE.read_text(encoding="utf-8"))
    return loaded


def steps(workflow: dict[Any, Any]) -> list[dict[str, Any]]:
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


def scripts(workflow: dict[Any, Any]) -> dict[str, str]:
    return {step["name"]: step["run"] for step in steps(workflow) if "run" in step}


def test_strangers_get_no_secret_and_no_right_to_write(
    workflow: dict[Any, Any],
) -> None:
    triggers = workflow[True]  # YAML 1.1 reads "on" so
    assert set(triggers) == {"pull_request", "push", "workflow_dispatch"}
    assert workflow["permissions"] == {"contents": "read"}
    jobs = workflow["jobs"]
    rights = {name: job.get("permissions", {}) for name, job in jobs.items()}
    assert rights["admit"] == {"contents": "read", "pull-requests": "read"}
    assert "permissions" not in jobs["build"]
    # The jobs with more rights run after a merge, and read nothing of fin-tasks.
    assert rights["record"] == {"contents": "write"}
    assert rights["deploy"] == {"pages": "write", "id-token": "write"}
    for name in ("record", "deploy"):
        text = str(jobs[name]["steps"])
        assert "pip" not in text and "fin-tasks" not in text
    assert "!= 'pull_request'" in jobs["record"]["if"]
    assert (jobs["build"]["needs"], jobs["deploy"]["needs"]) == ("record", "build")
    assert "secrets." not in TEMPLATE.read_text(encoding="utf-8")
    # an expression within a script would let a branch's or folder's name run
    assert not [name for name, script in scripts(workflow).items() if "${{" in script]
    checkouts = [
        step
        for step in steps(workflow)
        if step.get("uses", "").startswith("actions/checkout@")
    ]
    kept = {step["with"]["persist-credentials"] for step in checkouts}
    assert kept == {False}


class Repository:
    """A leaderboard's repository with two submissions on main, and a pull request's branch from there."""

    def __init__(self, folder: Path, workflow: dict[Any, Any]) -> None:
        self.folder = folder
        self.scripts = scripts(workflow)
        self.calls, self.output, self.summary, self.temporary = (
            folder.parent / name for name in ("calls", "output", "summary", "temporary")
        )
        program = folder.parent / "bin" / "fin-tasks"
        for one in (folder, self.temporary, program.parent, folder / "board"):
            one.mkdir()
        for path, text in ((program, STAND_IN), (program.with_name("gh"), GH)):
            path.write_text(text)
            path.chmod(path.stat().st_mode | stat.S_IXUSR)
        self.env = {
            "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}",
            "CALLS": str(self.calls),
            "VERIFY": "--judge-model gpt-4o",
            "EVENT": "pull_request",
            "AUTHOR": "ann",
            "GITHUB_REPOSITORY": "org/board",
            "RUNNER_TEMP": str(self.temporary),
            "HOME": str(folder.parent),
            "GITHUB_OUTPUT": str(self.output),
            "GITHUB_STEP_SUMMARY": str(self.summary),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_SYSTEM": os.devnull,
            "LANG": "C.UTF-8",
        }
        self.git("init", "-q", "-b", "main")
        self.write("submissions/old/results.json", "1")
        self.write("submissions/old/samples_1.jsonl", "a line\n" * 20)
        self.write("submissions/other/results.json", "1")
        self.write("readme", "1")
        self.commit()
        self.git("checkout", "-q", "-b", "change")

    def git(self, *arguments: str) -> str:
        who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        return subprocess.run(
            ["git", *who, *arguments],
            cwd=self.folder,
            env=self.env,
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()

    def write(self, path: str, text: str) -> None:
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / path).write_text(text)

    def commit(self) -> None:
        self.git("add", "-A", "--", ".", ":!board")
        self.git("commit", "-q", "-m", "x")

    def pull_request(self) -> None:
        """Commit what changed, and check out the merge as actions/checkout does."""
        self.commit()
        self.git("checkout", "-q", "--detach", "main")
        self.git("merge", "-q", "--no-ff", "-m", "merge", "change")

    def run(self, name: str) -> tuple[int, str]:
        """Run a step as GitHub does where the shell is bash, and return its status and stdout."""
        shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"]
        done = subprocess.run(
            [*shell, self.scripts[name]],
            cwd=self.folder,
            env=self.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
        )
        # GitHub reads two pipes: what comes by the second may be read too late to be within the commands' stop
        assert "::" not in done.stderr.decode()
        return done.returncode, done.stdout.decode()

    def changed(self, step: str = "What changed") -> list[str]:
        """Run the first step, which must pass, and return what is to be verified."""
        status, log = self.run(step)
        assert status == 0, log
        return (self.temporary / "changed").read_text().splitlines()

    def new(self, event: str = "push") -> list[str]:
        """Run the first step on main, and return what is to be admitted."""
        self.env |= {"EVENT": event, "AUTHOR": ""}
        return self.changed("What is new")

    def refused(self) -> str:
        """Run the first step, which must fail, and return why."""
        status, log = self.run("What changed")
        assert status == 1, log
        assert not self.output.exists()
        assert log.startswith("::error::")
        assert log.count("\n") == 1
        return log

    def called(self) -> list[list[str]]:
        lines = self.calls.read_text().splitlines()
        return [line.split("\x1f")[:-1] for line in lines]


@pytest.fixture
def repository(tmp_path: Path, workflow: dict[Any, Any]) -> Repository:
    assert workflow["defaults"] == {
        "run": {"shell": "bash"}
    }  # which GitHub runs as Repository.run does
    return Repository(tmp_path / "repository", workflow)


def test_submissions_that_changed_are_found_and_no_others(
    repository: Repository,
) -> None:
    repository.write("submissions/new/deep/naïve file\n::error::.json", "2")
    repository.write("submissions/old/results.json", "2")
    repository.write("submissions/Model-1.5_b/results.json", "2")
    repository.pull_request()
    assert repository.changed() == ["Model-1.5_b", "new", "old"]


@pytest.mark.parametrize(
    "path", ["submissions/link", "submissions/new/link", "submissions"]
)
def test_links_are_refused(repository: Repository, path: str) -> None:
    if path == "submissions":
        repository.git("mv", "submissions", "elsewhere")
    (repository.folder / path).parent.mkdir(exist_ok=True)
    (repository.folder / path).symlink_to("/etc")
    repository.pull_request()
    assert f"not links or submodules: {path}\n" in repository.refused()


ODD_NAMES = [
    "submissions/results_1.json",  # which the report would read, and nobody had verified
    "submissions/-x/results.json",
    "submissions/.hidden/results.json",
    "submissions/naïve/results.json",
    "submissions/$(touch ran)/results.json",
    "submissions/a\n::set-env name=x::y/results.json",
    "submissions/a##[add-mask]b/results.json",
]


@pytest.mark.parametrize("path", [*ODD_NAMES, "readme"])
def test_files_out_of_place_and_odd_names_are_refused(
    repository: Repository, path: str
) -> None:
    repository.write("submissions/new/results.json", "2")
    repository.write(path, "2")
    repository.pull_request()
    log = repository.refused()
    said = "expected submissions/NAME/..."
    assert ("must not change other files: readme" if path == "readme" else said) in log
    assert "::" not in log.removeprefix("::error::") and "##[" not in log
    assert not (repository.folder / "ran").exists()


def test_without_both_parents_nothing_passes(repository: Repository) -> None:
    repository.write("submissions/new/results.json", "2")
    repository.commit()
    repository.write("submissions/new/more.json", "2")
    repository.commit()  # checked out itself, its parent is not main
    assert "merge commit" in repository.refused()


def admit(repository: Repository, **statuses: str) -> tuple[int, str]:
    for name, status in statuses.items():
        repository.write(f"submissions/{name}/status", status)
    repository.pull_request()
    repository.changed()
    assert repository.run("Who sent it")[0] == 0
    return repository.run("Admit")


def test_each_is_admitted_or_refused(repository: Repository) -> None:
    status, log = admit(repository, a="3", bad="1", c="0")
    assert status == 1
    options = ["--board", "board", "--submitter", "ann", "--judge-model", "gpt-4o"]
    assert repository.called() == [
        ["verify", f"submissions/{name}", *options] for name in ("a", "bad", "c")
    ]
    warned = "admitted with claims, which the log names"
    verdicts = f"- `a`: {warned}\n- `bad`: refused\n- `c`: admitted\n"
    assert repository.summary.read_text() == verdicts
    assert f"::warning title=a::{warned}" in heard(log)
    assert [line for line in log.splitlines() if line.startswith("::error")] == [
        "::error title=bad::refused"
    ]


@pytest.mark.parametrize(
    ("event", "statuses", "worst"),
    [
        ("pull_request", ("0", "3"), 0),
        ("pull_request", ("3", "1"), 1),
        ("pull_request", ("2", "1"), 2),
        ("pull_request", ("0", "137"), 2),
        # On main, a refusal holds up no other.
        ("push", ("0", "1"), 0),
        ("push", ("137", "1"), 2),
    ],
)
def test_the_worst_verdict_is_the_job_s(
    repository: Repository, event: str, statuses: tuple[str, str], worst: int
) -> None:
    repository.env["EVENT"] = event
    first, second = statuses
    assert admit(repository, a=first, b=second)[0] == worst


def test_on_main_only_what_is_new_is_admitted(repository: Repository) -> None:
    assert repository.new() == ["old", "other"]
    before = repository.git("rev-parse", "HEAD")
    assert (repository.folder / "board" / "COMMIT").read_text().strip() == before
    repository.write("submissions/new/results.json", "2")
    repository.write("submissions/README.md", "2")
    repository.write("submissions/$(touch ran)/results.json", "2")
    repository.commit()
    assert repository.new() == ["new"]
    assert repository.run("Who sent it")[0] == 0
    author = (repository.temporary / "author-new").read_text().strip()
    assert author == f"author of {repository.git('rev-parse', 'HEAD')[:7]}"
    assert repository.new() == []
    assert repository.run("Admit")[0] == 0
    assert repository.new("workflow_dispatch") == ["new", "old", "other"]
    (repository.folder / "board" / "COMMIT").write_text("HEAD; touch ran\n")
    assert repository.new() == ["new", "old", "other"]
    assert not (repository.folder / "ran").exists()


def test_the_board_is_recorded_as_it_was_admitted(repository: Repository) -> None:
    shutil.rmtree(repository.folder / "board")
    bare = repository.folder.parent / "bare"
    repository.git("init", "-q", "--bare", str(bare))
    repository.git("init", "-q", "-b", "board", "board")
    repository.write("board/a/model/results.json", "1")
    repository.write("admitted/b/model/results.json", "1")
    repository.write("admitted/COMMIT", "0" * 40)
    instead = "https://x-access-token:t@github.com/org/board"
    repository.env |= {
        "TOKEN": "t",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.{bare}.insteadOf",
        "GIT_CONFIG_VALUE_0": instead,
    }
    status, log = repository.run("Record")
    assert status == 0, log
    files = repository.git("-C", str(bare), "ls-tree", "-r", "--name-only", "board")
    assert files.splitlines() == ["COMMIT", "b/model/results.json"]
    assert repository.run("Record")[0] == 0


def test_what_a_submission_says_is_no_workflow_command(repository: Repository) -> None:
    repository.write(
        "submissions/a/said",
        "::add-mask::a\n##[error]b\n::stop-commands::x\n::x::\n::warning::no line end",
    )
    repository.write("submissions/b/said", "::error::c\n")
    _, log = admit(repository, a="1", b="0")
    assert heard(log) == ["::error title=a::refused"]
    tokens = re.findall(r"^::stop-commands::([0-9a-f-]{36})$", log, re.MULTILINE)
    assert len(set(tokens)) == 2


def test_a_report_is_made_of_the_board(
    repository: Repository, workflow: dict[Any, Any]
) -> None:
    repository.write("board/said", "::error::x")
    repository.write("board.yaml", "title: A board")
    assert heard(repository.run("Report")[1]) == []
    assert repository.called() == [["report", "board", "--out", "public"]]
    assert (repository.folder / "board" / "board.yaml").read_text() == "title: A board"
    uploads = [
        step["with"]
        for step in workflow["jobs"]["build"]["steps"]
        if "upload-pages" in step.get("uses", "")
    ]
    assert uploads == [{"path": "public"}]


def heard(log: str) -> list[str]:
    """Return the lines that GitHub's runner would act on: `::` leads a line, `##[` may be anywhere."""
    token, found = None, []
    for line in log.splitlines():
        if token is not None:
            token = None if line.strip() == f"::{token}::" else token
        elif stopped := re.match(r"\s*::stop-commands::(.+)", line):
            token = stopped[1]
        elif line.lstrip().startswith("::") or "##[" in line:
            found.append(line)
    assert token is None
    return found
