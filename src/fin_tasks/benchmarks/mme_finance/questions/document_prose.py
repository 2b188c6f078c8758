"""Questions about a report that only a judge can grade: their references are put together from its facts."""

from random import Random

from fin_tasks.benchmarks.mme_finance.questions.question import Forms, Question, figure, percent, say
from fin_tasks.benchmarks.mme_finance.questions.wordings import for_any
from fin_tasks.benchmarks.mme_finance.scenes import DocumentScene

__all__ = ["FORMS"]


def _results(scene: DocumentScene) -> str:
    fact = scene.facts
    return say(
        scene.language,
        f"Revenue is {fact['revenue']} against {fact['revenue_before']} a year earlier, net profit {fact['profit']} "
        f"against {fact['profit_before']}, gross margin {fact['margin']} against {fact['margin_before']}.",
        f"营业收入{fact['revenue']}（上年同期{fact['revenue_before']}），净利润{fact['profit']}（上年同期{fact['profit_before']}），"
        f"毛利率{fact['margin']}（上年同期{fact['margin_before']}）。",
    )


def _upside(scene: DocumentScene) -> str:
    target, price = (figure(scene.facts[key]).value for key in ("target_price", "price"))
    return f"{percent(target - price, price):+}%"


def _change(scene: DocumentScene, key: str) -> str:
    now, before = (figure(scene.facts[name]).value for name in (key, f"{key}_before"))
    return f"{percent(now - before, before):+}%"


def _caption(scene: DocumentScene, random: Random) -> Question:
    fact = scene.facts
    asked = random.choice(
        (
            say(scene.language, "Summarise this page.", "请概括这一页的内容。"),
            say(
                scene.language, "What is this document, and what are its main points?", "这是一份什么文件？要点有哪些？"
            ),
            *for_any(scene.language, "Image Caption"),
        )
    )
    answer = say(
        scene.language,
        f"A research note by {fact['publisher']} ({fact['analyst']}), dated {fact['day']}, on {fact['company']} in "
        f"{fact['quarter']}. {_results(scene)} {fact['segment']} grew fastest. The rating is {fact['rating']} (before: "
        f"{fact['rating_before']}), the target price {fact['target_price']} with the share at {fact['price']}. "
        f"{scene.paragraphs[-1]}",
        f"这是{fact['publisher']}（分析师{fact['analyst']}）于{fact['day']}发布的关于{fact['company']}{fact['quarter']}业绩的研究报告。"
        f"{_results(scene)}“{fact['segment']}”增速最快。评级为“{fact['rating']}”（此前为“{fact['rating_before']}”），"
        f"目标价{fact['target_price']}，收盘价{fact['price']}。{scene.paragraphs[-1]}",
    )
    return Question(question=asked, answer=answer)


def _risk(scene: DocumentScene, random: Random) -> Question:
    asked = random.choice(
        (
            say(
                scene.language,
                f"Which risks does the page name for {scene.facts['company']}, and do its figures show any others?",
                f"报告提示了{scene.facts['company']}的哪些风险？数据中还反映出其他风险吗？",
            ),
            say(
                scene.language,
                f"What could go wrong for {scene.facts['company']}, judging by the page's text and figures?",
                f"根据报告的文字与数据，{scene.facts['company']}可能面临哪些不利情况？",
            ),
            *for_any(scene.language, "Risk Warning"),
        )
    )
    fact = scene.facts
    answer = say(
        scene.language,
        f"{scene.paragraphs[-1]} Besides, gross margin moved from {fact['margin_before']} to {fact['margin']} and net "
        f"profit by {_change(scene, 'profit')}; at {fact['price']}, the target price of {fact['target_price']} leaves "
        f"{_upside(scene)}.",
        f"{scene.paragraphs[-1]}此外，毛利率由{fact['margin_before']}变为{fact['margin']}，"
        f"净利润同比变动{_change(scene, 'profit')}；"
        f"现价{fact['price']}相对目标价{fact['target_price']}的空间为{_upside(scene)}。",
    )
    return Question(question=asked, answer=answer)


