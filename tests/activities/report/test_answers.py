"""The sentence that gives what is asked for is the first that a reader meets."""

import pytest

from activities.report.answers import giving_first
from activities.report.brief import brief
from activities.types import Claim, EvidenceType, Support
from tests.activities.extractive.abstracts import document

SAID = (
    "The tower clock in Stenby stopped and will not be wound again.",
    "It is taken down because the beams are rotten.",
    "The parish hall got new curtains.",
)


def claims() -> list[Claim]:
    return [
        Claim(id=f"c{place}", text=text, support=(Support(evidence_id="pmid:1", quote=text),))
        for place, text in enumerate(SAID)
    ]


@pytest.mark.parametrize(("kind", "found"), [("document", ("c1",)), ("review", ())])
def test_a_reason_in_a_text_of_the_users_own_comes_before_the_subject(
    kind: EvidenceType, found: tuple[str, ...]
) -> None:
    work = document(1, " ".join(SAID), "Stenby", kind)
    documents = {"pmid:1": work}
    asked = "Why will the tower clock in Stenby not be wound again?"
    assert giving_first(asked, claims(), documents) == found


def test_the_short_answer_quotes_the_reason_though_it_holds_few_of_the_questions_words() -> None:
    asked = "Why will the tower clock in Stenby not be wound again?"
    subject, reason, _ = claims()
    (said,) = brief(asked, claims(), (reason, subject), (), (), (), (), ("c1",))
    assert said.claims == ("c1",)
    (said,) = brief(asked, claims(), (reason, subject), (), (), ())
    assert said.claims == ("c0",)
