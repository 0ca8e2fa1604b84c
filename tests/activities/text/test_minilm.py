"""The network computed here gives the vectors that onnxruntime computes from the same file, and a file that
is not the model is refused."""

from pathlib import Path

import numpy as np
import pytest

from activities.text.embeddings import english, model_file
from activities.text.minilm import MiniLM, Vectors

TEXTS = (
    "Metformin",
    "Does metformin lower the risk of colorectal cancer in adults with type 2 diabetes?",
    "Sjögren's syndrome: 12.5 % (95 % CI 3.1-22.0; P < 0.001).",
    "What did the tenants pay for the cellar?",
    "Übergröße, naïve; 維他命 C",
    "",
    "The boiler was replaced in March. " * 20,
    "Patients were followed up for two years and no serious adverse events were seen. " * 40,
)
REFERENCE = Path(__file__).with_name("minilm_vectors.npy")
"""Vectors of `TEXTS`: computed once by onnxruntime 1.32.0, each text alone."""


@pytest.fixture(scope="module")
def reference() -> Vectors:
    found: Vectors = np.load(REFERENCE)
    return found


def test_vectors_are_those_of_onnxruntime(reference: Vectors) -> None:
    found = english(model_file()).encode(TEXTS)
    assert (found * reference).sum(axis=1).min() > 0.99999


@pytest.mark.parametrize("content", [b"", b"not a model"])
def test_what_is_not_the_model_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(content)
    with pytest.raises(ValueError, match=r"empty|no tensor"):
        MiniLM(tmp_path / "model.onnx")


def test_a_model_that_is_cut_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(model_file().read_bytes()[:1_000_000])
    with pytest.raises(ValueError, match="buffer is smaller"):
        MiniLM(tmp_path / "model.onnx")
