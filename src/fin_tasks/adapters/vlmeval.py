"""Our lm-eval tasks as data sets of VLMEvalKit, packaged or a checkout. Importing this module registers them.

The kit saves predictions in tables and reads them back on `--reuse`: `N/A` comes back as missing, `007.50` as a number,
and a cell of a spreadsheet holds 32,767 characters. It also knows questions by index alone, and other data have the
same indices. So a table's responses also go to `<model>_<data set>_responses.jsonl`, each with a hash of what was
asked, and the kit loads them from there. In its pickles the hash stands beside the response.
"""

import hashlib
import importlib
import json
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import packages_distributions, version
from itertools import groupby
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd
from vlmeval.dataset import ImageBaseDataset

from fin_tasks import report
from fin_tasks.adapters.task_file import TaskFile, pictures_of, rubric_of
from fin_tasks.benchmarks.scored_task import VARIANTS, score_task
from fin_tasks.errors import ConfigError, DataError, FetchError
from fin_tasks.judging.item import no_response
from fin_tasks.judging.judge import JudgeModel, check_failures, judge_from, judge_items
from fin_tasks.judging.rubric import Rubric
from fin_tasks.report.run_folder import write_run
from fin_tasks.report.values import value_of
from fin_tasks.settings import Settings

_IMAGE = "<image>\n"  # where lm-eval puts the picture
_KEY = "FIN_TASKS_GIVEN_KEY"  # names a key that stands in the kit's arguments; kept in memory only
_OF_THE_KIT = (
    "verbose",
    "retry",
    "wait",
    "use_vllm",
    "use_verifier",
)  # what it adds to a judge's arguments
_SHOWN = (
    "capabilities",
    "category",
    "image_type",
    "image_style",
    "background",
    "ticker",
    "window",
    "signal",
)
Doc = Mapping[str, Any]
_open: "dict[str, Responses]" = {}


class Responses:
    """The responses to one data set, in all files that the kit uses in this process."""

    def __init__(
        self, dataset: str, asked: Mapping[Any, str], provenance: Mapping[str, Any]
    ) -> None:
        self.provenance = provenance
        # Hashes of all that the model gets; some of the kit's pickles have indices as text.
        self.asked = {**asked, **{str(index): digest for index, digest in asked.items()}}
        _open[dataset] = self

    def write(self, path: Path, table: pd.DataFrame) -> None:
        """Write the responses of a table beside it."""
        lines: list[dict[str, Any]] = [{"provenance": self.provenance}]
        for index, said in zip(table["index"], table["prediction"], strict=True):
            whole = said if isinstance(said, str | list) else str(said)
            lines.append({"index": index, "asked": self.asked.get(index), "prediction": whole})
        text = "".join(json.dumps(line) + "\n" for line in lines)
        path.with_name(f"{path.stem}_responses.jsonl").write_text(text, encoding="utf-8")

    def read(self, path: Path) -> dict[Any, Any]:
        """Return the responses to the questions as they are now, by index, of this run or else of the newest one."""
        files = path.parent.parent.glob(f"*/{path.stem}_responses.jsonl")
        file = max(
            files, key=lambda file: (file.parent == path.parent, file.stat().st_mtime), default=None
        )
        lines = file.read_text(encoding="utf-8").splitlines()[1:] if file else []
        found = {one["index"]: one for one in map(json.loads, lines)}
        return {
            index: one["prediction"]
            for index, one in found.items()
            if one["asked"] == self.asked.get(index)
        }


