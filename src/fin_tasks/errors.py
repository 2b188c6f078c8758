"""Our errors. A message says what failed, what was expected and found, and what to do."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import ValidationError


class FinTasksError(Exception):
    """Base of all our errors; a model's wrong answer is a score, never an error."""


class ConfigError(FinTasksError):
    """An option, an environment variable or a task setting is wrong."""


class DataError(FinTasksError):
    """A file of a benchmark is missing, malformed, or not the pinned one."""


class FetchError(DataError):
    """A file could not be downloaded."""


class WebError(FinTasksError):
    """A server cannot be reached, refused a request, or broke a limit; `may_pass` if another attempt may work."""

    def __init__(self, message: str, *, may_pass: bool = False) -> None:
        super().__init__(message)
        self.may_pass = may_pass


class EndpointError(FinTasksError):
    """A model behind an address cannot be asked, or its reply cannot be used."""


class JudgeError(EndpointError):
    """A judge failed on too many responses for a score to mean anything."""


class SandboxError(FinTasksError):
    """Programs cannot be run safely here, or the runner broke."""


class ProgramTimeError(FinTasksError):
    """The programs of a stranger took all the time that they may take together."""


def escape(text: str) -> str:
    """Replace every character that is not printable by a backslash escape, for a message or a terminal."""
    for character in set(text):
        if not character.isprintable():
            escaped = character.encode("unicode_escape").decode()
            text = text.replace(character, escaped)
    return text


def first_problem(error: "ValidationError") -> str:
    """Return the place and the message of the first problem that pydantic found."""
    problem = error.errors(include_url=False, include_input=False)[0]
    field = ".".join(str(part) for part in problem["loc"])
    message = problem["msg"].removeprefix("Value error, ")
    return f"{field}: {message}".removeprefix(": ")
