"""What a reasoning model thinks aloud goes, its reply stays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_tasks.answers.reasoning import strip_reasoning


@pytest.mark.parametrize(
    ("text", "reply"),
    [
        ("Plain reply.", "Plain reply."),
        ("<think>a</think>b", "b"),
        ("<THINK>a</THINK>b", "b"),
        ("<thinking>a</thinking>\nb", "\nb"),
        ("<reasoning>a</reasoning>b", "b"),
        ("<thought>a</thought>b", "b"),
        ("Start <think>a</think> middle <think>c</think> end", "Start  middle  end"),
        ("a</think>b", "b"),
        ("a</think>b</think>c", "c"),
        ("<think>a</think>b</think>c", "c"),
        ("x<think>a</think>b</think>c", "c"),
        ("<think>a <think> b</think>c", "c"),
        ("b<think>a", "b"),
        ("<think>a", ""),
        ("<think></think>b", "b"),
        ("◁think▷a◁/think▷b", "b"),
        ("[THINK]a[/THINK]b", "b"),
        ("<|begin_of_thought|>a<|end_of_thought|>b", "b"),
        ("<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b<|return|>", "b"),
        ("<|channel|>final <|constrain|>json<|message|>b", "b"),
        ("<|channel|>final<|message|>a<|end|><|channel|>final<|message|>b", "b"),
        ("<|channel|>analysis<|message|>a", ""),
        ("analysisWe add.assistantfinalb", "b"),
        ("analysis of the case", "analysis of the case"),
        ("I think 1 < 2", "I think 1 < 2"),
    ],
)
def test_reply(text: str, reply: str) -> None:
    assert strip_reasoning(text) == reply


@given(st.text(alphabet="ab <>|/"), st.text(alphabet="ab ."))
def test_what_stands_behind_the_last_closing_tag_is_the_reply(thought: str, reply: str) -> None:
    assert strip_reasoning(f"<think>{thought}</think>{reply}") == reply
    assert strip_reasoning(f"{thought}</think>{reply}") == reply


@given(st.text())
def test_never_raises_and_never_invents(text: str) -> None:
    assert len(strip_reasoning(text)) <= len(text)
