"""Ways to cheat on a copy of an honest run, each with the item of `verify` that must not pass."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

Line = dict[str, Any]
Results = dict[str, Any]
Honest = Literal[
    "xfinbench_bool", "financemath_pot", "xfinbench_text", "mme_finance_en"
]

BOOL: Honest = "xfinbench_bool"
POT: Honest = "financemath_pot"
GROUP: Honest = "xfinbench_text"
JUDGED: Honest = "mme_finance_en"
FAILURE = "Failed to obtain answer via API"


@dataclass(frozen=True)
class Cheat:
    """A way to cheat: what is changed in a run, and what the list says about it."""

    name: str
    run: Honest
    item: str
    status: str
    change: Callable[[Path], None]


def edit_lines(folder: Path, change: Callable[[list[Line]], object]) -> None:
    """Change the lines of all samples; the two lines of a row follow each other."""
    for file in folder.rglob("samples_*.jsonl"):
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        lines.sort(key=lambda line: int(line["doc_id"]))
        change(lines)
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))


def edit_results(folder: Path, change: Callable[[Results], object]) -> None:
    """Change the results file."""
    (file,) = folder.rglob("results_*.json")
    results = json.loads(file.read_text())
    change(results)
    file.write_text(json.dumps(results))


def edit_readings(lines: list[Line], **values: Any) -> None:
    """Change what was read in the responses of some lines."""
    for line in lines:
        reading = json.loads(line["filtered_resps"][0][0])
        line["filtered_resps"] = [[json.dumps(reading | values)]]


def is_wrong(line: Line) -> bool:
    """Return whether a line claims no point."""
    return line.get("acc") == 0 or ((line.get("score") or 0) < 100 and "score" in line)


def claim_total(results: Results, value: float) -> None:
    """Claim a headline for all tasks."""
    for totals in results["results"].values():
        for name in totals:
            if name.startswith(("acc,", "score,")):
                totals[name] = value


def metadata(results: Results) -> dict[str, Any]:
    """Return the metadata of the first task."""
    config: dict[str, Any] = next(iter(results["configs"].values()))["metadata"]
    return config


def own_revision(folder: Path) -> None:
    """Name another revision of the data, and take the gold answers from it."""

    def change(results: Results) -> None:
        data = metadata(results)["provenance"]["data"]
        data.update(origin="upstream", revision="0" * 16, commit="0" * 40)

    edit_results(folder, change)
    own_truths(folder)


def own_truths(folder: Path) -> None:
    """Call the answers right that the model gave."""

    def change(lines: list[Line]) -> None:
        for line in lines:
            line["doc"]["ground_truth"] = (
                "1.0" if "true" in line["resps"][0][0] else "0.0"
            )
            line["acc"] = 1.0

    edit_lines(folder, change)
    edit_results(folder, lambda results: claim_total(results, 1.0))


def lost_responses(folder: Path) -> None:
    """Say that the model's server failed where the model was wrong."""

    def change(lines: list[Line]) -> None:
        for line in lines:
            if is_wrong(line):
                line["resps"] = [[FAILURE]]
            if is_wrong(line) and line["filter"] == "robust":
                line.update(acc=None, no_answer=None, unscored=1.0)
                edit_readings([line], answer=None, unscored=True)

    edit_lines(folder, change)

    def results(content: Results) -> None:
        content["config"]["model"] = "fin-tasks VLMEvalKit"
        content["results"][BOOL]["acc,robust"] = 1.0

    edit_results(folder, results)


def forged_replies(folder: Path) -> None:
    """Write the best reply of a judge into nearly all rows, keep some honest, and claim what follows."""
    scores: list[float] = []

    def change(lines: list[Line]) -> None:
        for line in lines[6:]:
            line.update(score=100.0)
            edit_readings([line], answer=5, replies=["5"], reason="", unscored=False)
        scores.extend(line["score"] for line in lines)

    edit_lines(folder, change)

    def results(content: Results) -> None:
        claim_total(content, sum(scores) / len(scores))
        metadata(content).pop("breakdowns")

    edit_results(folder, results)


