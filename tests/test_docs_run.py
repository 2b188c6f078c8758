"""`make docs-run` runs what the pages show, and fails for a page of which nothing runs."""

import runpy
from pathlib import Path

import pytest

DOCS_RUN = runpy.run_path(str(Path(__file__).with_name("docs_run.py")))


@pytest.mark.parametrize(
    ("text", "ends_well"),
    [
        ("Words alone.\n", False),
        ("```bash\nfin-tasks report missing --out report\n```\n", False),
        ("```bash\nfin-tasks path\n```\n", True),
        ("```pycon\n>>> 1 + 1\n3\n```\n", False),
        ("```bash\nfin-tasks path\nfin-tasks pth\n```\n", False),
    ],
)
def test_a_page_ends_well_if_a_command_of_it_runs(
    tmp_path: Path, text: str, ends_well: bool
) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"# Page\n\n{text}")
    assert DOCS_RUN["run_page"](page) is ends_well


def test_pages_without_a_run_exist() -> None:
    names = {page.name for page in DOCS_RUN["PAGES"]} | {"reference.md"}
    assert DOCS_RUN["WITHOUT_RUN"].keys() <= names
