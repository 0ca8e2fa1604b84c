"""Of a long text the stretches are read that mention what is asked."""

from activities.text.excerpt import excerpt, telling
from activities.text.ranking import rank, relevant
from activities.text.sentences import LONGEST_TEXT
from activities.types import Evidence
from activities.verification.quote_check import verbatim

FACT = "The keeper of Zenda lit the beacon of the harbour with sperm oil until the winter of 1871."
FILLER = "The council met on Tuesday and spoke of the roads, the market and the price of grain. " * 60


def book(fact_at: int) -> Evidence:
    """A text of some 900,000 characters with one paragraph about the beacon."""
    chapters = [f"{FILLER.strip()}\n\n" for _ in range(175)]
    chapters.insert(fact_at, f"{FACT}\n\n")
    text = "".join(chapters)
    assert len(text) > 2 * LONGEST_TEXT
    return Evidence(evidence_id="b", source="library", title="Annals", text=text, evidence_type="document")


def test_a_fact_in_a_late_chapter_of_a_book_is_found() -> None:
    (item,) = relevant(rank("Who lit the beacon of the harbour of Zenda?", [book(170)], None))
    assert item.ranked[0].sentence.quote == FACT
    assert len(item.document.text) > LONGEST_TEXT, "the item keeps the whole text"


def test_the_excerpt_is_of_the_text_and_keeps_its_order() -> None:
    whole = book(100)
    read = excerpt("Who lit the beacon of Zenda?", whole)
    assert len(read.text) <= LONGEST_TEXT
    assert FACT in read.text
    assert read.text.startswith(FILLER.strip())
    assert all(verbatim(piece, whole.text) for piece in read.text.split("\n\n") if piece)


def test_a_text_without_paragraphs_is_cut_between_words() -> None:
    text = ("word " * 200_000) + FACT
    assert FACT in telling("Who lit the beacon of Zenda?", text)


def test_a_short_text_is_read_whole() -> None:
    short = book(1).model_copy(update={"text": FACT})
    assert excerpt("Who lit the beacon?", short) is short


def test_the_beginning_is_read_however_much_the_rest_says_of_the_question() -> None:
    title = "Annals of the harbour town, written by three clerks."
    text = f"{title}\n\n{FILLER}\n\n" + f"{FACT} {FILLER.strip()}\n\n" * 175
    assert telling("Who lit the beacon of Zenda?", text).startswith(title)
