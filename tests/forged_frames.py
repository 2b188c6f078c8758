"""Frames that a hostile program may write in place of its result."""

from hypothesis import strategies as st

_STATUSES = (
    "ok",
    "ok",
    "ok",
    "exception",
    "forbidden",
    "timeout",
    "broken",
    "",
)
_FLAGS = ("0", "1", "1", "True", "", "٣")
_NUMBERS = (
    *(
        "3.0",
        "-0.0",
        "nan",
        "inf",
        "-inf",
        "1e999",
        "5e-324",
        "1.7976931348623157e+308",
        "",
    ),
    *("abc", "٣", "1_0", " 1", "0x10", "9" * 70, "1e", "--1", "infinity"),
)
_TEXTS = (
    *(
        "abc",
        "3.0",
        "",
        "nan",
        "[[1.0], [2.0]]",
        '["ValueError"]',
        "[" * 2_000,
        "{}",
        "7.66%",
    ),
    *(
        "integer of 5 bits",
        "integer of x bits",
        "٣",
        "\x1b[2J\x00",
        "1e400",
        "\\frac{1}{0}",
    ),
    *(
        "Therefore, my answer is [1e999].",
        "9" * 2_000,
        "text: 5",
        "null",
        "[[1e400]]",
        "-",
    ),
)


def forged_frames() -> st.SearchStrategy[bytes]:
    """Return a strategy for frames of four lines, and for others that are nearly such."""
    numbers = st.sampled_from(_NUMBERS) | st.floats().map(repr) | st.text(max_size=10)
    texts = st.sampled_from(_TEXTS) | st.floats().map(repr) | st.text()
    lines = st.tuples(
        st.sampled_from(_STATUSES), st.sampled_from(_FLAGS), numbers, texts
    )
    frames = lines.map("\n".join) | st.lists(texts, max_size=6).map("\n".join)
    return frames.map(lambda frame: frame.encode("utf-8", "replace"))
