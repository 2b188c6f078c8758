"""What became of a program, as metric values."""

__all__ = ["REASONS", "execution_values"]

REASONS = ("no_code", "syntax", "exception", "timeout", "memory", "forbidden", "unsupported")
"""Why a program gave no value, in the words of `sandbox.Status`."""


def execution_values(status: str) -> dict[str, float | None]:
    """Turn the end of one program into the execution rate and the share of each reason.

    Args:
        status: `ok`, one of `REASONS`, or `broken` for a sandbox that failed, which says nothing about the program.

    Returns:
        `execution_rate` and each of `REASONS` to 1, 0, or None where the program has no part in the rate: one that was
        not run counts for no reason, and one that the sandbox cannot run does not count as failed.

    Example:
        >>> ended = execution_values("timeout")
        >>> ended["execution_rate"], ended["timeout"], ended["syntax"]
        (0.0, 1.0, 0.0)
        >>> execution_values("unsupported")["execution_rate"] is None
        True
    """
    return {
        "execution_rate": None if status in ("broken", "unsupported") else float(status == "ok"),
        **{reason: None if status == "broken" else float(status == reason) for reason in REASONS},
    }
