"""The state of a judge's batches in a file, so that the command can end before they do."""

from pathlib import Path

from pydantic import BaseModel, PrivateAttr

from fin_tasks.data.locate import write_file
from fin_tasks.endpoints.refusals import Refused
from fin_tasks.endpoints.replies import Usage
from fin_tasks.errors import ConfigError

from .item import Facts
from .judge import JudgeModel
from .rubric import Rubric


class SentBatch(BaseModel):
    """A batch that was sent, and the keys of its requests."""

    file_id: str
    custom_ids: set[str]
    id: str = ""
    """The server's name for the batch; empty until the server has said it."""
    has_ended: bool = False
    refused: Refused = {}
    """What was known of refused options when the batch was sent."""


class BatchState(BaseModel):
    """What `batch.json` holds."""

    _path: Path = PrivateAttr()
    judge: Facts
    items: set[str] = set()
    """Hashes of the items that were judged when requests were last sent."""
    batches: list[SentBatch] = []
    refused: Refused = {}
    """Options that the model refused, and what is done instead."""
    problems: dict[str, int] = dict.fromkeys(
        ("missing", "repeated", "unknown", "unreadable"), 0
    )
    """Results with a problem, by its kind."""
    usage: Usage = Usage()

    def save(self, secret: str) -> None:
        """Write the state without the secret, which a server may have repeated."""
        text = self.model_dump_json().replace(secret, "[key]")
        write_file(self._path, text.encode())


def read_state(path: Path, judge_model: JudgeModel, rubric: Rubric) -> BatchState:
    """Read the state of batches; return a new one if there is none.

    Raises:
        ConfigError: The batches are of another judge or rubric, or cannot be read.
    """
    judge = {"model": judge_model.model, "image": judge_model.picture, **rubric.facts()}
    state = BatchState(judge=judge)
    try:
        if path.exists():
            state = BatchState.model_validate_json(path.read_bytes())
        if state.judge != judge:
            raise ValueError("those of another judge or rubric")
    except ValueError as error:
        expected = f"{path}: expected batches of this judge and rubric"
        raise ConfigError(f"{expected}, got {error}. Name another --out.") from error
    state._path = path
    return state
