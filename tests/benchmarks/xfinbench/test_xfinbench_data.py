"""Documents: the real validation set and its defects, samples, knowledge, prompts, options; the packaged sample."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from case_files import rows

from fin_tasks.benchmarks.xfinbench import data as xfinbench
from fin_tasks.benchmarks.xfinbench.data import STYLES, figure, load
from fin_tasks.benchmarks.xfinbench.rows import TASKS, parse_choices, read_rows
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.retrieval import dense

REAL = Path(__file__).resolve().parents[3].parent / "shared" / "data"
real_file = pytest.mark.skipif(
    not (REAL / "xfinbench").is_dir(),
    reason="the real files are not beside this checkout",
)
REAL_OPTIONS = {"source": "data_dir", "data_dir": str(REAL), "split": "validation"}
FOLDER = Path(xfinbench.__file__).parent
GOOD = {
    "task": "bool",
    "question": "Cash is an asset.",
    "choice": "",
    "ground_truth": "1.0",
    "figure": "",
    "fin_capability": "TU",
    "gold_fin_term_id": "t1;t2",
}
MCQ = {
    "task": "mcq",
    "question": "Which?",
    "choice": "A. up\nB. down",
    "ground_truth": "A",
}
SUBSETS = tuple(TASKS)


def documents(
    subset: str = "bool", **options: Any
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    (found,) = load(subset=subset, **{"source": "sample", **options}).values()
    return found.to_list(), json.loads(found.info.description)


def write(
    folder: Path, *cells: dict[str, str], split: str = "validation"
) -> dict[str, Any]:
    table = [{"id": f"q{place}", **GOOD, **row} for place, row in enumerate(cells)]
    pd.DataFrame(table).to_csv(folder / f"{split}_set.csv", index=False)
    return {"source": "data_dir", "data_dir": str(folder), "split": split}


@real_file
def test_the_real_validation_set_counts_as_published() -> None:
    found = {
        subset: documents(subset, **{**REAL_OPTIONS, "source": "auto"})
        for subset in SUBSETS
    }
    sizes = {subset: len(docs) for subset, (docs, _) in found.items()}
    assert sizes == {"bool": 435, "mcq": 147, "mcq_visual": 2, "calc": 396}
    has_table = Counter(doc["has_table"] for doc in found["calc"][0])
    assert has_table == {False: 337, True: 59}
    for subset, (docs, facts) in found.items():
        n_left_out = {flaw: len(ids) for flaw, ids in facts["left_out"].items()}
        is_visual = subset == "mcq_visual"
        assert n_left_out == ({"missing-figure": 20} if is_visual else {})
        for doc in docs:
            assert doc["prompt"].startswith("<image>") is is_visual
    table = read_rows(REAL / "xfinbench" / "validation_set.csv")
    capabilities = Counter(code for row in table for code in row.capabilities)
    assert capabilities == {"TU": 582, "TR": 222, "FF": 44, "SP": 69, "NM": 188}
    assert {len(row.choices) for row in table if row.task == "mcq"} == {3}
    assert {figure(doc)[0].mode for doc in found["mcq_visual"][0]} == {"RGB"}


def test_two_characters_for_a_line_break_in_a_cell(tmp_path: Path) -> None:
    row = {**MCQ, "question": "Which way?", "choice": "A. Up\\nB. Down\\nC. Neither"}
    options = write(tmp_path, row)
    folder = tmp_path / "evaluate" / "prompt_template"
    (folder / "Sys_msg").mkdir(parents=True)
    for mode in ("CoT", "DA", "PoT"):
        (folder / "Sys_msg" / f"{mode}.txt").write_text("You know.")
        for task in ("bool", "mcq", "calcu"):
            (folder / f"{task}_{mode}.txt").write_text("{question}\\n{choices}")
    (house,), _ = documents("mcq", **options)
    assert "A. Up\nB. Down\nC. Neither" in house["prompt"]
    (upstream,), _ = documents("mcq", prompts="upstream", **options)
    assert upstream["prompt"] == "Which way?\\nA. Up\\nB. Down\\nC. Neither"


@real_file
def test_the_authors_templates_are_filled_as_they_are() -> None:
    options = {**REAL_OPTIONS, "prompts": "upstream"}
    docs, facts = documents("mcq", **options)
    visual_docs, _ = documents("mcq_visual", **options)
    table = read_rows(REAL / "xfinbench" / "validation_set.csv")
    rows_by_id = {row.id: row for row in table}
    # The two characters `\\n` of the template and of the file's choices reach the model as they are.
    template = (REAL / "xfinbench" / "prompt_template" / "mcq_CoT.txt").read_text()
    assert "\\n{choices}" in template
    n_spelled_out = 0
    for doc in [*docs, *visual_docs]:
        row = rows_by_id[doc["id"]]
        n_spelled_out += "\\n" in row.choice
        filled = template.replace("{knowledge}", "").replace("{question}", row.question)
        filled = filled.replace("{choices}", row.choice)
        assert doc["prompt"].removeprefix("<image>\n") == filled
    assert (len(docs), n_spelled_out) == (147, 2)
    assert facts["prompts"]["set"] == "upstream"
    with pytest.raises(DataError, match="prompt_template"):
        documents(prompts="upstream")


@real_file
@pytest.mark.parametrize(
    ("n", "sizes"), [("sensitivity", (180, 67, 253)), (100, (100, 100 + 2, 100))]
)
def test_samples(n: int | str, sizes: tuple[int, ...]) -> None:
    options = {**REAL_OPTIONS, "sample_n": n}
    ids = {
        subset: [doc["id"] for doc in documents(subset, **options)[0]]
        for subset in SUBSETS
    }
    n_choices = len(ids["mcq"]) + len(ids["mcq_visual"])
    assert (len(ids["bool"]), n_choices, len(ids["calc"])) == sizes
    for mode in ("da", "pot"):
        again, facts = documents("calc", mode=mode, **options)
        assert [doc["id"] for doc in again] == ids["calc"]
        assert facts["sample"] == {"n": n, "seed": 0}
    other, _ = documents("calc", sample_seed=1, **options)
    assert [doc["id"] for doc in other] != ids["calc"]


def test_the_sensitivity_study_draws_from_the_test_set_and_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    without_figure = [{**MCQ, "question": f"Which is {at}?"} for at in range(100)]
    options = write(tmp_path, *without_figure, split="test")
    del options["split"]
    docs, _ = documents("mcq", sample_n="sensitivity", **options)
    assert len(docs) == 67
    assert "sample_n sensitivity draws 67 of 100 usable rows (mcq) of " in caplog.text
    assert "test_set.csv; this task asks 67 of them" in caplog.text
    with pytest.raises(
        DataError, match=r"got none among 67 of 100 usable .* Leave out this task"
    ):
        documents("mcq_visual", sample_n="sensitivity", **options)


def test_the_choices_of_a_study_need_no_pictures(tmp_path: Path) -> None:
    """Only whether there is a picture counts for the draw, so none is downloaded or opened."""
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures" / "one.jpg").write_bytes(b"")
    rows_of_file = [{**MCQ, "question": f"Which is {at}?"} for at in range(4)]
    rows_of_file[0]["figure"] = "one"
    rows_of_file[1]["figure"] = "two"
    options = write(tmp_path, *rows_of_file, split="test")
    asked, facts = documents("mcq", sample_n="sensitivity", **options)
    assert [doc["id"] for doc in asked] == ["q2", "q3"]
    assert list(facts["data"]["files"]) == ["dataset/test_set.csv"]
    shown, facts = documents("mcq_visual", sample_n="sensitivity", **options)
    assert [doc["id"] for doc in shown] == ["q0"]
    assert facts["left_out"] == {"missing-figure": ["q1"]}


@pytest.mark.parametrize("subset", SUBSETS)
def test_odd_rows_are_left_out_or_kept_and_never_end_the_run(
    subset: str, tmp_path: Path
) -> None:
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures" / "one.jpg").write_bytes(b"")
    usable = {
        "bool": {},
        "mcq": MCQ,
        "mcq_visual": {**MCQ, "figure": "one"},
        "calc": {"task": "calcu"},
    }[subset]
    own = [row for row in rows("xfinbench_odd_rows") if row["subset"] == subset]
    odd = []
    for number, row in enumerate(own):
        odd.append({**usable, "question": f"Is it {number}?", **row["cells"]})
    docs, facts = documents(subset, **write(tmp_path, usable, *odd))
    left_out = Counter(row["left_out"] for row in own if row["left_out"])
    assert {flaw: len(ids) for flaw, ids in facts["left_out"].items()} == left_out
    assert len(docs) == 1 + len(odd) - left_out.total()


@real_file
def test_only_the_authors_files_have_the_name_of_a_split(tmp_path: Path) -> None:
    assert documents(**REAL_OPTIONS)[1]["split"] == "validation"
    assert documents(**write(tmp_path, {}))[1]["split"] == "own"
    assert documents()[1]["split"] == "sample"


def test_a_row_of_too_few_cells_is_left_out(tmp_path: Path) -> None:
    options = write(tmp_path, {})
    with (tmp_path / "validation_set.csv").open("a") as file:
        file.write("q9,bool,Short.\n")
    assert documents(**options)[1]["left_out"] == {"malformed": ["q9"]}


@pytest.mark.parametrize("case", rows("xfinbench_choices"))
def test_choices(case: dict[str, Any]) -> None:
    assert parse_choices(case["cell"]) == case["choices"]


def test_knowledge(tmp_path: Path) -> None:
    unknown_term = {"question": "Zzz?", "gold_fin_term_id": "t9"}
    options = write(tmp_path, {"question": "Which  coupon?"}, unknown_term)
    bank = "id,term_name,term_definition\nt1,Coupon,\\frac{c} {question}\nt2,,A put.\nt1,x,y\n,e,f\nt5, ,\nt4,Which,\n"
    (tmp_path / "knowledge_bank.csv").write_text(bank)
    (plain, _), _ = documents(**options)
    (oracle, without), facts = documents(knowledge="oracle", **options)
    terms = f"Coupon: \\frac{{c}} {{question}}\n\nA put.\n\n{plain['prompt']}"
    assert oracle["prompt"].partition("\n\n")[2] == terms
    assert without["terms"] == []
    assert facts["retrieval"]["bank"]["n"] == 3
    (found, _), facts = documents(knowledge="bm25", top_k=1, **options)
    (term,) = found["terms"]
    assert term["id"] == "t4"  # `coupon?` is another word
    assert term["score"] > 0
    assert facts["retrieval"]["condition"] == "bm25"
    assert facts["prompts"] != documents(**options)[1]["prompts"]
    with pytest.raises(ConfigError, match="top_k"):
        documents(knowledge="bm25", top_k=0, **options)


def test_embedded_texts_have_no_line_breaks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedded: list[str] = []

    def embed(texts: Sequence[str], *_: Any) -> Any:
        embedded.extend(texts)
        return np.ones((len(texts), 2))

    monkeypatch.setattr(dense, "embed_texts", embed)
    options = write(tmp_path, {"question": "Which\ncoupon?\n\nThis."})
    bank = 'id,term_name,term_definition\nt1,Coupon,"A\nrate."\n'
    (tmp_path / "knowledge_bank.csv").write_text(bank)
    documents(knowledge="dense", encoder="endpoint:m", **options)
    assert sorted(embedded) == ["Coupon A rate.", "Which coupon?  This."]


@pytest.mark.parametrize("style", [None, *STYLES])
def test_house_wording_and_styles(style: str | None) -> None:
    for mode in ("cot", "pot"):
        (doc, *_), _ = documents("calc", mode=mode, style=style)
        assert bool(doc["system"]) is (style is None or style.endswith("_role"))
        assert ("def solution():" in doc["prompt"]) is (mode == "pot")
        is_direct = mode == "cot" and style in ("da", "da_role")
        assert ("Give no reasoning" in doc["prompt"]) is is_direct


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"knowledge": "hybrid"},
            "expected one of none, bm25, dense, oracle, got 'hybrid'",
        ),
        (
            {"split": ["test"]},
            r"split: expected one of test, validation, got \['test'\]",
        ),
        ({"mode": "da", "style": "cot"}, "Use the task without _da"),
        ({"sample_n": "humans"}, "the first from 1, got 'humans' and 0"),
        ({"knowlege": "bm25"}, "got 'knowlege'. Did you mean 'knowledge'?"),
    ],
)
def test_a_wrong_option_is_one_sentence(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message.replace("?", r"\?")) as caught:
        documents(**{"subset": "bool", **options})
    assert "\n" not in str(caught.value)


def test_the_packaged_sample_is_sound() -> None:
    terms = set(pd.read_csv(FOLDER / "sample" / "knowledge_bank.csv")["id"])
    for subset in SUBSETS:
        docs, facts = documents(subset)
        assert facts["left_out"] == {}
        for doc in docs:
            assert doc["capabilities"] and doc["gold_terms"]
            assert terms.issuperset(doc["gold_terms"])
    solutions = json.loads((FOLDER / "sample" / "solutions.json").read_text())
    for doc in documents("calc")[0]:
        assert doc["has_table"] is ("\\begin{tab" in doc["question"])
        namespace: dict[str, Any] = {}
        exec(solutions[doc["id"]], namespace)  # noqa: S102 - our own programs
        decimals = len(doc["ground_truth"].partition(".")[2])
        assert f"{namespace['solution']():.{decimals}f}" == doc["ground_truth"]


def test_the_authors_blank_picture_has_their_size() -> None:
    own, _ = documents("bool", blank_image=True)
    authors, _ = documents("bool", blank_image="upstream")
    assert own[0]["prompt"] == authors[0]["prompt"]
    assert authors[0]["prompt"].startswith("<image>")
    (usual,) = xfinbench.blank_image(own[0])
    (picture,) = xfinbench.blank_image(authors[0])
    assert (usual.size, picture.size) == ((336, 336), (285, 248))
    with pytest.raises(ConfigError, match="blank_image: expected one of False, True"):
        documents("bool", blank_image="black")


@real_file
def test_the_authors_blank_picture_has_the_same_pixels() -> None:
    from PIL import Image

    file = REAL / "xfinbench" / "figures" / "blank_image.png"
    (picture,) = xfinbench.blank_image({"blank_image": "upstream"})
    with Image.open(file) as theirs:
        assert theirs.convert("RGB").tobytes() == picture.tobytes()
