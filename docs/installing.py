"""Write how to install fin-tasks into README and pages: from a clone, or from the package index after a release.

`python docs/installing.py` follows `on_index` in pyproject.toml (tool.fin-tasks), the one place to change.
"""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
_COMMAND = re.compile(r"""(pip install ["']?)(?:fin-tasks|\.)(?=["'\s`\[])""")


def is_on_index() -> bool:
    """Return whether the package index has fin-tasks."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        return bool(tomllib.load(file)["tool"]["fin-tasks"]["on_index"])


def with_source(text: str, *, on_index: bool) -> str:
    """Return a page whose commands install from the index, or in a clone."""
    return _COMMAND.sub(r"\1fin-tasks" if on_index else r"\1.", text)


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(
            with_source(page.read_text("utf-8"), on_index=is_on_index()), "utf-8"
        )
