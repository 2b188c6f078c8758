"""Our data sets in VLMEvalKit. Importing this module registers them; it needs VLMEvalKit, of whatever making.

Documents, prompts, rubrics and scores are those of the lm-eval tasks. What differs between the kit's versions
(NVIDIA's package, a source checkout) is found by looking for it.
"""

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from vlmeval.dataset import ImageBaseDataset

from fin_tasks.adapters import autoload
from fin_tasks.adapters.vlmeval_judge import judge_of, label_of
from fin_tasks.adapters.vlmeval_register import register
from fin_tasks.adapters.vlmeval_results import ResultFiles, Saved, read_responses, task_version
from fin_tasks.adapters.vlmeval_resume import check_asked
from fin_tasks.adapters.vlmeval_table import PredictionTable
from fin_tasks.benchmarks import response_scores
from fin_tasks.benchmarks.response_scores import text_of
from fin_tasks.errors import ConfigError
from fin_tasks.judging.asked import Asked
from fin_tasks.judging.score_tables import score_tables
from fin_tasks.settings import Settings

__all__ = ["DATASETS", "DynoStock", "MMEFinance", "XFinBench"]

_NO_URL = ""

Doc = Mapping[str, Any]


class _FinDataset(ImageBaseDataset):  # type: ignore[misc]
    """What our data sets share.

    Attributes:
        TYPE: None of the types for which the kit's models have prompts of their own (`MCQ`, `VQA`, `Y/N`).
        OPTIONS: Data set to the options that its lm-eval task fixes.
        PICTURE: The documents' field with the picture's path.
        BENCHMARK: Folder of its lm-eval tasks.
        SHARED: The documents' field that names what several of them may share, and are not independent by.
        TAKEN: Names of ours that the kit has itself, and serves itself.
        force_use_dataset_prompt: Newer versions let no model replace our prompt.
    """

    MODALITY = "IMAGE"
    TYPE = "QA"
    DATASET_URL: ClassVar[Mapping[str, str]] = {}
    DATASET_MD5: ClassVar[Mapping[str, str]] = {}
    OPTIONS: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    PICTURE: ClassVar[str]
    BENCHMARK: ClassVar[str]
    SHARED: ClassVar[str]
    TAKEN: ClassVar[frozenset[str]] = frozenset()
    force_use_dataset_prompt = True

    docs: Mapping[str, dict[str, Any]]
    provenance: Mapping[str, Any]
    asked: Asked

    @classmethod
    def supported_datasets(cls) -> list[str]:
        """Name the data sets."""
        return [name for name in cls.OPTIONS if name not in cls.TAKEN]

    def load_data(self, dataset: str) -> PredictionTable:
        """Return the questions as the kit wants them: index, question, answer, image_path and what rows are counted by.

        Pictures are named by absolute path; they are neither copied nor encoded.
        """
        if dataset not in self.OPTIONS:
            raise ConfigError(f"VLMEvalKit: expected one of {', '.join(self.OPTIONS)}, got {dataset!r}.")
        documents = self._load(dataset)
        self.provenance = json.loads(documents.info.description)
        docs: list[dict[str, Any]] = documents.to_list()
        self.docs = {doc["id"]: doc for doc in docs}
        return PredictionTable([self._row(doc) for doc in docs])

    def post_build(self, dataset: str) -> None:
        """Find documents by the index that the base class makes of ours: whole numbers where all of them are."""
        self.docs = dict(zip(map(str, self.data["index"]), self.docs.values(), strict=True))
        self.asked = Asked.of(
            dataset,
            self.provenance,
            questions={index: self._row(doc)["question"] for index, doc in self.docs.items()},
            texts={index: text_of(doc) for index, doc in self.docs.items()},
        )

    def build_prompt(self, line: Any) -> list[dict[str, str]]:
        """Return a row's picture and prompt.

        What lm-eval puts into the system message stands before the question: the kit's API models gather system
        messages over a whole run.
        """
        if isinstance(line, int):
            line = self.data.iloc[line]
        doc = self.docs[str(line["index"])]
        return [{"type": "image", "value": str(doc[self.PICTURE])}, {"type": "text", "value": text_of(doc)}]

    def _load(self, dataset: str) -> Any:
        options = self.OPTIONS[dataset]
        metadata = self._metadata(Settings.from_environ())
        if twice := sorted(metadata.keys() & options.keys()):
            raise ConfigError(
                f"{dataset}: FIN_TASKS_METADATA sets {', '.join(twice)}, which this data set fixes. Choose the data "
                f"set with the value you want: {', '.join(self.OPTIONS)}."
            )
        (documents,) = self._loader()(**metadata, **options).values()
        return documents

    def _metadata(self, settings: Settings) -> dict[str, Any]:
        return {name: value for name, value in settings.metadata.items() if not name.startswith("judge_")}

    def _loader(self) -> Callable[..., Mapping[str, Any]]:
        raise NotImplementedError

    def _row(self, doc: Doc) -> dict[str, Any]:
        raise NotImplementedError

    def _saved(self, eval_file: str) -> tuple[Saved, list[Doc]]:
        check_asked(Path(eval_file), self.asked)
        saved = read_responses(Path(eval_file), self.asked.questions)
        return saved, [self.docs[index] for index in saved.responses]

    def _source(self, index: str) -> str:
        """Name what a row shares with others: a file without its folder, which is another on every machine."""
        return Path(str(self.docs[index][self.SHARED])).name

    def _counted(self, saved: Saved) -> dict[str, int]:
        """Count what a file lacks of the data set, so that a part is not taken for the whole."""
        expected = len(self.docs)
        return {"rows_expected": expected, "missing": expected - len(saved.responses)}


