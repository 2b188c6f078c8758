"""`fin-tasks judge`: have a judge score saved predictions."""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fin_tasks.cli.options import Items, Json
from fin_tasks.errors import ConfigError, DataError, FetchError

if TYPE_CHECKING:
    from fin_tasks.benchmarks.mme_finance.row import Language
    from fin_tasks.endpoints.spending import Spent
    from fin_tasks.judging.old_item import JudgeItem
    from fin_tasks.judging.old_judge import Compared, Judged, JudgingFailedError
    from fin_tasks.judging.predictions import Predictions
    from fin_tasks.judging.setup import JudgeSetup
    from fin_tasks.settings import Settings

__all__ = ["judge"]

_TABLES: dict[str, "Language"] = {"MMfin.tsv": "en", "MMfin_CN.tsv": "zh"}
"""Tables of benchmarks with pictures: a picture that one of them lists, in a folder above it, may be sent."""
_INTERRUPTED = 130


@dataclass(frozen=True, kw_only=True)
class _Result:
    """What a run of the command found."""

    predictions: "Predictions"
    judged: "Judged"
    compared: "Compared | None" = None
    failure: "JudgingFailedError | None" = None


def judge(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="VLMEvalKit's predictions (.xlsx, .tsv, .csv, .json), lm-eval's samples_*.jsonl, or JSON lines with "
            "index, question, answer, prediction, task_category, image_type, image_style, image_path.",
        ),
    ],
    rubric: Annotated[
        str,
        typer.Option(
            metavar="RUBRIC", help="What to score by: mme_finance_en, mme_finance_zh, or the path of a rubric."
        ),
    ],
    model: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The judge; FIN_TASKS_JUDGE_MODEL, else the rubric's own, where not named."),
    ] = None,
    base_url: Annotated[
        list[str] | None,
        typer.Option(
            metavar="URL",
            help="OpenAI-compatible address that serves it; once for each of several, which are asked in turn. "
            "FIN_TASKS_JUDGE_BASE_URL, else OpenAI's.",
        ),
    ] = None,
    key_variable: Annotated[
        str, typer.Option(metavar="VARIABLE", help="The environment variable that holds its key.")
    ] = "OPENAI_API_KEY",
    na: Annotated[
        bool | None,
        typer.Option(
            "--na/--no-na",
            help='MME-Finance: the model was allowed to answer "Not Applicable" in every category. Told by the names '
            "of VLMEvalKit's and lm-eval's files.",
        ),
    ] = None,
    no_image: Annotated[bool, typer.Option("--no-image", help="Judge without the pictures; none is opened.")] = False,
    image_root: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Folder of the pictures, for files that lie elsewhere than their pictures.", exists=True
        ),
    ] = None,
    table: Annotated[
        Path | None,
        typer.Option(
            metavar="TSV",
            help="The benchmark's table: question, answer and picture are taken from it by index. Found without this "
            "for VLMEvalKit's MMEFinance where the data are here.",
        ),
    ] = None,
    concurrency: Annotated[int, typer.Option(min=1, metavar="N", help="Requests under way at the same time.")] = 32,
    rpm: Annotated[int | None, typer.Option(min=1, metavar="N", help="Most requests per minute.")] = None,
    tpm: Annotated[int | None, typer.Option(min=1, metavar="N", help="Most tokens per minute, estimated.")] = None,
    max_tokens: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Tokens of a reply; the rubric's number where not given.")
    ] = None,
    timeout: Annotated[float, typer.Option(metavar="SECONDS", help="Seconds one attempt may take.")] = 120,
    max_failed: Annotated[
        float,
        typer.Option(
            min=0, max=1, metavar="SHARE", help="Share of responses the judge may fail on before it is an error."
        ),
    ] = 0.2,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Ask again where no kept reply of the judge could be read.")
    ] = False,
    check_injection: Annotated[
        bool,
        typer.Option("--check-injection", help="Judge responses that address the judge also without those sentences."),
    ] = False,
    limit: Annotated[int | None, typer.Option(min=1, metavar="N", help="Judge this many rows from the start.")] = None,
    as_json: Json = False,
    items: Items = None,
) -> None:
    """Have a judge score saved predictions by a rubric; replies are kept, so a run that was stopped goes on."""
    from fin_tasks.cli.judge_asked import as_asked, asked_of, language_note
    from fin_tasks.judging.old_rubric import load_rubric
    from fin_tasks.judging.setup import JudgeSetup
    from fin_tasks.settings import Settings

    _check_output(items, file, table)
    settings = Settings.from_environ()
    setup = JudgeSetup(
        model=model or settings.judge_model or load_rubric(rubric).default_model,
        base_urls=_addresses(base_url) or settings.judge_base_urls,
        rubric=rubric,
        key_variable=key_variable,
        image=not no_image,
        concurrency=concurrency,
        requests_per_minute=rpm,
        tokens_per_minute=tpm,
        max_tokens=max_tokens,
        timeout=timeout,
        max_failed=max_failed,
        retry_failed=retry_failed,
    )
    predictions = _read(file, table, settings, images=not no_image, image_root=image_root, limit=limit)
    predictions = replace(predictions, items=as_asked(predictions.items, asked_of(file, load_rubric(rubric)), na=na))
    if note := language_note(predictions.items, load_rubric(rubric)):
        _say(f"{file}: {note}")
    if setup.image and not any(item.image for item in predictions.items):
        _say(f"{file}: no row names a picture (image_path), so the judge sees none.")
    result = _ask(predictions, setup, settings, check_injection=check_injection)
    if items is not None:
        _write_items(result, items)
    if as_json:
        print(json.dumps(_summary(result), allow_nan=False))
    else:
        from fin_tasks.cli.judge_tables import show

        show(_summary(result))
    if result.failure is not None:
        raise result.failure


