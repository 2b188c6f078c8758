"""A report as a user makes it, from runs that say where each text of theirs ends up."""

import base64
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from fin_tasks.report.collect import Collected, collect
from fin_tasks.report.old_leaderboard import document
from fin_tasks.report.site.page import write_page
from fin_tasks.report.site.sample_store import SampleIndex, write_samples
from fin_tasks.settings import Settings

DATE = "2026-03-01T10-00-00.123456"

HOSTILE = (
    "</script><script>window.ran = 1</script>",
    "<img src=x onerror='window.ran = 2'><svg onload='window.ran = 3'><iframe src='https://evil.test/a'></iframe>",
    "<a href='javascript:window.ran = 4' autofocus onfocus='window.ran = 5'>press</a>",
    "<style>@import 'https://evil.test/b'; body { background: url(https://evil.test/c) }</style>"
    "<link rel=stylesheet href=//evil.test/d>",
    "'); window.ran = 6; ('\"); window.ran = 7; (\"`${window.ran = 8}`\\",
    "line\u2028window.ran = 9\u2029end\u0000\u0007\u001b[31m\u202egnp.exe\u2066x\u200b",
    "half \ud800 of a letter, {{script}} ]]> <!--<script> --> &lt;b&gt;",
    "Z" + "\u0335\u0321" * 400 + "algo",
    "![x](https://evil.test/e) [y](javascript:window.ran=10) $\\href{javascript:window.ran=11}{z}$",
    "<base href='https://evil.test/'><meta http-equiv=refresh content='0;url=https://evil.test/f'>"
    "<form action=//evil.test><button>",
)


def picture(*, colour: str = "red", size: tuple[int, int] = (40, 30), kind: str = "PNG") -> bytes:
    from PIL import Image

    out = io.BytesIO()
    Image.new("RGB", size, colour).save(out, kind)
    return out.getvalue()


def sent(content: bytes) -> dict[str, Any]:
    """A request with a picture, as lm-eval writes those to an API."""
    address = f"data:image/png;base64,{base64.b64encode(content).decode()}"
    parts = [{"type": "image_url", "image_url": {"url": address}}, {"type": "text", "text": "What is it?"}]
    return {"gen_args_0": {"arg_0": [json.dumps([{"role": "user", "content": parts}])], "arg_1": {"until": []}}}


def sample(place: int, *, response: str = "", **more: Any) -> dict[str, Any]:
    """What a run's line has beside its filter; every third answer is right, every seventh is read by `robust` alone."""
    doc = {
        **{"id": f"q_{place}", "ground_truth": f"truth {place}", "target": f"target {place}"},
        **{"capabilities": ["TU" if place % 2 else "FF"], "system": "You know finance.", "gold_terms": ["term_1"]},
        "prompt": f"Question: What is {place} and {place}?",
    }
    doc |= more.pop("doc", {})
    return {"doc": doc, "resps": [[response or f"It is {2 * place}, said model."]], "arguments": {}, **more}


def scored(place: int, variant: str) -> dict[str, Any]:
    """What is made of it."""
    right = place % 3 == 0 or (variant == "robust" and place % 7 == 0)
    value = None if place % 11 == 10 else float(right)
    read = {"answer": 2 * place, "correct": right, "reason": f"reason of {place}", "status": "ok", "raw": "the reply"}
    return {"acc": value, "unscored": float(value is None), "filtered_resps": [[json.dumps(read)]]}


def write_run(
    folder: Path,
    samples: Sequence[Mapping[str, Any]],
    *,
    task: str = "xfinbench_bool",
    model: str = "made/model",
    variants: Sequence[str] = ("paper", "robust"),
    revision: str = "d1",
) -> Path:
    """Write samples and results files of a task into a folder; returns the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    lines, values = [], {}
    for variant in variants:
        for place, one in enumerate(samples):
            made = {**scored(place, variant), **one}
            metrics = [name for name in made if name in ("acc", "unscored", "score") or name.startswith("acc_")]
            lines.append({"doc_id": place, **made, "filter": variant, "metrics": metrics})
            for name in metrics:
                values.setdefault(f"{name},{variant}", []).append(made[name])
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / f"samples_{task}_{DATE}.jsonl").write_text(text, encoding="utf-8")
    path = folder / f"results_{DATE}.json"
    old = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    facts = {
        "provenance": {"fin_tasks": "1", "split": "test", "data": {"revision": revision}, "style": {"mode": "cot"}}
    }
    results = {
        "results": {**old.get("results", {}), task: {name: mean(column) for name, column in values.items()}},
        "configs": {**old.get("configs", {}), task: {"metadata": facts}},
        "versions": {**old.get("versions", {}), task: 1.0},
        "n-samples": {**old.get("n-samples", {}), task: {"original": len(samples), "effective": len(samples)}},
        **{"config": {"model": "hf", "model_args": {"pretrained": model}}, "model_name": model},
    }
    path.write_text(json.dumps(results), encoding="utf-8")
    return folder


def mean(column: Sequence[float | None]) -> float | str:
    there = [value for value in column if value is not None]
    return sum(there) / len(there) if there else "N/A"


def write_site(runs: Path, out: Path, *, folders: Sequence[Path] = (), published: bool = False) -> SampleIndex:
    """Make page and samples of all runs below a folder."""
    out.mkdir(parents=True, exist_ok=True)
    found = collected(runs, out, published=published)
    index = write_samples(found, out, folders=folders)
    write_page(document(found), out, samples=index)
    return index


def made_document(runs: Path, out: Path) -> dict[str, Any]:
    """What the page is made of."""
    return document(collected(runs, out))


def collected(runs: Path, out: Path, *, published: bool = False) -> Collected:
    settings = replace(Settings.from_environ({}), cache_dir=out.parent / f"{out.name}-cache")
    found = collect([runs], settings=settings, published=published)
    assert not found.problems, found.problems
    return found


def read_sidecar(out: Path, name: str) -> Any:
    """Read a file beside the page as the browser does: a call with two texts, the second of them JSON."""
    text = (out / "samples" / f"{name}.js").read_text(encoding="utf-8")
    assert text.startswith("finTasksSample(") and text.endswith(")\n")
    said, value = json.loads(f"[{text[len('finTasksSample(') : -2]}]")
    assert said == name
    return json.loads(value)
