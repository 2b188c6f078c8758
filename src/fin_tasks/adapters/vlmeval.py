"""Our data sets in VLMEvalKit, packaged or a checkout. Importing this module registers them.

Documents, prompts and scores are those of the lm-eval tasks, and results are a run folder in lm-eval's format.
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
import yaml
from tqdm import tqdm
from vlmeval.dataset import ImageBaseDataset

from fin_tasks import report
from fin_tasks.adapters.autoload import warn
from fin_tasks.adapters.vlmeval_responses import Responses, watch
from fin_tasks.benchmarks.mme_finance.multi_turn import list_of
from fin_tasks.benchmarks.mme_finance.score import judge_item
from fin_tasks.benchmarks.mme_finance.upstream_judge import rubric_named
from fin_tasks.benchmarks.scored_task import VARIANTS, score_task
from fin_tasks.errors import ConfigError, FetchError
from fin_tasks.judging.item import no_response
from fin_tasks.judging.judge import JudgeModel, check_failures, judge_from, judge_items
from fin_tasks.judging.rubric import Rubric
from fin_tasks.report.run_folder import write_run
from fin_tasks.report.values import value_of
from fin_tasks.resources import task_yaml_dir
from fin_tasks.settings import OPENAI, Settings

__all__ = ["DynoStock", "FinDataset", "MMEFinance", "MMEFinanceMultiTurn", "XFinBench", "register"]

_IMAGE = "<image>\n"  # where lm-eval puts the picture
_KEY = "FIN_TASKS_GIVEN_KEY"  # names a key that stands in the kit's arguments; kept in memory only
_OF_THE_KIT = ("verbose", "retry", "wait", "use_vllm", "use_verifier")  # what it adds to a judge's arguments
_PICTURES = ("image_path", "figure_path", "chart")
_SHOWN = ("capabilities", "category", "image_type", "image_style", "background", "ticker", "window", "signal")
Doc = Mapping[str, Any]
Judging = tuple[JudgeModel, Rubric, Settings]


class FinDataset(ImageBaseDataset):  # type: ignore[misc]
    """What our data sets share; `TASKS` maps their names to tasks of lm-eval."""

    MODALITY = "IMAGE"
    TYPE = "QA"  # none of the types for which models bring prompts of their own
    DATASET_URL: ClassVar[Mapping[str, str]] = {}
    force_use_dataset_prompt = True
    TASKS: ClassVar[Mapping[str, str]]

    @classmethod
    def supported_datasets(cls) -> list[str]:
        """Name the data sets."""
        return list(cls.TASKS)

    def load_data(self, dataset: str) -> pd.DataFrame:
        """Return the questions as the kit wants them; pictures are named by absolute path."""
        if dataset not in self.TASKS:
            raise ConfigError(f"VLMEvalKit: expected one of {', '.join(self.TASKS)}, got {dataset!r}.")
        (file,) = task_yaml_dir().rglob(f"{self.TASKS[dataset]}.yaml")
        self.options = yaml.load(file.read_text(encoding="utf-8"), Loader=_TaskFile)["dataset_kwargs"]  # noqa: S506
        self.benchmark, metadata = file.parent.name, Settings.from_environ().metadata
        if fixed := sorted(metadata.keys() & {*self.options, "blank_image"}):
            raise ConfigError(
                f"{dataset}: FIN_TASKS_METADATA sets {', '.join(fixed)}, which this data set fixes. Take the data set "
                f"with the value you want: {', '.join(self.TASKS)}."
            )
        load = importlib.import_module(f"fin_tasks.benchmarks.{self.benchmark}.data").load
        try:
            (documents,) = load(**metadata, **self.options).values()
        except FetchError as error:
            hint = """FIN_TASKS_METADATA='{"source": "sample"}' takes the packaged sample."""
            raise FetchError(f"{error} {hint}") from None
        self.provenance = json.loads(documents.info.description)
        index = "index" if self.TYPE == "MT" else "id"
        self._rows = [list(docs) for _, docs in groupby(documents.to_list(), lambda doc: doc[index])]
        more = [{name: _cell(doc[name]) for name in _SHOWN if name in doc} for doc, *_ in self._rows]
        columns = zip(self._rows, more, strict=True)
        return pd.DataFrame([{"index": docs[0][index], **self._columns(docs), **one} for docs, one in columns])

    def post_build(self, dataset: str) -> None:
        """Find documents by the index that the kit makes of ours; a conversation has one for each turn."""
        self.docs = dict(zip(map(str, self.data["index"]), self._rows, strict=True))
        self.responses = Responses(dataset, self.data, map(_asked, self._rows), self.provenance)

    def build_prompt(self, line: Any) -> list[dict[str, Any]]:
        """Return a row's picture and prompt."""
        (doc,) = self._docs_of(line)
        return [{"type": "image", "value": _pictures(doc)[0]}, {"type": "text", "value": _text(doc)}]

    def evaluate(self, eval_file: str, **judge_kwargs: Any) -> dict[str, Any]:
        """Score the predictions in a file, and write a run folder and a summary beside it."""
        path, task, judging = Path(eval_file).absolute(), self.TASKS[self.dataset_name], self._judging(judge_kwargs)
        said = [judging[0].model, judging[1].name, "" if judging[0].picture else "no_picture"] if judging else []
        stem = re.sub(r"[^\w.-]+", "_", "_".join(filter(None, [path.stem, *said])))
        folder, summary = path.with_name(f"{stem}_run"), path.with_name(f"{stem}_summary.json")
        shutil.rmtree(folder, ignore_errors=True)  # so that nobody takes an earlier score for that of a run that fails
        summary.unlink(missing_ok=True)

        found = self.responses.read(path)
        docs = [doc for index in found for doc in self.docs[index]]
        texts = [text for index in found for text in self._texts(index, found[index])]
        failed = [at for at, text in enumerate(texts) if text.strip() and no_response(text)]
        given = _judged(docs, texts, *judging) if judging else texts
        scored = score_task(self.benchmark, task, docs, [[one] for one in given], options=self.options, failed=failed)
        kit = {"vlmeval_version": _kit_version()}
        write_run(
            folder,
            [replace(scored, responses=[[text] for text in texts])],
            model=path.stem.removesuffix(f"_{self.dataset_name}"),
            made_by="VLMEvalKit",
            provenance={task: self.provenance},
            metadata={"judge": {**judging[0].facts(judging[1]), "usage": judging[0].spent()}} if judging else None,
            facts=kit,
        )
        totals: dict[str, Any] = {name.replace(",", "_"): value for name, value in scored.totals().items()}
        made, main = report.read([folder]), next(iter(scored.metrics))
        for variant in VARIANTS:
            interval = value_of(made.rows_of(made.runs[0].tasks[0], variant), main, self.benchmark)
            for end, bound in (("low", interval.low), ("high", interval.high)):
                totals[f"{main}_{variant}_{end}"] = bound if bound == bound else None
        totals |= {"n": len(docs), "missing": sum(map(len, self._rows)) - len(docs)}
        summary.write_text(json.dumps({"task": task, **totals, **kit}, indent=2) + "\n", encoding="utf-8")
        return totals

    @classmethod
    def report_primary_metric(cls, metrics: Mapping[str, Any] | None) -> dict[str, float]:
        """Name the headline for the kit's summary."""
        names = ("score_paper", "score_robust", "acc_paper", "acc_robust")
        return {name: float(metrics[name]) for name in names if metrics and metrics.get(name) is not None}

    @classmethod
    def report_judge_err(cls, *_: Any, total_samples: int | None, **more: Any) -> dict[str, int | None]:
        """Count all rows if the evaluation failed; the metric `judge_error` says more."""
        return {"failed": total_samples if more.get("error_message") else 0, "total": total_samples}

    def _docs_of(self, line: Any) -> list[Doc]:
        return self.docs[str((self.data.iloc[line] if isinstance(line, int) else line)["index"])]

    def _columns(self, docs: list[Doc]) -> dict[str, Any]:
        (doc,) = docs
        told = {"question": doc.get("question") or _text(doc), "answer": doc.get("answer") or doc["target"]}
        return {**told, "image_path": _pictures(doc)[0]}

    def _texts(self, index: str, response: Any) -> list[str]:
        return [str(response)]

    def _judging(self, arguments: Mapping[str, Any]) -> Judging | None:
        return None