def _check_output(items: Path | None, *inputs: Path | None) -> None:
    for path in inputs:
        if items is not None and path is not None and path.exists() and items.samefile(path):
            raise ConfigError(
                f"judge --items {items}: expected another file than {path}, which is read. Name a new one."
            )


def _addresses(given: list[str] | None) -> tuple[str, ...]:
    several = (address.strip().rstrip("/") for text in given or () for address in text.split(","))
    return tuple(address for address in several if address)


def _read(
    file: Path, table: Path | None, settings: "Settings", *, images: bool, image_root: Path | None, limit: int | None
) -> "Predictions":
    """Read the predictions, joined with the benchmark's table where there is one."""
    from fin_tasks.cli.judge_asked import kit_language
    from fin_tasks.judging.predictions import OtherTableError, read_predictions, read_table

    where: dict[str, Any] = {
        "settings": settings,
        "images": images,
        "image_root": image_root,
        "picture_tables": tuple(_TABLES),
    }
    read = partial(read_predictions, file, limit=limit, **where)
    if table is not None and table.name in _TABLES and images:
        said = {"source": "data_dir", "data_dir": table}
        return read(table=_benchmark_table(_TABLES[table.name], settings, said))
    if table is not None:
        return read(table=read_table(table, **where))
    if language := kit_language(file):
        try:
            return read(table=_benchmark_table(language, settings, settings.metadata))
        except OtherTableError as error:
            _say(f"{error} Read without that table.")
        except FetchError:
            _say(
                f"question, answer and picture are taken from {file}, as the benchmark's own files are not on this "
                "machine, and this command downloads nothing. `fin-tasks fetch mme-finance` gets them."
            )
        except DataError as error:
            _say(f"question, answer and picture are taken from {file}, as the benchmark's own are not here: {error}")
    return read()


