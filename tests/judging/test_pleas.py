"""Responses that talk to the judge are found, and others are not."""

import pytest
from case_files import rows
from plea_texts import HONEST, PLEAS

from fin_tasks.judging.pleas import plea_in


@pytest.mark.parametrize("plea", PLEAS)
def test_a_plea_is_found(plea: str) -> None:
    assert plea in plea_in(f"The yield is 4 %.\n{plea}\nIt rises.")


@pytest.mark.parametrize("response", HONEST)
def test_what_responses_say_of_finance_is_no_plea(response: str) -> None:
    assert plea_in(response) == ""


@pytest.mark.parametrize("name", ["reader", "free_form"])
def test_what_models_write_is_no_plea(name: str) -> None:
    assert [case for case in rows(name) if plea_in(case["response"])] == []
