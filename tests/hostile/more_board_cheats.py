"""More ways to bend a board: names, JSON, numbers, files and copies of strangers."""

import json
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from board_cheats import BoardCheat, Line, each_line, first_lines, samples_of
from cheats import BOOL, edit_lines, edit_readings, edit_results, is_wrong, metadata
from submissions import explained, submit

Results = dict[str, Any]
ALPHA = "model of alpha"
Change = Callable[[Path], None]


def results_file(folder: Path) -> Path:
    """Return the results file."""
    (file,) = folder.rglob("results_*.json")
    return file


def named(name: str) -> Change:
    """Give the model another name."""
    return lambda folder: edit_results(
        folder, lambda results: results.update(model_name=name)
    )


def results(change: Callable[[Results], object]) -> Change:
    """Change the results."""
    return lambda folder: edit_results(folder, change)


def totals(values: Mapping[str, Any]) -> Change:
    """Change totals of the task."""
    return results(lambda content: content["results"][BOOL].update(values))


def counts(original: float, effective: float) -> Change:
    """Say how many questions there are."""
    n = {"original": original, "effective": effective}
    return results(lambda content: content["n-samples"].update({BOOL: n}))


def provenance(**values: Any) -> Change:
    """Change what is said of the documents."""
    return results(lambda content: metadata(content)["provenance"].update(values))


def wrong_lines(**values: Any) -> Change:
    """Change the fields of wrong lines."""
    return each_line(lambda line: is_wrong(line) and line.update(values))


def texts(change: Callable[[str], str], pattern: str = "samples_*.jsonl") -> Change:
    """Change the text of a file."""

    def change_file(folder: Path) -> None:
        (file,) = folder.rglob(pattern)
        file.write_text(change(file.read_text()))

    return change_file


def later_total(text: str) -> str:
    """Name the results a second time, with a better total."""
    better = json.loads(text)["results"]
    better[BOOL] |= {"acc,paper": 1.0, "acc,robust": 1.0}
    return f'{text.rstrip()[:-1]}, "results": {json.dumps(better)}}}'


def later_id(text: str) -> str:
    """Name the id of the first question a second time, another one."""
    return text.replace('"doc": {', '"doc": {"id": "x", ', 1)


def own_metric(line: Line) -> None:
    """Bring a metric of one's own, by the name of one of ours."""
    line.update(acc_TU=1.0, metrics=[*line["metrics"], "acc_TU"])


def third_scoring(lines: list[Line]) -> None:
    """Bring a scoring of one's own."""
    lines += [{**line, "filter": "best"} for line in lines[::2]]


def bare_document(line: Line) -> None:
    """Leave out of a document all but its id."""
    line["doc"] = {"id": line["doc"]["id"]}


def linked_folder(folder: Path) -> None:
    """Send a link to the folder of somebody else's run."""
    elsewhere = folder.with_name(f"{folder.name} elsewhere")
    (folder / "model-c").rename(elsewhere)
    (folder / "model-c").symlink_to(elsewhere)


def linked_samples(folder: Path) -> None:
    """Send a link to samples out of the submission."""
    file = samples_of(folder)
    elsewhere = folder.with_name(f"{folder.name}.jsonl")
    file.rename(elsewhere)
    file.symlink_to(elsewhere)


def pipe(folder: Path) -> None:
    """Send a pipe, on which a reader waits for ever."""
    file = samples_of(folder)
    file.unlink()
    os.mkfifo(file)


def admission_pipe(folder: Path) -> None:
    """Send a pipe by the name of the host's own file."""
    os.mkfifo(folder / "admission.json")


def hidden_board_file(folder: Path) -> None:
    """Bring a file of maintainers in a hidden folder."""
    (folder / ".a").mkdir()
    (folder / ".a" / "board.yaml").write_text("hidden: [alpha]\n")


def hidden_run(folder: Path) -> None:
    """Keep the run in a hidden folder, which reports leave out."""
    (folder / "model-c").rename(folder / ".model-c")


def year_9999(folder: Path) -> None:
    """Send results of the year 9999."""
    for file in [*folder.rglob("*_20*")]:
        at = file.name.index("_20")
        file.rename(file.with_name(f"{file.name[:at]}_9999-12-31T23-59-59.jsonl"))
    for file in folder.rglob("results_*"):
        file.rename(file.with_suffix(".json"))


def sparse(folder: Path) -> None:
    """Send a file of terabytes that takes no room."""
    with (folder / "weights.bin").open("wb") as file:
        file.truncate(4 << 40)


def utf_16(folder: Path) -> None:
    """Send results in another encoding than JSON has."""
    file = results_file(folder)
    file.write_text(file.read_text(), "utf-16")