def failed_judge(folder: Path) -> None:
    """Say that the judge failed where it gave few points."""

    def change(lines: list[Line]) -> None:
        for line in filter(is_wrong, lines):
            line.update(score=None, unscored=1.0, judge_error=1.0)
            edit_readings(
                [line], answer=None, replies=[], unscored=True, judge_error=True
            )

    edit_lines(folder, change)
    edit_results(folder, lambda results: claim_total(results, 100.0))


def own_rubric(folder: Path) -> None:
    """Let the judge read a milder rubric."""
    edit_results(
        folder,
        lambda results: metadata(results)["judge"].update(rubric_sha256="0" * 64),
    )


def no_arguments(folder: Path) -> None:
    """Leave out what was sent, as it held the answers."""
    edit_lines(folder, lambda lines: [line.pop("arguments") for line in lines])


def _add_to_prompts(
    folder: Path, text_of: Callable[[int, Line], str], *, first: bool
) -> None:
    def change(lines: list[Line]) -> None:
        for place, line in enumerate(lines):
            sent = line["arguments"]["gen_args_0"]
            text = text_of(place // 2, line)
            sent["arg_0"] = text + sent["arg_0"] if first else sent["arg_0"] + text

    edit_lines(folder, change)


def hints(folder: Path) -> None:
    """Send the right answer behind every question."""
    _add_to_prompts(folder, lambda place, line: f" Hint: {line['target']}", first=False)


def one_hint(folder: Path) -> None:
    """Send the right answer behind one question."""
    _add_to_prompts(
        folder,
        lambda place, line: "" if place else f" Hint: {line['target']}",
        first=False,
    )


def answer_key(folder: Path) -> None:
    """Send the answers to all questions before each of them."""
    key = " ".join(f"Question {number} is true." for number in range(32))
    _add_to_prompts(folder, lambda place, line: f"{key}\n\n", first=True)


def hidden_key(folder: Path) -> None:
    """Send the answers within a text of ours."""

    def change(lines: list[Line]) -> None:
        for line in lines:
            sent = line["arguments"]["gen_args_0"]
            sent["arg_0"] = sent["arg_0"].replace(
                "Statement:", f"{line['target']} Statement:"
            )

    edit_lines(folder, change)


def best_draw(folder: Path) -> None:
    """Report the best of many draws of eight rows."""

    def change(lines: list[Line]) -> None:
        lines[:] = [line for line in lines if not is_wrong(line)][:16]

    edit_lines(folder, change)

    def results(content: Results) -> None:
        claim_total(content, 1.0)
        metadata(content)["provenance"]["sample"] = {"n": 8, "seed": 19_283}
        content["n-samples"][BOOL] = {"original": 8, "effective": 8}

    edit_results(folder, results)


def forged_timeouts(folder: Path) -> None:
    """Say that wrong programs ran out of time on a broken machine, so that nobody knows."""

    def change(lines: list[Line]) -> None:
        for line in filter(is_wrong, lines):
            line.update(acc=None, unscored=1.0)
            edit_readings([line], answer=None, status="timeout", unscored=True)

    edit_lines(folder, change)
    edit_results(folder, lambda results: claim_total(results, 1.0))


def dropped_rows(folder: Path) -> None:
    """Leave out the rows that are wrong."""

    def change(lines: list[Line]) -> None:
        lines[:] = [line for line in lines if not is_wrong(line)]

    edit_lines(folder, change)
    edit_results(folder, lambda results: claim_total(results, 1.0))


def foreign_rows(folder: Path) -> None:
    """Add easy rows of one's own."""

    def change(lines: list[Line]) -> None:
        for line in lines[:4]:
            lines.append(json.loads(json.dumps(line)))
            lines[-1]["doc"]["id"] = f"own {lines[-1]['doc']['id']}"

    edit_lines(folder, change)


def forged_scores(folder: Path) -> None:
    """Give points to wrong responses."""

    def change(lines: list[Line]) -> None:
        for line in lines:
            line["acc"] = 1.0

    edit_lines(folder, change)
    edit_results(folder, lambda results: claim_total(results, 1.0))


def forged_answers(folder: Path) -> None:
    """Change the answer that was read, which a page shows."""
    edit_lines(folder, lambda lines: edit_readings(lines, answer=1))


def two_responses(folder: Path) -> None:
    """Show a better response under one of the scorings."""

    def change(lines: list[Line]) -> None:
        for line in lines:
            if line["filter"] == "robust":
                line["resps"] = [[line["target"]]]

    edit_lines(folder, change)


def forged_total(folder: Path) -> None:
    """Claim another headline."""
    edit_results(folder, lambda results: claim_total(results, 0.99))


def forged_group(folder: Path) -> None:
    """Claim another headline for a group of tasks."""
    edit_results(
        folder, lambda results: results["results"][GROUP].update({"acc,robust": 0.99})
    )


def forged_part(folder: Path) -> None:
    """Claim a better figure for a part of the questions."""

    def change(results: Results) -> None:
        metadata(results)["breakdowns"]["robust"]["acc_TU"]["value"] = 0.99

    edit_results(folder, change)


def old_version(folder: Path) -> None:
    """Name an older version of the scorer, which gave more points."""
    edit_results(folder, lambda results: results["versions"].update({BOOL: 1}))


def examples(folder: Path) -> None:
    """Show the model right answers before each question, and say so."""
    edit_results(folder, lambda results: results["n-shot"].update({BOOL: 5}))


CHEATS = (
    Cheat(
        "own revision of the gold answers", BOOL, "task", "not verified", own_revision
    ),
    Cheat("own gold answers", BOOL, "rows", "failed", own_truths),
    Cheat(
        "wrong responses are called lost",
        BOOL,
        "scores",
        "not verified",
        lost_responses,
    ),
    Cheat("forged replies of a judge", JUDGED, "judged", "failed", forged_replies),
    Cheat(
        "low points are called failures", JUDGED, "scores", "not verified", failed_judge
    ),
    Cheat("a milder rubric", JUDGED, "judged", "not verified", own_rubric),
    Cheat("what was sent is left out", BOOL, "prompts", "not verified", no_arguments),
    Cheat("a hint behind each question", BOOL, "prompts", "failed", hints),
    Cheat("a hint behind one question", BOOL, "prompts", "failed", one_hint),
    Cheat(
        "an answer key in a system message", BOOL, "prompts", "not verified", answer_key
    ),
    Cheat("hints within our texts", BOOL, "prompts", "failed", hidden_key),
    Cheat("few-shot examples", BOOL, "task", "not verified", examples),
    Cheat("the best of many random draws", BOOL, "task", "not verified", best_draw),
    Cheat(
        "wrong programs are called timeouts",
        POT,
        "scores",
        "not verified",
        forged_timeouts,
    ),
    Cheat("wrong rows are left out", BOOL, "rows", "failed", dropped_rows),
    Cheat("rows of one's own", BOOL, "rows", "failed", foreign_rows),
    Cheat("points for wrong responses", BOOL, "scores", "failed", forged_scores),
    Cheat("answers that nobody gave", BOOL, "scores", "failed", forged_answers),
    Cheat("another response for one scoring", BOOL, "rows", "failed", two_responses),
    Cheat("a forged total", BOOL, "totals", "failed", forged_total),
    Cheat("a forged total of a group", GROUP, "totals", "failed", forged_group),
    Cheat("a forged figure of a part", BOOL, "totals", "failed", forged_part),
    Cheat("an older version of the scorer", BOOL, "task", "not verified", old_version),
)
