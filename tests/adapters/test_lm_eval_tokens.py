"""The warning after a run of lm-eval."""

from types import SimpleNamespace
from typing import Any

import pytest

from fin_tasks.adapters.lm_eval_tokens import warning_of


def task(limit: int, repeats: int = 1) -> Any:
    config = SimpleNamespace(repeats=repeats, generation_kwargs={"max_gen_toks": limit})
    return SimpleNamespace(config=config)


def results(n: int, variant: str = "robust", **shares: float) -> dict[str, Any]:
    return {
        "results": {
            name: {f"cut_off,{variant}": share} for name, share in shares.items()
        },
        "n-samples": {name: {"original": n, "effective": n} for name in shares},
    }


@pytest.mark.parametrize(
    ("share", "is_warned"), [(0.0, False), (0.02, False), (0.03, True)]
)
def test_more_than_two_percent_are_many(share: float, is_warned: bool) -> None:
    warning = warning_of(results(100, a=share), {"a": task(64)})
    assert bool(warning) == is_warned
    assert not is_warned or warning.startswith(
        "3 of 100 responses were cut off at 64 tokens."
    )


def test_one_sentence_for_all_tasks_with_many() -> None:
    found = results(50, a=0.5, b=0.1, c=0.0)
    warning = warning_of(
        found, {"a": task(1024), "b": task(512, repeats=2), "c": task(9)}
    )
    assert warning.startswith(
        "35 of 150 responses were cut off at 512 or 1,024 tokens."
    )
    assert warning.endswith("--gen_kwargs max_gen_toks=16384")


def test_the_new_limit_is_higher() -> None:
    warning = warning_of(results(10, a=1.0), {"a": task(16_384)})
    assert warning.endswith("--gen_kwargs max_gen_toks=65536")


def test_predictions_and_tasks_without_results() -> None:
    assert warning_of(results(10, "none", a=1.0), {"a": task(64)})
    assert not warning_of({"results": {}, "n-samples": {}}, {"a": task(64)})
