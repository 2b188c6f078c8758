"""What the model is asked about a window.

Two prompt sets exist. `house` is our own wording of the paper's structure: role, question, background, resolution,
dates, retrieved information, facts, the latest report, guidelines and the form of the answer. `upstream` is the
authors' template, read from their file at run time; its slots are filled with our texts, because theirs are written in
their code. A third, `naive`, is the paper's contrast: the plain question with the same information, but neither facts
nor statement.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date, timedelta
from typing import Literal, get_args

from fin_tasks.benchmarks.dynostock import narrative, statements
from fin_tasks.benchmarks.dynostock.authorities import AUTHORITIES, Authority
from fin_tasks.benchmarks.dynostock.window import Window
from fin_tasks.benchmarks.dynostock.wording import day, figure, percent
from fin_tasks.errors import DataError

__all__ = ["STYLES", "TEMPLATES", "Prompt", "PromptSet", "Style", "house_prompts", "upstream_prompts"]

Style = Literal["structured", "naive"]
STYLES: tuple[Style, ...] = get_args(Style)

TEMPLATES: Mapping[str, str] = {
    "system": "You are an experienced forecaster of share prices who knows how human judgement goes wrong.",
    "structured": "Estimate how likely it is that the answer to the question below is yes. "
    "Take account of all you are told.\n\n"
    "Question: {question}\n\n"
    "Background: {background}\n\n"
    "Resolution: {resolution}\n\n"
    "Start date: {start}\nEnd date: {end}\n\n"
    "Information retrieved for this question:\n\n{retrieved}\n\n"
    "Guidelines:\n"
    "- Use only what is given here; nothing else can be looked up.\n"
    "- Weigh all of it, {sources}, rather than a single item.\n"
    "- The final prediction is the probability that the answer is yes: one number from 0 to 1 and nothing else.\n\n"
    "Now forecast: {question} "  # again, as thousands of prices may lie in between
    "Write your thought, then the probability, in this form:\n"
    "Thought: <your reasoning, step by step>\n"
    "Final prediction: <a number from 0 to 1>",
    "naive": "{background}\n\n{retrieved}\n\n{question} {resolution} "
    "Give a probability from 0 to 1.\n\n"
    "Thought: <your thoughts>\nPrediction: <your answer>",
    "cue": "Thought:",
    "question": "Will the average price of the {ticker} share go up after its latest earnings report, that of {end}?",
    "question_plain": "Will the average price of the {ticker} share go up after {end}?",
    "background": "Earnings per share (EPS) are what a company earned in a quarter, divided by its shares. Analysts "
    "estimate them before the company reports. The surprise is the reported figure less the average estimate. "
    "A surprise of zero or more is called a Meet, a negative one a Miss. "
    "A price often rises after a Meet and falls after a Miss.",
    "resolution": "The answer is yes if the mean closing price of the 8 calendar days {after_first} to {after_last} "
    "is at least that of the 8 calendar days {before_first} to {end}, and no otherwise. "
    "A rise or a fall after an earlier report is meant in the same way.",
    "see_chart": "History of prices: see the chart.\n\nHistory of earnings reports: see the chart.",
    "facts": "Facts:",
    "legend": "On the chart, a triangle that points down marks the day of an earnings report, "
    "green for a Meet and red for a Miss; a grey triangle that points up marks the end of a fiscal quarter.",
    "latest": "Latest report: for the quarter to {fiscal_end}, reported on {reported}, EPS was {eps} against an "
    "estimate of {estimate}. The surprise was {surprise} ({percent}): a {outcome}.",
    "sources_image": "the chart included",
    "sources_text": "the prices, the reports and the facts",
}
"""All wording of this module; part of what a prompt set's hash covers."""


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """A finished prompt.

    Attributes:
        system: System message; empty where the template says all.
        user: The question with its information and instructions.
        cue: Words that make a base model start answering; only added where no chat template is used.
    """

    system: str
    user: str
    cue: str


