"""Files of samples beside the page: what they hold, what they leave out, and what is done about strangers' files."""

import io
import json
import warnings
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_site import HOSTILE, picture, read_sidecar, sample, sent, write_run, write_site

from fin_tasks.report.site import sample_runs, sample_store
from fin_tasks.report.site.sample_pictures import Pictures, find_pictures
from fin_tasks.report.site.sample_record import clean, outcome_of, question_of

SAMPLES = [sample(place) for place in range(5)]


def chunk(out: Path, run: Any, kind: str) -> Any:
    if kind == "questions":
        return [one for name in run.questions for one in read_sidecar(out, f"questions/{name}")]
    return read_sidecar(out, f"runs/{run.folder}/{kind}-0")


def test_every_sample_is_there_with_what_was_made_of_it(tmp_path: Path) -> None:
    write_run(tmp_path / "runs", SAMPLES)
    (run,) = write_site(tmp_path / "runs", tmp_path / "out").runs
    out = tmp_path / "out"
    assert (run.rows, run.variants, run.metric) == (5, ("paper", "robust"), "acc")
    question = chunk(out, run, "questions")[3]
    assert question["prompt"] == "Question: What is 3 and 3?"
    assert question["references"] == [["ground_truth", "truth 3"], ["target", "target 3"]]
    assert chunk(out, run, "responses")[3] == ["It is 6, said model."]
    outcomes = chunk(out, run, "outcomes")
    assert outcomes["paper"][3]["values"] == {"acc": 1.0, "unscored": 0.0}
    assert ["reason", "reason of 3"] in outcomes["robust"][3]["read"][0]
    index = chunk(out, run, "index")
    assert index["asked"][3] == "What is 3 and 3?"
    assert index["variants"]["paper"]["values"] == [1.0, 0.0, 0.0, 1.0, 0.0]
    assert index["variants"]["robust"]["answers"] == ["0", "2", "4", "6", "8"]
    assert [index["names"][at] for at in index["groups"][3]] == ["capabilities: TU"]


def test_chunks_join_without_a_gap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample_runs, "CHUNK", 2)
    monkeypatch.setattr(sample_runs, "INDEX", 4)
    write_run(tmp_path / "runs", SAMPLES)
    out = tmp_path / "out"
    (run,) = write_site(tmp_path / "runs", out).runs
    assert [one["id"] for one in chunk(out, run, "questions")] == [f"q_{at}" for at in range(5)]
    indexes = [read_sidecar(out, f"runs/{run.folder}/index-{at}") for at in range(2)]
    assert [name for one in indexes for name in one["ids"]] == [f"q_{at}" for at in range(5)]
    assert [name for one in indexes for name in one["questions"]] == list(run.questions)
    assert [len(read_sidecar(out, f"runs/{run.folder}/outcomes-{at}")["paper"]) for at in range(3)] == [2, 2, 1]


def test_filters_in_another_order_are_joined_by_id(tmp_path: Path) -> None:
    write_run(tmp_path / "runs", SAMPLES)
    (path,) = (tmp_path / "runs").glob("samples_*")
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:5] + lines[:4:-1]), encoding="utf-8")
    (run,) = write_site(tmp_path / "runs", tmp_path / "out").runs
    assert chunk(tmp_path / "out", run, "index")["variants"]["robust"]["answers"] == ["0", "2", "4", "6", "8"]


def test_runs_over_the_same_questions_share_their_files(tmp_path: Path) -> None:
    for model in ("a", "b"):
        write_run(tmp_path / "runs" / model, SAMPLES, model=f"made/{model}")
    first, second = write_site(tmp_path / "runs", tmp_path / "out").runs
    assert first.questions == second.questions
    assert first.folder != second.folder
    assert len(list((tmp_path / "out" / "samples" / "questions").iterdir())) == 1


@pytest.mark.parametrize("most", [sample_runs._MOST_ASKED, 600, 0])
def test_documents_of_one_id_keep_their_own_questions(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr(sample_runs, "_MOST_ASKED", most)
    asked = sample_runs._Asked()
    docs = [{"id": name, "prompt": f"Question: {name} {place}?"} for place in range(3) for name in ("a", "b")]
    for doc in [*docs, *docs]:
        found = asked.of(doc["id"], {}, doc)
        assert (found.id, found.asked) == (doc["id"], f"{doc['id']} {doc['prompt'][-2:]}")
        assert json.loads(found.text + b"}")["prompt"] == doc["prompt"]
    assert asked.of("a", {}, docs[0]) is asked.of("a", {}, dict(docs[0])), "it is made once"


def test_side_by_side_as_one_after_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for model in ("a", "b", "c"):
        write_run(tmp_path / "runs" / model, SAMPLES, model=f"made/{model}")
    alone = write_site(tmp_path / "runs", tmp_path / "alone")
    monkeypatch.setattr(sample_store, "_WORTH_PROCESSES", 0)
    assert write_site(tmp_path / "runs", tmp_path / "together") == alone
    files = {path.relative_to(tmp_path / "alone") for path in (tmp_path / "alone").rglob("*.js")}
    assert files == {path.relative_to(tmp_path / "together") for path in (tmp_path / "together").rglob("*.js")}


@pytest.mark.parametrize("text", HOSTILE)
def test_a_file_is_one_call_with_two_texts(tmp_path: Path, text: str) -> None:
    write_run(tmp_path / "runs", [sample(0, response=text, doc={"prompt": text})])
    out = tmp_path / "out"
    (run,) = write_site(tmp_path / "runs", out).runs
    assert chunk(out, run, "responses") == [[clean(text)]]
    assert chunk(out, run, "questions")[0]["prompt"] == clean(text)
    for path in out.rglob("*.js"):
        written = path.read_text(encoding="utf-8")
        assert not set("<>&\u2028\u2029") & set(written)
        assert written.count("\n") == 1


def test_no_path_of_a_machine_is_told(tmp_path: Path) -> None:
    doc = {
        "figure_path": "/data/ann/x.png",
        "folder": "/data/ann",
        "file": "C:\\ann\\x",
        "home": "~/ann",
        "url": "file:///ann",
    }
    write_run(tmp_path / "runs", [sample(0, doc=doc)])
    write_site(tmp_path / "runs", tmp_path / "out")
    assert not [path for path in (tmp_path / "out" / "samples").rglob("*.js") if "ann" in path.read_text()]


def test_huge_texts_are_cut_and_it_is_told() -> None:
    assert clean("x" * 60_000).endswith("(10,000 more characters left out)")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)


