"""How works are shown to a model: every sentence that can be quoted has a label."""

import re

import pytest

from activities.contracts.appraisal import AppraiseInput
from activities.contracts.evidence import Claim, Evidence, EvidenceRef, ModelChoice, Support
from activities.contracts.judge import WorkJudgement
from activities.contracts.step import Role
from activities.contracts.write import WriteInput
from activities.models.base import PER_MESSAGE, estimate, room
from activities.profiles.loader import load_profile
from activities.roles.allowances import allowance_for, allowance_of
from activities.roles.role import Prompt, spec_of
from activities.roles.works import lay_out
from activities.text.sentences import sentences
from activities.text.tokens import terms
from activities.verification import gate
from activities.verification.quote_check import QuoteChecker


def work(text: str, title: str = "T", **more: object) -> Evidence:
    return Evidence.model_validate(
        {"evidence_id": "pmid:1", "source": "", "title": title, "text": text, **more}
    )


TEXT = (
    "The conversion rate to an open procedure was 20% overall. Mortality was 0%. "
    "No patient had biliary atresia. CONCLUSIONS: The laparoscopic approach may be used in such patients."
)


def test_a_short_sentence_is_quoted_with_the_one_before_it() -> None:
    works = lay_out("mortality", [work(TEXT)], 2_000)
    shown = dict(line.split(": ", 1) for line in works.text.splitlines() if line.startswith("S"))
    label = next(name for name, text in shown.items() if text == "Mortality was 0%.")
    assert works.sentences[label].quote.endswith("was 20% overall. Mortality was 0%.")
    assert works.sentences[label].quote in TEXT
    assert "No patient had biliary atresia." in shown.values()
    assert "CONCLUSIONS" not in " ".join(sentence.quote for sentence in works.sentences.values())


def test_of_a_long_text_passages_are_shown_with_their_page_and_heading() -> None:
    """What a judge reads of a full text is as much as an abstract says, in order, with its context."""
    filler = "The weather was mild and the harvest was good in that year. " * 60
    told = "It was given twice a day. Metformin lowered the risk of dementia. The effect lasted ten years. "
    text = f"{filler}\n\nMethods\n\n{filler}\n\nLong-term outcomes\n\n{told}{filler}"
    pages = (0, len(filler) + 2, text.index("Long-term"))
    works = lay_out("metformin dementia", [work(text, pages=pages)], 20_000, chars=4_000, passages=600)
    lines = works.text.splitlines()
    gap = lines.index("[... page 3, Long-term outcomes]")
    shown = [line.split(": ", 1)[1] for line in lines[gap + 1 : gap + 4]]
    assert " ".join(shown) == told.strip()
    assert sum(map(len, lines[1:])) < 800
    assert all(sentence.quote in text for sentence in works.sentences.values())


@pytest.mark.parametrize("room", [300, 1_000, 3_000])
def test_a_work_too_long_for_its_room_is_shown_in_part(room: int) -> None:
    """The lines that say where a text goes on are many where the nearest sentences are scattered."""
    filler = "The weather was mild and the harvest was good in that year. " * 5
    text = "".join(f"In year {year} metformin and dementia were counted. {filler}" for year in range(200))
    works = lay_out("metformin dementia", [work(text)], room, together=60_000)
    assert list(works.items) == ["E1"]
    assert room / 2 < estimate(works.text) <= room + PER_MESSAGE


def abstract(number: int) -> Evidence:
    """A work whose answer is far from the words of the question, between sentences that are nearer."""
    near = " ".join(
        f"Metformin and dementia were looked at in registry {number} of year {y}." for y in range(9)
    )
    said = (
        f"Visits took place every quarter in cohort {number}. "
        f"The hazard ratio of group {number} was 0.81 after adjustment, {'and so on ' * 20}until the end. "
        f"This held in all strata of cohort {number}. "
    )
    return Evidence(evidence_id=f"pmid:{number}", source="", title=f"W{number}", text=f"{near} {said}{near}")


def answer_of(document: Evidence) -> list[str]:
    """What was named of a work between its neighbours."""
    return [one for one in document.text.split(". ") if one.startswith(("Visits", "The hazard", "This held"))]


@pytest.mark.parametrize("beside", [True, False])
def test_what_a_judge_named_is_shown_whole_of_every_work_before_the_rest_of_any(beside: bool) -> None:
    """With its neighbours where that fits for all works; what is cut is the rest."""
    documents = [abstract(number) for number in range(14)]
    named = {one.evidence_id: (f"{answer_of(one)[1]}.",) for one in documents}
    room = 4_400 if beside else 3_200
    works = lay_out("metformin dementia", documents, room, quotes=named)
    assert estimate(works.text) <= room + PER_MESSAGE
    assert "[...]" in works.text
    assert len(works.items) == 14
    for document in documents:
        before, answer, after = (f": {one}." in works.text for one in answer_of(document))
        assert answer
        assert (before and after) or not beside
    assert len(lay_out("metformin dementia", documents, room).items) < 14


