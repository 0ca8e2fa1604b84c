"""Makes `activities/sources/sample/vectors.npz`: the encoder's vectors of the bundled sample library, so that
a new home answers its first question without computing them (some three minutes).

    python -m benchmarks.sample_vectors

Each row has eight bits a number: cosines with the computed vectors are above 0.999.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from activities.contracts.evidence import Evidence
from activities.sources.library.reading import read_file
from activities.sources.library.source import SAMPLE
from activities.text.embeddings import embedder
from activities.text.kept_vectors import BUNDLED, KEY_BYTES, Bundled, key_of, text_digest
from activities.text.minilm import Vectors
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


def bundle(texts: Mapping[str, Sequence[str]], vectors: Vectors) -> Bundled:
    """`texts`: by each document's text what of it is encoded."""
    every = list(chain.from_iterable(texts.values()))
    scales = np.abs(vectors).max(axis=1, keepdims=True) / 127
    return Bundled(
        documents=_keys(map(text_digest, texts)),
        counts=np.array(list(map(len, texts.values())), np.int32),
        keys=_keys(map(key_of, every)),
        rows=np.rint(vectors / scales).astype(np.int8),
        scales=scales.astype(np.float16),
    )


def _keys(digests: Iterable[bytes]) -> NDArray[np.uint8]:
    return np.frombuffer(b"".join(digests), np.uint8).reshape(-1, KEY_BYTES)


def write(place: Path = BUNDLED) -> int:
    """Write the file; how many vectors it has."""
    model = embedder()
    assert model is not None
    texts = sample_texts()
    vectors = model.encode(list(chain.from_iterable(texts.values())), in_background=True)
    np.savez_compressed(place, **bundle(texts, vectors)._asdict())
    return len(vectors)


if __name__ == "__main__":
    print(f"{write()} vectors in {BUNDLED}")
