"""Our data sets in VLMEvalKit, packaged or a checkout. Importing this module registers them.

Documents, prompts and scores are those of the lm-eval tasks, and so are the result files: `<predictions>_run/`.
"""

import hashlib
import importlib
import json
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, distribution
from itertools import groupby
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import yaml
from tqdm import tqdm
from vlmeval.dataset import ImageBaseDataset

from fin_tasks.adapters.autoload import warn
from fin_tasks.adapters.vlmeval_responses import Responses, watch
from fin_tasks.benchmarks.mme_finance.multi_turn import list_of
from fin_tasks.benchmarks.mme_finance.score import judge_item
from fin_tasks.benchmarks.mme_finance.upstream_judge import rubric_named
from fin_tasks.benchmarks.scored_task import score_task
from fin_tasks.errors import ConfigError
from fin_tasks.judging.item import Judged, no_response
from fin_tasks.judging.judge import JudgeModel, check_failures, judge_from, judge_items
from fin_tasks.judging.rubric import Rubric
from fin_tasks.report.run_folder import write_run
from fin_tasks.resources import task_yaml_dir
from fin_tasks.settings import OPENAI, Settings
from fin_tasks.stats.means import estimate

__all__ = ["DynoStock", "FinDataset", "MMEFinance", "MMEFinanceBinary", "MMEFinanceMultiTurn", "XFinBench", "register"]

_IMAGE = "<image>\n"  # where lm-eval puts the picture
_KEY = "FIN_TASKS_GIVEN_KEY"  # names a key that stands in the kit's arguments; kept in memory only
_OF_THE_KIT = ("verbose", "retry", "wait", "use_vllm", "use_verifier")  # what it adds to a judge's arguments
Doc = Mapping[str, Any]