def twin(folder: Path) -> None:
    """Send a second run, of a model whose name differs in upper case alone."""
    copy = folder / "second"
    shutil.copytree(folder / "model-c", copy)
    file = results_file(copy)
    content = json.loads(file.read_text())
    file.write_text(json.dumps({**content, "model_name": "MODEL-C"}))


def own_group(content: Results) -> None:
    """Bring a group that is within itself."""
    group = {"acc,paper": 1.0, "acc,robust": 1.0}
    subtasks = {"xfinbench_text": ["xfinbench_text", BOOL]}
    content["results"]["xfinbench_text"] = group
    content.update(groups={"xfinbench_text": group}, group_subtasks=subtasks)


def many_tasks(content: Results) -> None:
    """Bring very many tasks of one's own."""
    for number in range(900):
        content["results"][f"{BOOL}_{number}"] = {"acc,robust": 1.0}


def copied(change: Callable[[str], str], n_own: int = 0) -> Change:
    """Send responses of another model, each changed a little; a number of rows has responses of one's own."""

    def send(folder: Path) -> None:
        seen: list[str] = []

        def answer(doc: Mapping[str, Any]) -> str:
            seen.append(doc["id"])
            if len(seen) <= n_own:
                return explained("model-c")(doc)
            return change(explained(ALPHA)(doc))

        shutil.rmtree(folder)
        submit(folder, model="model-c", answer=answer)

    return send


def words_between(text: str) -> str:
    """Put a word in between after each fifth one."""
    words = text.split(" ")
    return " ".join(
        f"{word} so" if at % 5 == 4 else word for at, word in enumerate(words)
    )


def russian(text: str) -> str:
    """Replace letters by Russian ones that look the same; the last line holds the answer."""
    first, _, last = text.partition("\n")
    twins = str.maketrans("aeopcyx", "\u0430\u0435\u043e\u0440\u0441\u0443\u0445")
    return f"{first.translate(twins)}\n{last}"


def invisible(text: str) -> str:
    """Put characters without shape between all letters."""
    first, _, last = text.partition("\n")
    return "\u200b".join(first) + f"\n{last}"