class XFinBench(FinDataset):
    """XFinBench's multiple-choice questions about figures."""

    TASKS: ClassVar[Mapping[str, str]] = {"XFinBench_MCQ_V": "xfinbench_mcq_visual"}


class DynoStock(FinDataset):
    """DynoStock's forecasts from charts, with a statement that leans one way."""

    TASKS: ClassVar[Mapping[str, str]] = {
        f"DynoStock_{bias.capitalize()}_W{window}": f"dynostock_{bias}_w{window}"
        for bias in ("recency", "authority")
        for window in (4, 8, 12, 16, 20)
    }


class MMEFinance(FinDataset):
    """MME-Finance, scored by a judge except for its questions of yes or no."""

    DEFAULT_JUDGE = "gpt-4o"
    TASKS: ClassVar[Mapping[str, str]] = {
        "MMEFinance": "mme_finance_en",
        "MMEFinance_CN": "mme_finance_zh",
        "MMEFinance_NA": "mme_finance_en_na",
        "MMEFinance_CN_NA": "mme_finance_zh_na",
        "MMEFinance_Binary": "mme_finance_binary_zh",
    }

    def _judging(self, arguments: Mapping[str, Any]) -> Judging | None:
        if self.options.get("part") == "binary":
            return None
        settings, language = Settings.from_environ(), self.options["language"]
        own = "mme_finance_mt_zh" if self.TYPE == "MT" else f"mme_finance_{language}"
        told = {name: value for name, value in arguments.items() if value is not None and name not in _OF_THE_KIT}
        rubric = told.pop("rubric", None) or settings.metadata.get("rubric") or own
        workers, url, key = told.pop("nproc", 4), told.pop("api_base", None), told.get("key")
        named = {name: value for name, value in settings.metadata.items() if name.startswith("judge_")}
        if not named.get("judge_base_url") and settings.judge_base_urls == (OPENAI,):
            url = url or settings.openai_api_base
        if url:
            told.setdefault("base_url", url.replace("/chat/completions", ""))
        if key:
            told["key"] = key if key.endswith("_KEY") else _KEY  # a variable's name, or the key
            settings = replace(settings, api_keys={**settings.api_keys, _KEY: key})
        told = {f"judge_{name}": value for name, value in {"concurrency": workers, **told}.items()}
        judge = judge_from({"judge_model": self.DEFAULT_JUDGE, **named, **told}, settings)
        if judge is None:
            raise ConfigError("--judge: expected the name of a model, got none.")
        place = {name: settings.metadata[name] for name in ("source", "data_dir") if name in settings.metadata}
        return judge, rubric_named(rubric, language=language, **place), settings


