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

from measured import Figure, finish, options
from timing import command, in_turn

ROOT = Path(__file__).parents[1]
STARTS = 60


def main() -> int:
    given = options(__doc__).parse_args()
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
            [command(python, "-c", code, env=env) for python, code in commands],
            runs=1 if given.tiny else STARTS,
        )
    bare, imported, started = (1000 * statistics.median(seconds) for seconds in taken)
    beside = f"{bare:.1f} ms for the interpreter alone, medians of {STARTS} starts"
    figures = [
        Figure(
            what="`import fin_tasks` adds",
            value=imported - bare,
            unit="ms",
            most=30,
            beside=beside,
        ),
        Figure(
            what="the hook for lm-eval adds to the start of an interpreter",
            value=started - bare,
            unit="ms",
            most=3,
            beside=beside,
        ),
    ]
    return finish(figures, given, __file__)


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
