"""`fin-tasks verify` on logs of inspect_ai, which do not say what was sent as lm-eval does."""

from pathlib import Path

import pytest

pytest.importorskip("inspect_ai")


from inspect_ai.log import read_eval_log, write_eval_log
from submissions import SAMPLE, admit, verify
from test_inspect_ai import ask

pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # inspect_ai warns of itself
    pytest.mark.slow,
]


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_proxy: None) -> None:
    monkeypatch.setenv("FIN_TASKS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("INSPECT_LOG_DIR", str(tmp_path / "logs"))


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("logs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FIN_TASKS_CACHE", str(folder / "cache"))
        patch.setenv("INSPECT_LOG_DIR", str(folder))
        ask("xfinbench_bool", "dynostock_recency_w4_text")
    return folder


def test_logs_lack_only_what_was_sent(logs: Path, tmp_path: Path) -> None:
    status, worst, output = verify(logs, *SAMPLE)
    open_items = {name for name, status in worst.items() if status != "verified"}
    assert (status, open_items) == (3, {"prompts"}), output
    status, told, output = admit(logs, tmp_path / "board")
    assert (status, told["claims"]) == (3, ["prompts"]), output


def test_a_head_that_names_another_model_than_the_samples(
    logs: Path, tmp_path: Path
) -> None:
    (file,) = logs.glob("*xfinbench-bool*.eval")
    log = read_eval_log(str(file))
    log.eval.model = "openai/gpt-9"
    write_eval_log(log, str(tmp_path / "logs" / file.name))
    status, worst, output = verify(tmp_path / "logs", *SAMPLE)
    assert (status, worst["oddities"]) == (3, "warning"), output
    status, told, output = admit(tmp_path / "logs", tmp_path / "board")
    assert (status, told["claims"]) == (3, ["models", "prompts"]), output
    assert "mockllm/tested" in output
