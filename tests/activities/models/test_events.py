"""Server-sent events are read the same however the network divides them, and a connection is used again."""

from collections.abc import AsyncIterator, Mapping
from itertools import pairwise

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from activities.models import transport
from activities.models.response import events_of, values_of

STREAM = (
    b": a comment\n\n"
    b'event: message\ndata: {"n": 1}\n\n'
    b'data: {"text":\r\ndata: "a\xe2\x80\xa8b"}\r\n\r\n'
    b'data:{"n": 3}\r\r\n\n'
    b"retry: 10\n\ndata: [DONE]\n\n"
)
WHOLE = [{"n": 1}, {"text": "a\u2028b"}, {"n": 3}]
REQUEST = httpx2.Request("POST", "http://model.test/")


def answering(*pieces: bytes) -> httpx2.Response:
    async def body() -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece

    return httpx2.Response(200, content=body(), request=REQUEST)


async def said(*pieces: bytes) -> list[object]:
    return [value async for value in events_of(answering(*pieces))]


@given(st.lists(st.integers(0, len(STREAM))))
async def test_events_do_not_depend_on_how_the_bytes_are_divided(cuts: list[int]) -> None:
    places = sorted({0, *cuts, len(STREAM)})
    assert await said(*(STREAM[a:b] for a, b in pairwise(places))) == WHOLE


async def test_a_stream_is_read_to_its_end_and_an_event_that_breaks_off_is_left_out() -> None:
    assert await said(b'data: {"n": 1}\n\ndata: {"n"') == [{"n": 1}]
    response = answering(STREAM + b": the end\n\n")
    assert [value async for value in events_of(response)] == WHOLE
    assert response.is_stream_consumed


async def test_events_without_data_and_comments_in_their_place_are_no_answer_and_no_fault() -> None:
    body = b'data:\n\ndata: \n\ndata: : keepalive\n\nevent: ping\n\ndata: {"n": 1}\n\ndata: [DONE]\n\n'
    assert await said(body) == list(values_of(body, REQUEST)) == [{"n": 1}]


class _Arriving(httpx2.AsyncByteStream):
    """Pieces of a body, each with the time at which it arrives; what has arrived is read at once."""

    def __init__(self, pieces: Mapping[bytes, float]) -> None:
        self.now, self.packets, self._pieces = 0.0, 0, pieces

    async def wait(self, seconds: float) -> None:
        self.now += seconds

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece, at in self._pieces.items():
            if at > self.now:  # it is waited for
                self.now, self.packets = at, self.packets + 1
            yield piece


@pytest.mark.parametrize(("others", "most_packets"), [(0, 400), (60, 75)])
async def test_words_of_many_streams_gather_before_they_are_read_on_and_those_of_a_few_hardly(
    others: int, most_packets: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = {f"data: {number}\n\n".encode(): 0.01 * number for number in range(1, 301)}
    pieces = {**words, b"data: [DONE]\n\n": 3.001, b"\n": 5.001}
    arriving = _Arriving(pieces)
    beside = [transport._Counted(_Arriving({}), streamed=True) for _ in range(others)]
    stream = transport._Counted(arriving, streamed=True)
    monkeypatch.setattr(stream, "_clock", lambda: arriving.now)
    monkeypatch.setattr("activities.models.transport.asyncio.sleep", arriving.wait)
    read: list[bytes] = []
    async for piece in stream:
        read.append(piece)
        if transport.LAST in piece:
            late = arriving.now - pieces[piece]
    assert read == [*pieces]
    assert arriving.packets < most_packets
    assert arriving.now == pieces[b"\n"], "nothing is waited for after the last event"
    assert late <= (transport.MAX_GATHER_SECONDS if others else 0.005), "a kill meanwhile would buy it again"
    for one in beside:
        await one.aclose()
