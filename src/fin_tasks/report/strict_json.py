"""JSON of strangers: no key twice, and one sentence on what is wrong."""

import json
from pathlib import Path
from typing import Any

from fin_tasks.errors import DataError


def parse(where: str | Path, content: bytes) -> Any:
    """Parse JSON that holds no key twice; raise DataError for all else."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        values = dict(pairs)
        if len(values) < len(pairs):
            raise DataError(
                f"{where}: expected each key once, got one twice in {str(pairs)[:80]!r}."
            )
        return values

    try:
        return json.loads(content, object_pairs_hook=unique)
    except (ValueError, RecursionError) as error:
        raise DataError(
            f"{where}: expected JSON, got {content[:40]!r} ({error}). Was the file cut?"
        ) from error
