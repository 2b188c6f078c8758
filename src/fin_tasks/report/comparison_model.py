"""Numbers, tested differences, ranks and changes, as `leaderboard.json` has them."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, NonNegativeInt, PositiveInt
from pydantic.json_schema import SkipJsonSchema

_TOO_LARGE = 1e300


def finite_or_none(value: Any) -> float | None:
    """Return a number; None for all else, and for one that is infinite or too large for a float."""
    return value if isinstance(value, int | float) and abs(value) < _TOO_LARGE else None


def six_digits(value: float | None) -> float | None:
    """Round to six significant digits; None if there is no number."""
    value = finite_or_none(value)
    return None if value is None else float(f"{value:.6g}")


Finite = Annotated[float | None, BeforeValidator(finite_or_none)]
Rounded = Annotated[float | None, BeforeValidator(six_digits)]
Share = Annotated[float, Field(ge=0, le=1), BeforeValidator(six_digits)]


class _Model(
    BaseModel, use_attribute_docstrings=True, extra="forbid", from_attributes=True
):
    """An object of `leaderboard.json`; the docstrings of its fields stand in the schema."""


class Rank(_Model):
    """The rank of a run."""

    run: str
    """`id` of the run."""
    rank: PositiveInt
    """By value; equal values share the better place."""
    best: PositiveInt
    """The best rank it may have at `alpha`."""
    worst: PositiveInt
    """The worst, likewise."""


class _Difference(_Model):
    """A tested difference."""

    n: NonNegativeInt
    """Rows that both have scored; for a gap, published questions with a scored variant."""
    low: Rounded
    """Lower bound of its 95 % interval, not corrected for other tests; null if there is none."""
    high: Rounded
    """Upper bound."""
    p: Share
    """p-value of the test, clustered by source; 1 if nothing can be tested."""


class BoardPair(_Difference):
    """Two runs on the rows that both have scored."""

    first: str
    """`id` of a run."""
    second: str
    """`id` of the other."""
    difference: Rounded
    """First less second, in the metric's unit; null without such a row."""
    p_holm: Share
    """Adjusted by Holm's method for all pairs of the comparison."""
    only_first: NonNegativeInt | None = None
    """Rows on which the first has the larger value; null for corrected values."""
    only_second: NonNegativeInt | None = None
    """Rows on which the second has it."""


class Comparison(_Model):
    """Models on the same rows."""

    task: str
    """`id` of the task."""
    metric: str
    """Its headline."""
    group: str
    """As in `entries`."""
    rows: NonNegativeInt
    """Rows that any of the models was asked."""
    sources: NonNegativeInt
    """Number of figures, exercises, pictures, ... that these rows are about; equal to `rows` if none is shared."""
    test: Literal["McNemar", "t"]
    """McNemar's exact test, or a t test of the differences."""
    is_corrected: bool
    """Whether the ranks are by values that people's labels corrected; such ranks stand beside those of the judge."""
    ranks: list[Rank]
    """The best first."""
    pairs: SkipJsonSchema[list[BoardPair]] = Field([], exclude=True)
    """Each pair of the 100 best models once. The page has them; `leaderboard.json` has not."""


class GapDifference(_Difference):
    """A gap less that of another model, on the questions that both were asked."""

    against: str
    """The other model."""
    value: Rounded
    """Null without a question."""
    p_holm: Share
    """Adjusted by Holm's method for the task; its groups are adjusted apart."""


class Gap(_Difference):
    """The memorization gap: published questions less their variants."""

    task: str
    """`id` of the task that asked the variants."""
    run: str
    """`id` of the run that answered the variants."""
    model: str
    """The model's name; text of strangers."""
    group: str = ""
    """Group of questions, such as a topic; empty for all."""
    published: Rounded
    """Headline over these questions."""
    variants: Rounded
    """Headline over their variants."""
    gap: Rounded
    """The first less the second."""
    test: str
    """`McNemar`, `t`, `clustered t` or `sign`."""
    spread: Rounded
    """Deviation among the variants of a question; null without several variants."""
    recalled: Rounded
    """Share of variants that got the published truth; null if not known."""
    difference: GapDifference | None = None
    """From the first model or the baseline; null for that one."""


class Moved(_Model):
    """A rank that changed."""

    model: str
    """The model's name; text of strangers."""
    task: str
    """`id` of the task."""
    before: PositiveInt
    after: PositiveInt


class Changes(_Model):
    """What changed since the report before in the same folder."""

    since: str
    """When that report was made."""
    new: list[str]
    """Names of models."""
    removed: list[str]
    moved: list[Moved]