def test_what_was_named_is_shown_whole_also_where_few_passages_are() -> None:
    long = [
        f"In year {n} the drug was given to {n + 40} adults {'of this town ' * 20}with asthma."
        for n in range(12)
    ]
    document = work(" ".join(long))
    named = {document.evidence_id: long[2:10:2]}
    works = lay_out("weather", [document], 20_000, quotes=named, chars=600)
    assert set(named[document.evidence_id]) <= {sentence.quote for sentence in works.sentences.values()}
    assert len(works.text) < len(document.text)


def test_a_short_sentence_that_was_named_is_shown_of_a_long_text() -> None:
    text = f"{'The weather was mild and the harvest was good. ' * 60}{TEXT}"
    quote = "The conversion rate to an open procedure was 20% overall. Mortality was 0%."
    works = lay_out("harvest", [work(text)], 300, quotes={"pmid:1": (quote,)})
    assert any(sentence.quote == quote for sentence in works.sentences.values())
    assert any(line.endswith(": Mortality was 0%.") for line in works.text.splitlines())


def test_a_title_that_begins_the_text_is_not_shown_again() -> None:
    text = "# Falls in old age\n\nMortality fell in adults who took metformin for a year."
    assert lay_out("mortality", [work(text, "Falls in old age")], 500).text.count("Falls in old age") == 1


def test_a_heading_of_one_word_is_shown_with_what_stands_under_it() -> None:
    text = "The board met in the hall on Monday.\n\n## Pump\n\nThe offer of the firm in town was accepted."
    assert "\n- ## Pump\nS2: The offer" in lay_out("pump", [work(text, evidence_type="document")], 500).text


def test_of_a_users_own_text_the_heading_says_who_sent_it_and_when() -> None:
    letter = work(
        "The roof was repaired on Monday for 4,850 by the firm.",
        "Roof",
        authors=("Ann Whitlock (chair)",),
        year=2024,
        facts={"date": "12 March 2024"},
        evidence_type="document",
    )
    assert (
        "[E1] Roof (by Ann Whitlock chair , 12 March 2024, document)" in lay_out("roof", [letter], 2_000).text
    )
    paper = letter.replace(evidence_type="article")
    assert "[E1] Roof (2024, article)" in lay_out("roof", [paper], 2_000).text
    text = "Ann Whitlock wrote on 12 March that the roof was repaired for 4,850."
    assert gate.sentence(text, ["pmid:1"], {"pmid:1": letter}).state == "ask"
    unsigned = letter.replace(authors=(), facts={})
    assert gate.sentence(text, ["pmid:1"], {"pmid:1": unsigned}).state == "refused"


def test_a_writer_and_its_second_reader_have_room_for_all_works_that_answer() -> None:
    """The context of the model bounds what they read, not what a step usually needs."""
    refs = tuple(
        EvidenceRef(evidence_id=f"w{n}", blob="", source="", title="", chars=3_900) for n in range(30)
    )
    choice = ModelChoice(backend="openai", model="m", effort="normal")
    step = WriteInput(run_id="r", question="q", profile=load_profile("general"), evidence=refs)

    def room_of(role: Role, answers: int, context: int) -> int:
        judged = tuple(WorkJudgement(evidence_id=ref.evidence_id, answers=answers) for ref in refs)
        asked = step.replace(judgements=judged)
        return room(allowance_for(role, choice, asked), context)

    assert room_of("writer", 1, 128_000) == room(allowance_of("writer", choice), 128_000)
    needed = sum(estimate("x" * ref.chars) for ref in refs)
    assert room_of("writer", 2, 128_000) > needed
    assert room_of("verifier", 2, 128_000) > needed
    assert room_of("writer", 2, 16_000) < 16_000
    unjudged = room(allowance_for("writer", choice, step), 128_000)
    assert unjudged > needed, "who writes refused sentences once more reads the works whole"


def test_a_plain_answer_leaves_the_works_the_room_that_it_had() -> None:
    """Where no work answers, the usual room is all that there is."""
    choice = ModelChoice(backend="openai", model="m", effort="normal")
    step = WriteInput(run_id="r", question="q", profile=load_profile("general"))
    answer = "It is claimed. " * 1_000
    labelled = step.replace(plain_answer=answer)
    usual, needed = allowance_for("writer", choice, step), allowance_for("writer", choice, labelled)
    assert room(needed, 128_000) - room(usual, 128_000) >= estimate(answer)


