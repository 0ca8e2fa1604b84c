"""Makes `activities/sources/sample/vectors.npz`: the encoder's vectors of the bundled sample library, so that
a new home answers its first question without computing them (some three minutes).

    python -m benchmarks.sample_vectors

Each row has eight bits a number: cosines with the computed vectors are above 0.999.
"""

from pathlib import Path

import numpy as np

from activities.contracts.evidence import Evidence
from activities.sources.library.reading import read_file
from activities.sources.library.source import SAMPLE
from activities.text.embeddings import embedder
from activities.text.kept_vectors import BUNDLED, bundled_rows
from activities.text.ranking import encoded_texts


def sample_texts() -> list[str]:
    """Every title and sentence of the sample, as the library encodes them."""
    texts: dict[str, None] = {}
    for path in sorted(SAMPLE.iterdir()):
        for record in read_file(b"", str(path), path.name):
            if isinstance(record, Evidence):
                texts |= dict.fromkeys(encoded_texts(record))
    return list(texts)


def write(place: Path = BUNDLED) -> int:
    """Write the file; how many texts it has."""
    model = embedder()
    assert model is not None
    texts = sample_texts()
    keys, rows, scales = bundled_rows(texts, model.encode(texts, in_background=True))
    np.savez_compressed(place, keys=keys, rows=rows, scales=scales)
    return len(texts)


if __name__ == "__main__":
    print(f"{write()} texts in {BUNDLED}")
