"""Read YAML files that users write: rubrics, studies and prices."""

from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from .errors import ConfigError, first_problem

_MAX_BYTES = 256 * 1024
_MAX_PROBLEM = 300  # characters
_Model = TypeVar("_Model", bound=BaseModel)


def read_yaml(path: Path, model: type[_Model], *, expected: str) -> _Model:
    """Read a file as a model; raise ConfigError, which says what was expected, if that fails."""
    try:
        with path.open("rb") as file:
            content = file.read(_MAX_BYTES + 1)
        if len(content) > _MAX_BYTES:
            raise ValueError(f"more than {_MAX_BYTES:,} bytes")
        return model.model_validate(_tree(content))
    except ValidationError as error:
        problem = first_problem(error)
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        problem = " ".join(str(error).split())
    raise ConfigError(f"{path}: expected {expected}, got: {problem[:_MAX_PROBLEM]}")


def read_packaged(
    folder: Path,
    name: str | Path,
    model: type[_Model],
    *,
    expected: str,
) -> _Model:
    """Read a file of ours by its name, or a user's file by its path."""
    files = {path.stem: path for path in folder.glob("*.yaml")}
    path = files.get(str(name), Path(name).expanduser())
    known = ", ".join(sorted(files))
    return read_yaml(path, model, expected=f"one of {known}, or {expected}")


@lru_cache(maxsize=16)
def _tree(content: bytes) -> Any:
    return yaml.load(content.decode("utf-8-sig"), Loader=_Loader)  # noqa: S506 - a SafeLoader


class _Loader(yaml.SafeLoader):
    """YAML without aliases, by which a small file can grow without bounds."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("an alias, which is not allowed")
        return super().compose_node(parent, index)