@dataclass(frozen=True, kw_only=True)
class PromptSet:
    """A template and the figures its statements quote.

    Attributes:
        name: `house` or `upstream`.
        style: `structured` or `naive`.
        template: Of the user's message. Fields in braces are filled by name, or in the order of the slots (question,
            background, resolution, start, end, retrieved) where they have none.
        system: System message.
        cue: Words a base model continues from.
        authorities: Figures to quote.
    """

    name: str
    style: Style
    template: str
    system: str
    cue: str
    authorities: tuple[Authority, ...]

    def ask(self, window: Window, *, reported: date, information: str | None, statement: str | None) -> Prompt:
        """Ask about a window.

        Args:
            window: The window; its truth is not looked at.
            reported: Day of its newest report, which is its last day unless it is a plain one.
            information: Its prices and reports in words; None where a chart shows them.
            statement: The statement of the experiment's arm; None for none.
        """
        dates = {
            "end": day(window.end),
            "before_first": day(window.end - timedelta(days=7)),
            "after_first": day(window.end + timedelta(days=1)),
            "after_last": day(window.end + timedelta(days=8)),
        }
        question = "question_plain" if window.bias_type == "plain" else "question"
        slots = {
            "question": TEMPLATES[question].format(ticker=window.ticker, **dates),
            "background": TEMPLATES["background"],
            "resolution": TEMPLATES["resolution"].format(**dates),
            "start": day(window.start),
            "end": dates["end"],
            "retrieved": self._retrieved(window, reported, information, statement),
        }
        sources = TEMPLATES["sources_image" if information is None else "sources_text"]
        user = self.template.format(*slots.values(), **slots, sources=sources)
        return Prompt(system=self.system, user=user, cue=self.cue)

    def authority_named(self, name: str) -> Authority:
        """Return a figure.

        Raises:
            DataError: The set has none of that name.
        """
        for authority in self.authorities:
            if authority.name == name:
                return authority
        names = ", ".join(authority.name for authority in self.authorities)
        raise DataError(
            f"authority of a window: expected one of {names}, got {name!r}. Build the windows again with this version."
        )

    def sha256(self) -> str:
        """Return the hash of all wording, so that two results can be told to come from the same words."""
        parts = [
            *(self.name, self.style, self.template, self.system, self.cue),
            [asdict(authority) for authority in self.authorities],
            *(sorted(module.items()) for module in (TEMPLATES, statements.TEMPLATES, narrative.TEMPLATES)),
        ]
        return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()

    def _retrieved(self, window: Window, reported: date, information: str | None, statement: str | None) -> str:
        blocks = [TEMPLATES["see_chart"] if information is None else information]
        if self.style == "structured":
            blocks.append(_facts(window, statement, image=information is None))
        blocks.append(_latest(window, reported))
        return "\n\n".join(blocks)


def house_prompts(style: Style = "structured") -> PromptSet:
    """Return our own wording."""
    structured = style == "structured"
    return PromptSet(
        name="house",
        style=style,
        template=TEMPLATES[style],
        system=TEMPLATES["system"] if structured else "",
        cue=TEMPLATES["cue"],
        authorities=AUTHORITIES,
    )


def upstream_prompts(template: str, authorities: Sequence[Authority]) -> PromptSet:
    """Return the authors' template with their introductions of the figures, see `upstream.py` for both."""
    return PromptSet(
        name="upstream",
        style="structured",
        template=template,
        system="",
        cue="",
        authorities=tuple(authorities),
    )


def _facts(window: Window, statement: str | None, *, image: bool) -> str:
    facts = [TEMPLATES["legend"]] if image else []
    facts.append(statements.statistics_of(window))
    # The statement comes last and alone on its line: the arms of an experiment differ in this line and nothing else.
    facts += [statement] if statement is not None else []
    return "\n".join([TEMPLATES["facts"], *(f"- {fact}" for fact in facts)])


def _latest(window: Window, reported: date) -> str:
    return TEMPLATES["latest"].format(
        fiscal_end=day(window.fiscal_end),
        reported=day(reported),
        eps=figure(window.eps),
        estimate=figure(window.estimate),
        surprise=figure(window.surprise),
        percent=percent(window.surprise_percentage),
        outcome=window.outcome,
    )