def _benchmark_table(language: "Language", settings: "Settings", said: Mapping[str, Any]) -> "dict[str, JudgeItem]":
    """Return MME-Finance's rows, where they are on this machine: nothing is downloaded for it."""
    from fin_tasks.benchmarks.mme_finance.files import locate
    from fin_tasks.benchmarks.mme_finance.rows import read_rows
    from fin_tasks.judging.old_item import JudgeItem

    files = locate(
        language=language,
        source=said.get("source") or "auto",
        data_dir=said.get("data_dir"),
        data_revision=said.get("data_revision"),
        settings=replace(settings, offline=True),
    )
    return {
        row.index: JudgeItem(
            index=row.index,
            question=row.question,
            answer=row.answer,
            response="",
            category=row.category,
            image=row.image_path,
            image_type=row.image_type,
            image_style=row.image_style,
        )
        for row in read_rows(files).rows
    }


def _ask(predictions: "Predictions", setup: "JudgeSetup", settings: "Settings", *, check_injection: bool) -> _Result:
    from fin_tasks.judging.old_judge import JudgingFailedError, judge_items, with_and_without

    try:
        if check_injection:
            compared = with_and_without(predictions.items, setup, settings, show=True)
            return _Result(predictions=predictions, judged=compared.with_them, compared=compared)
        return _Result(predictions=predictions, judged=judge_items(predictions.items, setup, settings, show=True))
    except JudgingFailedError as failure:
        return _Result(predictions=predictions, judged=failure.judged, failure=failure)
    except KeyboardInterrupt:
        _say("stopped. The judge's replies so far are kept: the same command goes on where this one stopped.")
        raise typer.Exit(_INTERRUPTED) from None


def _summary(result: _Result) -> dict[str, Any]:
    """Return what the command found, JSON-encodable."""
    from fin_tasks.judging.scores import summary

    predictions, judged = result.predictions, result.judged
    spent = _spent(result)
    kinds = [defect.kind for defect in predictions.defects]
    found: dict[str, Any] = {
        **summary(predictions.items, judged.verdicts, rubric=judged.rubric),
        "requests": spent.requests,
        "cached": spent.cached,
        "prompt_tokens": spent.prompt_tokens,
        "completion_tokens": spent.completion_tokens,
        "cost": spent.cost,
        "judge": judged.setup.model,
        "rubric": judged.rubric.label,
        "rubric_sha256": judged.rubric.sha256,
        "pictures": sum(item.image is not None for item in predictions.items) if judged.setup.image else 0,
        "file": str(predictions.path),
        "model": predictions.model,
        "defects": {kind: kinds.count(kind) for kind in sorted(set(kinds))},
    }
    if result.failure is not None and found["overall"] is None:
        found["overall_paper"] = None  # the judge scored nothing: a 0 would be said of the model
    if result.compared is not None:
        found["injection"] = {
            "affected": result.compared.affected,
            "mean_difference": result.compared.mean_difference,
        }
    return found


def _spent(result: _Result) -> "Spent":
    """Sum up what was asked, of both judgings where there were two."""
    spent = result.judged.spent
    if result.compared is None:
        return spent
    more = result.compared.without_them.spent
    counts = ("requests", "cached", "prompt_tokens", "completion_tokens", "unmetered")
    return replace(spent, **{name: getattr(spent, name) + getattr(more, name) for name in counts})


def _write_items(result: _Result, out: Path) -> None:
    from fin_tasks.judging.scores import item_record

    without = {one.index: one for one in result.compared.differences} if result.compared is not None else {}
    with out.open("w", encoding="utf-8") as lines:
        predictions = result.predictions
        judged = zip(predictions.items, predictions.indices, result.judged.verdicts, strict=True)
        for item, index, verdict in judged:
            record = {**item_record(item, verdict, result.judged), "index": index, "model": predictions.model}
            if (one := without.get(item.index)) is not None:
                record |= {"score_without": one.score_without, "removed": list(one.removed)}
            lines.write(json.dumps(record, allow_nan=False) + "\n")


def _say(message: str) -> None:
    from fin_tasks.sandbox import escape  # a message may quote a stranger's file

    print(f"fin-tasks: {escape(message)}", file=sys.stderr)
