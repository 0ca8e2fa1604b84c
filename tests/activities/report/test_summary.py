"""Which claims a report puts first."""

import pytest

from activities.report.summary import summary_claims
from activities.types import Claim, Evidence, Support

QUESTION = "What is known about survival in gout?"
FINDING = "Survival with gout was longer after treatment with allopurinol."


def ordered(*texts: tuple[str, str]) -> list[str]:
    """Claims of (label, sentence), in the order of the summary; their works have one title."""
    claims, documents = [], {}
    for number, (label, text) in enumerate(texts):
        name = f"doc:{number}"
        documents[name] = Evidence(
            evidence_id=name, source="library", title="Gout and its course", text=f"{label}: {text}"
        )
        claims.append(Claim(id=f"c{number}", text=text, support=(Support(evidence_id=name, quote=text),)))
    return [claim.text for claim in summary_claims(QUESTION, claims, documents)]


@pytest.mark.parametrize(
    "later",
    [
        ("BACKGROUND", "Survival with gout has been studied in many countries for years."),
        ("CONCLUSIONS", "Future studies should examine survival with gout in other countries."),
        ("METHODS", "The current study assesses whether survival with gout differs by country."),
        ("CONCLUSIONS", "Gout was more often found in men than in women of the same age."),
    ],
    ids=["background", "call for research", "aim", "another outcome"],
)
def test_a_finding_on_what_is_asked_comes_first(later: tuple[str, str]) -> None:
    assert ordered(later, ("CONCLUSIONS", FINDING))[0] == FINDING
