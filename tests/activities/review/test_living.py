"""A living review tells which sentences changed, by each way that was set, and is silent where none did."""

import json
import sys
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import pytest

from activities.contracts.errors import Refused, Unavailable
from activities.review.findings import Findings, synthesise
from activities.review.living import Notice, compare, feed, message, pipe, post
from activities.review.steps import StateStep
from tests.activities.review.studies import PROTOCOL
from tests.activities.review.test_report import REPORT, STATE, STUDIES, findings
from tests.activities.review.test_synthesis import COUNTS, TRIAL_FACTS, study
from tests.replay import ReplayServer, Reply

STEP = StateStep(run_id="review-1", at=REPORT.at, state=STATE.replace(reports=1))


@cache
def version(*events: str) -> Findings:
    rows = [study(place, **{**COUNTS, "events": text}) for place, text in enumerate(events, start=1)]
    synthesis = synthesise(
        PROTOCOL.outcomes[0], PROTOCOL.question, rows, {}, {row.evidence_id: TRIAL_FACTS for row in rows}
    )
    return findings().replace(syntheses=(synthesis,), studies=STUDIES[: len(events)])


def before() -> Findings:
    return version("8")


def after() -> Findings:
    return version("8", "60")


def notice() -> Notice:
    news = compare(before(), after(), STEP)
    assert news is not None
    return news


def test_the_sentences_that_changed_are_named() -> None:
    news = notice()
    (change,) = news.changes
    assert change.before != change.after
    assert "death from any cause" in change.before
    assert (news.version, news.new_studies) == (2, 1)
    assert change.after in message(news)


def test_nothing_rings_where_no_conclusion_changed() -> None:
    assert compare(before(), before(), STEP) is None
    moved = version("9")  # the figures moved, and the sentence is the same
    assert moved.syntheses[0].conclusion.works != before().syntheses[0].conclusion.works
    assert compare(before(), moved, STEP) is None


def test_an_outcome_that_is_new_or_gone_is_a_change() -> None:
    bare = after().replace(syntheses=())
    assert compare(before(), bare, STEP).changes[0].after == ""  # type: ignore[union-attr]
    assert compare(bare, before(), STEP).changes[0].before == ""  # type: ignore[union-attr]


def test_the_feed_is_rss_with_the_newest_first() -> None:
    hostile = notice().replace(version=3, title="A <script> & more")
    channel = ElementTree.fromstring(feed([notice(), hostile])).find("channel")
    assert channel is not None
    assert channel.findtext("title") == "A <script> & more"
    assert [item.findtext("guid") for item in channel.iter("item")] == ["review-1/3", "review-1/2"]
    assert notice().changes[0].after in (channel.findall("item")[1].findtext("description") or "")
    assert channel.findall("item")[0].findtext("pubDate") == "Sat, 28 Nov 2026 12:00:00 +0000"
    assert feed([]).startswith(b"<?xml")


def test_a_command_gets_the_notice_on_its_input_and_no_shell_reads_it(tmp_path: Path) -> None:
    out = tmp_path / "mail.txt"
    copy = "import sys, pathlib; pathlib.Path(sys.argv[1]).write_text(sys.stdin.read() + sys.argv[2])"
    pipe(notice(), f"{sys.executable} -c '{copy}' {out} '$(id); x'")
    assert out.read_text() == message(notice()) + "$(id); x"


@pytest.mark.parametrize(
    ("command", "reason"),
    [("no-such-program-here", "cannot be run"), ("false", "ends with 1"), ("'", "cannot be run")],
)
def test_a_command_that_fails_is_named(command: str, reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        pipe(notice(), command)


async def test_a_webhook_gets_the_changed_sentences() -> None:
    with ReplayServer() as server:
        await post(notice(), f"{server.on('/hook', Reply(204)).url}/hook")
    (asked,) = server.asked
    data = json.loads(asked.body)
    assert data["changes"][0]["before"] == notice().changes[0].before
    assert data["run_id"] == "review-1"


@pytest.mark.parametrize(
    ("status", "error"), [(503, Unavailable), (429, Unavailable), (404, Refused), (302, Refused)]
)
async def test_a_webhook_that_is_down_is_tried_again_and_one_that_refuses_is_not(
    status: int, error: type[Exception]
) -> None:
    with ReplayServer() as server, pytest.raises(error):
        await post(notice(), f"{server.on('/hook', Reply(status)).url}/hook")
    with pytest.raises(Unavailable):
        await post(notice(), f"{server.url}/hook")
