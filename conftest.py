"""For doctests, which pytest looks for by importing every module."""

from importlib.util import find_spec

# These import VLMEvalKit, which has an environment of its own; tests/contract run them there.
_WITH_THE_KIT = [
    "src/fin_tasks/adapters/vlmeval.py",
    "tests/contract/vlmevalkit_runner.py",
]
collect_ignore = [] if find_spec("vlmeval") else _WITH_THE_KIT
collect_ignore += (
    [] if find_spec("inspect_ai") else ["src/fin_tasks/adapters/inspect_ai.py"]
)
# Python has imported the installed copy of this file when pytest starts.
collect_ignore += ["src/fin_tasks_autoload.py"]
# A package of somebody else, which tests put on the path of other processes.
collect_ignore += ["tests/outside"]