class MMEFinanceMultiTurn(MMEFinance):
    """MME-Finance's conversations: a row is a conversation, and the kit asks its questions one after the other."""

    TYPE = "MT"
    TASKS: ClassVar[Mapping[str, str]] = {"MMEFinance_MT": "mme_finance_mt_zh"}

    def build_prompt(self, line: Any) -> list[dict[str, Any]]:
        """Return the questions with their pictures; in place of the answers the kit puts the model's own."""
        messages: list[dict[str, Any]] = []
        for doc in self._docs_of(line):
            content, new = [], iter(_pictures(doc)[-doc["prompt"].count(_IMAGE) :])
            for place, text in enumerate(doc["prompt"].split(_IMAGE)):
                content += [{"type": "image", "value": next(new)}] if place else []
                content += [{"type": "text", "value": text}] if text else []
            answer = [{"type": "text", "value": doc["answer"]}]
            messages += [{"role": "user", "content": content}, {"role": "assistant", "content": answer}]
        return messages

    def _columns(self, docs: list[Doc]) -> dict[str, Any]:
        told = {name: json.dumps([doc[name] for doc in docs], ensure_ascii=False) for name in ("question", "answer")}
        return {**told, "image_path": _pictures(docs[-1])}

    def _texts(self, index: str, response: Any) -> list[str]:
        said = response if isinstance(response, list) else list_of(str(response)) or [str(response)]
        return [*map(str, said), *[""] * len(self.docs[index])][: len(self.docs[index])]


def _judged(docs: Sequence[Doc], texts: Sequence[str], judge: JudgeModel, rubric: Rubric, settings: Settings) -> Any:
    items = [judge_item(doc, text) for doc, text in zip(docs, texts, strict=True)]
    with tqdm(total=len(items), desc="Judging", unit="response") as bar:
        judged = judge_items(items, rubric, judge, settings=settings, on_done=lambda done: bar.update(done - bar.n))
    check_failures(judged, rubric, judge.max_failed)
    return judged


def register(package: Any, classes: Sequence[type[FinDataset]]) -> None:
    """Add data sets to `vlmeval.dataset`; those that the kit has itself stay the kit's."""
    for cls in classes:
        if taken := cls.TASKS.keys() & set(package.SUPPORTED_DATASETS):
            warn(f"this VLMEvalKit has {', '.join(sorted(taken))} of its own, and uses them instead of ours.")
        package.DATASET_CLASSES.append(cls)
        package.SUPPORTED_DATASETS.extend(name for name in cls.TASKS if name not in taken)
        vars(package).setdefault(cls.__name__, cls)  # a --config names classes


class _TaskFile(yaml.SafeLoader):
    """A task's file, without the functions it names."""


_TaskFile.add_constructor("!function", lambda *_: None)


def _kit_version() -> str:
    kit = importlib.import_module("vlmeval")
    root = Path(str(kit.__file__)).resolve().parents[1]
    if root.name == "site-packages":
        name = packages_distributions()["vlmeval"][0]
        return f"{name} {version(name)}"
    commit = sys.modules["vlmeval.smp"].githash(digits=8) if (root / ".git").exists() else "unknown"
    return f"vlmeval {kit.__version__}, commit {commit}"


def _text(doc: Doc) -> str:
    return "\n\n".join(filter(None, (doc["system"], doc["prompt"].removeprefix(_IMAGE))))


def _pictures(doc: Doc) -> list[str]:
    return doc.get("image_paths") or [doc[name] for name in _PICTURES if name in doc]


def _cell(value: Any) -> Any:
    return ", ".join(map(str, value)) if isinstance(value, list) else "" if value is None else value


def _asked(docs: Sequence[Doc]) -> str:
    pictures = [Path(one) for doc in docs for one in _pictures(doc)]
    told = [*map(_text, docs), *(f"{one.name} {one.stat().st_size}" for one in pictures)]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16]


register(sys.modules["vlmeval.dataset"], (MMEFinance, MMEFinanceMultiTurn, XFinBench, DynoStock))
watch()
