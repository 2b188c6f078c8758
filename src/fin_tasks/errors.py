"""The errors fin-tasks raises.

    FinTasksError
    ├── ConfigError       an option, environment variable or task setting is wrong
    ├── DataError         a file of a benchmark is missing, broken or not the pinned one
    │   └── FetchError    a file could not be downloaded
    ├── EndpointError     a model behind an address (a judge, an encoder) cannot be asked, or answers nonsense
    │   └── JudgeError    too many responses could not be judged for a score to mean anything
    └── SandboxError      programs cannot be run safely here, or the runner broke

Every message names the subject, what was expected, what was found and what to do about it. A wrong answer of a
model is never an error: it is a score with a reason. A broken tool is never a wrong answer: it is an error, or an
item that stays unscored and is counted.
"""

__all__ = ["ConfigError", "DataError", "EndpointError", "FetchError", "FinTasksError", "JudgeError", "SandboxError"]


class FinTasksError(Exception):
    """Base of every error this package raises on purpose."""


class ConfigError(FinTasksError):
    """An option, an environment variable or a task setting has a value we cannot use."""


class DataError(FinTasksError):
    """A benchmark's file is missing, malformed, or not the file that was pinned."""


class FetchError(DataError):
    """A benchmark's file could not be downloaded; the message says where to put it by hand."""


class EndpointError(FinTasksError):
    """A model behind an address cannot be asked, or what it sends back cannot be used."""


class JudgeError(EndpointError):
    """A judge failed on so many responses that no score means anything; the message says how to go on."""


class SandboxError(FinTasksError):
    """Model-written programs cannot be run safely here, or the runner itself broke."""
