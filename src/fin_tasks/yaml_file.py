"""Read YAML files that users write: rubrics, studies and prices."""

from functools import lru_cache
from pathlib import Path
from typing import TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from .errors import ConfigError, first_problem

_MAX_BYTES = 256 * 1024
_MAX_DEPTH = 50  # lists and mappings in each other
_MAX_PROBLEM = 300  # characters
_Model = TypeVar("_Model", bound=BaseModel)


@lru_cache(maxsize=16)
def _parse(content: bytes) -> object:
    # A few aliases of aliases can stand for more values than the memory holds, and a list in
    # a list in a list takes the parser time that grows with the square of the depth.
    depth = 0
    for event in yaml.parse(content, yaml.SafeLoader):
        if isinstance(event, yaml.AliasEvent):
            raise ValueError(f"an alias, *{event.anchor}")
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > _MAX_DEPTH:
            raise ValueError(f"more than {_MAX_DEPTH} levels of lists and mappings")
    parsed: object = yaml.safe_load(content)
    return parsed


def read_yaml(
    name: str | Path,
    model: type[_Model],
    *,
    expected: str,
    folder: Path | None = None,
) -> _Model:
    """Read a user's file by its path, or a file of ours in `folder` by its name.

    Raises:
        ConfigError: The file cannot be read as the model. The message says what was expected.
    """
    path = Path(name).expanduser()
    if folder:
        files = {file.stem: file for file in folder.glob("*.yaml")}
        path = files.get(str(name), path)
        expected = f"one of {', '.join(sorted(files))}, or {expected}"
    try:
        with path.open("rb") as file:
            content = file.read(_MAX_BYTES + 1)
        if len(content) > _MAX_BYTES:
            raise ValueError(f"more than {_MAX_BYTES:,} bytes")
        return model.model_validate(_parse(content))
    except ValidationError as error:
        problem = first_problem(error)
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        problem = " ".join(str(error).split())
    raise ConfigError(f"{path}: expected {expected}, got: {problem[:_MAX_PROBLEM]}")
