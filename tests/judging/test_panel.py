"""A panel of judges, one broken and one biased: scores, costs, agreement, and the leaderboard."""

import json
from pathlib import Path
from typing import Any

import pytest
from chat_server import Answer, completion, serve
from typer.testing import CliRunner

from fin_tasks import report
from fin_tasks.benchmarks.mme_finance.score import read_points
from fin_tasks.benchmarks.task_file import TaskFile
from fin_tasks.cli import app
from fin_tasks.errors import ConfigError
from fin_tasks.judging.item import Judged
from fin_tasks.judging.judge import judge_from
from fin_tasks.judging.panel import join_panel, panel_facts, verdict_of, votes_of
from fin_tasks.judging.rubric import load_rubric
from fin_tasks.report.leaderboard import board as board_of
from fin_tasks.report.verify.items import read_rows
from fin_tasks.settings import Settings

pytestmark = pytest.mark.usefixtures("own_cache")
FAIR = {"one": "5", "two": "2", "three": "4", "four": "1"}


def answer(body: dict[str, Any]) -> Answer:
    """`fair` and `qwen-fair` know the points, `biased` adds one point, `broken` has no reply."""
    model = body["model"]
    text = (
        body["messages"][1]["content"]
        .split("BEGIN RESPONSE")[1]
        .split("END RESPONSE")[0]
    )
    points = next(points for word, points in FAIR.items() if f"\n{word}" in text)
    if model == "broken":
        return 400, {}, {}
    if model == "biased":
        points = str(min(int(points) + 1, 5))
    return completion(points, usage=(100, 1))


def judge_file(tmp_path: Path, *options: str) -> Any:
    rows = []
    for number, word in enumerate(FAIR):
        row = {"index": number, "question": "?", "answer": "1", "prediction": word}
        rows.append(json.dumps({**row, "task_category": "OCR", "model": "Qwen2.5-VL"}))
    file = tmp_path / "qwen_MMEFinance.jsonl"
    file.write_text("\n".join(rows))
    fixed = [
        "judge",
        str(file),
        "--rubric",
        "mme_finance_en",
        "--out",
        str(tmp_path / "out"),
    ]
    return CliRunner().invoke(app, [*fixed, "--json", *options])


def test_a_panel_with_a_broken_and_a_biased_judge(tmp_path: Path) -> None:
    prices = tmp_path / "prices.yaml"
    price = "{input: 10, output: 0}"
    prices.write_text(
        f"models: {{biased: {price}, broken: {price}, qwen-fair: {price}}}"
    )
    panel = ["--judge", "qwen-fair", "--judge", "biased", "--model", "broken"]
    with serve(answer) as served:
        address = ["--base-url", served.base_url, "--token-prices", str(prices)]
        done = judge_file(tmp_path, *panel, *address)
    assert done.exception is None, done.output
    summary = json.loads(done.stdout)
    assert summary["judge"] == "biased + broken + qwen-fair"
    assert summary["unscored"] == 0
    assert summary["overall"] == pytest.approx(20 * (5 + 2.5 + 4.5 + 1.5) / 4)
    assert summary["prompt_tokens"] == 800
    assert summary["cost"] == pytest.approx(800 * 10 / 1e6)
    judges = {line["judge"]: line for line in summary["panel"]["judges"]}
    assert (judges["broken"]["votes"], judges["broken"]["failed"]) == (0, 4)
    assert judges["biased"]["mean"] - judges["qwen-fair"]["mean"] == pytest.approx(0.75)
    assert 0.8 < summary["panel"]["alpha"] < 1
    assert 1 < summary["panel"]["effective_votes"] < 1.1

    runs = report.read([tmp_path / "out"])
    (result,) = runs.runs[0].tasks
    assert result.settings["judge.model"] == summary["judge"]
    assert result.judge["panel"] == summary["panel"]
    board = board_of(runs, papers=False)
    entry = next(entry for entry in board.entries if entry.metric == "score")
    notes = " ".join(entry.notes)
    assert "qwen-fair is of the model's own family, qwen" in notes
    assert "alpha 0.85" in notes and "broken failed on 4 rows" in notes
    (samples,) = Path(summary["results"]).parent.glob("samples_*")
    line = json.loads(samples.read_text().splitlines()[1])
    reading = json.loads(line["filtered_resps"][0][0])
    assert [vote["points"] for vote in reading["votes"]] == [3, None, 2]
    assert [vote["replies"] for vote in reading["votes"]] == [["3"], [], ["2"]]
    assert "400" in reading["votes"][1]["reason"]

    rubric = load_rubric("mme_finance_en")
    rows, _ = read_rows(samples)
    again = read_points(rubric, rows["1"].judged(0, rubric), "robust")
    assert again.to_dict()["votes"] == tuple(
        {**vote, "replies": tuple(vote["replies"])} for vote in reading["votes"]
    )
    assert again.answer == reading["answer"] == 2.5


