"""From the authors' files to documents: tables, archives, pictures and prompts."""

# ruff: noqa: RUF001
import io
import json
import shutil
import stat
import zipfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from filelock import FileLock
from PIL import Image

from fin_tasks.benchmarks.mme_finance import BENCHMARK
from fin_tasks.benchmarks.mme_finance import data as mme_data
from fin_tasks.benchmarks.mme_finance.data import TABLES, load, open_pictures
from fin_tasks.benchmarks.mme_finance.prompts import CATEGORIES
from fin_tasks.data.locate import locate
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.settings import Settings


def picture(shade: int = 0, *, turned: bool = False) -> bytes:
    out = io.BytesIO()
    exif = Image.Exif()
    exif[0x0112] = 6 if turned else 1
    Image.new("RGB", (40, 30), (shade, 9, 9)).save(out, "JPEG", exif=exif)
    return out.getvalue()


def row(index: object, **changes: str) -> dict[str, str]:
    cells = {
        "index": str(index),
        "question": "Close?",
        "answer": "007.50",
        "image_path": f"{index}.jpg",
        "task_category": "OCR",
        "image_type": "table",
        "image_style": "mobile photograph",
        "background": "",
    }
    return {**cells, **changes}


def folder(
    place: Path,
    rows: list[dict[str, str]],
    files: Mapping[str, bytes],
    *,
    stem: str = "MMfin",
    zipped: bool = True,
) -> str:
    """Write a table as pandas does, and pictures into its archive or a folder."""
    pd.DataFrame(rows).to_csv(place / f"{stem}.tsv", sep="\t", index=False)
    if zipped:
        with zipfile.ZipFile(place / f"{stem}.zip", "w") as packed:
            for name, content in files.items():
                packed.writestr(name, content)
    else:
        for name, content in files.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_bytes(content)
    return str(place)