def _advice(scene: DocumentScene, random: Random) -> Question:
    fact = scene.facts
    asked = random.choice(
        (
            say(
                scene.language,
                "Would you follow the report's rating? Advise a private investor.",
                "您是否认同该报告的评级？请给个人投资者提出建议。",
            ),
            say(
                scene.language,
                f"What would you recommend to a client who owns {fact['symbol']}, having read this page?",
                f"读完这页报告后，您会对持有{fact['symbol']}的客户提出什么建议？",
            ),
            *for_any(scene.language, "Investment Advice"),
        )
    )
    answer = say(
        scene.language,
        f"The report says {fact['rating']} with a target of {fact['target_price']}, {_upside(scene)} from the close of "
        f"{fact['price']}. Revenue changed by {_change(scene, 'revenue')} and net profit by "
        f"{_change(scene, 'profit')}. "
        "The rating fits that distance; a private investor should still hold other views against it, keep the position "
        "small and mind the risks named.",
        f"报告给予“{fact['rating']}”评级，目标价{fact['target_price']}，较收盘价{fact['price']}的空间为{_upside(scene)}；"
        f"营业收入同比{_change(scene, 'revenue')}，净利润同比{_change(scene, 'profit')}。评级与该空间相符，"
        "但个人投资者仍应参考其他观点、控制仓位，并留意报告提示的风险。",
    )
    return Question(question=asked, answer=answer)


def _reason(scene: DocumentScene, random: Random) -> Question:
    fact = scene.facts
    asked = random.choice(
        (
            say(
                scene.language,
                "What does the page give as reasons for the change in gross margin?",
                "报告认为毛利率变化的原因是什么？",
            ),
            say(
                scene.language,
                "Gross margin is not what it was a year ago. Why, according to the page?",
                "与上年同期相比，毛利率为何发生变化？请依据报告说明。",
            ),
        )
    )
    answer = say(
        scene.language,
        f"Gross margin went from {fact['margin_before']} to {fact['margin']}. {_causes(scene)}",
        f"毛利率由{fact['margin_before']}变为{fact['margin']}。{_causes(scene)}",
    )
    return Question(question=asked, answer=answer)


def _causes(scene: DocumentScene) -> str:
    """The second sentence of the paragraph on the margin."""
    mark = say(scene.language, ". ", "。")
    return scene.paragraphs[1].partition(mark)[2].strip()


def _knowledge(scene: DocumentScene, random: Random) -> Question:
    fact = scene.facts
    if random.random() < 0.5:
        asked = say(
            scene.language,
            "What is a target price, and how far is the one given here from the last close?",
            "什么是目标价？本报告目标价与收盘价相差多少？",
        )
        answer = say(
            scene.language,
            f"It is what an analyst expects the share to cost within a horizon, mostly a year, from a valuation. "
            f"{fact['target_price']} is {_upside(scene)} from the close of {fact['price']}.",
            f"目标价是分析师基于估值对未来一段时间（通常一年）股价的预期。目标价{fact['target_price']}较收盘价{fact['price']}"
            f"相差{_upside(scene)}。",
        )
    else:
        asked = say(
            scene.language,
            "What do earnings per share tell, and how many are reported here?",
            "每股收益说明什么？报告中的数值是多少？",
        )
        answer = say(
            scene.language,
            f"They divide net profit by the number of shares, so that a holder sees what part of the profit one share "
            f"stands for: here {fact['eps']}, from a net profit of {fact['profit']}.",
            f"每股收益为净利润除以股数，反映每一股所对应的利润。报告中为{fact['eps']}，对应净利润{fact['profit']}。",
        )
    return Question(question=asked, answer=answer)


FORMS: Forms[DocumentScene] = {
    "Image Caption": (_caption,),
    "Risk Warning": (_risk,),
    "Investment Advice": (_advice,),
    "Explain Reason": (_reason,),
    "Financial Knowledge": (_knowledge,),
}
"""By category."""
