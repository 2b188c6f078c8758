"""One self-contained page from a leaderboard's document.

Styles, scripts and data stand in the page itself. Its Content-Security-Policy lets run what this module put there, by
hash, and nothing else; where samples are written beside the page it also loads scripts and pictures from there.
The data are JSON text in elements that no browser executes, and the scripts show text of strangers as text only.
"""

import base64
import hashlib
import html
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from fin_tasks.report.site.compact import compact

__all__ = ["PARTS", "Samples", "write_page"]

_HERE = Path(__file__).parent

PARTS = (
    "dom.js",
    "state.js",
    "format.js",
    "data.js",
    "pairs.js",
    "bars.js",
    "grid.js",
    "details.js",
    "board.js",
    "values.js",
    "ranks.js",
    "duel.js",
    "plots.js",
    "breakdown.js",
    "bias.js",
    "samples.js",
    "about.js",
    "page.js",
)
"""Scripts in the order they are joined; they share one scope."""

_STYLES = ("page.css", "samples.css")

_BESIDE = "'self' file:"
"""Where sidecar files come from: the page's own site, or the disk (browsers differ on what `'self'` is there)."""


_BLANK = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\uffa0\U000e0100-\U000e01ef]")
"""Letters and marks without a shape, which count as printable; `dom.js` knows them as ignorable by default."""


class Samples(Protocol):
    """What the page is told of samples that lie beside it."""

    def document(self) -> Mapping[str, Any]:
        """Return what `samples.js` needs before any sidecar file is loaded, as JSON values."""


def write_page(document: Mapping[str, Any], out: Path, *, samples: Samples | None = None) -> Path:
    """Write `index.html`.

    Args:
        document: As `leaderboard.json` has it, see `leaderboard.schema.json`.
        out: The folder, which is there.
        samples: What is known of the sidecar files in the same folder; None where there are none.

    Returns:
        The file.

    Raises:
        ValueError: A number is not finite.
    """
    path = out / "index.html"
    path.write_text(_page(document, samples), encoding="utf-8", newline="\n")
    return path


def _page(document: Mapping[str, Any], samples: Samples | None) -> str:
    style = _joined(_STYLES)
    chart_style = _read("vendor/plot-inline.css")
    script = f'"use strict";\n(() => {{\n{_read("vendor/plot.js")}\n{_joined(PARTS)}}})();\n'
    slots = {
        "policy": _policy(script=script, styles=(style, chart_style), beside=samples is not None),
        "title": html.escape(_visible(document["title"])),
        "style": style,
        "data": _embedded(compact(document)),
        "samples": _embedded(None if samples is None else samples.document()),
        "script": script,
    }
    # Split once: a slot's text may itself look like a slot.
    pieces = _read("page.html").split("{{")
    filled = [pieces[0]]
    for piece in pieces[1:]:
        name, rest = piece.split("}}", maxsplit=1)
        filled += [slots[name], rest]
    return "".join(filled)


def _policy(*, script: str, styles: tuple[str, ...], beside: bool) -> str:
    near = f" {_BESIDE}" if beside else ""
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src {_hash(script)}{near}",
            f"style-src {' '.join(_hash(style) for style in styles)}",
            f"img-src data:{near}",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types sidecars",
        )
    )


def _hash(text: str) -> str:
    """Return the source expression that allows an element with exactly this text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _embedded(value: Any) -> str:
    """Return JSON that no HTML parser can take for anything but text of the element it stands in."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # U+2028 and U+2029 end lines of older scripts; lone surrogates cannot be written in UTF-8.
    for found in "<>&\u2028\u2029":
        text = text.replace(found, f"\\u{ord(found):04x}")
    return text.encode("utf-8", "backslashreplace").decode()


def _visible(text: str) -> str:
    """Replace what cannot be seen: controls, marks that turn text round, halves of letters, blank ones.

    Example:
        >>> _visible("a b" + chr(0xAD) + "c" + chr(0x3164)) == "a b" + chr(0xFFFD) + "c" + chr(0xFFFD)
        True
    """
    return _BLANK.sub("\ufffd", "".join(letter if letter.isprintable() else "\ufffd" for letter in text))


def _joined(names: tuple[str, ...]) -> str:
    return "".join(_read(name) for name in names)


def _read(name: str) -> str:
    # Universal newlines: a browser hashes what its parser made of the text, and that has no carriage returns.
    return (_HERE / name).read_text(encoding="utf-8")
