"""Makes `activities/sources/sample/vectors.npz`: the encoder's vectors of the bundled sample library, so that
a new home answers its first question without computing them (some three minutes).

    python -m benchmarks.sample_vectors

Each row has eight bits a number: cosines with the computed vectors are above 0.999.
"""

from itertools import chain
from pathlib import Path

import numpy as np

from activities.contracts.evidence import Evidence
from activities.sources.library.reading import read_file
from activities.sources.library.source import SAMPLE
from activities.text.embeddings import embedder
from activities.text.kept_vectors import BUNDLED, Bundled
from activities.text.ranking import encoded_texts


def sample_texts() -> dict[str, list[str]]:
    """The title and the sentences of each document of the sample, as the library encodes them, by its
    text."""
    texts: dict[str, list[str]] = {}
    for path in sorted(SAMPLE.iterdir()):
        for record in read_file(b"", str(path), path.name):
            if isinstance(record, Evidence):
                texts[record.text] = encoded_texts(record)
    return texts


def write(place: Path = BUNDLED) -> int:
    """Write the file; how many vectors it has."""
    model = embedder()
    assert model is not None
    texts = sample_texts()
    vectors = model.encode(list(chain.from_iterable(texts.values())), in_background=True)
    np.savez_compressed(place, **Bundled.of(texts, vectors)._asdict())
    return len(vectors)


if __name__ == "__main__":
    print(f"{write()} vectors in {BUNDLED}")
