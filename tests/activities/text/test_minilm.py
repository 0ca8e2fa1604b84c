"""The network computed here gives the vectors that onnxruntime computes from the same file, and a file that
is not the model is refused."""

from pathlib import Path

import numpy as np
import pytest

from activities.text.embeddings import Embedder, model_file
from activities.text.minilm import MiniLM, Vectors
from activities.text.onnx_file import OnnxFile

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
    found = Embedder(model_file()).encode(TEXTS)
    assert (found * reference).sum(axis=1).min() > 0.99999


@pytest.mark.parametrize("content", [b"", b"not a model", b"\x3a\xff\xff\x7f", b"\x0f", b"\x3a\x02\x2a\x7f"])
def test_what_is_no_onnx_file_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(content)
    with pytest.raises(ValueError, match=r"ONNX|empty|no floats|no 8-bit"):
        MiniLM(tmp_path / "model.onnx")


def test_a_model_that_is_cut_is_refused_and_tensors_have_their_kinds_and_names(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(model_file().read_bytes()[:1_000_000])
    with pytest.raises(ValueError, match="no ONNX file"):
        OnnxFile(tmp_path / "model.onnx")
    file = OnnxFile(model_file())
    bias = "inner.encoder.layer.5.intermediate.dense.bias"
    assert file.integers(f"{file.matrix(bias)}_q").shape == (384, 1536)
    assert file.floats(bias).shape == (1536,)
    for read, name in ((file.floats, "absent"), (file.integers, bias), (file.matrix, "absent")):
        with pytest.raises(ValueError, match=name):
            read(name)
