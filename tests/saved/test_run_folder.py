"""Names of models that become names of folders."""

from pathlib import Path

import pytest

from fin_tasks.saved.run_folder import folder_of


@pytest.mark.parametrize(
    ("model", "folder"),
    [
        ("gpt-4o-2024-08-06", "gpt-4o-2024-08-06"),
        ("Qwen/Qwen2.5-7B", "Qwen__Qwen2.5-7B"),
        ("通义千问", "通义千问"),
        ("a model: large", "a__model____large"),
    ],
)
def test_usual_names_stay_as_lm_eval_writes_them(model: str, folder: str) -> None:
    assert folder_of(Path("out"), model) == Path("out", folder)


def test_no_name_leaves_the_folder(tmp_path: Path) -> None:
    names = ["", ".", "..", "../..", "/etc", "CON", "nul.txt", ".hidden", "a."]
    names += ["x" * 300, "问" * 100, "\udcff"]
    folders = [folder_of(tmp_path, name) for name in names]
    for folder in folders:
        folder.mkdir()
        assert folder.resolve().parent == tmp_path.resolve()
        assert not folder.name.startswith(".") and len(folder.name.encode()) <= 120
    assert len(set(folders)) == len(names)