class MMEFinance(_FinDataset):
    """MME-Finance, scored by a judge."""

    OPTIONS: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "MMEFinance": {"language": "en", "na": False},
        "MMEFinance_CN": {"language": "zh", "na": False},
        "MMEFinance_NA": {"language": "en", "na": True},
        "MMEFinance_CN_NA": {"language": "zh", "na": True},
    }
    DATASET_URL: ClassVar[Mapping[str, str]] = dict.fromkeys(OPTIONS, _NO_URL)
    DEFAULT_JUDGE = "gpt-4o"
    PICTURE: ClassVar[str] = "image_path"
    BENCHMARK: ClassVar[str] = "mme_finance"
    SHARED: ClassVar[str] = "image_path"

    def evaluate(self, eval_file: str, **judge_kwargs: Any) -> dict[str, Any]:
        """Judge the predictions in a file and write results beside it.

        Args:
            eval_file: The kit's prediction file.
            **judge_kwargs: `--judge` as `model`, what `--judge-args` holds, and what the kit adds; see
                `vlmeval_judge.judge_of`.

        Returns:
            As `fin-tasks judge --json`: plain numbers that JSON can hold.

        Raises:
            JudgeError: Too much could not be judged. No result is written but replies are kept; the message says how to
                go on.
            DataError: The file is none of this data set's.
        """
        from fin_tasks.benchmarks.mme_finance.old_data import judge_item
        from fin_tasks.benchmarks.mme_finance.old_prompts import rubric_of
        from fin_tasks.judging.old_judge import judge_items
        from fin_tasks.judging.scores import item_record, summary

        rubric = rubric_of(self.OPTIONS[self.dataset_name]["language"])
        settings = Settings.from_environ()
        label = label_of(judge_kwargs, settings, rubric=rubric, default=self.DEFAULT_JUDGE)
        results = ResultFiles(predictions=Path(eval_file), label=label)
        results.remove()
        setup, asking = judge_of(judge_kwargs, settings, rubric=rubric)
        label = label_of(judge_kwargs, settings, rubric=rubric, default=setup.model)
        if label != results.label:  # the judge is the default of a rubric of the user's
            results = ResultFiles(predictions=Path(eval_file), label=label)
            results.remove()
        saved, docs = self._saved(eval_file)
        items = [judge_item(doc, saved.responses[index]) for index, doc in zip(saved.responses, docs, strict=True)]
        judged = judge_items(items, setup, asking, show=True)
        found = summary(items, judged.verdicts, rubric=judged.rubric)
        counted = self._counted(saved)
        tables = score_tables(found, counted, judge=setup.model, rubric=judged.rubric.label, image=setup.image)
        for name, rows in tables.items():
            results.write_table(f"{name}.csv", rows)
        cut = set(saved.cut)
        results.write_items(
            {**item_record(item, verdict, judged), "response_cut": index in cut, "source": self._source(index)}
            for index, item, verdict in zip(saved.responses, items, judged.verdicts, strict=True)
        )
        run = {
            "dataset": self.dataset_name,
            "judge": setup.model,
            "rubric": judged.rubric.label,
            "rubric_sha256": judged.rubric.sha256,
            "image": setup.image,
            "judging": {
                "temperatures": list(judged.rubric.temperatures),
                "max_tokens": setup.max_tokens or judged.rubric.max_tokens,
                "scale": [judged.rubric.lowest, judged.rubric.highest],
            },
            "task_version": task_version(self.BENCHMARK),
            "requests": judged.spent.requests,
            "cached": judged.spent.cached,
            "responses_cut": len(cut),
            **counted,
        }
        results.write_score({**found, **run, "provenance": self.provenance})
        return {**found, **run}

    @classmethod
    def report_primary_metric(cls, metrics: Mapping[str, Any] | None) -> dict[str, float]:
        """Name the headline: the score over scored rows, and the one that counts unscored rows as 0."""
        return _numbers(metrics, ("overall", "overall_paper"))

    @classmethod
    def report_judge_err(
        cls,
        prediction_file: str | Path | None,
        *,
        total_samples: int | None,
        judge_model: str | None = None,
        error_message: str | None = None,
    ) -> dict[str, int | None]:
        """Count the rows that a judge failed on, for the kit's summary."""
        total = total_samples or 0
        if prediction_file is None:
            return {"failed": total if error_message else 0, "total": total_samples}
        judge = judge_model or cls.DEFAULT_JUDGE
        score = ResultFiles(predictions=Path(prediction_file), label=judge).score_of(judge)
        if score is None or "failed" not in score:
            return {"failed": total if error_message else 0, "total": total_samples}
        failed = score["failed"]
        return {"failed": sum(int(failed.get(whose, 0)) for whose in ("judge", "reply")), "total": total_samples}

    def _loader(self) -> Callable[..., Mapping[str, Any]]:
        from fin_tasks.benchmarks.mme_finance.old_data import load

        return load

    def _row(self, doc: Doc) -> dict[str, Any]:
        return {
            "index": doc["index"],
            "question": doc["question"],
            "answer": doc["answer"],
            "image_path": doc["image_path"],
            "task_category": doc["category"],
            "image_type": doc["image_type"],
            "image_style": doc["image_style"],
            "background": doc["background"],
        }


