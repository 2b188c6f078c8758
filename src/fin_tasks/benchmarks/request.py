"""What the metadata of a task choose: the files, the questions, and the wording of the prompts."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from fin_tasks.data.documents import Documents as Documents
from fin_tasks.data.documents import (
    dataset_of,
    draw_rows,
    fill_fields,
    in_users_turn,
    refuse_typos,
)
from fin_tasks.data.locate import Located, locate
from fin_tasks.errors import ConfigError, DataError, first_problem
from fin_tasks.settings import Settings
from fin_tasks.variants.folder import read_variants

from . import benchmark_named

READER_OPTIONS = ("reader_model", "reader_base_url", "reader_key")
"""The metadata that name the model that reads answers."""
MARKER = "Therefore, my answer is"
"""What XFinBench asks a model to write before its answer."""

Model = TypeVar("Model", bound=BaseModel)
AnyRow = TypeVar("AnyRow")


class QuestionRow(BaseModel):
    """A row of a benchmark's file, or a variant of one."""

    published_id: str = ""
    """The question that a variant was made from."""
    published_truth: float | None = None


@dataclass(frozen=True, kw_only=True)
class Request:
    """The metadata that all benchmarks of questions know."""

    benchmark: str
    split: str
    source: str = "auto"
    data_dir: str | Path | None = None
    data_revision: str | None = None
    """`data.locate.locate` explains `source`, `data_dir` and `data_revision`."""
    variants: str | Path | None = None
    """Folder of `fin-tasks build variants`, whose questions are asked in place of the published ones."""
    corrections: str | Path | None = None
    """File of questions that leave, or that have another truth."""
    prompts: str = "house"
    sampling: str | None = None
    system_role: str = "system"
    """`user` puts the system message into the user's turn, for models that have no such message."""
    sample_n: int | str | None = None
    """Size of a random sample; None for all questions."""
    sample_seed: int = 0
    sample_strata: str | Path | None = None
    """File of `fin-tasks questions --strata`, by which the sample is drawn."""

    @classmethod
    def of(
        cls,
        benchmark: str,
        metadata: Mapping[str, Any],
        *,
        split: str,
        others: Iterable[str] = (),
        fixed: Mapping[str, str | None] | None = None,
    ) -> "Request":
        """Return the options among the metadata, to which lm-eval adds the arguments of the model.

        Args:
            benchmark: Name of the benchmark.
            metadata: Options by name. Misspelled names are refused.
            split: The split that is asked if the metadata name none.
            others: Names of options that this benchmark alone has.
            fixed: The only value of an option that this benchmark has no choice of, by its name.
        """
        names = [field.name for field in fields(cls) if field.name != "benchmark"]
        refuse_typos(benchmark, metadata, [*names, *others, *READER_OPTIONS])
        options = {name: metadata[name] for name in names if name in metadata}
        request = cls(**{"split": split, **options, "benchmark": benchmark})
        if request.prompts not in ("house", "upstream"):
            raise ConfigError(
                f"{benchmark} prompts: expected house or upstream, "
                f"got {request.prompts!r}."
            )
        if request.system_role not in ("system", "user"):
            raise ConfigError(
                f"{benchmark} system_role: expected system or user, "
                f"got {request.system_role!r}."
            )
        if request.sample_strata is not None and request.sample_n is None:
            raise ConfigError(
                f"{benchmark} sample_strata: expected sample_n beside it, got none."
            )
        for name, only_value in (fixed or {}).items():
            value = getattr(request, name)
            if value != only_value:
                raise ConfigError(
                    f"{benchmark} {name}: expected {only_value or 'none'}, as it has no other, "
                    f"got {value!r:.80}."
                )
        return request

    def locate(self, names: Sequence[str]) -> Located:
        """Find the files with the questions."""
        return locate(
            self.benchmark,
            names,
            source=self.source,
            data_dir=self.data_dir,
            revision=self.data_revision,
            settings=Settings.from_environ(),
            sample=Path(__file__).with_name(self.benchmark) / "sample",
        )

    def locate_authors_file(self, files: Located, name: str) -> Located:
        """Find another file of the authors beside `files`, or upstream if these are our sample."""
        if files.origin == "sample":
            return locate(self.benchmark, [name], settings=files.settings)
        return files.with_files([name])

    def variant_rows(self, model: type[Model]) -> tuple[list[Model], Mapping[str, Any]]:
        """Return the variants as rows of the benchmark, and their provenance."""
        folder = Path(self.variants or "")
        records, data = read_variants(folder, self.benchmark)
        renamed = []
        for record in records:
            names = {
                "question_id": record["id"],
                "python_solution": record["program"],
                "ground_truth": record["truth"],
                "published_id": record["source"],
            }
            renamed.append(record | names)
        return rows_of(model, folder, renamed), data

    def draw(self, rows: Sequence[AnyRow], column: str) -> list[AnyRow]:
        """Return the rows of the random sample, which the seed and the ids in a column decide."""
        if self.sample_n is None:
            return list(rows)
        id_of = attrgetter(column)
        return draw_rows(
            self.benchmark,
            rows,
            self.sample_n,
            self.sample_seed,
            id_of,
            self._strata(),
        )

    def _strata(self) -> Mapping[str, str] | None:
        if self.sample_strata is None:
            return None
        from fin_tasks.data.strata import read_strata

        return read_strata(self.sample_strata, self.benchmark)

    def sample_facts(self) -> dict[str, Any]:
        """Return what the provenance says of the random sample."""
        facts: dict[str, Any] = {"n": self.sample_n, "seed": self.sample_seed}
        strata = self._strata()
        if strata is not None:
            text = "\n".join(f"{name}\t{strata[name]}" for name in sorted(strata))
            facts["strata"] = hashlib.sha256(text.encode()).hexdigest()[:16]
        return facts

    def documents(
        self, docs: Sequence[Mapping[str, Any]], facts: Mapping[str, Any]
    ) -> Documents:
        """Return documents as `test`, whatever their split; `info.description` is the provenance as JSON."""
        if not docs:
            raise DataError(
                f"{self.benchmark}: expected at least one question for this task, found none. Take "
                "another task, or other variants."
            )
        provenance = {
            "scorer": benchmark_named(self.benchmark).version,
            "split": "variants" if self.variants else self.split,
            **facts,
        }
        if self.corrections is not None:
            from .corrections import corrected_documents

            docs, applied = corrected_documents(self.benchmark, docs, self.corrections)
            provenance["corrections"] = applied
        if self.sample_n is not None:
            provenance["sample"] = self.sample_facts()
        if self.sampling is not None:
            provenance["sampling"] = self.sampling
        if self.system_role == "user":
            provenance["system_role"] = self.system_role
            docs = [in_users_turn(doc) for doc in docs]
        return {"test": dataset_of(docs, provenance)}