def test_an_appraiser_has_room_for_the_effects_of_every_work() -> None:
    refs = tuple(EvidenceRef(evidence_id=f"w{n}", blob="", source="", title="", chars=900) for n in range(9))
    choice = ModelChoice(backend="openai", model="m", effort="normal")
    step = AppraiseInput(run_id="r", question="q", profile=load_profile("general"), evidence=refs)
    usual = allowance_of("appraiser", choice).output_tokens
    assert allowance_for("appraiser", choice, step).output_tokens > usual
    assert allowance_for("appraiser", choice, step.replace(evidence=refs[:1])).output_tokens == usual


QUESTIONS = (
    "Does zinc shorten colds?",
    "Does zinc do harm to the stomach?",
    "What does zinc cost a family?",
    "Which dose of zinc do children take?",
)
SAID = (
    "Zinc shortened colds by two days in the trial. The stomach was upset in nine people, which is a harm. "
    "A family paid forty euros, which is what it cost. Children should take a dose of ten milligrams. "
    "Colds were shortened most where they had just begun."
)


def claims_by_what_is_shown(prompt: Prompt) -> set[str]:
    """A writer that knows nothing but its prompt: it writes the sentences that are nearer to its own question
    than to another one that is named there, and none that another section has."""
    (own,) = re.findall(r"^Question: (.+)$", prompt.user, re.MULTILINE)
    lists = dict(
        re.findall(
            r"^([A-Z][^\n:]+):\n<<<list-\w+\n(.*?)\nlist-\w+>>>", prompt.user, re.MULTILINE | re.DOTALL
        )
    )
    others = lists.get("Questions that other sections answer", "").replace("- ", "").splitlines()
    written = lists.get("Written in other sections", "")

    def shared(question: str, sentence: str) -> int:
        return len(set(terms(question)) & set(terms(sentence)))

    said = [sentence.quote for sentence in prompt.sentences.values() if sentence.quote not in written]
    return {one for one in said if shared(own, one) >= max((shared(q, one) for q in others), default=0)}


def test_sections_over_the_same_works_do_not_make_the_same_claims() -> None:
    """Those written at once are told each other's questions, and each what is written before it."""
    zinc = work(SAID, "Zinc")
    support = tuple(Support(evidence_id="pmid:1", quote=sentence.quote) for sentence in sentences(zinc))
    judged = (WorkJudgement(evidence_id="pmid:1", answers=3, support=support),)
    step = WriteInput(run_id="r", question="", profile=load_profile("general"), judgements=judged)

    def claims(question: str, **told: object) -> set[str]:
        asked = step.model_copy(update={"question": question, **told})
        return claims_by_what_is_shown(spec_of("writer").render(asked, [zinc], 6_000))

    alone = [claims(question) for question in QUESTIONS]
    assert all(one == {s.quote for s in support} for one in alone)
    at_once = [claims(q, other_sections=tuple(o for o in QUESTIONS if o != q)) for q in QUESTIONS]
    assert all(at_once)
    assert sum(map(len, at_once)) == len(set().union(*at_once)) == len(support)
    before = tuple(Claim(id=f"s1.{n}", text=text) for n, text in enumerate(sorted(at_once[0])))
    assert not claims(QUESTIONS[1], written=before) & at_once[0]


def test_every_line_of_a_persons_own_text_can_be_quoted() -> None:
    """Lines of a letter that are no sentences: each has a label, a short one with what stands before it."""
    text = (
        "Harbour Lane Players\n\nYour demand of 10 June\nDear Ms Veitch,\nBy our reckoning:\n"
        "Hire, 12 performances at 380.00 4,560.00\n28 March, dimmer: whole fee -380.00\n"
        "Paid: 1,600.00 + 500.00 + 2,000.00 + 400.00 -4,500.00\nDeposit -600.00\n"
    )
    letter = work(text, evidence_type="document")
    shown = lay_out("reckoning", [letter], 2_000)
    rows = [row for row in shown.text.splitlines()[1:] if row.strip()]
    assert all(re.match(r"S\d+: ", row) for row in rows), shown.text
    checker = QuoteChecker({letter.evidence_id: letter})
    for label, sentence in shown.sentences.items():
        support = Support(evidence_id=letter.evidence_id, quote=sentence.quote)
        assert checker.supports([support]).support, label
    (paid,) = [sentence for sentence in shown.sentences.values() if "Paid" in sentence.quote]
    assert paid.quote.startswith("Paid: 1,600.00 + 500.00 + 2,000.00 + 400.00 -4,500.00")
    assert "- Harbour" in lay_out("x", [letter.replace(evidence_type="article")], 2_000).text