class FinTasks(ImageBaseDataset):  # type: ignore[misc]
    """Our data sets with a picture and a question in each row; `TASKS` maps their names to tasks of lm-eval."""

    TYPE = "QA"  # none of the types for which models bring prompts of their own
    JUDGE_FAIL_MARKERS = ()  # a judge's failures are in `judge_error`; the kit would count those of the model
    force_use_dataset_prompt = True
    TASKS: ClassVar[Mapping[str, str]] = {
        "MMEFinance": "mme_finance_en",
        "MMEFinance_CN": "mme_finance_zh",
        "MMEFinance_NA": "mme_finance_en_na",
        "MMEFinance_CN_NA": "mme_finance_zh_na",
        "MMEFinance_Binary": "mme_finance_binary_zh",
        "XFinBench_MCQ_V": "xfinbench_mcq_visual",
        **{
            f"DynoStock_Recency_W{window}": f"dynostock_recency_w{window}"
            for window in (4, 8, 12, 16, 20)
        },
        **{
            f"DynoStock_Authority_W{window}": f"dynostock_authority_w{window}"
            for window in (4, 8, 12, 16, 20)
        },
    }

    @classmethod
    def supported_datasets(cls) -> list[str]:
        """Name the data sets."""
        return list(cls.TASKS)

    def load_data(self, dataset: str) -> pd.DataFrame:
        """Return the questions as the kit wants them, a row for each document or conversation."""
        self.task = TaskFile(self.TASKS[dataset])
        try:
            documents, self.provenance = self.task.load(Settings.from_environ().metadata)
        except FetchError as error:
            sample = json.dumps({"source": "sample"})
            raise FetchError(
                f"{error} FIN_TASKS_METADATA='{sample}' takes the packaged sample."
            ) from None
        index = "index" if self.TYPE == "MT" else "id"
        rows = [list(docs) for _, docs in groupby(documents, lambda doc: doc[index])]
        self.docs = {str(docs[0][index]): docs for docs in rows}
        return pd.DataFrame([{"index": docs[0][index], **_columns(docs)} for docs in rows])

    def post_build(self, dataset: str) -> None:
        """Watch the responses to what the kit made of our rows."""
        asked = {
            index: _asked(docs)
            for index, docs in zip(self.data["index"], self.docs.values(), strict=True)
        }
        self.responses = Responses(dataset, asked, self.provenance)

    def build_prompt(self, line: Any) -> list[dict[str, Any]]:
        """Return a row's picture and prompt."""
        (doc,) = self.docs[str(line["index"])]
        return [
            {"type": "image", "value": pictures_of(doc)[0]},
            {"type": "text", "value": _text(doc)},
        ]

    def evaluate(self, eval_file: str, **judge_kwargs: Any) -> dict[str, Any]:
        """Score the responses to a prediction file, and write a run folder and a summary beside it."""
        path, judge, settings = Path(eval_file).absolute(), None, Settings.from_environ()
        name, metadata = path.stem, dict[str, Any]()
        if self.task.judge:
            judge, rubric, settings = self._judge(judge_kwargs)
            name = f"{path.stem}_{judge.model}_{rubric.name}"
        stem = re.sub(r"[^\w.-]+", "_", name)
        folder, summary = path.with_name(f"{stem}_run"), path.with_name(f"{stem}_summary.json")
        shutil.rmtree(
            folder, ignore_errors=True
        )  # so that nobody takes an earlier score for that of a run that fails
        summary.unlink(missing_ok=True)

        docs, texts = self._answered(path)
        given: Sequence[Any] = texts
        if judge:
            items = [
                self.task.rules.judge_item(doc, text) for doc, text in zip(docs, texts, strict=True)
            ]
            given = judge_items(items, rubric, judge, settings=settings)
            check_failures(given, rubric, judge.max_failed)
            metadata = {"judge": {**judge.facts(rubric), "usage": judge.spent()}}
        scored = score_task(
            self.task.benchmark,
            self.task.name,
            docs,
            [[one] for one in given],
            options=self.task.options,
            failed=[
                place for place, text in enumerate(texts) if text.strip() and no_response(text)
            ],
        )
        kit = {"vlmeval_version": _kit_version()}
        write_run(
            folder,
            [replace(scored, responses=[[text] for text in texts])],
            model=path.stem.removesuffix(f"_{self.dataset_name}"),
            made_by="VLMEvalKit",
            provenance={self.task.name: self.provenance},
            metadata=metadata,
            facts=kit,
        )
        totals = {name.replace(",", "_"): value for name, value in scored.totals().items()}
        totals |= _headline(folder, next(iter(scored.metrics)))
        totals |= {"n": len(docs), "missing": sum(map(len, self.docs.values())) - len(docs)}
        summary.write_text(
            json.dumps({"task": self.task.name, **totals, **kit}, indent=2) + "\n", encoding="utf-8"
        )
        return totals

    def _answered(self, path: Path) -> tuple[list[Doc], list[str]]:
        """Return the documents that the model was asked, and its responses."""
        docs: list[Doc] = []
        texts: list[str] = []
        for index, said in self.responses.read(path).items():
            of_row = self.docs[str(index)]
            several = [*map(str, said if isinstance(said, list) else [said]), *[""] * len(of_row)]
            docs += of_row
            texts += several[: len(of_row)]
        if not docs:
            raise DataError(
                f"{path.stem}_responses.jsonl: expected responses to the questions of {self.dataset_name}, as loaded "
                "now, in any run's folder, found none. Ask the model again, or score a table with `fin-tasks judge`."
            )
        return docs, texts

    def _judge(self, arguments: Mapping[str, Any]) -> tuple[JudgeModel, Rubric, Settings]:
        """Return the judge that the kit's arguments and FIN_TASKS_METADATA name, its rubric, and where its key is."""
        settings = Settings.from_environ()
        told = {
            name: value
            for name, value in arguments.items()
            if value is not None and name not in _OF_THE_KIT
        }
        metadata = {
            "judge_model": "gpt-4o",
            "judge_concurrency": told.pop("nproc", 4),
            **settings.metadata,
        }
        address, key = told.pop("api_base", None), told.get("key")
        if address:
            told.setdefault("base_url", address.replace("/chat/completions", ""))
        if key:
            told["key"] = key if key.endswith("_KEY") else _KEY  # a variable's name, or the key
            settings = replace(settings, api_keys={**settings.api_keys, _KEY: key})
        metadata |= {
            name if name == "rubric" else f"judge_{name}": value for name, value in told.items()
        }
        judge = judge_from(metadata, settings)
        if judge is None:
            raise ConfigError("--judge: expected the name of a model, got none.")
        return judge, rubric_of(self.task.judge or {}, self.task.options, metadata), settings