MORE_BOARD_CHEATS = (
    # What JSON says twice, or with numbers that no reader expects.
    BoardCheat("a total said twice", texts(later_total, "results_*"), refused="totals"),
    BoardCheat(
        "a score said twice",
        texts(lambda text: text.replace('"acc": 0.0', '"acc": 0.0, "acc": 1.0')),
        refused="scores",
    ),
    BoardCheat("an id said twice", texts(later_id), ignored=True),
    BoardCheat("NaN as a score", wrong_lines(acc=float("nan")), refused="scores"),
    BoardCheat("infinity as a score", wrong_lines(acc=float("inf")), refused="files"),
    BoardCheat("a score above 1", wrong_lines(acc=1.01), refused="files"),
    BoardCheat("a score below 0", wrong_lines(acc=-9), refused="files"),
    BoardCheat("a score as text", wrong_lines(acc="1.0"), refused="files"),
    BoardCheat("true as a score", wrong_lines(acc=True), refused="scores"),
    BoardCheat(
        "infinity as a total", totals({"acc,robust": float("inf")}), refused="files"
    ),
    BoardCheat("a total as text", totals({"acc,robust": "0.99"}), refused="totals"),
    BoardCheat(
        "a metric of one's own", totals({"acc_norm,robust": 1.0}), refused="totals"
    ),
    BoardCheat("no standard error", totals({"acc_stderr,robust": 0.0}), ignored=True),
    BoardCheat("fewer than no questions", counts(-5, -5), refused="files"),
    BoardCheat("a billion questions", counts(10**9, 10**9), refused="files"),
    BoardCheat("no number of questions", counts(0, 0), ignored=True),
    BoardCheat(
        "a part with more questions",
        results(lambda r: metadata(r)["breakdowns"]["robust"]["acc_TU"].update(n=9999)),
        refused="totals",
    ),
    BoardCheat(
        "endless tokens at no cost",
        results(
            lambda r: metadata(r).update(
                usage={"response_tokens": 1e308, "cost": -5, "seconds": float("nan")}
            )
        ),
        ignored=True,
    ),
    BoardCheat(
        "a version as a list",
        results(lambda r: r["versions"].update({BOOL: [1]})),
        refused="files",
    ),
    BoardCheat(
        "results in UTF-16",
        utf_16,
        ignored=True,
    ),
    # Names that read like another's.
    BoardCheat("a Russian letter", named("m\u043edel of alpha"), refused="model"),
    BoardCheat("an Armenian letter", named("m\u0585del of alpha"), refused="model"),
    BoardCheat("a letter of phonetics", named("model of \u0251lpha"), claimed="name"),
    BoardCheat("a digit like a letter", named("m0de1 of alpha"), claimed="name"),
    BoardCheat("a capital I like an l", named("modeI of aIpha"), claimed="name"),
    BoardCheat("no width", named("model\u200b of al\u200dpha"), ignored=True),
    BoardCheat("a letter without shape", named(f"{ALPHA}\u3164"), claimed="name"),
    BoardCheat("wide letters", named("\uff4dodel of alpha"), claimed="name"),
    BoardCheat("a line below a letter", named("m\u0332odel of alpha"), claimed="name"),
    BoardCheat("a name of blanks", named(" \u2800 "), refused="model"),
    BoardCheat("a name backwards", named("\u202eahpla fo ledom"), ignored=True),
    BoardCheat("a name as a path", named(f"../../alpha/{ALPHA}"), ignored=True),
    BoardCheat("a name of 100,000 letters", named("ab" * 50_000), ignored=True),
    BoardCheat("two names in one folder", twin, refused="runs"),
    # Lines that say more, less, or something else.
    BoardCheat(
        "an id with a character without width",
        first_lines(lambda line: line["doc"].update(id=f"{line['doc']['id']}\u200b")),
        refused="rows",
    ),
    BoardCheat(
        "an id in a list",
        first_lines(lambda line: line["doc"].update(id=[line["doc"]["id"]])),
        refused="rows",
    ),
    BoardCheat("a figure in a line", each_line(own_metric), refused="scores"),
    BoardCheat(
        "a judge's points in a reading",
        lambda folder: edit_lines(
            folder, lambda lines: edit_readings(lines, score=5, replies=["5", "1"])
        ),
        refused="scores",
    ),
    BoardCheat(
        "another model in the samples",
        first_lines(lambda line: line.update(models=[None, "model-d", "Model C"])),
        claimed="models",
    ),
    BoardCheat(
        "a third scoring",
        lambda folder: edit_lines(folder, third_scoring),
        refused="rows",
    ),
    BoardCheat(
        "wrong rows called cut off",
        each_line(lambda line: is_wrong(line) and edit_readings([line], cut_off=True)),
        ignored=True,
    ),
    BoardCheat(
        "another target", each_line(lambda one: one.update(target="x")), ignored=True
    ),
    BoardCheat("documents with an id alone", each_line(bare_document), ignored=True),
    BoardCheat(
        "a weight for a row",
        first_lines(lambda line: line.update(weight=99, __class__="x")),
        ignored=True,
    ),
    BoardCheat(
        "rows in another order",
        lambda folder: edit_lines(folder, lambda lines: lines.reverse()),
        ignored=True,
    ),
    # Settings.
    BoardCheat(
        "questions called corrected",
        provenance(corrections={"sha256": "0" * 64}),
        refused="settings",
    ),
    BoardCheat(
        "nothing said of the documents",
        results(lambda r: metadata(r).update(provenance={})),
        refused="settings",
    ),
    BoardCheat(
        "rows chosen by hand",
        results(lambda r: r["config"].update(samples={BOOL: [0, 1]})),
        refused="settings",
    ),
    BoardCheat(
        "eight tries by its own words",
        results(lambda r: r["configs"][BOOL].update(repeats=8)),
        ignored=True,
    ),
    BoardCheat(
        "fewer than no examples",
        results(lambda r: r["n-shot"].update({BOOL: -3})),
        claimed="settings",
    ),
    BoardCheat("a group within itself", results(own_group), refused="totals"),
    BoardCheat("900 tasks of one's own", results(many_tasks), refused="task"),
    # Files.
    BoardCheat("a link to a folder", linked_folder, refused="files"),
    BoardCheat("a link to samples", linked_samples, refused="files"),
    BoardCheat("a pipe", pipe, refused="rows"),
    BoardCheat("a pipe called admission", admission_pipe, refused="files"),
    BoardCheat("a hidden board file", hidden_board_file, refused="files"),
    BoardCheat("a hidden run", hidden_run, refused="files"),
    BoardCheat("the year 9999", year_9999, ignored=True),
    BoardCheat("a file of terabytes", sparse, refused="files"),
    # Responses of somebody else.
    BoardCheat("copies with words between", copied(words_between), refused="copies"),
    BoardCheat("copies in Russian letters", copied(russian), refused="copies"),
    BoardCheat("copies with invisible letters", copied(invisible), refused="copies"),
    BoardCheat(
        "copies with words before",
        copied(lambda text: f"Well, let me think aloud. {text}"),
        refused="copies",
    ),
    BoardCheat("copies of two rows in three", copied(str, n_own=11), claimed="copies"),
)
