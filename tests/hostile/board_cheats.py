"""Ways to bend a board, each with what `verify --board` refuses or what it names as a claim."""

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cheats import BOOL, FAILURE, edit_lines, edit_readings, edit_results, metadata
from submissions import text_sent

Line = dict[str, Any]


@dataclass(frozen=True)
class BoardCheat:
    """A way to bend a board with a changed copy of an honest run."""

    name: str
    change: Callable[[Path], None]
    refused: str = ""
    """The name of what is refused; empty if the run is admitted."""
    claimed: str = ""
    """The name of the claim."""
    ignored: bool = False
    """Whether the run is admitted as if nothing had been changed."""


def each_line(change: Callable[[Line], object]) -> Callable[[Path], None]:
    """Change all lines of the samples."""
    return lambda folder: edit_lines(folder, lambda lines: [*map(change, lines)])


def first_lines(change: Callable[[Line], object]) -> Callable[[Path], None]:
    """Change the lines of the first row."""
    return lambda folder: edit_lines(folder, lambda lines: [*map(change, lines[:2])])


def samples_of(folder: Path) -> Path:
    """Return the samples file."""
    (file,) = folder.rglob("samples_*.jsonl")
    return file


def cut_line(folder: Path) -> None:
    """End the samples in the middle of a line."""
    file = samples_of(folder)
    file.write_bytes(file.read_bytes()[:-40])


def say_unscored(folder: Path) -> None:
    """Say of wrong responses that they have no score."""

    def change(line: Line) -> None:
        if line["acc"] == 0:
            line.update(acc=None, unscored=1.0)
            edit_readings([line], answer=None, unscored=True)

    edit_lines(folder, lambda lines: [*map(change, lines)])


def drop_wrong_responses(folder: Path) -> None:
    """Send no response at all where the model was wrong."""

    def change(line: Line) -> None:
        if line["acc"] == 0:
            line.update(resps=[[]], filtered_resps=[[]], acc=None)

    edit_lines(folder, lambda lines: [*map(change, lines)])


def say_lost(folder: Path) -> None:
    """Say that the server failed where the model was wrong."""

    def change(line: Line) -> None:
        if line["acc"] == 0:
            line["resps"] = [[FAILURE]]
            line.update(acc=None, unscored=1.0)
            edit_readings([line], answer=None, unscored=True)

    edit_lines(folder, lambda lines: [*map(change, lines)])


def invent_setting(folder: Path) -> None:
    """Name a setting that nobody has, so that a run stands alone."""
    edit_results(
        folder,
        lambda results: metadata(results)["provenance"].update(temperature_of_soul=1),
    )


def call_task_a_group(folder: Path) -> None:
    """Call a task a group, so that nothing of it is checked."""
    edit_results(
        folder,
        lambda results: results.update(group_subtasks={BOOL: ["xfinbench_calc"]}),
    )


def call_old_task_a_group(folder: Path) -> None:
    """Call a task a group, and name an older version whose totals may be other ones."""
    call_task_a_group(folder)
    edit_results(folder, lambda results: results["versions"].update({BOOL: 1}))


def own_task(folder: Path) -> None:
    """Bring a task of one's own."""
    edit_results(
        folder, lambda results: results["results"].update(easy={"acc,robust": 1.0})
    )


def own_badge(folder: Path) -> None:
    """Bring the host's own file."""
    (folder / "model-c" / "admission.json").write_text('{"submission": "alpha"}')


def own_board(folder: Path) -> None:
    """Bring a file of maintainers, which would hide other runs."""
    (folder / "board.yaml").write_text("hidden: [alpha]\n")


def second_run(folder: Path) -> None:
    """Send two runs of a model, the better one of which may count."""
    for file in [*folder.rglob("*_20*")]:
        later = file.name.replace("_20", "_30", 1)
        shutil.copy(file, file.with_name(later))
    file = next(folder.rglob("results_30*"))
    file.write_text(file.read_text() + " ")


def limit(folder: Path) -> None:
    """Send a run of three rows."""

    def results(content: dict[str, Any]) -> None:
        content["n-samples"][BOOL] = {"original": 32, "effective": 3}

    edit_results(folder, results)
    edit_lines(folder, lambda lines: lines.__delitem__(slice(6, None)))


def other_id(line: Line) -> None:
    """Name a question that does not exist."""
    line["doc"]["id"] = "sample_99999"


def same_id(folder: Path) -> None:
    """Answer one question twice."""

    def change(lines: list[Line]) -> None:
        lines.append(json.loads(json.dumps(lines[0])))

    edit_lines(folder, change)


def own_cluster(line: Line) -> None:
    """Put all rows into one cluster, or into another benchmark's."""
    line["doc"].update(published_id="one", image_path="/etc/hostname")
    line.update(score=100.0, metrics=[*line["metrics"], "score"])