class _ScoredDataset(_FinDataset):
    """A data set whose responses are read and compared, without a judge."""

    ANSWER: ClassVar[str]
    HEADLINE: ClassVar[Sequence[str]]

    def evaluate(self, eval_file: str, **_: Any) -> dict[str, float | None]:
        """Score the predictions in a file and write results beside it.

        Args:
            eval_file: The kit's prediction file.
            **_: A judge, of which there is no need.

        Returns:
            `<metric>_paper` and `<metric>_robust` by the lm-eval task's metrics, and `n`.

        Raises:
            DataError: The file is none of this data set's.
        """
        from fin_tasks.judging.failures import response_failure

        results = ResultFiles(predictions=Path(eval_file))
        results.remove()
        saved, docs = self._saved(eval_file)
        # an empty response is one without an answer, as in lm-eval; an error's text is none of the model's
        responses = [None if text.strip() and response_failure(text) else text for text in saved.responses.values()]
        totals, items = response_scores.score(docs, responses, self._scorers(self.OPTIONS[self.dataset_name]))
        found: dict[str, float | None] = {
            f"{name}_{variant}": value for name, by_variant in totals.items() for variant, value in by_variant.items()
        }
        counts = {"n": len(docs), **self._counted(saved)}
        results.write_table(
            "overall.csv", [{"metric": name, **by_variant, **counts} for name, by_variant in totals.items()]
        )
        cut = set(saved.cut)
        results.write_items(
            {**item, "response_cut": item["index"] in cut, "source": self._source(index)}
            for index, item in zip(saved.responses, items, strict=True)
        )
        found |= {**counts, "responses_cut": len(cut)}
        run = {"dataset": self.dataset_name, "task_version": task_version(self.BENCHMARK)}
        results.write_score({**found, **run, "provenance": self.provenance})
        return found

    @classmethod
    def report_primary_metric(cls, metrics: Mapping[str, Any] | None) -> dict[str, float]:
        """Name the headline, by the robust variant."""
        return _numbers(metrics, cls.HEADLINE)

    def _scorers(self, options: Mapping[str, Any]) -> response_scores.Scorers:
        raise NotImplementedError

    def _row(self, doc: Doc) -> dict[str, Any]:
        return {
            "index": doc["id"],
            "question": text_of(doc),
            "answer": "" if doc[self.ANSWER] is None else str(doc[self.ANSWER]),
            "image_path": doc[self.PICTURE],
        }


