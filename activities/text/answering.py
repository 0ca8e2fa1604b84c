"""How likely each work answers a question: by words; and, where the encoder of sentences is installed, the
likeliest ones once more by what their sentences mean."""

from collections.abc import Sequence

from activities.text.directness import BY_ENCODER, BY_WORDS, Model, probability, signs
from activities.text.embeddings import Embedder, embedder
from activities.text.needle import Needle, Reading
from activities.text.question import Form, asked
from activities.text.sentences import OF_THE_USER, sentences
from activities.types import Evidence

MOST_WORKS = 6
"""Works whose sentences are encoded, the likeliest by words: on the halves `choosing` the right one was among
them wherever it was found. Six notes of four sentences take a fifth of a second of one processor."""
MOST_SENTENCES, MOST_OF_AN_ABSTRACT = 10, 4
"""Of a text, those that mention most of the question; of sentences that mention as much, the later ones:
abstracts end with their findings. An abstract has a title that says what it is about, besides."""


OF_SEVERAL_WORKS: frozenset[Form] = frozenset({"open", "list"})
"""Questions that several works answer together: abstracts say what they are about in words enough."""


def answering(question: str, documents: Sequence[Evidence], needle: Needle) -> list[tuple[Model, float]]:
    """For each document the probability that it answers, by itself, and by which model it was estimated."""
    readings = needle.readings()
    found = [signs(needle, reading) for reading in readings]
    judged = [(BY_WORDS, probability(one)) for one in found]
    form = asked(question).form
    among = [
        place
        for place, document in enumerate(documents)
        if document.evidence_type == "document" or form not in OF_SEVERAL_WORKS
    ]
    encoder = embedder() if among else None
    if encoder is None:
        return judged
    first = sorted(among, key=lambda place: -judged[place][1])[:MOST_WORKS]
    rows = [_compared(documents[place], needle, readings[place]) for place in first]
    # A fact, and what is known of a subject, may stand in a sentence that is nearer to other questions.
    alone = form == "yes_no"
    for place, like in zip(first, _likes(encoder, question, rows), strict=True):
        chance = probability(found[place]._replace(like=like), BY_ENCODER)
        judged[place] = BY_ENCODER, chance if alone else max(chance, judged[place][1])
    return judged


def _compared(document: Evidence, needle: Needle, reading: Reading) -> list[str]:
    """The sentences of a work that are encoded, each with the title, which says what it is about."""
    said = [sentence.text for sentence in sentences(document)]
    title = "" if reading.untitled else document.title
    abstract = title and document.evidence_type not in OF_THE_USER
    most = MOST_OF_AN_ABSTRACT if abstract else MOST_SENTENCES
    if len(said) > most:
        telling = sorted(range(len(said)), key=lambda n: (-needle.coverage(reading.sentences[n]), -n))
        said = [said[place] for place in telling[:most]]
    texts = [f"{title} {text}" if title and text != title else text for text in said] or [title]
    return [title, *texts] if abstract else texts


def _likes(encoder: Embedder, question: str, rows: Sequence[Sequence[str]]) -> list[float]:
    """Of each row of texts the highest cosine with the question."""
    vectors = encoder.encode([question, *(text for row in rows for text in row)])
    # Not a product of matrices: BLAS would take 20 MB for its buffers.
    cosines = (vectors[1:] * vectors[0]).sum(axis=1).tolist()
    likes: list[float] = []
    for row in rows:
        likes.append(round(max(cosines[: len(row)]), 4))
        del cosines[: len(row)]
    return likes
