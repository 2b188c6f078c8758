"""What to know of the judge of a result: a panel's agreement, and a judge of the model's own family."""

import re

from fin_tasks.judging.panel import SEPARATOR

from .model import TaskResult

_FAMILY = re.compile(
    r"claude|deepseek|gemini|gemma|glm|gpt|grok|internvl|llama|llava|mi[sx]tral|phi|qwen"
)


def judge_notes(result: TaskResult, model: str) -> list[str]:
    """Return notes on the judge or the panel that graded a model."""
    notes = []
    for name in str(result.judge.get("model") or "").split(SEPARATOR):
        family = family_of(name)
        if family and family == family_of(model):
            notes.append(f"the judge {name} is of the model's own family, {family}")
    panel = result.judge.get("panel")
    if isinstance(panel, dict):
        alpha = _number(panel.get("alpha"))
        votes = _number(panel.get("effective_votes"))
        notes.append(f"panel: Krippendorff's alpha {alpha}, effective votes {votes}")
        for judge in panel.get("judges") or ():
            if isinstance(judge, dict) and judge.get("failed"):
                failed = judge["failed"]
                notes.append(f"the judge {judge.get('judge')} failed on {failed} rows")
    return notes


def family_of(model: str) -> str:
    """Return the family of a model by its name, such as `qwen` for `Qwen/Qwen2.5-VL-7B`."""
    name = model.rpartition("/")[2].lower()
    families = _FAMILY.findall(name)
    return str(families[0]) if families else ""


def _number(value: object) -> str:
    return f"{value:.2f}" if isinstance(value, float) else "not defined"
