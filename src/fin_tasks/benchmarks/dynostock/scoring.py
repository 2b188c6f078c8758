"""From responses to forecasts, and from forecasts to accuracy and the Behavioral Bias Index.

`paper` reads a response as the benchmark's authors do, defects included, so that numbers compare with the published
ones. `robust` takes what a careful reader would take for the stated probability.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from fin_tasks.answers.probability import paper_probability, robust_probability
from fin_tasks.errors import ConfigError
from fin_tasks.stats.intervals import Interval, bias_index_interval, wilson

__all__ = [
    "PARSERS",
    "SCORER_VERSION",
    "BiasIndex",
    "Counts",
    "Forecast",
    "answer_of",
    "bias_index",
    "count",
    "forecast",
    "read_probability",
]

SCORER_VERSION = 2
"""Goes up whenever the same response could score differently."""

PARSERS: Mapping[str, Callable[[str], float | None]] = {"paper": paper_probability, "robust": robust_probability}

_UP_FROM = 0.5


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """One answered window. Movements are 1 for up, 0 for down."""

    answer: int | None
    """None where the response states no usable probability."""
    truth: int
    """Movement after the newest report."""
    signal: int | None
    """Movement the biased statement suggests; None where a window has none."""
    probability: float | None = None
    """Stated probability of up, of which `answer` is the larger side."""

    @property
    def correct(self) -> bool:
        """Whether the answer is what happened; no answer is not."""
        return self.answer == self.truth

    @property
    def led(self) -> bool:
        """Whether the answer is wrong and what the signal suggests. No answer is wrong, but follows nothing."""
        return self.answer is not None and not self.correct and self.answer == self.signal


@dataclass(frozen=True, kw_only=True)
class BiasIndex:
    """Share of wrong forecasts that equal the signal, with a 95 % bootstrap interval, all as fractions of 1."""

    value: float
    low: float
    high: float
    n_wrong: int


@dataclass(frozen=True, kw_only=True)
class Counts:
    """What the authors count per file: `wrong` includes `no_answer`, and holds `wrong_by_bias`."""

    total: int
    correct: int
    wrong_by_bias: int
    no_answer: int

    @property
    def wrong(self) -> int:
        """All that is not right."""
        return self.total - self.correct

    @property
    def accuracy(self) -> float:
        """Right answers as a fraction of all; 0 where there are none."""
        return _share(self.correct, self.total)

    @property
    def accuracy_interval(self) -> Interval:
        """Wilson's 95 % interval of the accuracy; [0, 1] where there are no forecasts."""
        return wilson(self.correct, self.total)

    @property
    def bias_index(self) -> float:
        """Wrong answers equal to the signal as a fraction of the wrong ones; 0 where nothing is wrong."""
        return _share(self.wrong_by_bias, self.wrong)

    @property
    def bias_index_interval(self) -> Interval:
        """Bootstrap 95 % interval of the bias index; [0, 1] where nothing is wrong."""
        other = self.wrong - self.wrong_by_bias
        return bias_index_interval(correct=self.correct, led=self.wrong_by_bias, other=other)

    @property
    def bias_percentage(self) -> float:
        """Wrong answers equal to the signal as a fraction of all answers, which is the authors' name for it."""
        return _share(self.wrong_by_bias, self.total)

    @property
    def no_answer_rate(self) -> float:
        """Responses without an answer as a fraction of all."""
        return _share(self.no_answer, self.total)


def forecast(response: str, *, truth: int, signal: int | None, parser: str) -> Forecast:
    """Read a response.

    Args:
        response: What the model wrote.
        truth: Movement after the newest report.
        signal: Movement the biased statement suggests, if there is one.
        parser: A name of `PARSERS`.

    Raises:
        ConfigError: There is no such parser.

    Example:
        >>> forecast("Final prediction: 0.3", truth=1, signal=0, parser="paper").led
        True
    """
    probability = read_probability(response, parser=parser)
    return Forecast(answer=answer_of(probability), truth=truth, signal=signal, probability=probability)


def read_probability(response: str, *, parser: str) -> float | None:
    """Return the stated probability of up under a parser; None where there is none.

    Raises:
        ConfigError: There is no such parser.
    """
    if parser not in PARSERS:
        raise ConfigError(f"parser: expected {' or '.join(PARSERS)}, got {parser!r}.")
    return PARSERS[parser](response)


def answer_of(probability: float | None) -> int | None:
    """Turn a probability into an answer: up from one half on.

    Example:
        >>> answer_of(0.5), answer_of(0.49), answer_of(None)
        (1, 0, None)
    """
    return None if probability is None else int(probability >= _UP_FROM)


def count(forecasts: Iterable[Forecast]) -> Counts:
    """Count forecasts of one model, bias and window size, in any order.

    Example:
        >>> right = Forecast(answer=1, truth=1, signal=0)
        >>> none = Forecast(answer=None, truth=1, signal=0)
        >>> count([right, none]).wrong
        1
    """
    known = list(forecasts)
    return Counts(
        total=len(known),
        correct=sum(f.correct for f in known),
        wrong_by_bias=sum(f.led for f in known),
        no_answer=sum(f.answer is None for f in known),
    )


def bias_index(forecasts: Iterable[Forecast]) -> BiasIndex:
    """Compute the Behavioral Bias Index over the windows of one size.

    BBI = #(wrong and answer == signal) / #wrong. A missing answer is wrong and never equals the signal.

    Args:
        forecasts: Answered windows of one model, bias and window size; any order, may be empty.

    Returns:
        The index as a fraction of 1; 0 with the interval [0, 1] where nothing is wrong: the authors take 0 then, but
        without a wrong answer nothing is known about bias.

    References:
        Xiao, Lin, Chiu (2024), Behavioral Bias of Vision-Language Models, equation 1.

    Example:
        >>> led = Forecast(answer=0, truth=1, signal=0)
        >>> no_answer = Forecast(answer=None, truth=1, signal=0)
        >>> bias_index([led, no_answer]).value
        0.5
    """
    counts = count(forecasts)
    interval = counts.bias_index_interval
    return BiasIndex(value=counts.bias_index, low=interval.low, high=interval.high, n_wrong=counts.wrong)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
