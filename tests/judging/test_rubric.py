"""Rubric packs: ours, and what is said of broken ones."""

import json
import re
import time
import unicodedata
from pathlib import Path
from typing import Any

import pytest
import yaml

from fin_tasks.benchmarks.mme_finance.row import CATEGORIES
from fin_tasks.errors import ConfigError
from fin_tasks.judging.old_rubric import load_rubric, rubric_names
from fin_tasks.resources import judges_dir

PACKS = ("mme_finance_en", "mme_finance_zh")


def pack() -> dict[str, Any]:
    example = {"question": "What is guided?", "reference": "4.1", "response": "4.1", "score": 10}
    category = {
        "kind": "objective",
        "points": "10 if right.",
        "requirements": "A figure.",
        "examples": [example, {**example, "response": "5", "score": 1}],
    }
    return {
        "name": "calls",
        "version": "1",
        "language": "en",
        "scale": {"lowest": 1, "highest": 10},
        "parser": "integer",
        "default_model": "gpt-4o",
        "categories": {"Guidance": category, "Tone": {**category, "kind": "subjective"}},
    }


def written(folder: Path, content: Any, name: str = "calls.yaml") -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return path


def test_the_packs_there_are() -> None:
    assert set(PACKS) <= set(rubric_names())


@pytest.mark.parametrize("name", PACKS)
def test_a_pack_covers_the_categories_of_the_data_set(name: str) -> None:
    rubric = load_rubric(name)
    assert tuple(rubric.categories) == tuple(CATEGORIES)
    assert {c.name: c.kind for c in rubric.categories.values()} == {c.name: c.kind for c in CATEGORIES.values()}
    assert (rubric.lowest, rubric.highest, rubric.max_tokens, rubric.parser) == (0, 5, 3, "integer")
    assert rubric.temperatures == (0.0, 0.5, 1.0, 1.5, 2.0)
    assert rubric.label == f"{name}@{rubric.version}"
    for category in rubric.categories.values():
        high, low = category.examples
        assert high.score == 5, category.name
        assert low.score < 5, category.name


@pytest.mark.parametrize("name", PACKS)
def test_the_limits_of_length_are_those_of_the_paper(name: str) -> None:
    limits = {"Image Caption": 250, "Risk Warning": 150, "Investment Advice": 150, "Explain Reason": 150}
    limits |= {"Financial Knowledge": 100}
    rubric = load_rubric(name)
    for category in rubric.categories.values():
        assert [int(n) for n in re.findall(r"\d+", category.requirements)] == (
            [limits[category.name]] if category.name in limits else []
        )


NUMBERS = {
    "subjective": "0 2 2 1 0 0 2 2 1 0 0 1 1 0",
    "objective": "5 5 0",
    "calculation": "0 2 2 0 0 3 3 1 0",
    "unanswerable": "5 0",
}
"""The numbers in the points of a kind, in order, the same in both languages; PROTOCOLS, section 3."""
ESTIMATION = {"en": "0 2 2 10 1 20 0 0 3 3 1 0", "zh": "0 2 10 2 10 20 1 0 0 3 3 1 0"}
SCHEMES = {
    ("subjective", "en"): (
        r"Keywords, 0 to 2: 2 .* 1 .* 0 ",
        r"Meaning, 0 to 2: 2 .* 1 .* 0 ",
        r"Requirements, 0 to 1: 1 .*; 0 ",
    ),
    ("subjective", "zh"): (r"关键词\(0 至 2 分\)", r"语义\(0 至 2 分\)", r"要求\(0 至 1 分\)"),
    ("objective", "en"): (r"^5 if .* same content", r"5 x right parts / all parts", r"0 if nothing is right"),
    ("objective", "zh"): (r"内容一致即得 5 分", r"5 .\(答对项数 ÷ 总项数\)", r"全部答错.*得 0 分"),
    ("calculation", "en"): (
        r"Result, 0 or 2: 2 if .* equals .*; else 0\.",
        r"Steps, 0 to 3: 3 if .*; take 1 off .* 0 if no steps",
    ),
    ("calculation", "zh"): (
        r"结果\(0 分或 2 分\):.*相等得 2 分.*否则得 0 分",
        r"步骤\(0 至 3 分\):.*得 3 分.*扣 1 分.*没有写出步骤得 0 分",
    ),
    ("estimation", "en"): (
        r"Result, 0 to 2: 2 if .* within 10 %.*, 1 if .* beyond that but within 20 %, else 0\.",
        r"Steps, 0 to 3: 3 if .*; take 1 off .* 0 if no steps",
    ),
    ("estimation", "zh"): (
        r"结果\(0 至 2 分\):.*不超过 10% 得 2 分,超过 10% 但不超过 20% 得 1 分,否则得 0 分",
        r"步骤\(0 至 3 分\):.*得 3 分.*扣 1 分.*没有写出步骤得 0 分",
    ),
    ("unanswerable", "en"): (r"5 if the response declines", r"0 if it gives an answer", r"No score between"),
    ("unanswerable", "zh"): (r"表示无法作答.*得 5 分", r"给出了具体答案.*得 0 分", r"没有介于两者之间的分数"),
}


