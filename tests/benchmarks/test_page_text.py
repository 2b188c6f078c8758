"""What pages say of benchmarks: whose rules score, and which questions are private."""

from dataclasses import replace

from fin_tasks.benchmarks import benchmark_named


def test_a_page_names_house_rules_and_private_questions() -> None:
    papers = benchmark_named("bizbench")
    assert papers.page_text == papers.description
    own = replace(papers, has_house_rules=True, is_private=True)
    assert own.page_text.startswith(papers.description)
    assert "by the house rules" in own.page_text
    assert "--no-samples" in own.page_text
