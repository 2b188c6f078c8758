"""Files of prices; tests/judging and tests/report test costs."""

from pathlib import Path

import pytest

from fin_tasks.endpoints.prices import read_prices
from fin_tasks.errors import ConfigError


@pytest.mark.parametrize(
    "content",
    [
        "",
        "models: {a: {input: -1, output: 1}}",
        "models: {a: 3}",
        "models: [",
        "{a: 1}",
        "models: {a: &p {input: 1, output: 1}, b: *p}",
        "models: {}\n#" + "x" * 300_000,
    ],
)
def test_files_without_prices_are_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "prices.yaml").write_text(content)
    with pytest.raises(ConfigError, match="expected `models`"):
        read_prices(tmp_path / "prices.yaml")
