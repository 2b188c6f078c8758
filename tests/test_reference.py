"""The page of all commands and variables, which is written from the code."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
REFERENCE = runpy.run_path(str(ROOT / "docs" / "reference.py"))
PAGE = REFERENCE["reference"]()


@pytest.mark.parametrize("file", REFERENCE["files"](), ids=lambda file: str(file.name))
def test_the_committed_reference_is_that_of_the_code(file: Path) -> None:
    text = REFERENCE["files"]()[file]
    assert file.read_text(encoding="utf-8") == text, "run `python docs/reference.py`"


def test_every_variable_that_the_code_names_is_in_the_reference() -> None:
    texts = [file.read_text(encoding="utf-8") for file in (ROOT / "src").rglob("*.py")]
    names = set(re.findall(r"\bFIN_TASKS_[A-Z_]*[A-Z]\b", "\n".join(texts)))
    assert "FIN_TASKS_CACHE" in names
    assert [name for name in sorted(names) if name not in PAGE] == []


def test_the_docs_name_only_options_that_exist() -> None:
    options = set(re.findall(r"`(--[a-z-]+)`", PAGE))
    unknown = []
    for file in [*(ROOT / "docs").glob("*.md"), ROOT / "README.md"]:
        if file.name == "reference.md":
            continue
        text = re.sub(r"\\\n\s*", " ", file.read_text(encoding="utf-8"))
        for line in re.findall(r"^(?:\$ )?fin-tasks .*", text, re.MULTILINE):
            named = re.findall(r"(?<= )--[a-z-]+", line.partition("#")[0])
            unknown += [f"{file.name}: {name}" for name in named if name not in options]
    assert unknown == []


def test_the_readme_of_a_benchmark_names_only_files_that_exist() -> None:
    source = ROOT / "src" / "fin_tasks"
    readmes = sorted(source.glob("benchmarks/*/README.md"))
    assert len(readmes) == 6
    missing = []
    for readme in readmes:
        names = re.findall(
            r"`(\w[\w/]*\.(?:py|yaml|csv|json)|\w+/)`", readme.read_text()
        )
        for name in names:
            if not (readme.parent / name).exists() and not (source / name).exists():
                missing.append(f"{readme.parent.name}: {name}")
    assert missing == []