def hint_in_template(line: Line) -> None:
    """Send one and the same hint with every question."""
    sent = line["arguments"]["gen_args_0"]
    sent["arg_0"] += "\nNote that most of these statements are true."


def chat(*messages: tuple[str, Any]) -> list[str]:
    """Return messages as an API model of lm-eval logs them."""
    listed = [{"role": role, "content": content} for role, content in messages]
    return [json.dumps(listed)]


def extra_picture(line: Line) -> None:
    """Send a picture beside a question in words: the answers may be on it."""
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;sha256,00"}}
    text = {"type": "text", "text": text_sent(line["doc"])}
    line["arguments"]["gen_args_0"]["arg_0"] = chat(("user", [picture, text]))


def extra_visual(line: Line) -> None:
    """Send a picture to a local model."""
    line["arguments"]["gen_args_0"]["arg_2"] = {"visual": ["0" * 64]}


def assistant_role(line: Line) -> None:
    """Let the model believe that it said something before."""
    doc = line["doc"]
    line["arguments"]["gen_args_0"]["arg_0"] = chat(
        ("user", doc["system"]), ("assistant", doc["prompt"])
    )


def examples_in_words(folder: Path) -> None:
    """Show examples before each question, other ones each time, and say so."""
    edit_results(folder, lambda results: results["n-shot"].update({BOOL: 2}))

    def change(line: Line) -> None:
        sent = line["arguments"]["gen_args_0"]
        sent["arg_0"] = f"Example {line['doc_id']}: true.\n{sent['arg_0']}"

    edit_lines(folder, lambda lines: [*map(change, lines)])


def milder_version(folder: Path) -> None:
    """Name an older version, whose scores were higher, with facts and totals to fit."""

    def results(content: dict[str, Any]) -> None:
        content["versions"][BOOL] = 1
        content["results"][BOOL].update({"acc,paper": 1.0, "acc,robust": 1.0})

    edit_results(folder, results)

    def change(line: Line) -> None:
        line.update(acc=1.0)
        line["doc"]["ground_truth"] = "1.0"

    edit_lines(folder, lambda lines: [*map(change, lines)])


def other_sample(folder: Path) -> None:
    """Leave the samples of a task out, so that only the totals speak."""
    samples_of(folder).unlink()


def deep_line(folder: Path) -> None:
    """Nest a line so deeply that a reader may fall over."""
    with samples_of(folder).open("a") as file:
        file.write("[" * 100_000 + "]" * 100_000 + "\n")


def link(folder: Path) -> None:
    """Link to a run of somebody else."""
    (folder / "results_2026-01-01T00-00-00.json").symlink_to("/etc/hostname")


def no_texts(line: Line) -> None:
    """Send a number in place of a response."""
    line["resps"] = [[7]]


def more_tries(line: Line) -> None:
    """Send two responses where one is not enough, so that only these rows have a pass@2."""
    line.update(
        resps=[line["resps"][0] * 2], filtered_resps=[line["filtered_resps"][0] * 2]
    )


BOARD_CHEATS = (
    BoardCheat("a cut line", cut_line, refused="files"),
    BoardCheat("a line nested too deeply", deep_line, refused="files"),
    BoardCheat("a link to another place", link, refused="files"),
    BoardCheat("an admission of one's own", own_badge, refused="files"),
    BoardCheat("a board file of one's own", own_board, refused="files"),
    BoardCheat("wrong rows without a score", say_unscored, refused="scores"),
    BoardCheat("wrong rows without a response", drop_wrong_responses, refused="rows"),
    BoardCheat("wrong rows that are called lost", say_lost, refused="scores"),
    BoardCheat("a number as a response", first_lines(no_texts), refused="rows"),
    BoardCheat("a setting of one's own", invent_setting, refused="settings"),
    BoardCheat("a task that is called a group", call_task_a_group, refused="totals"),
    BoardCheat(
        "an old task that is called a group", call_old_task_a_group, refused="totals"
    ),
    BoardCheat("a task of one's own", own_task, refused="task"),
    BoardCheat("two runs of a model", second_run, refused="runs"),
    BoardCheat("three rows", limit, refused="rows"),
    BoardCheat("totals without samples", other_sample, refused="rows"),
    BoardCheat("a question that nobody asked", first_lines(other_id), refused="rows"),
    BoardCheat("a question answered twice", same_id, refused="files"),
    BoardCheat("clusters of one's own", each_line(own_cluster), refused="rows"),
    BoardCheat("two tries for one question", first_lines(more_tries), refused="rows"),
    BoardCheat("a hint to all", each_line(hint_in_template), claimed="template"),
    BoardCheat("a picture more", each_line(extra_picture), claimed="pictures"),
    BoardCheat("a visual more", each_line(extra_visual), claimed="pictures"),
    BoardCheat("a role more", each_line(assistant_role), claimed="roles"),
    BoardCheat("random examples", examples_in_words, claimed="settings"),
    BoardCheat("an older version with other truths", milder_version, claimed="version"),
)
