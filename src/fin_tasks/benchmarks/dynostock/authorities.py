"""Figures whose word moves markets: the authors' list of eleven, introduced in our own words.

What a window has one of them say is invented for the experiment. None of them is known to have said it, and some had
another post, or none, at the time of an older window.
"""

from dataclasses import dataclass

__all__ = ["AUTHORITIES", "Authority"]


@dataclass(frozen=True, kw_only=True)
class Authority:
    """A person or firm that investors listen to.

    Attributes:
        name: As the authors' list spells it.
        role: Who that is: one sentence.
        standing: Why markets listen: one sentence.
    """

    name: str
    role: str
    standing: str


AUTHORITIES: tuple[Authority, ...] = (
    Authority(
        name="Warren Buffett",
        role="Warren Buffett turned Berkshire Hathaway into a conglomerate by buying sound businesses for less than "
        "they are worth and keeping them for decades.",
        standing="Many investors copy his purchases, so praise from him tends to lift a share and doubt to sink it.",
    ),
    Authority(
        name="Charlie Munger",
        role="Charlie Munger, Berkshire Hathaway's vice chairman, was known for few, large holdings and for reasoning "
        "across disciplines.",
        standing="His plain verdicts on companies are quoted widely and have moved shares either way at once.",
    ),
    Authority(
        name="Cathie Wood",
        role="Cathie Wood founded ARK Invest, whose funds bet on technologies that upset whole industries.",
        standing="Her funds publish their trades every day, and retail investors follow her in and out of a share.",
    ),
    Authority(
        name="Jamie Dimon",
        role="Jamie Dimon has led JPMorgan Chase through several financial crises as its chief executive.",
        standing="What he says about the economy and about companies is read as the view of the largest American bank.",
    ),
    Authority(
        name="Ray Dalio",
        role="Ray Dalio founded Bridgewater Associates, one of the largest hedge funds, and is known for studying "
        "economic cycles.",
        standing="Institutions around the world weigh his calls when they shift money between markets.",
    ),
    Authority(
        name="George Soros",
        role="George Soros ran the Quantum Fund and became famous by betting against the British pound in 1992.",
        standing="Traders watch his positions and expect others to follow, which by itself can move a price.",
    ),
    Authority(
        name="Goldman Sachs",
        role="Goldman Sachs is one of the leading investment banks of the world.",
        standing="Its research reaches most large investors, and its rating changes are often followed by price moves.",
    ),
    Authority(
        name="JPMorgan",
        role="JPMorgan is the largest bank of the United States, in commercial as well as investment banking.",
        standing="Its forecasts are a yardstick for other analysts, and shares react to what its research says.",
    ),
    Authority(
        name="Larry Fink",
        role="Larry Fink co-founded BlackRock, the largest asset manager of the world, and leads it.",
        standing="BlackRock holds a part of nearly every listed company, so managers and markets heed what he says.",
    ),
    Authority(
        name="Abigail Johnson",
        role="Abigail Johnson leads Fidelity Investments, which manages the savings of millions of people, and took "
        "it into digital services early.",
        standing="Her view carries the weight of one of the largest fund houses and shapes investors' confidence.",
    ),
    Authority(
        name="Kenneth Griffin",
        role="Kenneth Griffin founded Citadel, a hedge fund with a sister firm that handles a large part of American "
        "share trading.",
        standing="His record in quantitative trading makes other investors take his market calls seriously.",
    ),
)