@pytest.mark.parametrize("name", PACKS)
def test_the_points_are_those_of_the_paper(name: str) -> None:
    rubric = load_rubric(name)
    for category in rubric.categories.values():
        flat = unicodedata.normalize("NFKC", " ".join(category.points.split()))
        for part in SCHEMES[category.kind, rubric.language]:
            assert re.search(part, flat), (category.name, part)
        expected = {**NUMBERS, "estimation": ESTIMATION[rubric.language]}[category.kind]
        assert re.findall(r"\d+", flat) == expected.split(), category.name


def test_titles_are_in_the_language_of_the_pack() -> None:
    english, chinese = (load_rubric(name).categories.values() for name in PACKS)
    assert all(category.title == category.name for category in english)
    assert all(re.fullmatch("[\u4e00-\u9fff]+", category.title) for category in chinese)
    assert len({category.title for category in chinese}) == len(CATEGORIES)


@pytest.mark.parametrize("name", PACKS)
def test_examples_keep_to_the_length_asked_for(name: str) -> None:
    chinese = name.endswith("zh")
    for category in load_rubric(name).categories.values():
        if limit := re.search(r"\d+", category.requirements):
            for example in category.examples:
                length = len(example.response) if chinese else len(example.response.split())
                assert length <= int(limit[0])


def test_the_chinese_pack_is_punctuated_as_chinese_is() -> None:
    text = (judges_dir() / "old" / "mme_finance_zh.yaml").read_text(encoding="utf-8")
    assert re.findall(r"[\u4e00-\u9fff][,:;?!]|[,;?!][\u4e00-\u9fff]", text) == []


def test_another_benchmark_brings_its_own(tmp_path: Path) -> None:
    rubric = load_rubric(written(tmp_path, pack()))
    assert (rubric.lowest, rubric.highest, tuple(rubric.categories)) == (1, 10, ("Guidance", "Tone"))
    assert (rubric.max_tokens, rubric.temperatures) == (3, (0.0, 0.5, 1.0, 1.5, 2.0))
    assert load_rubric(str(tmp_path / "calls.yaml")) == rubric
    with pytest.raises(ConfigError, match=r"calls: expected one of its categories \(Guidance, Tone\), got 'OCR'"):
        rubric.category("OCR")


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    path = written(tmp_path, pack())
    before = load_rubric(path)
    changed = pack()
    changed["categories"]["Tone"]["points"] = "10 if polite."
    time.sleep(0.01)
    written(tmp_path, changed)
    assert load_rubric(path).category("Tone").points == "10 if polite."
    assert load_rubric(path).sha256 != before.sha256


@pytest.mark.parametrize(
    ("place", "value", "telling"),
    [
        (("categories", "Tone", "points"), "Other points.", True),
        (("categories", "Tone", "title"), "Manner", True),
        (("categories", "Tone", "requirements"), "Two figures.", True),
        (("categories", "Tone", "examples", 0, "response"), "4.10", True),
        (("categories", "Tone", "examples", 1, "score"), 2, True),
        (("scale", "highest"), 11, True),
        (("language",), "zh", True),
        (("temperatures",), [0, 1], True),
        (("name",), "other", False),
        (("version",), "2", False),
        (("default_model",), "gpt-5", False),
        (("description",), "What for.", False),
    ],
)
def test_the_hash_covers_what_a_judge_is_told(
    tmp_path: Path, place: tuple[Any, ...], value: Any, telling: bool
) -> None:
    changed = json.loads(json.dumps(pack()))
    _set(changed, place, value)
    first = load_rubric(written(tmp_path, pack(), "first.yaml")).sha256
    assert (load_rubric(written(tmp_path, changed, "second.yaml")).sha256 != first) is telling


_GONE = object()