class FinDataset(ImageBaseDataset):  # type: ignore[misc]
    """What our data sets share: `TASKS` maps their names to tasks of lm-eval, `COLUMNS` the kit's columns to fields."""

    MODALITY = "IMAGE"
    TYPE = "QA"  # none of the types for which models bring prompts of their own
    DATASET_URL: ClassVar[Mapping[str, str]] = {}
    force_use_dataset_prompt = True
    BENCHMARK: ClassVar[str]
    TASKS: ClassVar[Mapping[str, str]]
    COLUMNS: ClassVar[Mapping[str, str]]
    HEADLINE: ClassVar[str] = "acc"

    @classmethod
    def supported_datasets(cls) -> list[str]:
        """Name the data sets."""
        return list(cls.TASKS)

    def load_data(self, dataset: str) -> pd.DataFrame:
        """Return the questions as the kit wants them; pictures are named by absolute path."""
        if dataset not in self.TASKS:
            raise ConfigError(f"VLMEvalKit: expected one of {', '.join(self.TASKS)}, got {dataset!r}.")
        file = task_yaml_dir() / self.BENCHMARK / f"{self.TASKS[dataset]}.yaml"
        self.options = yaml.load(file.read_text(encoding="utf-8"), Loader=_TaskFile)["dataset_kwargs"]  # noqa: S506
        metadata = Settings.from_environ().metadata
        if unusable := sorted(metadata.keys() & {*self.options, "blank_image"}):
            raise ConfigError(
                f"{dataset}: FIN_TASKS_METADATA sets {', '.join(unusable)}, which this data set fixes. Take the data "
                f"set with the value you want: {', '.join(self.TASKS)}."
            )
        load = importlib.import_module(f"fin_tasks.benchmarks.{self.BENCHMARK}.data").load
        (documents,) = load(**metadata, **self.options).values()
        self.provenance = json.loads(documents.info.description)
        self.rows = [list(docs) for _, docs in groupby(documents.to_list(), lambda doc: doc[self.COLUMNS["index"]])]
        return pd.DataFrame(
            [{name: self._cell(docs, field) for name, field in self.COLUMNS.items()} for docs in self.rows]
        )

    def post_build(self, dataset: str) -> None:
        """Find documents by the index that the kit makes of ours; a conversation has one for each turn."""
        self.docs = dict(zip(map(str, self.data["index"]), self.rows, strict=True))
        self.responses = Responses(dataset, self.data, map(_asked, self.rows), self.provenance)

    def build_prompt(self, line: Any) -> list[dict[str, Any]]:
        """Return a row's picture and prompt."""
        (doc,) = self._docs_of(line)
        # API models of the packaged kit add up system messages over a run, so the text stands before the question
        return [{"type": "image", "value": _pictures(doc)[0]}, {"type": "text", "value": _text(doc)}]

    def evaluate(self, eval_file: str, **judge_kwargs: Any) -> dict[str, Any]:
        """Score the predictions in a file, and write a run folder and a summary beside it."""
        path, task = Path(eval_file).absolute(), self.TASKS[self.dataset_name]
        judging = self._judging(judge_kwargs)
        stem = f"{path.stem}_{judging.label}" if judging else path.stem
        folder, summary = path.with_name(f"{stem}_run"), path.with_name(f"{stem}_summary.json")
        shutil.rmtree(folder, ignore_errors=True)  # so that nobody takes an earlier score for that of a run that fails
        summary.unlink(missing_ok=True)

        found = self.responses.read(path)
        docs = [doc for index in found for doc in self.docs[index]]
        texts = [text for index in found for text in self._texts(index, found[index])]
        failed = [
            at for at, text in enumerate(texts) if text.strip() and no_response(text)
        ]  # an empty one is an answer
        given: Sequence[Any] = judging.ask(docs, texts) if judging else texts
        scored = score_task(self.BENCHMARK, task, docs, [[o] for o in given], options=self.options, failed=failed)
        scored = replace(scored, responses=[[text] for text in texts])

        totals: dict[str, Any] = {name.replace(",", "_"): value for name, value in scored.totals().items()}
        for variant, rows in scored.values.items():
            values = np.array([row[self.HEADLINE] for row in rows], dtype=np.float64)
            bounds = estimate(
                values,
                clusters=pd.factorize(np.array([*map(_source, docs)]))[0],
                most=100.0 if self.HEADLINE == "score" else 1.0,
            )
            for end, bound in (("low", bounds.low), ("high", bounds.high)):
                totals[f"{self.HEADLINE}_{variant}_{end}"] = bound if bound == bound else None
        totals |= {"n": len(docs), "missing": sum(map(len, self.rows)) - len(docs)}
        kit = {"vlmeval_version": kit_version()}
        write_run(
            folder,
            [scored],
            model=path.stem.removesuffix(f"_{self.dataset_name}"),
            made_by="VLMEvalKit",
            provenance={task: self.provenance},
            metadata={"judge": judging.facts()} if judging else None,
            facts=kit,
        )
        told = {"dataset": self.dataset_name, "task": task, **totals, **kit}
        summary.write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
        return totals

    @classmethod
    def report_primary_metric(cls, metrics: Mapping[str, Any] | None) -> dict[str, float]:
        """Name the headline for the kit's summary."""
        names = [f"{cls.HEADLINE}_{variant}" for variant in ("paper", "robust")]
        return {name: float(metrics[name]) for name in names if metrics and metrics.get(name) is not None}

    @classmethod
    def report_judge_err(cls, *_: Any, total_samples: int | None, **more: Any) -> dict[str, int | None]:
        """Count all rows as failed if the evaluation failed; `judge_error` of the metrics says more."""
        return {"failed": total_samples if more.get("error_message") else 0, "total": total_samples}

    def _docs_of(self, line: Any) -> list[Doc]:
        return self.docs[str((self.data.iloc[line] if isinstance(line, int) else line)["index"])]

    def _texts(self, index: str, response: Any) -> list[str]:
        return [str(response)]

    def _cell(self, docs: list[Doc], name: str) -> Any:
        value = docs[0][name]
        return ", ".join(map(str, value)) if isinstance(value, list) else "" if value is None else value

    def _judging(self, arguments: Mapping[str, Any]) -> "_Judging | None":
        return None


class XFinBench(FinDataset):
    """XFinBench's multiple-choice questions about figures."""

    BENCHMARK = "xfinbench"
    TASKS: ClassVar[Mapping[str, str]] = {"XFinBench_MCQ_V": "xfinbench_mcq_visual"}
    COLUMNS: ClassVar[Mapping[str, str]] = {
        **{"index": "id", "question": "prompt", "answer": "ground_truth", "image_path": "figure_path"},
        "capabilities": "capabilities",
    }