class FinTasksConversations(FinTasks):
    """MME-Finance's conversations: a row is a conversation, and the kit asks its questions one after the other."""

    TYPE = "MT"
    TASKS: ClassVar[Mapping[str, str]] = {"MMEFinance_MT": "mme_finance_mt_zh"}

    def build_prompt(self, line: Any) -> list[dict[str, Any]]:
        """Return the questions with their pictures; in place of the answers the kit puts the model's own."""
        messages: list[dict[str, Any]] = []
        for doc in self.docs[str(line["index"])]:
            first, *texts = doc["prompt"].split(_IMAGE)
            content = [{"type": "text", "value": first}]
            for picture, text in zip(pictures_of(doc)[-len(texts) :], texts, strict=False):
                content += [{"type": "image", "value": picture}, {"type": "text", "value": text}]
            answer = [{"type": "text", "value": doc["answer"]}]
            messages.append(
                {"role": "user", "content": [part for part in content if part["value"]]}
            )
            messages.append({"role": "assistant", "content": answer})
        return messages


def _columns(docs: Sequence[Doc]) -> dict[str, Any]:
    """Return the columns of a row of documents: texts as they are, or as a JSON list for a conversation."""
    questions = [doc.get("question") or _text(doc) for doc in docs]
    answers = [doc.get("answer") or doc["target"] for doc in docs]
    shown = {name: docs[0][name] for name in _SHOWN if name in docs[0]}
    return {
        "question": questions[0] if len(docs) == 1 else json.dumps(questions, ensure_ascii=False),
        "answer": answers[0] if len(docs) == 1 else json.dumps(answers, ensure_ascii=False),
        "image_path": pictures_of(docs[-1]),
        **{
            name: ", ".join(map(str, one)) if isinstance(one, list) else one
            for name, one in shown.items()
        },
    }


