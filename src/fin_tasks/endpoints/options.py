"""Options of a request that a model refuses, and what is sent instead of them."""

import logging
import re
from collections.abc import Mapping
from typing import Any

_INSTEAD: Mapping[str, str | None] = {
    "max_tokens": "max_completion_tokens",
    "temperature": None,  # left out, so that the model's default holds
}
_UNSUPPORTED = re.compile(r"\bunsupported|\bnot support", re.IGNORECASE)
_log = logging.getLogger(__name__)


class Options:
    """Remembers which options a model refused; any number of threads may use it."""

    def __init__(self, model: str) -> None:
        self._model = model
        self.refused: dict[str, str | None] = {}

    def usable(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return a request with other options in place of the refused ones."""
        options = {}
        for name, value in request.items():
            usable_name = self.refused.get(name, name)
            if usable_name is not None:
                options[usable_name] = value
        return options

    def learn(self, options: Mapping[str, Any], refusal: str) -> bool:
        """Take a server's refusal of an option into account; return whether it is one."""
        if not _UNSUPPORTED.search(refusal):
            return False
        for name, instead in _INSTEAD.items():
            if name in options and re.search(rf"\b{name}\b", refusal):
                if name not in self.refused:
                    text = "%s refuses %s: %s is used instead."
                    _log.warning(text, self._model, name, instead or "its default")
                self.refused[name] = instead
                return True
        return False
