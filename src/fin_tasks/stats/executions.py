"""How programs ended, as metric values."""

REASONS = ("no_code", "syntax", "exception", "timeout", "memory", "forbidden", "unsupported")
"""Why a program gave no value, in the words of `sandbox.Status`."""


def execution_values(status: str) -> dict[str, float | None]:
    """Return the execution rate and the share of each reason for one program.

    None means that the program does not count: after a `broken` sandbox nothing is known of it, and a program that the
    sandbox cannot run (`unsupported`) did not fail.
    """
    return {
        "execution_rate": None if status in ("broken", "unsupported") else float(status == "ok"),
        **{reason: None if status == "broken" else float(status == reason) for reason in REASONS},
    }