class XFinBench(_ScoredDataset):
    """XFinBench's multiple-choice questions about figures."""

    OPTIONS: ClassVar[Mapping[str, Mapping[str, Any]]] = {"XFinBench_MCQ_V": {"subset": "mcq_visual", "mode": "cot"}}
    DATASET_URL: ClassVar[Mapping[str, str]] = dict.fromkeys(OPTIONS, _NO_URL)
    PICTURE: ClassVar[str] = "figure_path"
    BENCHMARK: ClassVar[str] = "xfinbench"
    SHARED: ClassVar[str] = "figure"
    ANSWER: ClassVar[str] = "ground_truth"
    HEADLINE: ClassVar[Sequence[str]] = ("acc_robust",)

    def _loader(self) -> Callable[..., Mapping[str, Any]]:
        from fin_tasks.benchmarks.xfinbench.data import load

        return load

    def _scorers(self, options: Mapping[str, Any]) -> response_scores.Scorers:
        return response_scores.xfinbench(**options)


class DynoStock(_ScoredDataset):
    """DynoStock's forecasts of reports from charts, with a statement that leans one way."""

    OPTIONS: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        f"DynoStock_{bias.capitalize()}_W{window}": {"bias": bias, "window": window, "mode": "image"}
        for bias in ("recency", "authority")
        for window in (4, 8, 12, 16, 20)
    }
    DATASET_URL: ClassVar[Mapping[str, str]] = dict.fromkeys(OPTIONS, _NO_URL)
    PICTURE: ClassVar[str] = "chart"
    BENCHMARK: ClassVar[str] = "dynostock"
    SHARED: ClassVar[str] = "ticker"
    ANSWER: ClassVar[str] = "truth"
    HEADLINE: ClassVar[Sequence[str]] = ("acc_robust", "bias_index_robust")

    def _loader(self) -> Callable[..., Mapping[str, Any]]:
        from fin_tasks.benchmarks.dynostock.data import load

        return load

    def _scorers(self, options: Mapping[str, Any]) -> response_scores.Scorers:
        return response_scores.dynostock(**options)


DATASETS = (MMEFinance, XFinBench, DynoStock)


def _numbers(metrics: Mapping[str, Any] | None, names: Iterable[str]) -> dict[str, float]:
    return {name: float(metrics[name]) for name in names if metrics and metrics.get(name) is not None}


# by its name: while the autoload's hook runs the package has no such attribute yet
register(sys.modules["vlmeval.dataset"], DATASETS)
autoload.wait_for(autoload.INFERENCE)
