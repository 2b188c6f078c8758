"""The authors' frames and figures; the code that fills the frames is ours, as theirs is not at hand."""

import json
import re
import shutil
from pathlib import Path

import pytest
from authors_files import write_authors_files

from fin_tasks.benchmarks.dynostock.data import load
from fin_tasks.benchmarks.dynostock.windows import AUTHORITIES

CONFIG = (
    Path(__file__).resolve().parents[3] / "shared" / "data" / "dynostock" / "config"
)
# A chat template, the place of a picture.
ADDED = re.compile(r"\[/?INST\]|<image>|<\|image_1\|>")

pytestmark = [
    pytest.mark.skipif(
        not CONFIG.is_dir(), reason=f"the authors' prompts are not at {CONFIG}"
    ),
    pytest.mark.usefixtures("own_cache"),
]


def test_every_model_has_the_same_frame() -> None:
    frames = json.loads((CONFIG / "prompt.json").read_text("utf-8"))
    texts = {ADDED.sub("", frame["prompt"]).strip() for frame in frames.values()}
    assert len(frames) == 9
    assert texts == {frames["gpt-4o"]["prompt"]}


def test_the_figures_stand_in_the_authors_order() -> None:
    """The order decides whom `--from-recording` names."""
    figures = json.loads((CONFIG / "celebrity.json").read_text("utf-8"))
    assert [figure["name"] for figure in figures] == list(AUTHORITIES)


def test_the_frame_is_filled(tmp_path: Path) -> None:
    folder = write_authors_files(tmp_path)
    shutil.copytree(CONFIG, folder / "dynostock" / "config", dirs_exist_ok=True)
    options = {"source": "sample", "prompts": "upstream", "data_dir": str(folder)}
    docs = load(bias="authority", window=4, mode="text", sample_n=20, **options)["test"]
    frames = json.loads((CONFIG / "prompt.json").read_text("utf-8"))
    figures = json.loads((CONFIG / "celebrity.json").read_text("utf-8"))
    figures_by_name = {figure["name"]: figure for figure in figures}
    for doc in docs:
        figure = figures_by_name[doc["authority"]]
        said = f"{doc['authority']}: {figure['summary']} {figure['impact']} {doc['signal']}"
        fields = [doc["ticker"], "background", "rule", doc["start"], doc["end"], said]
        assert doc["prompt"] == frames["gpt-4o"]["prompt"].format(*fields)
        assert doc["system"] == ""
