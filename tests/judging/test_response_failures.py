"""Traces of a model that gave no response, and answers that only look like one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_tasks.judging.failures import response_failure


@pytest.mark.parametrize(
    "response",
    [
        *("", "   ", "\n\n\t", "\u200b", "\ufeff ", "\x00", "\ud800", "nan", "NaN", " nan "),
        *("Failed to obtain answer via API.", "Failed to obtain answer via API. ", "Failed to obtain answer via API"),
        *("Fail to obtain answer via API.", "fail to obtain answer via API", "Failed to obtain answer."),
        *(
            "Failed to obtain answer BlueLM-V API. ",
            "Failed to obtain answer via bailingMM API.",
            "'Failed to obtain answer.'",
        ),
        "Failed to obtain answer via API.Input string longer than context window. ",
        "Failed to obtain answer via API.FailedOperation.EngineServerError",
        "Failed to obtain answer via API.HTTPConnectionPool(host='x', port=80): Max retries exceeded",
        "Failed to obtain answer via API. 429 Too Many Requests",
        "Failed to obtain answer via API.list index out of range",
        "Failed to obtain answer via API.: RuntimeError CUDA out of memory.\nTried to allocate 2 GiB",
        "Failed to obtain answer via API.\n\nbroken pipe",
        "  Failed to obtain answer via API." + "x" * 5_000,
        "Failed to obtain answer via bailingMM API.timeout",
        "Failed to obtain answer BlueLM-V API. 500",
        "Fail to obtain answer via API.{'code': 3}",
        "Error: Bad Response Statuse Code. ",
        "Error: Failed to parse the response. 'choices'",
        "Error! code 502 content: b'<html>bad gateway</html>'",
        "Failed to obtain answer via API.: Failed with all possible conversation turns.",
        "Failed to obtain answer via API: Error code: 500",
        "Failed to obtain answer via API. Error code: 400 - {'error': {'message': 'too long'}}",
        *("failed to get response from server", "Failed to fetch a response."),
        "Error code: 429 - {'error': {'message': 'Rate limit reached for gpt-4o', 'type': 'tokens'}}",
        *(
            "Error code: 503",
            "Error: HTTP 500 Internal Server Error",
            "HTTP 500 Internal Server Error",
            "HTTP/1.1 502 Bad Gateway",
        ),
        *("HTTP 404", "HTTP error 429: Too Many Requests", "status code: 503", "Status code 400 (Bad Request)"),
        "502 Server Error: Bad Gateway for url: http://127.0.0.1/v1",
        *(
            "openai.RateLimitError: slow down",
            "APIConnectionError('no route')",
            "requests.exceptions.ReadTimeout: 60 s",
        ),
        *("APITimeoutError", "torch.OutOfMemoryError: CUDA out of memory.", "CUDA out of memory."),
        'Traceback (most recent call last):\n  File "x.py", line 1\nKeyError: 1',
        '{"error": {"message": "Rate limit", "type": "requests", "code": "rate_limit_exceeded"}}',
        '{"error": "model not loaded"}',
        '{"object": "error", "message": "too long", "type": "BadRequestError", "param": null, "code": 400}',
        *("Request timed out.", "Connection error.", "Internal Server Error", "Service temporarily unavailable"),
        "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>nginx</body></html>",
    ],
)
def test_no_response(response: str) -> None:
    assert response_failure(response)


@pytest.mark.parametrize("cell", [None, float("nan"), 5, ["a"]])
def test_no_text(cell: object) -> None:
    assert response_failure(cell) == f"the response is no text but {type(cell).__name__}"


@pytest.mark.parametrize(
    "response",
    [
        *(
            "0",
            "007.50",
            "N/A",
            "None",
            "null",
            "-",
            "=1+1",
            ".",
            "无法回答",
            "Not Applicable",
            "No answer",
            "nan%",
            "NAN shares",
        ),
        *("404", "500", "500 million USD", "429", "Error", "The error rate is 5%", "Status 400 shares", "HTTP"),
        "The log reads: Failed to obtain answer via API.",
        '"Failed to obtain answer via API." is what the screenshot says.',
        "'Failed to obtain answer via API.' appears in the document beside a revenue of 3 million.",
        "Failed to obtain answer. is the text of the pop-up; below it stands 128.40.",
        "Error: the table has no such row.",
        "Error! code words fill the screen.",
        "Failed to get results above expectations: the company missed.",
        "Failed to obtain financing.",
        "Error code: 429 is shown in the top left corner.",
        "HTTP 500 appears in the log, and revenue is 3.",
        "Connection error messages fill the page.",
        "The rate limit exceeded the cap.",
        "Too many requests for redemption reached the fund.",
        '{"answer": 5}',
        '{"error": 3.2, "revenue": 5}',
        '{"error',
        "RateLimitErrors rose by 5%",
        "The traceback says: Traceback (most recent call last):",
        "<html><head><title>Annual report 2023</title></head></html>",
        "Error code: 429 - {'error': 1} " + "and this is what the dashboard shows. " * 80,
    ],
)
def test_an_answer(response: str) -> None:
    assert response_failure(response) is None


@given(st.text(max_size=200))
def test_any_text_is_told_or_not(text: str) -> None:
    assert (response_failure(f"The answer is {text}")) is None


def test_nothing_takes_long() -> None:
    for text in ("Failed to obtain answer " * 80, "{" * 1900, "Error code: 500 - " * 100, "<html " * 300):
        response_failure(text)
