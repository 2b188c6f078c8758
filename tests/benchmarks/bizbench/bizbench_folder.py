"""A small folder of questions of every part, as the tests of tasks need it."""

import json
from pathlib import Path
from typing import Any

TABLE = "| | 2021 | 2020 |\n|---|---|---|\n| Sales | 1,250 | 1,000 |\n| Costs | (900) | (800) |\n"
MARGIN = "def margin(profit, sales):\n    '''Profit as a share of sales.'''\n"


def question(task: str, text: str, answer: str, **more: Any) -> dict[str, Any]:
    """One row with the columns of the real file."""
    empty = {"context": None, "context_type": None, "options": None, "program": None}
    return {"question": text, "answer": answer, "task": task, **empty, **more}


ROWS = (
    question("FinCode", "A deposit of 200 earns 5 %. What is the interest?", "10.0", program="answer = 200 * 0.05"),
    question("CodeFinQA", "By what share did sales grow?", "0.25", context=TABLE, program="print(1250 / 1000 - 1)"),
    question("CodeTATQA", "What were costs on average?", "(850)", context=TABLE),
    question("ConvFinQA (E)", "What were sales in 2021?", "1,250", context=TABLE),
    question("TAT-QA (E)", "What were costs in 2020?", "(800)", context=TABLE),
    question("TAT-QA (E)", "Why did costs rise?", "more staff", context=TABLE),
    question("SEC-NUM", "Sales in 2020", "1,000", context=TABLE),
    question("FinKnow", "Which is a liability?", "Loan", options=["Cash", "Loan", "Plant"]),
    question("FinKnow", "Which is an asset?", "Tree", options=["Cash", "Loan", "Plant"]),
    question("FormulaEval", MARGIN, "return profit / sales", options=["return sales", "return profit / sales"]),
    question("FormulaEval", MARGIN, "return profit / sales"),
    question("FormulaEval", MARGIN, "no code"),
)


def write(folder: Path, rows: tuple[dict[str, Any], ...] = ROWS) -> Path:
    """Write rows as `test.jsonl` and return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "test.jsonl").write_text(text, encoding="utf-8")
    return folder
