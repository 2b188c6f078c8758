"""`python -m fin_tasks.cli`."""

from fin_tasks.cli import main

main()