def rows_of(
    model: type[Model], path: Path, records: Iterable[Mapping[str, Any]]
) -> list[Model]:
    """Return the records of a file as rows; raise DataError for the first record that is no row."""
    rows = []
    for number, record in enumerate(records, start=1):
        try:
            rows.append(model.model_validate(record))
        except ValidationError as error:
            value = error.errors()[0]["input"]
            problem = f"{first_problem(error)}, got {value!r:.80}"
            raise DataError(f"{path}, row {number}, {problem}.") from error
    return rows


# --- Templates ---


class Prompts(NamedTuple):
    """The templates of one way to ask; `user`, `cue` and `context` have fields such as `{question}`."""

    system: str
    user: str
    cue: str = ""
    """A base model continues from these words."""
    context: str = ""
    """What stands for `{context}` in `user` if a question has tables or a document; `{context}` is their text."""

    def fill(self, *, context: str = "", **fields: str) -> dict[str, str]:
        """Return the messages about a question, without a context if its text is empty."""
        if context:
            context = fill_fields(self.context, context=context)
        return {
            "system": self.system,
            "prompt": fill_fields(self.user, context=context, **fields),
            "cue": fill_fields(self.cue, **fields),
        }


def read_prompts(file: Path, mode: str) -> Prompts:
    """Read the templates of one mode from a YAML file that has them by mode."""
    return Prompts(**yaml.safe_load(file.read_text("utf-8"))[mode])
