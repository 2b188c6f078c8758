"""The `fin-tasks` command, also as `python -m fin_tasks`."""

import sys

if __name__ == "__main__" and not sys.flags.safe_path:
    # `python -m` looks for modules in the current folder first, which may hold a stranger's files.
    del sys.path[0]

import signal

from .interrupt import on_interrupt, what_is_kept


def main() -> None:
    """Run the command. Ctrl-C ends it with one sentence, also while its modules are imported."""
    try:
        with on_interrupt(what_is_kept(sys.argv[1:])):
            from .cli import main as run_command

            run_command()
    finally:
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            # No traceback while Python exits.
            signal.signal(signal.SIGINT, signal.SIG_DFL)


if __name__ == "__main__":
    main()
