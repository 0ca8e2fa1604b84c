"""Server-sent events are read the same however the network divides them, and a connection is used again."""

from collections.abc import AsyncIterator
from itertools import pairwise

import httpx2
from hypothesis import given
from hypothesis import strategies as st

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
