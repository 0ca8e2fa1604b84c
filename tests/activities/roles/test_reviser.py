"""What a change makes of sentences with computations, and of those that lean on what goes."""

from activities.contracts.evidence import Evidence, Support
from activities.contracts.revise import Revised, ReviseInput
from activities.contracts.write import DraftClaim
from activities.profiles.loader import load_profile
from activities.roles.reviser import REVISER, ReviserAnswer

WORK = Evidence(
    evidence_id="pmid:1",
    source="pubmed",
    title="Groups",
    text="In the first group 209 people took part. In the second group 218 people took part.",
)
QUOTES = tuple(Support(evidence_id=WORK.evidence_id, quote=quote) for quote in WORK.text.split(". "))
SUM = DraftClaim(
    id="s1.1",
    text="The sum of both groups was 427 people.",
    support=QUOTES,
    kind="computed",
    computed=("209 + 218 = 427",),
)
LEANING = DraftClaim(id="s1.2", text="They were in two groups.", support=QUOTES, leans=True)


def revised(answer: dict[str, object]) -> Revised:
    step = ReviseInput(
        run_id="r",
        question="How many took part?",
        profile=load_profile("general"),
        wanted="plainly",
        sections={"s1": "People"},
        sentences=(SUM, LEANING),
    )
    prompt = REVISER.render(step, [WORK], 20_000)
    assert "E1 is [1] in the report" in prompt.user
    return REVISER.accept(step, prompt, ReviserAnswer.model_validate(answer)).output


def test_a_computed_sentence_may_be_put_in_other_words() -> None:
    (one,) = revised({"reword": [{"claim": "C1", "text": "In all 427 people took part."}]}).sentences
    assert (one.state, one.computed) == ("ask", SUM.computed)
    wrong = revised({"reword": [{"claim": "C1", "text": "In all 437 people took part."}]})
    assert not wrong.sentences
    assert [refused.reason.code for refused in wrong.refused] == ["number_not_computed"]


def test_what_leans_on_a_sentence_goes_with_it_or_is_reworded() -> None:
    assert revised({"remove": ["C1"]}).removed == ("s1.1", "s1.2")
    revision = revised(
        {"remove": ["C1"], "reword": [{"claim": "C2", "text": "The people were in two groups."}]}
    )
    assert revision.removed == ("s1.1",)
    assert [sentence.text for sentence in revision.sentences] == ["The people were in two groups."]
