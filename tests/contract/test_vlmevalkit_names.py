"""The names of VLMEvalKit that are no public interface, each with a test that names what is gone."""

import json
import subprocess

import pytest
from test_vlmevalkit import PYTHON, environment, pytestmark  # noqa: F401 - pytest reads the mark

PROBE = """
import json
from importlib import import_module
dataset, files = map(import_module, ("vlmeval.dataset", "vlmeval.smp.file"))
base = dataset.ImageBaseDataset
print(json.dumps({
    "dataset.DATASET_CLASSES": isinstance(getattr(dataset, "DATASET_CLASSES", None), list),
    "dataset.SUPPORTED_DATASETS": isinstance(getattr(dataset, "SUPPORTED_DATASETS", None), list),
    "smp.file.load": callable(getattr(files, "load", None)),
    "smp.file.dump": callable(getattr(files, "dump", None)),
    "ImageBaseDataset.load_data": callable(getattr(base, "load_data", None)),
}))
"""
NAMES = (
    "dataset.DATASET_CLASSES",
    "dataset.SUPPORTED_DATASETS",
    "smp.file.load",
    "smp.file.dump",
    "ImageBaseDataset.load_data",
)


@pytest.fixture(scope="module")
def is_there(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bool]:
    folder = tmp_path_factory.mktemp("names")
    environ = environment(folder) | {"FIN_TASKS_AUTOLOAD": "0"}
    done = subprocess.run(
        [PYTHON, "-W", "ignore", "-c", PROBE],
        env=environ,
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize("name", NAMES)
def test_the_kit_has_the_name(is_there: dict[str, bool], name: str) -> None:
    assert is_there[name], (
        f"VLMEvalKit has no vlmeval.{name} any more; see vlmeval_private.py."
    )
