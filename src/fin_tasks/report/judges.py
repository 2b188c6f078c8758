"""What to know of the judge of a result: whether it is of the model's own family."""

import re

from .model import TaskResult

_FAMILY = re.compile(
    r"claude|deepseek|gemini|gemma|glm|gpt|grok|internvl|llama|llava|mi[sx]tral|phi|qwen"
)


def judge_notes(result: TaskResult, model: str) -> list[str]:
    """Return notes on the judge that graded a model."""
    name = str(result.judge.get("model") or "")
    family = family_of(name)
    if family and family == family_of(model):
        return [f"the judge {name} is of the model's own family, {family}"]
    return []


def family_of(model: str) -> str:
    """Return the family of a model by its name, such as `qwen` for `Qwen/Qwen2.5-VL-7B`."""
    name = model.rpartition("/")[2].lower()
    families = _FAMILY.findall(name)
    return str(families[0]) if families else ""
