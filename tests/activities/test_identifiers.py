"""An identifier is read whole in any surrounding text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from activities.contracts.identifiers import (
    ALL_FIGURES,
    figures,
    is_preprint_doi,
    may_hold,
    normal_doi,
    normal_url,
)

SICI = "10.1002/(SICI)1097-0258(19980815/30)17:15/16<1661::AID-SIM968>3.0.CO;2-2"


@pytest.mark.parametrize(
    ("value", "doi"),
    [
        ("https://doi.org/10.1000/ABC", "10.1000/abc"),
        ("http://dx.doi.org/10.1000/abc", "10.1000/abc"),
        ("doi: 10.1000/abc", "10.1000/abc"),
        ("https://doi.org/10.1000/abc/", "10.1000/abc"),
        ("Lancet 1998 (doi:10.1000/abc(97)1).", "10.1000/abc(97)1"),
        ("<a>10.1000/abc</a>", "10.1000/abc"),
        ("10.1000/abc<jats:p>and on", "10.1000/abc"),
        ("metformin", None),
        ("10.1000/", None),
        (None, None),
    ],
)
def test_a_doi_is_found_in_running_text_and_behind_a_resolver(value: str | None, doi: str | None) -> None:
    assert normal_doi(value) == doi


@pytest.mark.parametrize(
    "written",
    [
        SICI,
        f"https://doi.org/{SICI}",
        f"Stat Med. 1998;17:1661-97. doi: {SICI}.",
        SICI.replace("<", "&lt;").replace(">", "&gt;"),
        "https://doi.org/" + SICI.replace("<", "%3C").replace(">", "%3E"),
    ],
)
def test_a_doi_made_of_a_sici_names_the_article_and_not_the_issue(written: str) -> None:
    assert normal_doi(written) == SICI.lower()


@given(st.text())
def test_a_doi_that_was_read_reads_the_same_again(text: str) -> None:
    once = normal_doi(f"10.1000/a{text}")
    assert once is not None
    assert normal_doi(once) == once


@pytest.mark.parametrize(
    "address", ["http://[::1", "http://host:port/a", "https://[x]/", "http://a:99999/", "//[", "mailto:a@b"]
)
def test_what_is_no_address_of_the_web_names_nothing(address: str) -> None:
    assert normal_url(address) is None


@pytest.mark.parametrize(
    ("doi", "is_one"),
    [
        ("10.1101/2020.01.01.123456", True),
        ("10.1101/123456", True),
        ("10.1101/gr.123.456", False),
        ("10.48550/arxiv.2001.00001", True),
        ("10.21203/rs.3.rs-1/v1", True),
        ("10.1056/nejmoa1", False),
        (None, False),
    ],
)
def test_dois_of_preprint_servers_are_known(doi: str | None, is_one: bool) -> None:
    assert is_preprint_doi(doi) is is_one


@given(st.lists(st.integers(0, 10**6), max_size=20), st.lists(st.integers(0, 10**6), max_size=20))
def test_a_text_may_hold_its_own_numbers_and_more(some: list[int], more: list[int]) -> None:
    short, long = (" of ".join(map(str, numbers)) for numbers in (some, [*some, *more]))
    assert may_hold(figures(short), figures(long)) or ALL_FIGURES in (figures(short), figures(long))
    assert not may_hold(figures("9 percent"), figures("25 percent in 12 halls"))
