"""Read response bodies: decompressed step by step, never beyond a limit.

At most one content coding is accepted. Codings may be nested (`gzip, gzip`, RFC 9110, 8.4), and a page of 5
KB that is packed twice unpacks to gigabytes within one step of a decoder that knows no limit; no server of
documents does that.
"""

import zlib
from collections.abc import AsyncIterable

from activities.contracts.errors import Malformed

CODINGS = "gzip, deflate"
"""The codings that are asked for in `Accept-Encoding`."""
_STEP = 65_536


class TooLarge(Exception):
    """A body is larger than its limit, packed or unpacked."""


async def read_body(chunks: AsyncIterable[bytes], codings: str, limit: int) -> bytes:
    """Return the whole body, unpacked.

    `codings` is the value of `Content-Encoding`.

    Raises TooLarge at the first byte over the limit, Malformed for a coding that was not asked for, more than
    one coding, and for bytes that are not of the coding.
    """
    named = [
        name.strip().lower() for name in codings.split(",") if name.strip().lower() not in ("", "identity")
    ]
    if len(named) > 1 or not set(named) <= {"gzip", "x-gzip", "deflate"}:
        raise Malformed(f"a body in the coding {codings[:80]!r} is not read")
    decoder = _Decoder(limit) if named else None
    body = bytearray()
    received = 0
    async for chunk in chunks:
        received += len(chunk)
        if received > limit:
            raise TooLarge
        if decoder is None:
            body += chunk
        else:
            decoder.unpack(chunk, body)
    return bytes(body)


class _Decoder:
    """gzip, or deflate with or without its zlib wrapper, as servers send it."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._inflate = zlib.decompressobj(zlib.MAX_WBITS | 32)
        self._begun = False

    def unpack(self, data: bytes, body: bytearray) -> None:
        try:
            self._unpack(data, body)
        except zlib.error as error:
            if self._begun:
                raise Malformed(f"a body cannot be decompressed: {error}") from error
            self._inflate = zlib.decompressobj(-zlib.MAX_WBITS)  # bare deflate
            try:
                self._unpack(data, body)
            except zlib.error as again:
                raise Malformed(f"a body cannot be decompressed: {again}") from again

    def _unpack(self, data: bytes, body: bytearray) -> None:
        while data:
            piece = self._inflate.decompress(data, _STEP)
            self._begun = True
            body += piece
            if len(body) > self._limit:
                raise TooLarge
            if self._inflate.eof:
                return  # what follows the end of a packed body is no part of it
            data = self._inflate.unconsumed_tail
