"""Questions about bar, line and pie charts that are worked out of printed values."""

from decimal import Decimal
from random import Random

from fin_tasks.benchmarks.mme_finance.questions.question import Forms, Question, percent, rounded, say, worked, written
from fin_tasks.benchmarks.mme_finance.questions.statistics_charts import exact_value
from fin_tasks.benchmarks.mme_finance.scenes import StatisticsScene

__all__ = ["FORMS"]


def _two(scene: StatisticsScene, random: Random) -> tuple[str, str, str, Decimal, Decimal] | None:
    """Two printed values of one series."""
    if not scene.printed:
        return None
    series = random.choice(list(scene.series))
    early, late = sorted(random.sample(range(len(scene.labels)), 2))
    one, other = scene.labels[early], scene.labels[late]
    return series, one, other, exact_value(scene, series, one), exact_value(scene, series, other)


def _sum(scene: StatisticsScene, random: Random) -> Question | None:
    if (two := _two(scene, random)) is None or scene.form == "line":
        return None
    series, one, other, first, second = two
    what = ("share", "占比") if scene.form == "pie" else (series, f"“{series}”")
    asked = say(
        scene.language,
        f"Add the printed {what[0]} of {one} to that of {other}. What is the sum in {scene.unit}?",
        f"“{one}”与“{other}”的{what[1]}合计为多少（单位：{scene.unit}）？",
    )
    return worked(asked, f"{written(first, 1)} + {written(second, 1)} =", first + second, unit=scene.unit)


def _gap(scene: StatisticsScene, random: Random) -> Question | None:
    if (two := _two(scene, random)) is None:
        return None
    series, one, other, first, second = two
    if first == second:
        return None
    (low_name, low), (high_name, high) = sorted(((one, first), (other, second)), key=lambda pair: pair[1])
    points = say(scene.language, "percentage points", "个百分点")
    unit = points if scene.unit == "%" else scene.unit
    asked = say(
        scene.language,
        f"By how many {unit} is the share of {high_name} larger than that of {low_name}?"
        if scene.form == "pie"
        else f"Take {series}: by how many {unit} is it higher for {high_name} than for {low_name}?",
        f"{'' if scene.form == 'pie' else f'就“{series}”而言，'}“{high_name}”比“{low_name}”高多少{unit}？",
    )
    return worked(asked, f"{written(high, 1)} - {written(low, 1)} =", high - low, unit=scene.unit, written_unit=unit)


def _growth(scene: StatisticsScene, random: Random) -> Question | None:
    if scene.form != "bar" or (two := _two(scene, random)) is None:
        return None
    names = list(scene.series)
    if all(name[-4:].isdigit() or name.endswith("年") for name in names):  # years are the series, segments the labels
        label = random.choice(scene.labels)
        first, second = (exact_value(scene, name, label) for name in names)
        one, other, what = names[0], names[1], label
    else:
        what, one, other, first, second = two
    if first <= 0:
        return None
    asked = say(
        scene.language,
        f"By what percentage did {what} change from {one} to {other}? Give a sign and two decimals.",
        f"“{what}”从{one}到{other}的变动幅度是百分之几？请带正负号，保留两位小数。",
    )
    steps = f"({written(second, 1)} - {written(first, 1)}) / {written(first, 1)} × 100% ="
    return worked(asked, steps, percent(second - first, first), unit="%", exact=False, signed=True)


def _multiple(scene: StatisticsScene, random: Random) -> Question | None:
    if scene.form != "pie" or (two := _two(scene, random)) is None:
        return None
    _, one, other, first, second = two
    (low_name, low), (high_name, high) = sorted(((one, first), (other, second)), key=lambda pair: pair[1])
    asked = say(
        scene.language,
        f"How many times as large as the share of {low_name} is that of {high_name}? Use two decimals.",
        f"“{high_name}”的占比是“{low_name}”的多少倍？保留两位小数。",
    )
    return worked(asked, f"{high} / {low} =", rounded(high / low, 2), exact=False)


FORMS: Forms[StatisticsScene] = {
    "Accurate Numerical Calculation": (_sum, _gap, _growth, _growth, _multiple),
}
"""By category; None where no values are printed."""
