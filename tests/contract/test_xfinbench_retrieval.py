"""Every task with knowledge against its name, and the real lm-eval over some of them."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from test_chat_server import ChatServer, lm_eval, serving

from fin_tasks.benchmarks.xfinbench.augmentation import CONDITIONS
from fin_tasks.benchmarks.xfinbench.data import load
from fin_tasks.resources import task_yaml_dir

REAL = Path(__file__).parents[3] / "shared" / "data" / "xfinbench"
FOLDER = task_yaml_dir() / "xfinbench"
WITH_KNOWLEDGE = tuple(condition for condition in CONDITIONS if condition != "none")
BASES = sorted(
    path.stem for path in FOLDER.glob("xfinbench_*.yaml") if "group:" not in path.read_text(encoding="utf-8")
)
GROUPS = ("xfinbench", "xfinbench_text")
SAMPLE = '{"source": "sample"}'


class _Loader(yaml.SafeLoader):
    """Reads `!function` as its text."""


_Loader.add_constructor("!function", lambda loader, node: f"!{loader.construct_scalar(node)}")


def read(path: Path) -> dict[str, Any]:
    return dict(yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader))  # noqa: S506 - a SafeLoader


def results_of(folder: Path) -> dict[str, Any]:
    (path,) = folder.rglob("results_*.json")
    return dict(json.loads(path.read_text(encoding="utf-8")))


def samples_of(folder: Path, task: str) -> list[dict[str, Any]]:
    (path,) = folder.rglob(f"samples_{task}_2*.jsonl")  # the date follows
    samples = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    paper = [sample for sample in samples if sample["filter"] == "paper"]  # the others repeat the documents
    return sorted(paper, key=lambda sample: int(sample["doc_id"]))


def dummy(folder: Path, tasks: str, metadata: str, *more: str, **environ: str) -> subprocess.CompletedProcess[str]:
    env = {**{k: v for k, v in os.environ.items() if not k.startswith("FIN_TASKS")}, "HF_HUB_OFFLINE": "1", **environ}
    program = (str(Path(sys.executable).with_name("fin-tasks")), "lm-eval")
    options = ("--model", "dummy", "--tasks", tasks, "--metadata", metadata, "--output_path", "out", "--log_samples")
    return subprocess.run(
        [*program, *options, *more], cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=300
    )


def test_there_is_a_file_for_every_task_group_and_condition_and_no_other() -> None:
    names = {path.stem for path in (FOLDER / "retrieval").glob("*.yaml")}
    assert len(BASES) == 9
    assert names == {f"{name}_{condition}" for name in (*BASES, *GROUPS) for condition in WITH_KNOWLEDGE}


@pytest.mark.parametrize("condition", WITH_KNOWLEDGE)
@pytest.mark.parametrize("base", BASES)
def test_a_task_is_its_base_and_the_condition_of_its_name(base: str, condition: str) -> None:
    assert read(FOLDER / "retrieval" / f"{base}_{condition}.yaml") == {
        "include": f"../{base}.yaml",
        "task": f"{base}_{condition}",
        "dataset_kwargs": {**read(FOLDER / f"{base}.yaml")["dataset_kwargs"], "knowledge": condition},
    }


@pytest.mark.parametrize("condition", WITH_KNOWLEDGE)
@pytest.mark.parametrize("base", GROUPS)
def test_a_group_is_its_base_under_the_condition(base: str, condition: str) -> None:
    plain = read(FOLDER / f"{base}.yaml")
    tasks = [f"{task}_{condition}" for task in plain["task"]]
    expected = {**plain, "group": f"{base}_{condition}", "task": tasks}
    assert read(FOLDER / "retrieval" / f"{base}_{condition}.yaml") == expected


@pytest.fixture(scope="module")
def text_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dummy")
    metadata = '{"source": "sample", "top_k": 2, "ties": "strict", "encoder": "of no use here"}'
    tasks = "xfinbench_text_bm25,xfinbench_calc_oracle,xfinbench_calc_pot_oracle,xfinbench_calc"
    done = dummy(folder, tasks, metadata, "--limit", "4", "--confirm_run_unsafe_code")
    assert done.returncode == 0, done.stderr
    return folder / "out"


def test_samples_show_the_terms_and_their_scores(text_run: Path) -> None:
    for task in ("xfinbench_bool_bm25", "xfinbench_mcq_bm25", "xfinbench_calc_bm25"):
        for sample in samples_of(text_run, task):
            terms = sample["doc"]["terms"]
            assert len(terms) == 2
            assert terms[0]["score"] >= terms[1]["score"] > 0
            prompt = sample["arguments"]["gen_args_0"]["arg_0"]
            assert all(f"\n\n{term['name']}: " in prompt for term in terms)
            assert prompt.index(terms[0]["name"]) < prompt.index(sample["doc"]["prompt"][-60:])


def test_the_oracle_shows_the_gold_terms_before_the_question_of_the_plain_task(text_run: Path) -> None:
    plain = samples_of(text_run, "xfinbench_calc")
    assert [sample["doc"]["terms"] for sample in plain] == [[]] * 4
    for task in ("xfinbench_calc_oracle", "xfinbench_calc_pot_oracle"):
        for sample, without in zip(samples_of(text_run, task), plain, strict=True):
            doc = sample["doc"]
            assert [term["id"] for term in doc["terms"]] == doc["gold_terms"] == without["doc"]["gold_terms"]
            assert {term["score"] for term in doc["terms"]} == {None}
            question = without["doc"]["prompt"].split("\n\nWork out")[0]
            block, found, _ = doc["prompt"].partition(question)
            assert found
            assert [part.split(": ")[0] for part in block.split("\n\n")[1:-1]] == [t["name"] for t in doc["terms"]]


def test_results_name_the_bank_and_the_index(text_run: Path) -> None:
    results = results_of(text_run)
    facts = {task: results["configs"][task]["metadata"]["provenance"] for task in results["configs"]}
    bm25, oracle = facts["xfinbench_bool_bm25"]["retrieval"], facts["xfinbench_calc_oracle"]["retrieval"]
    assert (bm25["condition"], bm25["top_k"], bm25["ties"]) == ("bm25", 2, "strict")
    assert bm25["bank"] == oracle["bank"]
    assert len(bm25["bank"]["sha256"]) == len(bm25["retriever"]["texts_sha256"]) == 64
    assert oracle["gold_missing"] == {}
    assert "retrieval" not in facts["xfinbench_calc"]
    assert len({each["hash"] for each in facts.values()}) == len(facts)
    assert results["results"]["xfinbench_text_bm25"]["acc,paper"] == 0.0
    assert results["results"]["xfinbench_calc_oracle"]["no_answer,robust"] == 1.0
    assert results["results"]["xfinbench_calc_pot_oracle"]["no_code,paper"] == 1.0


def test_the_whole_group_with_figures_through_a_server(tmp_path: Path) -> None:
    with serving(ChatServer()) as server:
        lm_eval(server, tmp_path, "xfinbench_bm25", SAMPLE, "--limit", "2")
    asked = [asked["messages"][-1]["content"] for asked in server.asked]
    texts = [content if isinstance(content, str) else content[-1]["text"] for content in asked]
    assert len(texts) == 8
    assert all(text.startswith("Finance terms") for text in texts)
    with_picture = [content for content in asked if isinstance(content, list)]
    assert [content[0]["type"] for content in with_picture] == ["image_url"] * 2
    assert results_of(tmp_path / "out")["results"]["xfinbench_bm25"]["acc,paper"] >= 0


@pytest.mark.skipif(not REAL.is_dir(), reason="the real files are not beside the checkout")
def test_the_authors_templates_hold_the_terms_too(tmp_path: Path) -> None:
    templates = tmp_path / "evaluate" / "prompt_template"
    for path in (REAL / "prompt_template").rglob("*.txt"):
        place = templates / path.relative_to(REAL / "prompt_template")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(path.read_bytes())
    rows = (REAL / "validation_set.csv").read_text(encoding="utf-8-sig")
    (tmp_path / "dataset").mkdir()
    (tmp_path / "dataset" / "validation_set.csv").write_text(rows, encoding="utf-8")
    terms = {
        term for row in csv.DictReader(rows.splitlines(keepends=True)) for term in row["gold_fin_term_id"].split(";")
    }
    bank = "".join(f"{term},Name of {term},Meaning {{question}} of it\n" for term in sorted(terms) if term)
    header = "id,term_name,term_definition\n"
    (tmp_path / "dataset" / "knowledge_bank.csv").write_text(header + bank, encoding="utf-8")
    given = {"split": "validation", "data_dir": str(tmp_path), "prompts": "upstream"}
    for subset, opening in (("bool", "Statement"), ("mcq", "Question"), ("calc", "Question")):
        for mode in ("cot", "da"):
            (docs,) = load(subset=subset, mode=mode, knowledge="oracle", **given).values()
            (plain,) = load(subset=subset, mode=mode, **given).values()
            for doc, without in zip(docs, plain, strict=True):
                (first, *_) = doc["terms"]
                block = doc["prompt"].removesuffix(without["prompt"])
                assert without["prompt"].startswith(f"\n\n{opening}: ")
                assert f"\n\nName of {first['id']}: Meaning {{question}} of it" in block
                assert block + without["prompt"] == doc["prompt"]


def test_dense_retrieval_without_its_packages_ends_before_any_question(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['sentence_transformers'] = None\n")
    done = dummy(tmp_path, "xfinbench_dense", SAMPLE, PYTHONPATH=str(tmp_path))
    assert done.returncode != 0
    assert 'pip install "fin-tasks[dense]"' in done.stderr
    assert "Running" not in done.stderr