class DynoStock(FinDataset):
    """DynoStock's forecasts from charts, with a statement that leans one way."""

    BENCHMARK = "dynostock"
    TASKS: ClassVar[Mapping[str, str]] = {
        f"DynoStock_{bias.capitalize()}_W{window}": f"dynostock_{bias}_w{window}"
        for bias in ("recency", "authority")
        for window in (4, 8, 12, 16, 20)
    }
    COLUMNS: ClassVar[Mapping[str, str]] = {
        **{"index": "id", "question": "prompt", "answer": "truth", "image_path": "chart"},
        **{name: name for name in ("ticker", "window", "signal", "arm")},
    }


class MMEFinanceBinary(FinDataset):
    """MME-Finance's questions of yes or no."""

    BENCHMARK = "mme_finance"
    TASKS: ClassVar[Mapping[str, str]] = {"MMEFinance_Binary": "mme_finance_binary_zh"}
    COLUMNS: ClassVar[Mapping[str, str]] = {name: name for name in ("index", "question", "answer", "image_path")}


class MMEFinance(FinDataset):
    """MME-Finance, scored by a judge."""

    BENCHMARK = "mme_finance"
    HEADLINE = "score"
    DEFAULT_JUDGE = "gpt-4o"
    RUBRIC: ClassVar[str] = "mme_finance_{language}"
    TASKS: ClassVar[Mapping[str, str]] = {
        "MMEFinance": "mme_finance_en",
        "MMEFinance_CN": "mme_finance_zh",
        "MMEFinance_NA": "mme_finance_en_na",
        "MMEFinance_CN_NA": "mme_finance_zh_na",
    }
    COLUMNS: ClassVar[Mapping[str, str]] = {
        **MMEFinanceBinary.COLUMNS,
        **{"task_category": "category", "image_type": "image_type", "image_style": "image_style"},
        "background": "background",
    }

    def _judging(self, arguments: Mapping[str, Any]) -> "_Judging":
        settings = Settings.from_environ()
        given = {"model": self.DEFAULT_JUDGE, **{k[6:]: v for k, v in settings.metadata.items() if k[:6] == "judge_"}}
        told = {name: value for name, value in arguments.items() if value is not None and name not in _OF_THE_KIT}
        named = told.pop("rubric", None) or settings.metadata.get("rubric") or self.RUBRIC.format(**self.options)
        told["concurrency"] = told.pop("nproc", 4) if "concurrency" not in told else told["concurrency"]
        url = told.pop("api_base", None)
        if url is None and "base_url" not in {*told, *given} and settings.judge_base_urls == (OPENAI,):
            url = settings.openai_api_base
        if url:
            told.setdefault("base_url", url.replace("/chat/completions", ""))
        if key := told.get("key"):
            settings = replace(settings, api_keys={_KEY: key, **settings.api_keys})
            told["key"] = key if key in settings.api_keys else _KEY
        judge = judge_from({f"judge_{name}": value for name, value in {**given, **told}.items()}, settings)
        place = {name: settings.metadata[name] for name in ("source", "data_dir") if name in settings.metadata}
        if judge is None:  # a model is named above, but not by an empty text
            raise ConfigError("--judge: expected the name of a model, got none.")
        return _Judging(judge, rubric_named(named, language=self.options["language"], **place), settings)


class MMEFinanceMultiTurn(MMEFinance):
    """MME-Finance's conversations: a row is a conversation, and the kit asks its questions one after the other."""

    TYPE = "MT"
    RUBRIC = "mme_finance_mt_zh"
    TASKS: ClassVar[Mapping[str, str]] = {"MMEFinance_MT": "mme_finance_mt_zh"}
    COLUMNS: ClassVar[Mapping[str, str]] = MMEFinanceBinary.COLUMNS

    def build_prompt(self, line: Any) -> list[dict[str, Any]]:
        """Return the questions with their pictures; in place of the answers the kit puts the model's own."""
        messages: list[dict[str, Any]] = []
        for doc in self._docs_of(line):
            texts, pictures = doc["prompt"].split(_IMAGE), _pictures(doc)
            new = pictures[len(pictures) - len(texts) + 1 :]
            parts = [{"type": "image", "value": picture} for picture in new]
            parts += [{"type": "text", "value": text} for text in texts if text]
            messages += [{"role": "user", "content": parts}]
            messages += [{"role": "assistant", "content": [{"type": "text", "value": doc["answer"]}]}]
        return messages

    def _texts(self, index: str, response: Any) -> list[str]:
        said = response if isinstance(response, list) else list_of(str(response)) or [str(response)]
        return [*map(str, said), *[""] * len(self.docs[index])][: len(self.docs[index])]

    def _cell(self, docs: list[Doc], name: str) -> Any:
        if name in ("question", "answer"):
            return json.dumps([doc[name] for doc in docs], ensure_ascii=False)
        return _pictures(docs[-1]) if name == "image_path" else docs[0][name]


