"""Run the commands of the README and of the docs on samples: `make docs-run`, or with names of pages.

Each page has a folder of its own, in which its blocks run in their order: `bash` and `sh` as they stand, of `console`
the lines behind `$ `, of `pycon` the examples. A block behind "Save this as `answers.py`:" becomes that file. The
package that own_benchmark.md shows is the one in tests/outside.

The programs of the blocks are stand-ins, which call this file. It runs the real program, unless the command needs more
than samples (NEEDS_MORE) or reads a file that the page does not make. Then it only parses the command. Options,
commands, tasks and programs that do not exist are errors, and so is a page of which nothing runs (WITHOUT_RUN).
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BENCHMARKS = ROOT / "src" / "fin_tasks" / "benchmarks"
TASKS = ROOT / "task_yaml"
OUTSIDE = ROOT / "tests" / "outside"
RUN_MARK = "DOCS_RUN_MARK"
"""The variable with the name of a file that is made as soon as a command of the page has run."""
WHY_NOT = "DOCS_RUN_WHY_NOT"
"""The variable with the reason why nothing of the page runs; empty for most pages."""
PROGRAMS = ("fin-tasks", "inspect", "lm_eval", "make", "pip", "python", "vllm")
# Pages of which nothing runs, and why; their commands are only parsed.
WITHOUT_RUN = {
    "design.md": "describes the code",
    "fidelity.md": "lists differences from the papers",
    "index.md": "has the first commands of the README, which need a model",
    "inspect_ai.md": "needs a model of inspect_ai",
    "leaderboard.md": "has the commands of verify.md, with submissions of yours",
    "mme_finance.md": "needs a model that sees",
    "python.md": "its examples run in tests/test_api.py",
    "reference.md": "is written from the code",
    "reports.md": "reads results of yours; tutorial.md runs its commands",
    "results.md": "reads files of yours",
    "speed.md": "is written by the scripts in perf/",
    "thinking_models.md": "has options of models only",
    "troubleshooting.md": "quotes messages",
    "vlmevalkit.md": "needs VLMEvalKit, which has an environment of its own",
}

# Commands that need more than samples, and what; the first pattern that fits counts.
NEEDS_MORE = {
    r"(make|pip) ": "installs packages",
    r"vllm serve": "needs a GPU",
    r"python (run\.py|-m vlmeval\.run)": "needs VLMEvalKit, which has an environment of its own",
    r"inspect (eval|score)": "needs a model of inspect_ai",
    r"lm_eval (?!.*--model dummy)": "needs a model",
    r"fin-tasks (fetch|recordings .*--out)": "downloads data",
    r"fin-tasks compare .*--with": "needs recorded models, which are downloaded",
    r"fin-tasks (?!.*--dry-run).*--(judge-)?model gpt-4o": "asks a model",
    r"fin-tasks label (merge|agree|corrections)": "needs sheets that people filled",
    r"fin-tasks xfinbench retrieval (?!--source sample)": "needs the benchmark's files",
    r"fin-tasks build corrections --financemath": "needs the files of both benchmarks",
    r"fin-tasks build dynostock": "needs market data",
    r"fin-tasks build variants bank_exam": "needs questions with programs",
    r"fin-tasks build variants .*--programs": "reads files of yours",
}
EXAMPLES = "examples.txt"
_BLOCK = re.compile(
    r"(?P<before>[^\n]*)\n+```(?P<language>\w*)\n(?P<text>.*?)^```",
    re.MULTILINE | re.DOTALL,
)
_SAVED_AS = re.compile(r"Save this as `(.+?)`:$")


def run_page(page: Path) -> bool:
    """Run the blocks of a page, print its commands, and return whether some ran and all ended well."""
    print(f"{page.name}:", flush=True)
    ended_well = True
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary, "page")
        folder.mkdir()
        environ = environment(Path(temporary))
        environ[WHY_NOT] = WITHOUT_RUN.get(page.name, "")
        for block in _BLOCK.finditer(page.read_text(encoding="utf-8")):
            write_file(block, folder)
            script = commands_of(block)
            done = subprocess.run(["bash", "-euc", script], cwd=folder, env=environ)
            if done.returncode != 0:
                print(f"{page}: expected status 0, got {done.returncode}:\n{script}")
                ended_well = False
        has_run = (Path(temporary) / RUN_MARK).exists()
    if not has_run and page.name not in WITHOUT_RUN:
        print(f"{page}: expected a command that runs, or a reason in WITHOUT_RUN.")
        ended_well = False
    return ended_well


def environment(folder: Path) -> dict[str, str]:
    """Return the variables under which blocks run, and write the stand-ins of programs."""
    programs = folder / "bin"
    programs.mkdir()
    for name in PROGRAMS:
        words = [sys.executable, str(Path(__file__).resolve()), "--as", name]
        (programs / name).write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
        (programs / name).chmod(0o755)
    data = folder / "data"
    data.mkdir()
    for sample in BENCHMARKS.glob("*/sample"):
        (data / sample.parent.name).symlink_to(sample)
    path = [str(ROOT / "src"), str(OUTSIDE)]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path),
        "PATH": f"{programs}:/usr/bin:/bin",
        "FIN_TASKS_DATA": str(data),
        "FIN_TASKS_CACHE": str(folder / "cache"),
        "HF_HUB_OFFLINE": "1",
        RUN_MARK: str(folder / RUN_MARK),
    }


def commands_of(block: re.Match[str]) -> str:
    """Return the commands of a block; other blocks have none."""
    if block["language"] == "console":
        return "\n".join(re.findall(r"^\$ (.*)", block["text"], re.MULTILINE))
    if block["language"] == "pycon":
        return f"python -m doctest {EXAMPLES}"
    return block["text"] if block["language"] in ("bash", "sh") else ""


def write_file(block: re.Match[str], folder: Path) -> None:
    """Write the file that the page shows in this block, or its examples of Python."""
    if block["language"] == "pycon":
        (folder / EXAMPLES).write_text(block["text"])
    if saved_as := _SAVED_AS.search(block["before"]):
        (folder / saved_as[1]).write_text(block["text"])


def stand_in(program: str, words: list[str]) -> int:
    """Run the real program or parse its words, and return the status."""
    command = shlex.join([program, *words])
    reasons = [why for what, why in NEEDS_MORE.items() if re.match(what, command)]
    if os.environ[WHY_NOT]:
        reasons = [os.environ[WHY_NOT]]
    if words[:1] == ["path"]:  # other commands read what it prints
        reasons = []
    if program == "fin-tasks" and reads_missing_files(words):
        reasons.append("reads files of yours")
    if program == "lm_eval":
        check_lm_eval(words)
    what = f"not run, {reasons[0]}" if reasons else "run"
    print(f"  {what}: {command}", file=sys.stderr, flush=True)
    if reasons:
        return 0
    modules = {"fin-tasks": "fin_tasks", "lm_eval": "lm_eval"}
    module = ["-m", modules[program]] if program in modules else []
    real = [sys.executable, *module, *words]
    done = subprocess.run(real, capture_output=True, text=True)
    Path(os.environ[RUN_MARK]).touch()
    if done.returncode != 0:
        print(done.stdout, done.stderr, file=sys.stderr)
    elif words[:1] == ["path"]:
        print(done.stdout, end="")
    return done.returncode


def reads_missing_files(words: list[str]) -> bool:
    """Parse the words of `fin-tasks`, and return whether a file among its arguments is missing.

    Click ends the process if a command or an option does not exist.
    """
    import typer

    from fin_tasks.cli import app

    command = typer.main.get_command(app)
    while children := getattr(command, "commands", {}):
        command = children[words[0]]
        words = words[1:]
    context = command.make_context(command.name, list(words))
    paths: list[Path] = []
    for parameter in command.params:
        value = context.params.get(parameter.name)
        if parameter.param_type_name == "argument" and value is not None:
            paths += value if isinstance(value, list | tuple) else [value]
    return not all(path.exists() for path in paths if isinstance(path, Path))


def check_lm_eval(words: list[str]) -> None:
    """Let lm-eval parse its words, and look up the tasks."""
    from lm_eval._cli.harness import HarnessCLI

    sys.argv = ["lm_eval", *words]
    options = HarnessCLI().parse_args()
    files = [*TASKS.rglob("*.yaml"), *OUTSIDE.rglob("*.yaml"), *Path().rglob("*.yaml")]
    known = "\n".join(file.read_text(encoding="utf-8") for file in files)
    for task in ",".join(options.tasks).split(","):
        if not re.search(rf"^(task|group|tag): {task}( *#.*)?$", known, re.MULTILINE):
            sys.exit(f"lm_eval: expected a task, got {task!r}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--as"]:
        sys.exit(stand_in(sys.argv[2], sys.argv[3:]))
    chosen = [page for page in PAGES if page.name in sys.argv[1:] or not sys.argv[1:]]
    sys.exit(not all([run_page(page) for page in chosen]))
