"""Pictures of one's own questions, from what people have to what a harness sends."""

from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from fin_tasks.benchmarks.task_file import pictures_of
from fin_tasks.data.documents import IMAGE_MARK, documents_of_file, prompt_parts
from fin_tasks.data.own_pictures import add_pictures, open_pictures
from fin_tasks.errors import DataError


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIN_TASKS_CACHE", str(tmp_path / "cache"))


def picture(color: str) -> Image.Image:
    return Image.new("RGB", (4, 3), color)


def content(color: str) -> bytes:
    buffer = BytesIO()
    picture(color).save(buffer, "PNG")
    return buffer.getvalue()


def question(image: Any = None, prompt: str = "Q?") -> dict[str, Any]:
    doc = {"id": "a", "prompt": prompt, "target": "My answer is A."}
    return doc if image is None else {**doc, "image": image}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "charts").mkdir()
    (tmp_path / "charts/red.png").write_bytes(content("red"))
    path = tmp_path / "questions.jsonl"
    path.write_text("{}")
    return path


def test_a_path_bytes_and_a_picture_are_sent(file: Path) -> None:
    docs = [
        question("charts/red.png"),
        question(file.parent / "charts/red.png"),
        question(content("green")),
        question({"bytes": content("green"), "path": None}),
        question(picture("blue")),
        question(["charts/red.png", picture("blue")]),
        question(),
        question(""),
        question(float("nan")),
    ]
    add_pictures(docs, file)
    documents = documents_of_file(docs, file)["test"].to_list()
    colors = [
        [image.getpixel((0, 0)) for image in open_pictures(doc)] for doc in documents
    ]
    red, green, blue = (255, 0, 0), (0, 128, 0), (0, 0, 255)
    assert colors == [
        [red],
        [red],
        [green],
        [green],
        [blue],
        [red, blue],
        [],
        [],
        [],
    ]
    assert ["image_paths" in doc for doc in docs] == [len(each) > 1 for each in colors]
    for doc, shown in zip(documents, colors, strict=True):
        assert doc["prompt"] == IMAGE_MARK * len(shown) + "Q?"
        assert "image" not in doc
        # A harness tells the type of a picture by the name.
        assert all(Path(path).suffix == ".png" for path in pictures_of(doc))


def test_marks_say_where_pictures_stand(file: Path) -> None:
    prompt = f"Before {IMAGE_MARK}and after {IMAGE_MARK}?"
    docs = [question(["charts/red.png", picture("blue")], prompt)]
    add_pictures(docs, file)
    assert docs[0]["prompt"] == prompt
    with pytest.raises(DataError, match="row 1: expected a picture for each <image>"):
        add_pictures([question("charts/red.png", prompt)], file)


@pytest.mark.parametrize("image", ["charts/blue.png", b"no picture", 7, ["x.png"]])
def test_a_picture_that_cannot_be_found_is_an_error(file: Path, image: Any) -> None:
    with pytest.raises(DataError, match=r"questions\.jsonl, row 2, image: expected"):
        add_pictures([question(), question(image)], file)


def test_other_pictures_are_other_data(file: Path) -> None:
    hashes = set()
    for color in ("red", "green"):
        (file.parent / "charts/red.png").write_bytes(content(color))
        docs = [question("charts/red.png")]
        add_pictures(docs, file)
        hashes.add(documents_of_file(docs, file)["test"].info.description)
    assert len(hashes) == 2


@pytest.mark.parametrize(
    ("prompt", "pictures", "parts"),
    [
        ("Q", [], ["Q"]),
        ("Q", ["a"], ["(a)", "Q"]),
        ("<image>\nQ", ["a"], ["(a)", "Q"]),
        ("Q<image>\n", ["a"], ["Q", "(a)"]),
        ("1<image>\n2<image>\n3", ["a", "b"], ["1", "(a)", "2", "(b)", "3"]),
        ("1<image>\n2", ["a", "b"], ["(a)", "1", "(b)", "2"]),
        ("1<image>\n2", [], ["1", "2"]),
    ],
)
def test_the_parts_of_a_prompt(
    prompt: str, pictures: list[str], parts: list[str]
) -> None:
    found = prompt_parts(prompt, pictures)
    assert [f"({text})" if kind == "image" else text for kind, text in found] == parts
