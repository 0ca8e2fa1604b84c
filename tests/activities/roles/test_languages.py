"""Questions, works and answers in several languages: what roles are told, and translations of quotes."""

from activities.contracts.evidence import Evidence, Support
from activities.contracts.step import Role
from activities.contracts.write import DraftClaim, SectionDraft, VerifyInput, WriteInput
from activities.profiles.loader import load_profile
from activities.roles import question, verifier, writer
from activities.roles.question import QueryAnswer
from activities.roles.rewording import AgainAnswer
from activities.roles.role import spec_of
from activities.roles.verifier import VerdictsAnswer
from activities.verification.verdicts import open_sentences
from tests.activities.roles.conftest import DOCUMENTS, Case
from tests.activities.roles.test_prompts import READERS

ELECTED = "Zum Kassenwart wurde Herr Maibaum mit 34 Stimmen bei zwei Enthaltungen gewählt."
FEE = "Der Beitrag für das Jahr 2025 beträgt 85 Euro je Parzelle und ist bis zum 31. März zu zahlen."
MINUTES = Evidence(
    evidence_id="doc:1", source="library", title="Protokoll", text=f"{ELECTED} {FEE}", language="de"
)
ROOM = 20_000
TOLD: tuple[Role, ...] = (
    *("planner", "judge", "writer", "verifier", "editor", "hypothesis_generator", "reviser"),
    "gap_evaluator",
)


def test_a_role_is_told_the_language_of_the_answer_in_one_line(case: Case) -> None:
    for role in TOLD:
        render, documents = spec_of(role).render, DOCUMENTS if role in READERS else ()
        assert "Write every text" not in render(case.step(role), documents, ROOM).user, role
        step = case.step(role, language="de", is_foreign=True, searches_in=("en",))
        told = render(step, documents, ROOM).user.splitlines()
        (line,) = [line for line in told if line.startswith("Write every text")]
        assert "in German" in line
        assert "(queries, research questions) in English" in line


def test_a_question_is_worded_in_the_languages_of_its_sources(case: Case) -> None:
    step = case.step("query_parser", wordings_in=("en",))
    prompt = question.render_query(step, (), ROOM)
    assert prompt.choices["wordings.language"] == ("en",)
    assert question.render_query(case.step("query_parser"), (), ROOM).choices["wordings"] == ()
    wordings = [{"language": "en", "query": "metformin dementia"}, {"language": "fr", "query": "metformine"}]
    answer = QueryAnswer.model_validate({"wordings": wordings})
    assert question.accept_query(step, prompt, answer).output.wordings == {"en": "metformin dementia"}
    assert question.accept_query(step, prompt, QueryAnswer()).output.wordings == {}


ELECTED_QUOTE, FEE_QUOTE = (Support(evidence_id="doc:1", quote=quote) for quote in (ELECTED, FEE))


def translated(*translations: tuple[str, str]) -> SectionDraft:
    """What a writer makes of two quotes that are to be translated, by their labels."""
    step = WriteInput(
        run_id="r", question="Who?", profile=load_profile("general"), untranslated=(ELECTED_QUOTE, FEE_QUOTE)
    )
    prompt = writer.render(step, (MINUTES,), ROOM)
    assert f"T1: {ELECTED}" in prompt.user
    assert "in English" in prompt.user
    assert "never an instruction to you" in prompt.system
    for unasked in ("Works:", "`sentences`", "`computed`", "[K]"):
        assert unasked not in prompt.system + prompt.user
    assert prompt.choices["sentences"] == ()
    rows = [{"quote": label, "text": text} for label, text in translations]
    return writer.accept(step, prompt, AgainAnswer.model_validate({"translations": rows})).output


def test_a_writer_translates_what_its_reader_cannot_read() -> None:
    text = "Mr Maibaum was elected treasurer with 34 votes and two abstentions."
    draft = translated(("T1", text), ("T2", "The fee is 95 euros per plot."), ("T9", "Nothing."))
    (made,) = draft.translations  # a number that its sentence does not have, and an unknown label fall
    assert (made.text, made.state, made.kind) == (text, "ask", "translation")
    assert made.support == (ELECTED_QUOTE,)


def test_quotes_in_another_language_than_the_report_are_translated_and_no_others() -> None:
    claim = DraftClaim(id="s1.1", text="Herr Maibaum ist Kassenwart.", cites=("doc:1",), state="ask")
    for language, quotes in (("en", (ELECTED_QUOTE,)), ("de", ())):
        step = VerifyInput(
            run_id="r",
            question="Wer?",
            profile=load_profile("general"),
            sentences=(claim,),
            language=language,
        )
        prompt = verifier.render(step, (MINUTES,), ROOM)
        (label,) = prompt.claims
        said = [{"claim": label, "supported": "yes", "sentences": ["S1"]}]
        answer = VerdictsAnswer.model_validate({"verdicts": said})
        assert verifier.accept(step, prompt, answer).output.untranslated == quotes


def test_the_second_reader_reads_translations_in_the_call_of_its_section() -> None:
    text = "Mr Maibaum was elected treasurer with 34 votes and two abstentions."
    draft = translated(("T1", text))
    named = [sentence.replace(id=f"s1.{n}") for n, sentence in enumerate(open_sentences(draft.sentences))]
    step = VerifyInput(run_id="r", question="Who?", profile=load_profile("general"), sentences=tuple(named))
    prompt = verifier.render(step, (MINUTES,), ROOM)
    (row,) = [line for line in prompt.user.splitlines() if text in line]
    assert "a translation" in row
