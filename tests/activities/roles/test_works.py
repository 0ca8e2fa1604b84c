"""How works are shown to a model: every sentence that can be quoted has a label."""

from activities.roles.works import show
from activities.types import Evidence

TEXT = (
    "The conversion rate to an open procedure was 20% overall. Mortality was 0%. "
    "No patient had biliary atresia. CONCLUSIONS: The laparoscopic approach may be used in such patients."
)


def test_a_short_sentence_is_quoted_with_the_one_before_it() -> None:
    works = show("mortality", [Evidence(evidence_id="pmid:1", source="", title="T", text=TEXT)], 2_000)
    shown = dict(line.split(": ", 1) for line in works.text.splitlines() if line.startswith("S"))
    label = next(name for name, said in shown.items() if said == "Mortality was 0%.")
    assert works.sentences[label].quote.endswith("was 20% overall. Mortality was 0%.")
    assert works.sentences[label].quote in TEXT
    assert "No patient had biliary atresia." in shown.values()
    assert "CONCLUSIONS" not in " ".join(one.quote for one in works.sentences.values())
