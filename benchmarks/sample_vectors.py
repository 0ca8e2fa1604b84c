"""Makes `activities/sources/sample/vectors.npz`: the encoder's vectors of the bundled sample library, so that
a new home answers its first question without computing them (some three minutes).

    python -m benchmarks.sample_vectors

Each row has eight bits a number: cosines with the computed vectors are above 0.999. Its arrays: digests of
the documents' texts, how many vectors each has, the rows, and what each is multiplied by.
"""

import hashlib
from itertools import chain

import numpy as np

from activities.contracts.evidence import Evidence
from activities.sources.library.encoding import SAMPLE_VECTORS
from activities.sources.library.reading import read_file
from activities.sources.library.source import SAMPLE
from activities.text.embeddings import embedder
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


def write() -> int:
    """Write the file; how many vectors it has."""
    model = embedder()
    assert model is not None
    texts = sample_texts()
    vectors = model.encode(list(chain.from_iterable(texts.values())), in_background=True)
    scales = np.abs(vectors).max(axis=1, keepdims=True) / 127
    digests = [hashlib.blake2b(text.encode(), digest_size=16).digest() for text in texts]
    np.savez_compressed(
        SAMPLE_VECTORS,
        documents=np.frombuffer(b"".join(digests), np.uint8).reshape(-1, 16),
        counts=np.array(list(map(len, texts.values())), np.int32),
        rows=np.rint(vectors / scales).astype(np.int8),
        scales=scales.astype(np.float16),
    )
    return len(vectors)


if __name__ == "__main__":
    print(f"{write()} vectors in {SAMPLE_VECTORS}")
