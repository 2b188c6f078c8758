import json
from pathlib import Path

from table_of import COLUMNS, picture, put, row, table

from fin_tasks.benchmarks.mme_finance.files import locate
from fin_tasks.benchmarks.mme_finance.inspection import LanguageReport, inspect
from fin_tasks.benchmarks.mme_finance.published import IMPLIED_ROWS, implied_rows
from fin_tasks.benchmarks.mme_finance.row import CATEGORIES, IMAGE_STYLES, IMAGE_TYPES
from fin_tasks.settings import Settings

PICTURE = picture()


def report_of(folder: Path, *languages: str) -> list[LanguageReport]:
    settings = Settings.from_environ({"FIN_TASKS_CACHE": str(folder / "cache")})
    found = inspect(*(locate(language=name, data_dir=folder, settings=settings) for name in languages))
    json.dumps(found.to_dict())
    return [split for split in found.splits if isinstance(split, LanguageReport)]


def test_rows_are_counted_beside_the_published_ones(tmp_path: Path) -> None:
    names = [name for name, category in CATEGORIES.items() for _ in range(category.rows["zh"])]
    rows = [row(n, task_category=name, image_path="MMfin/1.jpg") for n, name in enumerate(names)]
    put(tmp_path, {"MMfin_CN.tsv": table(rows), "MMfin.tsv": table(rows[:-1]), "p/1.jpg": PICTURE})
    english, chinese = report_of(tmp_path, "en", "zh")
    assert (chinese.split, chinese.rows, chinese.unlike_published) == ("zh", 1103, {})
    assert chinese.counts["Risk Warning"] == {"rows": 37, "published": 37}
    assert chinese.pictures == {"files": 1, "bytes": len(PICTURE)}
    assert english.unlike_published is not None
    assert english.unlike_published["Not Applicable"] == (19, 22)


def test_types_and_styles_are_the_files_own_words(tmp_path: Path) -> None:
    types = ["Mixed Chart", "table", "", "Mixed Chart", "document"]
    rows = [row(n, image_type=name, image_path="1.jpg") for n, name in enumerate(types)]
    put(tmp_path, {"MMfin.tsv": table(rows), "1.jpg": PICTURE})
    (report,) = report_of(tmp_path, "en")
    assert list(report.by_type.items()) == [("table", 1), ("document", 1), ("Mixed Chart", 2), ("", 1)]
    assert report.by_style == {"computer screenshot": 5}


def test_types_and_styles_stand_beside_the_published_ones(tmp_path: Path) -> None:
    names = [
        ("Mixed Charts", "Computer_Screenshot"),
        ("technical-indicator", "mobile vertical screenshot"),
        ("K线图", ""),
    ]
    rows = [row(n, image_type=one, image_style=two, image_path="1.jpg") for n, (one, two) in enumerate(names)]
    put(tmp_path, {"MMfin.tsv": table(rows), "MMfin_CN.tsv": table(rows), "1.jpg": PICTURE})
    english, chinese = report_of(tmp_path, "en", "zh")
    assert english.published_by_type == {"Mixed Charts": 21, "technical-indicator": 176}
    assert chinese.published_by_style == {"Computer_Screenshot": 422, "mobile vertical screenshot": 161}
    for name in (*IMAGE_TYPES, *IMAGE_STYLES):
        assert implied_rows(name, language="zh") == IMPLIED_ROWS["zh"][name], "no two of our names are taken for one"


def test_a_set_that_was_built_is_not_the_published_one(tmp_path: Path) -> None:
    rows = [row(1, truth="{}", image_path="1.jpg"), row(2, truth="", image_path="1.jpg")]
    put(tmp_path, {"MMfin.tsv": table(rows, [*COLUMNS, "truth"]), "1.jpg": PICTURE})
    (report,) = report_of(tmp_path, "en")
    assert (report.unlike_published, report.counts["OCR"]) == (None, {"rows": 2, "with truth": 1})
    assert (report.published_by_type, report.published_by_style) == ({}, {})


def test_what_is_left_out_is_named_and_explained(tmp_path: Path) -> None:
    rows = [row(1, image_path="1.jpg"), row(2, answer="")]
    put(tmp_path, {"MMfin.tsv": table(rows), "1.jpg": PICTURE})
    settings = Settings.from_environ({"FIN_TASKS_CACHE": str(tmp_path / "cache")})
    found = inspect(locate(language="en", data_dir=tmp_path, settings=settings))
    (split,) = found.splits
    assert split.left_out == {"empty-answer": ("2",), "picture-missing": ("2",)}
    assert set(found.explained) == {"empty-answer", "picture-missing"}
