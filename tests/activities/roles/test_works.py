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


def test_of_a_long_text_passages_are_shown_with_their_page_and_heading() -> None:
    """What a judge reads of a full text is as much as an abstract says, in order, with its context."""
    filler = "The weather was mild and the harvest was good in that year. " * 60
    told = "It was given twice a day. Metformin lowered the risk of dementia. The effect lasted ten years. "
    text = f"{filler}\n\nMethods\n\n{filler}\n\nLong-term outcomes\n\n{told}{filler}"
    pages = (0, len(filler) + 2, text.index("Long-term"))
    document = Evidence(evidence_id="pmid:1", source="", title="T", text=text, pages=pages)
    works = show("metformin dementia", [document], 20_000, chars=4_000, passages=600)
    lines = works.text.splitlines()
    gap = lines.index("[... page 3, Long-term outcomes]")
    shown = [line.split(": ", 1)[1] for line in lines[gap + 1 : gap + 4]]
    assert " ".join(shown) == told.strip()
    assert sum(map(len, lines[1:])) < 800
    assert all(sentence.quote in text for sentence in works.sentences.values())