@settings(max_examples=150)
@given(doc=st.dictionaries(st.text() | st.sampled_from(["prompt", "target", "category", "answer"]), JSON), rest=JSON)
def test_any_line_can_be_shown(doc: dict[str, Any], rest: Any) -> None:
    made = {"doc": doc, "filtered_resps": rest, "metrics": ["acc"], "acc": 1.0, "arguments": rest, "target": rest}
    question = question_of("id", made, doc)
    json.dumps([question, outcome_of(made)], allow_nan=False).encode()
    assert question["id"] == "id"


def pictures(tmp_path: Path) -> Pictures:
    (tmp_path / "ours" / "a").mkdir(parents=True)
    (tmp_path / "ours" / "b").mkdir()
    (tmp_path / "ours" / "a" / "x.png").write_bytes(picture(colour="red"))
    (tmp_path / "ours" / "b" / "x.png").write_bytes(picture(colour="blue"))
    (tmp_path / "ours" / "a" / "only.png").write_bytes(picture(colour="green"))
    (tmp_path / "secret.png").write_bytes(picture(colour="black"))
    (tmp_path / "ours" / "link.png").symlink_to(tmp_path / "secret.png")
    return Pictures(tmp_path / "out", find_pictures([tmp_path / "ours"]))


def test_pictures_are_found_by_name_in_our_folders_alone(tmp_path: Path) -> None:
    found = pictures(tmp_path)
    assert found.add("/another/machine/a/x.png", "") != found.add("C:\\data\\b\\x.png", "")
    assert found.add("/cluster/only.png", "") == found.add(str(tmp_path / "ours" / "a" / "only.png"), "")
    for path in (
        "x.png",
        str(tmp_path / "secret.png"),
        "link.png",
        "../secret.png",
        "/etc/passwd",
        "",
        ".",
        "a\x00b.png",
    ):
        assert found.add(path, "") == "", path
    assert len(list((tmp_path / "out").iterdir())) == 3


def test_the_picture_that_was_sent_is_the_one_that_is_shown(tmp_path: Path) -> None:
    write_run(tmp_path / "runs", [sample(0, arguments=sent(picture())), sample(1, arguments=sent(picture()))])
    out = tmp_path / "out"
    (run,) = write_site(tmp_path / "runs", out).runs
    first, second = chunk(out, run, "questions")
    assert first["picture"] == second["picture"]
    assert (out / "samples" / "pictures" / first["picture"]).read_bytes() == picture()


def test_what_is_no_picture_is_not_copied(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "html.png").write_text("<script>1</script>")
    (folder / "svg.png").write_text("<svg xmlns='http://www.w3.org/2000/svg' onload='x()'/>")
    (folder / "cut.png").write_bytes(picture(size=(200, 200))[:150])
    header = bytearray(picture())
    header[16:24] = (100_000).to_bytes(4, "big") * 2  # a bomb: ten thousand million pixels by its header
    header[29:33] = zlib.crc32(header[12:29]).to_bytes(4, "big")
    (folder / "bomb.png").write_bytes(header)
    (folder / "script.png").write_bytes(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\nshowpage\n")
    names = ("html.png", "svg.png", "cut.png", "bomb.png", "script.png")
    found = Pictures(tmp_path / "out", find_pictures([folder]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [found.add(name, "") for name in names] == [""] * 5


def test_pictures_that_are_large_or_move_are_made_anew(tmp_path: Path) -> None:
    from PIL import Image

    folder = tmp_path / "in"
    folder.mkdir()
    Image.effect_noise((2600, 1700), 80).save(folder / "large.bmp")
    frames = [Image.new("RGB", (9, 9), colour) for colour in ("red", "blue", "green")]
    moving = io.BytesIO()
    frames[0].save(moving, "PNG", save_all=True, append_images=frames[1:])
    (folder / "moving.png").write_bytes(moving.getvalue())
    found = Pictures(tmp_path / "out", find_pictures([folder]))
    with Image.open(tmp_path / "out" / found.add("large.bmp", "")) as shown:
        assert (shown.format, max(shown.size)) == ("JPEG", 1800)
    with Image.open(tmp_path / "out" / found.add("moving.png", "")) as shown:
        assert getattr(shown, "n_frames", 1) == 1
