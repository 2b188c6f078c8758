"""The document that pages and tables are made from."""

from fin_tasks.report.leaderboard import document
from fin_tasks.report.schema import check
from made_boards import board


def test_a_document_is_as_its_schema_says() -> None:
    check(document(board()))