def _text(doc: Doc) -> str:
    return "\n\n".join(filter(None, (doc["system"], doc["prompt"].removeprefix(_IMAGE))))


def _asked(docs: Sequence[Doc]) -> str:
    """Hash all that the model gets; pictures count by name and size."""
    pictures = [Path(one) for doc in docs for one in pictures_of(doc)]
    told = [*map(_text, docs), *(f"{one.name} {one.stat().st_size}" for one in pictures)]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16]


def _headline(folder: Path, metric: str) -> dict[str, float | None]:
    """Return a metric's 95 % interval in a run folder, and as `overall` what the kit's own summary shows."""
    made, found = report.read([folder]), dict[str, float]()
    for variant in reversed(VARIANTS):
        value = value_of(made.rows_of(made.runs[0].tasks[0], variant), metric)
        found |= {
            f"{metric}_{variant}_low": value.low,
            f"{metric}_{variant}_high": value.high,
            "overall": value.mean,
        }
    return {name: number if number == number else None for name, number in found.items()}


def _kit_version() -> str:
    kit = importlib.import_module("vlmeval")
    root = Path(str(kit.__file__)).resolve().parents[1]
    if root.name == "site-packages":
        name = packages_distributions()["vlmeval"][0]
        return f"{name} {version(name)}"
    commit = sys.modules["vlmeval.smp"].githash(digits=8) if (root / ".git").exists() else "unknown"
    return f"vlmeval {kit.__version__}, commit {commit}"


def _watch() -> None:
    """Make the kit keep what it saves of our data sets, and load what was kept."""
    theirs = sys.modules["vlmeval.smp.file"]
    load, dump = theirs.load, theirs.dump

    def load_whole(f: Any, fmt: Any = None) -> Any:
        ours, path = _responses_of(f)
        if ours is None or not path.is_file():
            return load(f, fmt)
        if path.suffix == ".pkl" and isinstance(
            saved := load(f), dict
        ):  # else a table that the kit failed to write
            return {i: said for i, (asked, said) in saved.items() if asked == ours.asked.get(i)}
        return pd.DataFrame(ours.read(path).items(), columns=["index", "prediction"])

    def dump_whole(data: Any, f: Any, **kwargs: Any) -> Any:
        ours, path = _responses_of(f)
        if ours is not None and path.suffix == ".pkl":
            part = path.with_suffix(".part.pkl")
            dump({i: (ours.asked.get(i), said) for i, said in data.items()}, str(part))
            return part.replace(path)  # at once, so that a killed run leaves no half of a file
        if ours is not None and "prediction" in data:
            ours.write(path, data)
            if path.suffix == ".tsv" and not hasattr(theirs, "prepare_reuse_files"):
                # the packaged kit reads no conversations back from its table, but goes on with such a pickle
                pairs = zip(data["index"], data["prediction"], strict=True)
                whole = {
                    i: said
                    for i, said in pairs
                    if isinstance(said, list) and not any(map(no_response, said))
                }
                dump_whole(whole, path.with_name(f"{path.stem}_supp.pkl"))
        return dump(data, f, **kwargs)

    new = {load: load_whole, dump: dump_whole}
    for module in [
        module for name, module in sys.modules.items() if name.partition(".")[0] == "vlmeval"
    ]:
        for name in ("load", "dump"):
            if (own := vars(module).get(name)) in (load, dump):
                setattr(module, name, new[own])


def _responses_of(f: Any) -> tuple[Responses | None, Path]:
    path = Path(str(f)).absolute()
    stem = re.sub("_(checkpoint|supp|PREV)$", "", path.stem)
    return next((one for name, one in _open.items() if stem.endswith(f"_{name}")), None), path


_kit = sys.modules["vlmeval.dataset"]
for _cls in (FinTasks, FinTasksConversations):
    _kit.DATASET_CLASSES.append(_cls)  # after the kit's own
    _kit.SUPPORTED_DATASETS.extend(_cls.TASKS)
    vars(_kit).setdefault(_cls.__name__, _cls)  # a --config names classes
_watch()
