"""What the maintainers of a board say of it: `board.yaml` in the folder of its runs."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import (
    AfterValidator,
    BaseModel,
    Field,
    StringConstraints,
    field_validator,
)

from fin_tasks.errors import ConfigError, escape
from fin_tasks.yaml_file import read_yaml

from .model import Run

FILE = "board.yaml"
_MAX_MODELS = 2000
_MAX_NAMES = 1000

_Text = Annotated[str, StringConstraints(max_length=200), AfterValidator(escape)]
_Link = Annotated[
    str, StringConstraints(max_length=500, pattern=r"^(https?://[!-~]+)?$")
]


class BoardModel(BaseModel, extra="forbid", use_attribute_docstrings=True):
    """What is known of a model."""

    name: _Text = ""
    """What the page calls it; empty for the name in its results."""
    size: _Text = ""
    """Such as `7B`."""
    license: _Text = ""
    open_weights: bool | None = None
    """Null if it is not known."""
    link: _Link = ""
    """Address of a page about it."""
    submitter: _Text = ""
    """Who ran it."""


class BoardFile(BaseModel, extra="forbid", use_attribute_docstrings=True):
    """The content of `board.yaml`; a missing file is a board with these defaults."""

    title: _Text = ""
    models: dict[str, BoardModel] = Field(default={}, max_length=_MAX_MODELS)
    """By the name of the model in its results."""
    hidden: list[str] = Field(default=[], max_length=_MAX_NAMES)
    """Runs that are left out: folders or results files, relative to the folder of the file."""
    first_view: list[str] = Field(default=[], max_length=_MAX_NAMES)
    """Names of the tasks that the first view shows; empty for those of the benchmarks."""
    corrections: _Text = ""
    """File of questions that leave, or that have another truth, relative to the folder of this file."""
    any_decoding: bool = False
    """Whether runs with other temperatures, limits and reasoning are ranked together."""

    @field_validator("models")
    @classmethod
    def _names_differ(cls, models: dict[str, BoardModel]) -> dict[str, BoardModel]:
        names = Counter(model.name or key for key, model in models.items())
        repeated = [name for name, n in names.items() if n > 1]
        if repeated:
            raise ValueError(f"two models are called {repeated[0]!r}")
        return models


def read_board_file(paths: Sequence[Path]) -> BoardFile:
    """Read the `board.yaml` of the folders that are reported; the defaults if none has one."""
    files = [path / FILE for path in paths if (path / FILE).is_file()]
    if len(files) > 1:
        listed = ", ".join(map(str, files))
        raise ConfigError(f"{FILE}: expected one file, got {listed}.")
    if not files:
        return BoardFile()
    (file,) = files
    fields = ", ".join(f"`{name}`" for name in BoardFile.model_fields)
    board = read_yaml(file, BoardFile, expected=f"{fields} of a board")
    if board.corrections:
        path = file.parent / board.corrections
        board = board.model_copy(update={"corrections": str(path)})
    return board


def without_hidden(
    runs: Sequence[Run], hidden: Sequence[str]
) -> tuple[list[Run], list[str]]:
    """Return the runs whose results files are not named and do not lie in a folder that is named.

    Also return the names that hide no run.
    """
    visible = []
    used = set()
    for run in runs:
        file = Path(run.name)
        folders = {file, *file.parents}
        names = {name for name in hidden if Path(name) in folders}
        used |= names
        if not names:
            visible.append(run)
    return visible, [name for name in hidden if name not in used]
