"""The time that fin-tasks adds where nothing of it is used, measured in turn: the import and the hook of lm-eval.

Goals: `import fin_tasks` in under 30 ms; the `.pth` hook adds under 3 ms to the start of an interpreter.
"""

import os
import shutil
import statistics
import sys
import tempfile
import venv
from pathlib import Path

from timing import command, in_turn

ROOT = Path(__file__).parents[1]
STARTS = 60


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        env = {
            name: text
            for name, text in os.environ.items()
            if not name.startswith(("FIN_TASKS", "PYTHON"))
        }
        env["PYTHONPYCACHEPREFIX"] = f"{folder}/cache"
        plain, hooked = (
            environment(Path(folder, "plain")),
            environment(Path(folder, "hooked"), hook=True),
        )
        commands = [(plain, "pass"), (plain, "import fin_tasks"), (hooked, "pass")]
        taken = in_turn(
            [command(python, "-c", code, env=env) for python, code in commands], STARTS
        )
    bare, imported, started = (1000 * statistics.median(seconds) for seconds in taken)
    print(f"interpreter alone        {bare:6.2f} ms (median of {STARTS})")
    print(
        f"import fin_tasks         {imported:6.2f} ms, so {imported - bare:+.2f} ms; limit 30"
    )
    print(
        f"interpreter with hook    {started:6.2f} ms, so {started - bare:+.2f} ms; limit 3"
    )
    return 0 if imported - bare < 30 and started - bare < 3 else 1


def environment(path: Path, *, hook: bool = False) -> str:
    """Make a virtual environment with the source of fin_tasks and nothing else; return its interpreter."""
    venv.create(path, symlinks=True)
    (site,) = path.glob("lib/python*/site-packages")
    (site / "a_source.pth").write_text(f"{ROOT / 'src'}\n")
    if hook:
        for suffix in ("pth", "py"):
            shutil.copy(ROOT / "src" / f"fin_tasks_autoload.{suffix}", site)
    return str(path / "bin" / "python")


if __name__ == "__main__":
    sys.exit(main())
