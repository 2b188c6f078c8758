"""lm-eval asks and scores the questions that corrections leave, and its results say so."""

from pathlib import Path

from in_process import run

from fin_tasks.benchmarks.task_file import TaskFile

TASK = "xfinbench_bool"


def test_lm_eval_honors_corrections(tmp_path: Path) -> None:
    docs, provenance = TaskFile(TASK).load({"source": "sample"})
    names = [doc["id"] for doc in docs]
    is_true = [float(doc["ground_truth"]) == 1 for doc in docs]
    path = tmp_path / "corrections.yaml"
    path.write_text(
        "corrections:\n"
        f"- {{benchmark: xfinbench, id: {names[0]}, exclude: true}}\n"
        f"- {{benchmark: xfinbench, id: {names[1]}, truth: {not is_true[1]}}}\n"
    )
    result = run(
        TASK,
        answer=lambda doc: "Therefore, my answer is TRUE.",
        corrections=str(path),
    )
    n_right = sum(is_true[2:]) + (not is_true[1])
    figures = result["results"][TASK]
    assert figures["acc,robust"] == n_right / (len(docs) - 1)
    facts = result["configs"][TASK]["metadata"]["provenance"]
    assert facts["corrections"]["note"] == "1 question excluded, 1 truth corrected"
    assert facts["hash"] != provenance["hash"]
    assert facts["rows"] == len(docs) - 1