@dataclass(frozen=True)
class _Judging:
    judge: JudgeModel
    rubric: Rubric
    settings: Settings

    @property
    def label(self) -> str:
        named = [self.judge.model, self.rubric.name, "" if self.judge.picture else "no_picture"]
        return re.sub(r"[^\w.-]+", "_", "_".join(filter(None, named)))

    def facts(self) -> dict[str, Any]:
        return {**self.judge.facts(self.rubric), "usage": self.judge.spent()}

    def ask(self, docs: Sequence[Doc], texts: Sequence[str]) -> list[Judged]:
        items = [judge_item(doc, text) for doc, text in zip(docs, texts, strict=True)]
        with tqdm(total=len(items), desc="Judging", unit="response") as bar:
            told: Any = {"settings": self.settings, "on_done": lambda done: bar.update(done - bar.n)}
            judged = judge_items(items, self.rubric, self.judge, **told)
        check_failures(judged, self.judge.max_failed)
        return judged


def kit_version() -> str:
    """Name the kit that runs: an installed package by its version, a checkout by version and commit."""
    kit = importlib.import_module("vlmeval")
    file = Path(str(kit.__file__)).resolve()
    for package in ("nvidia-vlmeval", "ms-vlmeval", "vlmeval"):
        with suppress(PackageNotFoundError):
            installed = distribution(package)
            if Path(str(installed.locate_file("vlmeval/__init__.py"))).resolve() == file:
                return f"{package} {installed.version}"
    in_git = (file.parents[1] / ".git").exists()
    return f"vlmeval {kit.__version__}, commit {sys.modules['vlmeval.smp'].githash(digits=8) if in_git else 'unknown'}"


def register(package: Any, classes: Sequence[type[FinDataset]]) -> None:
    """Add data sets to `vlmeval.dataset`; those that the kit has itself stay the kit's."""
    for cls in classes:
        if cls in package.DATASET_CLASSES:
            continue
        if taken := sorted(cls.TASKS.keys() & set(package.SUPPORTED_DATASETS)):
            warn(f"found that this VLMEvalKit has {', '.join(taken)} of its own, which it uses instead of ours.")
        package.DATASET_CLASSES.append(cls)
        package.SUPPORTED_DATASETS.extend(name for name in cls.TASKS if name not in taken)
        if not hasattr(package, cls.__name__):  # a --config names classes
            setattr(package, cls.__name__, cls)


class _TaskFile(yaml.SafeLoader):
    """A task's file, without the functions it names."""


_TaskFile.add_constructor("!function", lambda *_: None)


def _text(doc: Doc) -> str:
    return "\n\n".join(filter(None, (doc["system"], doc["prompt"].removeprefix(_IMAGE))))


def _pictures(doc: Doc) -> list[str]:
    return doc.get("image_paths") or [next(doc[name] for name in ("image_path", "figure_path", "chart") if name in doc)]


def _source(doc: Doc) -> str:
    return str(doc.get("ticker") or Path(_pictures(doc)[0]).name)


def _asked(docs: Sequence[Doc]) -> str:
    pictures = [Path(one) for doc in docs for one in _pictures(doc)]
    told = [*map(_text, docs), *(f"{one.name} {one.stat().st_size}" for one in pictures)]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16]


register(sys.modules["vlmeval.dataset"], (MMEFinance, MMEFinanceBinary, MMEFinanceMultiTurn, XFinBench, DynoStock))
watch()
