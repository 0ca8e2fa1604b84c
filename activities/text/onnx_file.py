"""The tensors of an ONNX file, mapped into memory: none is copied when the file is opened.

An ONNX file is a protocol buffer, described by https://github.com/onnx/onnx/blob/main/onnx/onnx.proto. The
package `onnx` (18 MB) and any other reader made by protobuf would copy all weights. Here the few fields that
are needed are found by the wire format, https://protobuf.dev/programming-guides/encoding/.
"""

import mmap
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_VARINT, _EIGHT_BYTES, _LENGTH, _FOUR_BYTES = 0, 1, 2, 5
"""Wire types."""
_GRAPH = 7
"""Field of ModelProto."""
_NODES, _INITIALIZERS = 1, 5
"""Fields of GraphProto."""
_INPUT, _OUTPUT, _OPERATION = 1, 2, 4
"""Fields of NodeProto."""
_DIMENSIONS, _DATA_TYPE, _NAME, _RAW_DATA = 1, 2, 8, 9
"""Fields of TensorProto."""
_FLOATS, _INTEGERS = 1, 3
"""Numbers of TensorProto.DataType: 32-bit floats and 8-bit integers."""

Tensor = NDArray[np.float32] | NDArray[np.int8]


class OnnxFile:
    """Named tensors, and which matrix each bias belongs to."""

    def __init__(self, path: Path) -> None:
        """Raises OSError for a file that cannot be read, ValueError for one that is no ONNX file."""
        with path.open("rb") as file:
            self._mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._tensors: dict[str, Tensor] = {}
        self._matrices: dict[str, str] = {}
        try:
            for graph in _messages(memoryview(self._mapped), _GRAPH):
                self._tensors |= dict(_tensors(graph))
                self._matrices |= dict(_matrices(graph))
        except (IndexError, KeyError, ValueError) as error:
            raise ValueError(f"{path} is no ONNX file") from error
        self.release()

    def floats(self, name: str) -> NDArray[np.float32]:
        """A copy of a tensor of floats. Raises ValueError where there is none of this name."""
        tensor = self._tensors.get(name)
        if tensor is None or tensor.dtype != np.float32:
            raise ValueError(f"the model has no floats {name}")
        return np.array(tensor, np.float32)

    def integers(self, name: str) -> NDArray[np.int8]:
        """A tensor of 8-bit integers, read from the file when it is used. Raises ValueError where there is
        none of this name."""
        tensor = self._tensors.get(name)
        if tensor is None or tensor.dtype != np.int8:
            raise ValueError(f"the model has no 8-bit integers {name}")
        return tensor.view(np.int8)

    def matrix(self, bias: str) -> str:
        """The name of the matrix to whose products a bias is added. Raises ValueError where there is none."""
        if bias not in self._matrices:
            raise ValueError(f"the model adds {bias} to no product")
        return self._matrices[bias]

    def release(self) -> None:
        """Leave what was read of the file to the system's cache of files; the next use maps it again."""
        if hasattr(mmap, "MADV_DONTNEED"):  # not on Windows
            self._mapped.madvise(mmap.MADV_DONTNEED)


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    """A number and where it ends: seven bits a byte, the lowest first."""
    value = shift = 0
    while True:
        byte = message[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def _fields(message: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """The fields of a message: their number, and a number or the bytes that are its value. Raises IndexError
    for a message that is cut, KeyError for an unknown wire type."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        if key & 7 == _VARINT:
            value, at = _varint(message, at)
            yield key >> 3, value
            continue
        if key & 7 == _LENGTH:
            length, at = _varint(message, at)
        else:
            length = {_EIGHT_BYTES: 8, _FOUR_BYTES: 4}[key & 7]
        if at + length > len(message):
            raise IndexError("a field ends after its message")
        yield key >> 3, message[at : at + length]
        at += length


def _messages(message: memoryview, number: int) -> Iterator[memoryview]:
    """The values of a field that is repeated: messages, texts or bytes."""
    for key, value in _fields(message):
        if key == number and isinstance(value, memoryview):
            yield value


def _numbers(message: memoryview, number: int) -> Iterator[int]:
    """The values of a field of numbers, one by one or all in one field."""
    for key, value in _fields(message):
        if key == number and isinstance(value, int):
            yield value
        elif key == number and isinstance(value, memoryview):
            at = 0
            while at < len(value):
                one, at = _varint(value, at)
                yield one


def _texts(message: memoryview, number: int) -> list[str]:
    return [bytes(value).decode() for value in _messages(message, number)]


def _tensors(graph: memoryview) -> Iterator[tuple[str, Tensor]]:
    """Tensors of the kinds that are read, by name."""
    for tensor in _messages(graph, _INITIALIZERS):
        kind = next(_numbers(tensor, _DATA_TYPE), 0)
        raw = next(_messages(tensor, _RAW_DATA), None)
        if raw is None:
            continue
        name, shape = _texts(tensor, _NAME)[0], tuple(_numbers(tensor, _DIMENSIONS))
        if kind == _FLOATS:
            yield name, np.frombuffer(raw, np.float32).reshape(shape)
        elif kind == _INTEGERS:
            yield name, np.frombuffer(raw, np.int8).reshape(shape)


def _matrices(graph: memoryview) -> Iterator[tuple[str, str]]:
    """Tensors that are added to a product -> the name of the product's second factor."""
    factors: dict[str, str] = {}
    for node in _messages(graph, _NODES):
        inputs = _texts(node, _INPUT)
        match _texts(node, _OPERATION):
            case ["MatMul"]:
                factors[_texts(node, _OUTPUT)[0]] = inputs[1]
            case ["Add"] if inputs[0] in factors:
                yield inputs[1], factors[inputs[0]]
            case _:
                pass
