"""What fin-tasks costs when nothing of it is used, and how much faster `fin-tasks lm-eval` starts.

Three comparisons, each with both sides measured alternately in this run:

- `import fin_tasks` in a fresh interpreter, beside an interpreter that imports nothing;
- interpreter start with our `.pth` file in site-packages, beside the same environment without it;
- `fin-tasks lm-eval` beside `lm_eval`, for one question of the sample and lm-eval's dummy model.
"""

import argparse
import os
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
import venv
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]


def main() -> int:
    """Run the three comparisons; status 1 when a limit is broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--starts", type=int, default=60, help="interpreter starts per side")
    parser.add_argument("--runs", type=int, default=3, help="lm-eval runs per side; 0 leaves that comparison out")
    options = parser.parse_args()
    ok = compare_starts(options.starts)
    if options.runs:
        compare_command_lines(options.runs)
    return 0 if ok else 1


def compare_starts(starts: int) -> bool:
    """Measure the import and the autoload, in milliseconds."""
    with tempfile.TemporaryDirectory() as folder:
        plain, hooked = (environment(Path(folder) / name) for name in ("plain", "hooked"))
        (site,) = (Path(folder) / "hooked").glob("lib/python*/site-packages")
        (site / "fin_tasks_autoload.pth").write_text((ROOT / "src" / "fin_tasks_autoload.pth").read_text())
        bare, imported, loaded = medians(
            [[plain, "-c", "pass"], [plain, "-c", "import fin_tasks"], [hooked, "-c", "pass"]], starts
        )
    print(f"interpreter alone        {bare:7.2f} ms (median of {starts})")
    print(f"import fin_tasks         {imported:7.2f} ms, so {imported - bare:+.2f} ms; limit 30")
    print(f"start with the autoload  {loaded:7.2f} ms, so {loaded - bare:+.2f} ms; limit 3")
    return imported - bare < 30 and loaded - bare < 3


def compare_command_lines(runs: int) -> None:
    """Measure both command lines, in seconds."""
    job = ["--model", "dummy", "--tasks", "xfinbench_bool", "--metadata", '{"source": "sample"}', "--limit", "1"]
    ours = [str(Path(sys.executable).with_name("fin-tasks")), "lm-eval", *job]
    theirs = [str(Path(sys.executable).with_name("lm_eval")), *job]
    whole, thin = (ms / 1000 for ms in medians([theirs, ours], runs))
    print(f"lm_eval                  {whole:7.2f} s (median of {runs})")
    print(f"fin-tasks lm-eval        {thin:7.2f} s; lm_eval takes {whole / thin:.2f} times as long")


def environment(path: Path) -> str:
    """Make a virtual environment in which fin_tasks can be imported and nothing else is installed."""
    venv.create(path, with_pip=False, symlinks=True)
    (site,) = path.glob("lib/python*/site-packages")
    (site / "a_source.pth").write_text(f"{ROOT / 'src'}\n")
    return str(path / "bin" / "python")


def medians(commands: Sequence[Sequence[str]], times: int) -> list[float]:
    """Run the commands in turn and return each one's median wall time in milliseconds."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("FIN_TASKS", "PYTHON"))}
    env["PYTHONPYCACHEPREFIX"] = str(
        Path(tempfile.gettempdir()) / f"fin-tasks-perf-{os.getuid()}-{sysconfig.get_python_version()}"
    )
    taken: list[list[float]] = [[] for _ in commands]
    for round_number in range(times + 1):
        for command, samples in zip(commands, taken, strict=True):
            started = time.perf_counter()
            subprocess.run(command, env=env, check=True, capture_output=True)
            if round_number:  # the first round fills caches
                samples.append((time.perf_counter() - started) * 1000)
    return [statistics.median(samples) for samples in taken]


if __name__ == "__main__":
    sys.exit(main())
