"""lm-eval in this process."""

import hashlib
from collections.abc import Iterator
from typing import Any

import pytest


def hash_of_pixels(picture: Any) -> str:
    return hashlib.sha256(picture.tobytes()).hexdigest()


@pytest.fixture(autouse=True, scope="module")
def _offline() -> Iterator[None]:
    """Look for no data in the internet, and spare each run what takes lm-eval seconds and is of no use here.

    It has torch ask pip for all packages, and writes pictures as PNG only to hash them.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FIN_TASKS_OFFLINE", "1")
        # Another release may do it by other names, and only takes longer.
        for name, quick in (
            ("lm_eval.utils.convert_pil_to_hash", hash_of_pixels),
            ("torch.utils.collect_env.get_pretty_env_info", lambda: ""),
        ):
            patch.setattr(name, quick, raising=False)
        yield
