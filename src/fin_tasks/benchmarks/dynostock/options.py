"""What the metadata of DynoStock's tasks choose."""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field

from fin_tasks.charts.chart import PIXELS, Style

from .prompts import Arm


class Options(BaseModel):
    """What a task file sets (the first three), and the metadata that docs/dynostock.md explains."""

    bias: Literal["recency", "authority", "statement", "recall", "reading"]
    window: int | None = None
    mode: Literal["image", "text"] = "image"
    source: Literal["auto", "sample"] = "auto"
    windows_dir: Path | None = None
    data_dir: Path | None = None
    statement: str = ""
    """The name of a statement, for the tasks in which it can be chosen."""
    statements: Path | None = None
    """A file of one's own statements."""
    mitigation: str = ""
    mitigations: Path | None = None
    arm: Arm | None = None
    prompt: Literal["structured", "naive"] = "structured"
    prompts: Literal["house", "upstream"] = "house"
    text: Literal["table", "narrative"] = "table"
    frequency: Literal["daily", "weekly", "monthly"] = "daily"
    anonymize: bool = False
    chart: Style = "house"
    pixels: int = PIXELS
    picture: Literal["first", "last"] = "first"
    """Whether the chart stands before the text or behind it."""
    system_role: Literal["system", "user"] = "system"
    sampling: str | None = None
    corrections: Path | None = None
    """File of windows to leave out."""
    after: str = Field("", pattern=r"^\d{4}-\d\d(-\d\d)?$")
    """Only windows whose newest report is after this month or day."""
    sample_n: int | str | None = None
    """Size of a random sample; None for all windows."""
    sample_seed: int = 0
