"""A source checkout of VLMEvalKit as our data sets meet it: `run.py` beside the package, the newest base class.

A stand-in, as a checkout is not on PyPI: it has what upstream's has and NVIDIA's package lacks (`DEFAULT_JUDGE`, marks
of failures, `report_primary_metric`, prompts that a data set insists on, tables in TSV).
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from chat_server import completion, serve

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "tests" / "benchmarks" / "mme_finance"))
import made_mme  # noqa: E402 - a module of another test folder

BASE = """
from abc import ABCMeta, abstractmethod

class ImageBaseDataset(metaclass=ABCMeta):
    MODALITY = "IMAGE"
    DATASET_URL = {}
    DEFAULT_JUDGE = "gpt-4o-mini"
    INFER_FAIL_MARKERS = ("Failed to obtain answer via API.",)
    JUDGE_FAIL_MARKERS = ("Failed to obtain answer via API.",)

    def __init__(self, dataset="x", skip_noimg=True):
        self.dataset_name = dataset
        data = self.load_data(dataset)
        data["index"] = [int(x) for x in data["index"]]
        self.data = data
        self.post_build(dataset)

    @abstractmethod
    def evaluate(self, eval_file, **judge_kwargs): ...

    @classmethod
    def report_primary_metric(cls, metrics):
        return {}


class Other(ImageBaseDataset):
    TYPE = "VQA"

    @classmethod
    def supported_datasets(cls):
        return ["Other"]


IMAGE_DATASET = [Other]
DATASET_CLASSES = IMAGE_DATASET + []
SUPPORTED_DATASETS = ["Other"]
__all__ = ["build_dataset"]


def build_dataset(name):
    return next(cls for cls in DATASET_CLASSES if name in cls.supported_datasets())(dataset=name)
"""
RUN = """
import csv, json, sys
from vlmeval.dataset import build_dataset
import vlmeval.dataset as package

name, judge, url, prediction = sys.argv[1:]
dataset = build_dataset(name)
message = dataset.build_prompt(dataset.data.iloc[0])
table = dataset.data.head(4).copy()
table["prediction"] = [prediction] * 4
path = f"m_{name}.tsv"
table.to_csv(path, sep="\\t", index=False, encoding="utf-8", quoting=csv.QUOTE_ALL)
arguments = {"nproc": 4, "verbose": False, "retry": None, "timeout": 600, "api_base": url + "/chat/completions"}
found = dataset.evaluate(path, model=judge or dataset.DEFAULT_JUDGE, key="sk-secret", **arguments)
print(json.dumps({
    "found": found,
    "primary": dataset.report_primary_metric(found),
    "failed": dataset.report_judge_err(path, total_samples=4, judge_model=judge),
    "force": dataset.force_use_dataset_prompt,
    "types": [part["type"] for part in message],
    "lists": [len(package.IMAGE_DATASET), len(package.DATASET_CLASSES), len(package.SUPPORTED_DATASETS)],
    "names": package.__all__,
}))
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    package = tmp_path / "vlmeval" / "dataset"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").write_text("from .dataset import *\n")
    (package / "__init__.py").write_text(BASE)
    (tmp_path / "run.py").write_text(RUN)
    made_mme.write(tmp_path / "data")
    return tmp_path


