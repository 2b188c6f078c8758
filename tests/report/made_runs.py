"""Writes lm-eval output folders of made-up runs, whose scores are known."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

DATE = "2026-03-01T10-00-00.123456"
CAPABILITIES = ("TU", "TR", "NM")


def document(number: int, *, prefix: str = "row") -> dict[str, Any]:
    """The document of this number; every second one names two capabilities."""
    first = CAPABILITIES[number % 3]
    second = [CAPABILITIES[(number + 1) % 3]] if number % 2 else []
    return {"id": f"{prefix}_{number}", "ground_truth": f"{number}", "capabilities": [first, *second]}


def sample(
    doc: Mapping[str, Any], value: float | None, variant: str, place: int, *, metric: str = "acc"
) -> dict[str, Any]:
    """A line of a samples file; `value` None is unscored."""
    answer = json.dumps({"answer": "yes" if value else "no", "correct": value, "reason": ""})
    return {
        **{"doc_id": place, "doc": doc, "target": f"it is {doc.get('ground_truth')}", "resps": [["text"]]},
        **{"filtered_resps": [[answer]], "filter": variant, "metrics": [metric, "unscored", f"{metric}_stderr"]},
        **{metric: value, "unscored": float(value is None), f"{metric}_stderr": value},
    }


def write_run(
    folder: Path,
    task: str,
    values: Sequence[float | None],
    *,
    robust: Sequence[float | None] | None = None,
    docs: Sequence[Mapping[str, Any]] | None = None,
    model: str = "made/model",
    date: str = DATE,
    limit: float | None = None,
    provenance: Mapping[str, Any] | None = None,
    model_args: Mapping[str, Any] | None = None,
    found: Mapping[str, Any] | None = None,
    metric: str = "acc",
    **results: Any,
) -> Path:
    """Write `samples_*.jsonl` and `results_*.json`, as lm-eval does; tasks with knowledge say so in the provenance.

    `values` are the `metric` of each document under `paper`, `robust` likewise (the same where None). Documents are
    those of `document`, told apart by family, where None. `provenance` and `results` add to what is recorded,
    `found` to what is recorded about retrieval.
    """
    condition = task.rpartition("_")[2]
    known = condition in ("bm25", "dense", "hybrid", "oracle")
    family = task.removesuffix(f"_{condition}") if known else task
    docs = docs or [document(number, prefix=family) for number in range(len(values))]
    variants = {"paper": values, "robust": robust if robust is not None else values}
    lines = [
        json.dumps(sample(doc, value, name, place, metric=metric))
        for name, scores in variants.items()
        for place, (doc, value) in enumerate(zip(docs, scores, strict=True))
    ]
    folder.mkdir(parents=True, exist_ok=True)
    samples = folder / f"samples_{task}_{date}.jsonl"
    samples.write_text("\n".join(lines) + "\n", encoding="utf-8")
    facts = {
        **{"hash": f"h-{task}", "fin_tasks": "0.1.0", "scorer": 1, "split": "test", "rows": len(docs)},
        **{"style": {"mode": "cot", "role": True}, "left_out": {}},
        **{"prompts": {"set": "house", "sha256": "b" * 64 if known else "a" * 64}},
        **{"data": {"origin": "upstream", "commit": "c1", "revision": "d1"}},
        **({"retrieval": {"condition": condition, "top_k": 3, "ties": "paper", **(found or {})}} if known else {}),
        **(provenance or {}),
    }
    path = folder / f"results_{date}.json"
    old = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(
        json.dumps(
            {
                "config": {
                    **{"model": "local-chat-completions", "limit": limit},
                    **{"model_args": {"model": model, "base_url": f"http://{date}", **(model_args or {})}},
                },
                "configs": {**old.get("configs", {}), task: {"metadata": {"provenance": facts}}},
                "n-shot": {**old.get("n-shot", {}), task: 0},
                "n-samples": {**old.get("n-samples", {}), task: {"original": len(docs), "effective": len(docs)}},
                "model_name": model,
                **results,
            }
        ),
        encoding="utf-8",
    )
    return samples
