"""What BizBench's questions share: the document that stands in the prompt."""

import hashlib
from collections.abc import Mapping
from typing import Any

_DOCUMENT = "Document:\n"
_QUESTIONS = ("\n\nQuestion: ", "\n\nFinish this Python function:\n\n")


def source_of(doc: Mapping[str, Any]) -> str:
    """Return a short hash of the document in the prompt; empty without a document."""
    prompt = str(doc.get("prompt"))
    end = max(prompt.rfind(question) for question in _QUESTIONS)
    if not prompt.startswith(_DOCUMENT) or end <= 0:
        return ""
    document = prompt[:end].encode("utf-8", "replace")
    return hashlib.sha256(document).hexdigest()[:16]