def start(checkout: Path, *command: str, **more: str) -> subprocess.CompletedProcess[str]:
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(checkout),
        "PYTHONPATH": f"{ROOT / 'src'}:{checkout}",
        "FIN_TASKS_CACHE": str(checkout / "cache"),
        "FIN_TASKS_DATA": str(checkout / "data"),
        **more,
    }
    return subprocess.run(
        [sys.executable, *command], cwd=checkout, env=environ, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("module", [(), ("-m", "fin_tasks.adapters.vlmevalkit")])
def test_a_checkout_finds_and_scores_our_data_sets(checkout: Path, module: tuple[str, ...]) -> None:
    with serve(lambda _: completion("5")) as served:
        arguments = ("MMEFinance", "judge", served.base_url, "N/A")
        # without the autoload the module registers the data sets; it finds run.py beside the package
        done = start(checkout, *(module or ("run.py",)), *arguments, **({"FIN_TASKS_AUTOLOAD": "0"} if module else {}))
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["found"]["overall"] == 100.0
    assert told["found"]["n"] == 4
    assert told["primary"] == {"overall": 100.0, "overall_paper": 100.0}
    assert told["failed"] == {"failed": 0, "total": 4}
    assert told["force"] is True
    assert told["types"] == ["image", "text"]
    assert told["lists"] == [4, 4, 16]
    assert set(told["names"]) == {"build_dataset", "MMEFinance", "XFinBench", "DynoStock"}
    assert all(headers["authorization"] == "Bearer sk-secret" for headers in served.headers)
    assert "sk-secret" not in done.stdout + done.stderr
    results = {path.name for path in checkout.iterdir() if path.name.startswith("m_")}
    ends = ("overall.csv", "category.csv", "type.csv", "style.csv", "items.jsonl", "score.json")
    assert {f"m_MMEFinance_judge_{end}" for end in ends} <= results
    for path in (path for path in checkout.rglob("*") if path.is_file() and path.name != "run.py"):
        assert b"sk-secret" not in path.read_bytes(), path


def test_the_default_judge_is_the_rubrics(checkout: Path) -> None:
    from fin_tasks.judging.old_rubric import load_rubric

    with serve(lambda _: completion("5")) as served:
        done = start(checkout, "run.py", "MMEFinance_CN_NA", "", served.base_url, "1")
    assert done.returncode == 0, done.stderr
    default = load_rubric("mme_finance_zh").default_model
    assert {body["model"] for body in served.bodies} == {default} == {load_rubric("mme_finance_en").default_model}


def test_an_option_that_the_data_set_fixes(checkout: Path) -> None:
    done = start(checkout, "run.py", "MMEFinance", "", "http://127.0.0.1:9/v1", "1", FIN_TASKS_METADATA='{"na": true}')
    assert done.returncode == 1
    assert "MMEFinance: FIN_TASKS_METADATA sets na, which this data set fixes" in done.stderr


def test_an_unknown_layout_warns_and_still_imports(checkout: Path) -> None:
    (checkout / "vlmeval" / "dataset" / "__init__.py").write_text("nothing = 1\n")
    done = start(checkout, "-c", "import vlmeval.dataset; print('imported')")
    assert done.stdout.strip() == "imported"
    assert "RuntimeWarning: fin-tasks could not add its data sets to VLMEvalKit" in done.stderr


def kit_with(checkout: Path, names: list[str], *, its_class: str = "Other") -> None:
    """Give the kit's own data sets these names."""
    source = BASE.replace('["Other"]', repr(names)).replace("Other", its_class)
    (checkout / "vlmeval" / "dataset" / "__init__.py").write_text(source)


def test_names_the_kit_has_itself_stay_the_kits(checkout: Path) -> None:
    kit_with(checkout, ["MMEFinance"])
    code = """
import vlmeval.dataset as package
print(package.SUPPORTED_DATASETS.count("MMEFinance"), package.MMEFinance.supported_datasets())
print([cls.__name__ for cls in package.DATASET_CLASSES if "MMEFinance" in cls.supported_datasets()])
"""
    done = start(checkout, "-c", code)
    first, second = done.stdout.splitlines()
    assert first == "1 ['MMEFinance_CN', 'MMEFinance_NA', 'MMEFinance_CN_NA']", done.stderr
    assert second == "['Other']"
    assert "has MMEFinance of its own" in done.stderr


def test_a_class_the_kit_has_itself_stays_the_kits(checkout: Path) -> None:
    kit_with(checkout, ["Theirs"], its_class="MMEFinance")
    code = """
import vlmeval.dataset as package
print(package.MMEFinance.__module__, package.MMEFinance.supported_datasets(), "MMEFinance" in package.__all__)
print([cls.__module__ for cls in package.DATASET_CLASSES if "MMEFinance_CN" in cls.supported_datasets()])
import fin_tasks.adapters.vlmeval_datasets as ours
from fin_tasks.adapters.vlmeval_register import register
before = list(package.SUPPORTED_DATASETS), list(package.DATASET_CLASSES)
register(package, ours.DATASETS)
print(before == (package.SUPPORTED_DATASETS, package.DATASET_CLASSES))
"""
    done = start(checkout, "-c", code)
    assert done.stdout.splitlines() == [
        "vlmeval.dataset ['Theirs'] False",
        "['fin_tasks.adapters.vlmeval_datasets']",
        "True",
    ], done.stderr
    assert "has a class MMEFinance of its own" in done.stderr


def test_all_names_taken_leaves_the_kit_as_it_is(checkout: Path) -> None:
    kit_with(checkout, ["XFinBench_MCQ_V"])
    code = "import vlmeval.dataset as d; print(hasattr(d, 'XFinBench'), len(d.DATASET_CLASSES))"
    assert start(checkout, "-c", code).stdout.strip() == "False 3"


def test_warnings_as_errors_stop_no_import(checkout: Path) -> None:
    kit_with(checkout, ["MMEFinance"])
    code = "import vlmeval.dataset as package; print(len(package.SUPPORTED_DATASETS))"
    done = start(checkout, "-c", code, PYTHONWARNINGS="error::RuntimeWarning")
    assert done.stdout.strip() == "15", done.stderr
    assert "has MMEFinance of its own" in done.stderr


def test_without_the_kit_the_module_says_how_to_get_it(tmp_path: Path) -> None:
    done = start(tmp_path, "-m", "fin_tasks.adapters.vlmevalkit", "--data", "MMEFinance")
    assert done.returncode == 1
    assert "pip install 'fin-tasks[vlmevalkit]'" in done.stderr
