"""Writes lm-eval output folders of made-up runs, whose effects are known."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

DATE = "2026-03-01T10-00-00.123456"


def window(number: int, *, size: int = 4, tickers: int = 25) -> dict[str, Any]:
    """The window of this number: signals and truths in all four combinations, `tickers` stocks in turn."""
    signal, truth = number % 2, number // 2 % 2
    ticker = f"T{number % tickers:02d}"
    return {
        **{"id": f"recency-w{size:02d}-{ticker}-{number}", "bias_type": "recency", "window": size, "ticker": ticker},
        **{"signal": signal, "truth": truth, "mode": "text", "anonymised": False},
    }


def docs(n: int, **more: Any) -> list[dict[str, Any]]:
    return [window(number, **more) for number in range(n)]


def statement_of(doc: Mapping[str, Any], arm: str) -> int | None:
    return None if arm == "none" else doc["signal"] if arm == "signal" else 1 - doc["signal"]


def write_run(
    folder: Path,
    documents: list[dict[str, Any]],
    arm: str,
    reply: Callable[[dict[str, Any]], str],
    *,
    model: str = "made/model",
    date: str = DATE,
    provenance: Mapping[str, Any] | None = None,
    limit: float | None = None,
    **config: Any,
) -> Path:
    """Write `samples_*.jsonl` and `results_*.json`, as lm-eval does; `provenance` adds to what is recorded."""
    size, mode = documents[0]["window"], documents[0]["mode"]
    task = f"dynostock_recency_w{size}" + ("_text" if mode == "text" else "")
    asked = [{**doc, "arm": arm, "statement": statement_of(doc, arm)} for doc in documents]
    lines = [
        json.dumps({"doc_id": place, "doc": doc, "resps": [[reply(doc)]], "filtered_resps": [["?"]], "filter": name})
        for place, doc in enumerate(asked)
        for name in ("paper", "robust")
    ]
    folder.mkdir(parents=True, exist_ok=True)
    samples = folder / f"samples_{task}_{date}.jsonl"
    samples.write_text("\n".join(lines) + "\n", encoding="utf-8")
    facts = {
        **{"hash": f"h-{arm}-{size}", "arm": arm, "window": size, "asked": f"a-{arm}-{size}", "rows": len(asked)},
        **{"anonymise": documents[0]["anonymised"], "mode": mode, "data": {"hash": "d1"}},
        **{"prompts": {"set": "house", "style": "structured", "sha256": "p1"}},
        **(provenance or {}),
    }
    results = {
        "config": {"model": "local-chat-completions", "limit": limit, "model_args": {"base_url": date}, **config},
        "configs": {task: {"generation_kwargs": {"temperature": 0.0}, "metadata": {"provenance": facts}}},
        "n-shot": {task: 0},
        "model_name": model,
    }
    (folder / f"results_{date}.json").write_text(json.dumps(results), encoding="utf-8")
    return samples


def says(probability: float) -> str:
    return f"The report was good.\nFinal prediction: {probability:.2f}"


def towards(direction: int | None, by: float) -> str:
    """A forecaster that says one half, moved by `by` towards a statement's direction."""
    return says(0.5 if direction is None else 0.5 + by * (1 if direction else -1))
