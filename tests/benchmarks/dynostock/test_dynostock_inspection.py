import json
from pathlib import Path

import pytest

from fin_tasks.benchmarks.dynostock.inspection import inspect
from fin_tasks.benchmarks.dynostock.market import sample_market
from fin_tasks.benchmarks.dynostock.window_set import write_set
from fin_tasks.benchmarks.dynostock.windows import find_windows
from fin_tasks.errors import DataError
from fin_tasks.settings import Settings


def settings_in(tmp_path: Path) -> Settings:
    return Settings.from_environ({"FIN_TASKS_CACHE": str(tmp_path / "cache")})


def test_nothing_is_here(tmp_path: Path) -> None:
    assert inspect(settings=settings_in(tmp_path)).to_dict() == {"market": None, "windows": None}


def test_the_sample_has_every_size(tmp_path: Path) -> None:
    found = inspect(settings=settings_in(tmp_path), sample=True).windows
    assert found is not None
    assert found.folder == ""
    assert {bias: list(sizes) for bias, sizes in found.windows.items()} == {
        bias: [4, 8, 12, 16, 20] for bias in ("authority", "recency")
    }


def test_market_and_windows_are_counted(tmp_path: Path) -> None:
    cache, market = tmp_path / "cache" / "dynostock", sample_market()
    (cache / "market" / "prices").mkdir(parents=True)
    (cache / "market" / "prices" / "IBM.parquet").touch()
    failed = {"prices": {}, "earnings": {"IBM": "no rows"}}
    (cache / "market" / "manifest.json").write_text(json.dumps({"failed": failed}))
    write_set(cache / "windows", find_windows(market, windows=[4]), market, parameters={"windows": [4]})
    (cache / "windows" / "charts").mkdir()
    (cache / "windows" / "charts" / "one.png").touch()
    found = inspect(settings=settings_in(tmp_path))
    assert found.market is not None and found.windows is not None
    assert found.market.done == {"prices": 1, "earnings": 0}
    assert found.market.failed == {"prices": {}, "earnings": {"IBM": "no rows"}}
    assert found.windows.windows == {"authority": {4: 25}, "recency": {4: 23}}
    assert (found.windows.tickers, found.windows.charts) == (3, 1)
    assert found.windows.parameters == {"windows": [4]}


def test_a_changed_set_is_an_error(tmp_path: Path) -> None:
    cache, market = tmp_path / "data" / "dynostock", sample_market()
    write_set(cache / "windows", find_windows(market, windows=[4]), market, parameters={"windows": [4]})
    (cache / "windows" / "windows.parquet").write_bytes(b"changed")
    with pytest.raises(DataError, match=r"expected the file that manifest\.json names"):
        inspect(settings=settings_in(tmp_path), data_dir=tmp_path / "data")