def test_a_panel_without_a_working_judge_writes_nothing(tmp_path: Path) -> None:
    with serve(lambda body: (400, {}, {})) as served:
        done = judge_file(
            tmp_path, "--judge", "a", "--judge", "b", "--base-url", served.base_url
        )
    assert "failed on 4 of 4" in str(done.exception)
    assert not (tmp_path / "out").exists()


def test_a_batch_goes_to_one_judge(tmp_path: Path) -> None:
    done = judge_file(tmp_path, "--judge", "a", "--judge", "b", "--batch", "submit")
    assert isinstance(done.exception, ConfigError)
    assert not (tmp_path / "out").exists()


def test_a_task_asks_a_panel_that_the_metadata_names() -> None:
    step = TaskFile("mme_finance_en").model_step({"judge_model": ["b", "a"]})
    assert step is not None and step.judge is not None
    assert [member.model for member in step.judge.judges] == ["a", "b"]


def test_a_dry_run_adds_up(tmp_path: Path) -> None:
    done = judge_file(tmp_path, "--judge", "a", "--judge", "b", "--dry-run")
    figures = json.loads(done.stdout)
    assert (figures["n"], figures["requests"]) == (4, 8)


def panel_of(*replies: str) -> Judged:
    members = []
    for number, text in enumerate(replies):
        members.append(Judged("response", (text,), judge=f"judge {number}"))
    return join_panel(members)


@pytest.mark.parametrize(("panel", "points"), [("median", 1), ("mean", 2)])
def test_median_or_mean(panel: str, points: float) -> None:
    rubric = load_rubric("mme_finance_en").model_copy(update={"panel": panel})
    verdict = verdict_of(votes_of(panel_of("0", "1", "5"), rubric), rubric)
    assert verdict is not None and verdict.score == points


def test_a_mean_is_another_rubric() -> None:
    rubric = load_rubric("mme_finance_en")
    assert rubric.model_copy(update={"panel": "mean"}).sha256 != rubric.sha256


def test_each_dimension_has_its_median() -> None:
    rubric = load_rubric("mme_finance_mt_zh")
    replies = []
    for points in (1, 2, 9):
        replies.append(json.dumps(dict.fromkeys(rubric.dimensions.values(), points)))
    verdict = verdict_of(votes_of(panel_of(*replies), rubric), rubric)
    assert verdict is not None
    assert verdict.score == dict.fromkeys(rubric.dimensions, 2)


def test_agreement_without_variation_is_not_defined() -> None:
    rubric = load_rubric("mme_finance_en")
    facts = panel_facts([panel_of("3", "3"), panel_of("3", "3")], rubric)["panel"]
    assert (facts["alpha"], facts["effective_votes"]) == (None, None)
    assert panel_facts([Judged("response")], rubric) == {}


def test_judges_that_always_agree_are_one_vote() -> None:
    rubric = load_rubric("mme_finance_en")
    rows = [panel_of("1", "1"), panel_of("4", "4"), panel_of("2", "2")]
    facts = panel_facts(rows, rubric)["panel"]
    assert (facts["alpha"], facts["effective_votes"]) == pytest.approx((1, 1))


def test_judges_have_their_own_addresses_and_keys() -> None:
    names = ["b@https://example.org/v1#B_KEY", "a"]
    judge = judge_from({"judge_model": names}, Settings.from_environ({}))
    assert judge is not None
    first, second = judge.judges
    assert (first.model, first.key) == ("a", "OPENAI_API_KEY")
    assert (second.base_url, second.key) == (("https://example.org/v1",), "B_KEY")
    with pytest.raises(ConfigError, match="different judges"):
        judge_from({"judge_model": ["a", "a"]}, Settings.from_environ({}))
