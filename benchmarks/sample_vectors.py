"""Makes `activities/sources/sample/vectors`: the vectors of the bundled sample library by both encoders, so
that a new home answers its first question in any of their languages without computing them (two minutes).

    python -m benchmarks.sample_vectors

Each row has five bits a number, as the archive packs them: cosines with the computed vectors are above 0.997.
Its arrays: digests of the documents' texts, how many vectors each has, the rows, and what each is multiplied
by.
"""

import hashlib
from functools import cache
from itertools import chain

import numpy as np

from activities.contracts.evidence import Evidence
from activities.sources.library.encoding import SAMPLE_VECTORS
from activities.sources.library.reading import read_file
from activities.sources.library.source import SAMPLE
from activities.text.embeddings import Embedder, english, multilingual
from activities.text.ranking import encoded_texts

LARGEST = 15
"""The largest number of a row, so that it has five bits: with eight the files have 6.4 MB, so 4.2."""


@cache
def sample() -> tuple[Evidence, ...]:
    """The documents of the sample."""
    read = (read_file(b"", str(path), path.name) for path in sorted(SAMPLE.iterdir()))
    return tuple(record for record in chain.from_iterable(read) if isinstance(record, Evidence))


def sample_texts(model: Embedder) -> dict[str, list[str]]:
    """The title and the sentences of each document of the sample, as the library encodes them, by its
    text."""
    return {record.text: encoded_texts(record, model) for record in sample()}


def write(model: Embedder) -> str:
    """Write the file of an encoder, and return its name and size."""
    texts = sample_texts(model)
    vectors = model.encode(list(chain.from_iterable(texts.values())), in_background=True)
    scales = np.abs(vectors).max(axis=1, keepdims=True) / LARGEST
    digests = [hashlib.blake2b(text.encode(), digest_size=16).digest() for text in texts]
    path = SAMPLE_VECTORS / f"{model.name}.npz"
    np.savez_compressed(
        path,
        documents=np.frombuffer(b"".join(digests), np.uint8).reshape(-1, 16),
        counts=np.array(list(map(len, texts.values())), np.int32),
        rows=np.rint(vectors / scales).astype(np.int8),
        scales=scales.astype(np.float16),
    )
    return f"{path.name}: {len(vectors)} vectors, {path.stat().st_size:,} bytes"


if __name__ == "__main__":
    for encoder in (english(), multilingual()):
        print(write(encoder))