def _set(content: Any, place: tuple[Any, ...], value: Any) -> None:
    for key in place[:-1]:
        content = content[key]
    if value is _GONE:
        del content[place[-1]]
    else:
        content[place[-1]] = value


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        (("scale",), _GONE, "calls.yaml: scale: expected a value, got None"),
        (("scale", "lowest"), 10, "calls.yaml: scale.highest: expected a whole number above 10, up to 100, got 10"),
        (("scale", "highest"), 5.5, "calls.yaml: scale.highest: expected a whole number above 1, up to 100, got 5.5"),
        (("scale", "step"), 1, "calls.yaml: scale.step: expected no such key; there are lowest, highest, got 1"),
        (("judge",), "x", "calls.yaml: judge: expected no such key"),
        (("version",), 1.0, "calls.yaml: version: expected a text of 1 to 20,000 characters, got 1.0"),
        (("name",), "a b", "calls.yaml: name: expected a name of letters"),
        (("parser",), "json", "calls.yaml: parser: expected integer, the only parser there is, got 'json'"),
        (("max_tokens",), 0, "calls.yaml: max_tokens: expected a whole number from 1 to 100,000, got 0"),
        (("max_tokens",), True, "calls.yaml: max_tokens: expected a whole number from 1 to 100,000, got True"),
        (("temperatures",), [], "calls.yaml: temperatures: expected temperatures, one per try, got []"),
        (("temperatures",), [0, 3], "calls.yaml: temperatures[1]: expected a number from 0 to 2, got 3"),
        (("temperatures",), [0, 0.0], "calls.yaml: temperatures: expected temperatures that differ, got [0, 0.0]"),
        (("categories",), {}, "calls.yaml: categories: expected 1 to 100 categories, got {}"),
        (("categories",), ["OCR"], "calls.yaml: categories: expected categories by their names, got ['OCR']"),
        (("categories",), {7: {}}, "calls.yaml: categories: expected keys that are texts, got 7"),
        (("categories", "Tone", "kind"), _GONE, "calls.yaml: categories.Tone.kind: expected a value, got None"),
        (("categories", "Tone", "point"), "", "calls.yaml: categories.Tone.point: expected no such key"),
        (("categories", "Tone", "title"), 7, "calls.yaml: categories.Tone.title: expected a text of 1 to"),
        (("categories", "Tone", "points"), " ", "calls.yaml: categories.Tone.points: expected a text"),
        (("categories", "Tone", "examples", 1), _GONE, "calls.yaml: categories.Tone.examples: expected two examples"),
        (
            ("categories", "Tone", "examples", 1, "score"),
            0,
            "calls.yaml: categories.Tone.examples[1].score: expected a whole number from 1 to 10, as `scale` says, "
            "got 0",
        ),
        (
            ("categories", "Tone", "examples", 0, "reference"),
            4.1,
            "calls.yaml: categories.Tone.examples[0].reference: expected a text of 1 to 20,000 characters, got 4.1. "
            "Write one, in quotes if it looks like a number.",
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_place(tmp_path: Path, place: tuple[Any, ...], value: Any, said: str) -> None:
    broken = json.loads(json.dumps(pack()))  # without parts that are shared
    _set(broken, place, value)
    with pytest.raises(ConfigError, match=re.escape(said)):
        load_rubric(written(tmp_path, broken))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "expected the keys name, version"),
        ("- 1", r"expected the keys name.*got \[1\]"),
        ("a: [", "expected YAML in UTF-8, got ParserError"),
        ("[" * 1500, "expected YAML in UTF-8, got"),
        ("name: a\nname: b", "the key 'name' stands twice"),
        ("name: !!python/object/apply:os.system [ls]", "expected YAML in UTF-8, got ConstructorError"),
        ("a: &a [1]\nb: *c", "expected YAML in UTF-8, got ComposerError"),
        ("? [a]\n: 1", "expected"),
        ("x" * 600_000, "expected at most 524,288 bytes"),
    ],
)
def test_what_is_no_pack_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        load_rubric(written(tmp_path, text))


def test_references_that_multiply_cost_nothing(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 12)]
    bomb = "\n".join([*lines, "name: *a11", "loop: &loop [*loop]"])
    started = time.monotonic()
    with pytest.raises(ConfigError, match="expected no such key") as raised:
        load_rubric(written(tmp_path, bomb))
    assert time.monotonic() - started < 30
    assert len(str(raised.value)) < 2_000


def test_a_file_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="expected a file with a rubric, got No such file"):
        load_rubric(tmp_path / "none.yaml")
    with pytest.raises(ConfigError, match="expected a file with a rubric, got something else"):
        load_rubric(tmp_path)
    (tmp_path / "latin.yaml").write_bytes("name: caf\xe9".encode("latin-1"))
    with pytest.raises(ConfigError, match="expected YAML in UTF-8, got UnicodeDecodeError"):
        load_rubric(tmp_path / "latin.yaml")
    with pytest.raises(ConfigError, match=r"expected one of .*mme_finance_en.*or the path of a YAML file, got 'mme'"):
        load_rubric("mme")


def test_the_readmes_example_is_a_pack(tmp_path: Path) -> None:
    readme = (judges_dir() / "README.md").read_text(encoding="utf-8")
    example = re.search(r"```yaml\n(.*?)```", readme, re.DOTALL)
    assert example is not None
    assert load_rubric(written(tmp_path, example[1], "readme.yaml")).label == "earnings_calls@1"