@pytest.fixture(autouse=True)
def _offline(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIN_TASKS_OFFLINE", "1")


def docs_of(**options: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    found = load(**{"language": "en", **options})["test"]
    return found.to_list(), json.loads(found.info.description)


@pytest.mark.parametrize("inside", ["{}.jpg", "MMfin/{}.jpg", "data/images/{}.jpg"])
def test_rows_with_pictures_in_an_archive(tmp_path: Path, inside: str) -> None:
    files = {inside.format(n): picture(n) for n in (1, 2)}
    rows = [row(1), row(2, answer="N/A", task_category="Not Applicable")]
    docs, facts = docs_of(data_dir=folder(tmp_path, rows, files))
    assert [doc["id"] for doc in docs] == ["1", "2"]
    assert [doc["answer"] for doc in docs] == ["007.50", "N/A"]
    assert docs[0]["image_type"] == "table"
    for n, doc in enumerate(docs, start=1):
        assert Path(doc["image_path"]).read_bytes() == picture(n)
    assert open_pictures(docs[0])[0].size == (40, 30)
    loose = tmp_path / "loose"
    loose.mkdir()
    files = {f"MMfin/{n}.jpg": picture(n) for n in (1, 2)}
    folder(loose, rows, files, zipped=False)
    loose_docs, loose_facts = docs_of(data_dir=str(loose))
    assert [doc["prompt"] for doc in loose_docs] == [doc["prompt"] for doc in docs]
    assert set(facts["data"]["files"]) == {"MMfin.tsv", "MMfin.zip"}
    assert set(loose_facts["data"]["files"]) == {"MMfin.tsv"}


def test_rows_that_cannot_be_asked_are_left_out_and_counted(tmp_path: Path) -> None:
    (tmp_path / "secret.jpg").write_bytes(picture())
    bad = {
        "empty-question": {"question": " "},
        "empty-answer": {"answer": ""},
        "unknown-category": {"task_category": "ocr"},
        "picture-missing": {"image_path": "../secret.jpg"},
        "picture-broken": {"image_path": "broken.jpg"},
    }
    rows = [row(1), row(1), row("")]
    for flaw, changes in bad.items():
        rows.append(row(flaw, **{"image_path": "1.jpg", **changes}))
    rows.append(row("far", image_path=str(tmp_path / "secret.jpg")))
    files = {"1.jpg": picture(), "broken.jpg": b"GIF8 nothing"}
    docs, facts = docs_of(data_dir=folder(tmp_path, rows, files))
    assert [doc["id"] for doc in docs] == ["1"]
    left_out = {flaw: [flaw] for flaw in bad}
    left_out["picture-missing"].append("far")
    left_out |= {"duplicate-index": ["1"], "broken-row": ["line 4"]}
    assert facts["left_out"] == left_out


def test_turned_photographs_are_shown_upright(tmp_path: Path) -> None:
    place = folder(tmp_path, [row(1)], {"1.jpg": picture(turned=True)})
    (doc,), _ = docs_of(data_dir=place)
    assert open_pictures(doc)[0].size == (30, 40)


def test_archives_of_macos_name_pictures_in_utf8_without_saying_so(
    tmp_path: Path,
) -> None:
    names = ("行情图", "a")
    files = {f"MMfin/{name}.jpg": picture() for name in names}
    place = folder(tmp_path, [row(name) for name in names], files)
    archive = tmp_path / "MMfin.zip"
    packed = bytearray(archive.read_bytes())
    for header, flags in ((b"PK\3\4", 7), (b"PK\1\2", 9)):
        packed[packed.index(header) + flags] &= ~8
    archive.write_bytes(packed)
    assert "行情图" not in "".join(zipfile.ZipFile(archive).namelist())
    assert len(docs_of(data_dir=place)[0]) == 2


def links(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name)
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    return entry


@pytest.mark.parametrize("name", ["../1.jpg", "/1.jpg", "a/../../1.jpg", "link"])
def test_archives_stay_in_their_folder(
    tmp_path: Path, own_cache: Path, name: str
) -> None:
    place = folder(tmp_path, [row(2)], {"2.jpg": picture()})
    with zipfile.ZipFile(tmp_path / "MMfin.zip", "a") as packed:
        packed.writestr(links("1.jpg") if name == "link" else name, "/etc/passwd")
    assert len(docs_of(data_dir=place)[0]) == 1
    pictures = own_cache / "mme_finance" / "pictures"
    files = [path.relative_to(pictures) for path in tmp_path.rglob("*.jpg")]
    assert len(files) == 2
    assert len({path.parts[0] for path in files}) == 1
    assert not [path for path in own_cache.rglob("*") if path.is_symlink()]


@pytest.mark.parametrize("limit", ["_MAX_UNPACKED", "_MAX_FILES"])
def test_an_archive_that_unpacks_to_too_much_is_refused(
    limit: str, tmp_path: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mme_data, limit, 1)
    place = folder(tmp_path, [row(1), row(2)], {"1.jpg": picture(), "2.jpg": picture()})
    with pytest.raises(DataError, match="expected a zip archive of pictures"):
        docs_of(data_dir=place)
    assert not [*own_cache.rglob("*.jpg")]


def test_an_archive_is_unpacked_once_by_two_processes(
    tmp_path: Path, own_cache: Path, caplog: pytest.LogCaptureFixture
) -> None:
    place = folder(tmp_path, [row(1)], {"1.jpg": picture()})
    docs_of(data_dir=place)
    (lock,) = (own_cache / "mme_finance/pictures").glob("*.lock")
    shutil.rmtree(lock.with_suffix(""))
    # What a process leaves that was killed is removed.
    lock.with_suffix(".part").mkdir()
    (lock.with_suffix(".part") / "3.jpg").write_bytes(b"half")
    with ThreadPoolExecutor() as threads, FileLock(lock):
        waiting = threads.submit(docs_of, data_dir=place)
        assert not wait([waiting], timeout=1).done
    (doc,), _ = waiting.result(timeout=60)
    assert doc["id"] == "1"
    assert "Waiting for another process that unpacks" in caplog.text
    assert [path.name for path in lock.parent.rglob("*.jpg")] == ["1.jpg"]


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("na", [False, True])
def test_house_prompts_have_the_authors_order(language: str, na: bool) -> None:
    docs, _ = docs_of(source="sample", language=language, na=na)
    assert {doc["category"] for doc in docs} == set(CATEGORIES)
    phrase, form = ("Not Applicable", "How to answer:")
    if language == "zh":
        phrase, form = ("无法回答", "作答要求：")
    for doc in docs:
        prompt = doc["prompt"]
        assert prompt.startswith("<image>\n")
        assert prompt.count("<image>") == 1
        assert prompt.index(doc["question"]) < prompt.index(form)
        assert prompt.endswith(doc["background"])
        assert doc["system"] == ""
        assert (phrase in prompt) == (na or doc["category"] == "Not Applicable")
    assert sum(bool(doc["background"]) for doc in docs) == 1


TEXTS = {
    "en": ("You read charts. ", "Asked: ", " Form: ", "Beside it: "),
    "zh": ("你会读图。", "所问：", "形式：", "另附："),
}
"""What made-up authors say before and after the question, before its form and before the background."""


def authors_code(language: str, name: str) -> str:
    """A file that `upstream.wording` can follow, with texts and statements of our own."""
    forms = {category: f"<{language} {category}>\n" for category in CATEGORIES}
    role, asked, form, beside = TEXTS[language]
    return f"""
PICTURES = unknown_function()
class Base: pass
class {name}(Base):
    LIMIT = 3
    def build_prompt(self, line):
        if isinstance(line, int):
            line = self.rows[line]
        start = {role!r}
        format_prompt = {forms!r}
        prompt = start + ''.join([{asked!r}, line['question'], {form!r}])
        if line['task_category'] in format_prompt:
            prompt = prompt + format_prompt[line['task_category']]
        if not pd.isna(line['background']):
            tail = {beside!r} + line['background']
            prompt = prompt + tail
        return prompt
"""


@pytest.mark.parametrize(("language", "stem"), [("en", "MMfin"), ("zh", "MMfin_CN")])
def test_upstream_prompts_are_the_authors_texts(
    language: str, stem: str, tmp_path: Path
) -> None:
    rows = [row(one, task_category=one, image_path="1.jpg") for one in CATEGORIES]
    rows.append(row("b", image_path="1.jpg", background="b"))
    place = folder(tmp_path, rows, {"1.jpg": picture()}, stem=stem)
    code = tmp_path / "image_vqa.py"
    code.write_text(authors_code("en", "MMfin") + authors_code("zh", "MMfin_CN"))
    asked = {"data_dir": place, "language": language, "prompts": "upstream"}
    docs, facts = docs_of(**asked)
    role, question, form, beside = TEXTS[language]
    start = f"<image>\n{role}{question}Close?{form}"
    forms = {one: f"<{language} {one}>\n" for one in CATEGORIES}
    expected = [start + forms[one] for one in CATEGORIES]
    expected.append(f"{start}{forms['OCR']}{beside}b")
    assert [doc["prompt"] for doc in docs] == expected
    assert facts["prompts"]["set"] == "upstream"
    with_na, _ = docs_of(**asked, na=True)
    both_forms = forms["OCR"] + forms["Not Applicable"]
    assert with_na[-1]["prompt"] == f"{start}{both_forms}{beside}b"
    place = list(CATEGORIES).index("Not Applicable")
    assert with_na[place]["prompt"] == docs[place]["prompt"]
    code.write_text("class MMfin: pass\nclass MMfin_CN: pass")
    message = rf"expected the function {stem}\.build_prompt"
    with pytest.raises(DataError, match=message):
        docs_of(**asked, seed=1)


def test_fetch_takes_all_tables_of_the_hub(
    tmp_path: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"{stem}.{kind}" for stem in TABLES.values() for kind in ("tsv", "zip")]
    for name in [*names, "README.md"]:
        (tmp_path / name).write_text("")
    monkeypatch.setenv("FIN_TASKS_DATA", str(tmp_path))
    settings = Settings.from_environ()
    located = locate("mme_finance", BENCHMARK.hub_files, settings=settings)
    assert sorted(located.files) == sorted(names)


def test_conversations_become_turns(tmp_path: Path) -> None:
    docs, _ = docs_of(part="multi_turn", language="zh", source="sample")
    ids = ["0-1", "0-2", "1-1", "1-2", "1-3", "2-1", "2-2"]
    assert [doc["id"] for doc in docs] == ids
    assert [len(doc["image_paths"]) for doc in docs] == [1, 1, 1, 2, 2, 2, 2]
    assert [doc["prompt"].count("<image>") for doc in docs] == [1, 0, 1, 1, 0, 2, 0]
    assert docs[3]["prompt"].startswith("<image>\n这张表")
    bad = ["[1]", '["a"', "__import__('os').abort()", '["a", "b"]', "[" * 5000]
    usual = {"answer": '["b"]', "image_path": '["1.jpg"]'}
    rows = []
    for number, cell in enumerate(['["a"]', *bad]):
        rows.append(row(number, question=cell, **usual))
    place = folder(tmp_path, rows, {"1.jpg": picture()}, stem="MMfin_MT_CN")
    docs, facts = docs_of(part="multi_turn", language="zh", data_dir=place)
    assert [doc["id"] for doc in docs] == ["0-1"]
    assert facts["left_out"] == {
        "empty-question": ["1", "2", "3", "5"],
        "not-as-many-answers": ["4"],
    }


@pytest.mark.parametrize("options", [{"prompts": "ours"}, {"data_dir": "/nowhere"}])
def test_what_cannot_be_loaded(options: dict[str, Any]) -> None:
    with pytest.raises((ConfigError, DataError), match="expected"):
        docs_of(**options)
