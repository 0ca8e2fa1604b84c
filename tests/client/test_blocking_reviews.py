"""Reviews in a program without an event loop."""

import inspect
from pathlib import Path

import pytest

from client.blocking import Blocks
from client.reviews.review import BlockingReview, Review
from determinator import Determinator
from tests.client.harness import wait_until
from tests.client.web.test_screening import PROTOCOL

pytestmark = pytest.mark.xdist_group("plain")

OF_SURFACES = {"row", "at_rest", "may_open", "view", "records", "tasks_soon", "send"}
"""Methods of `Review` that the surfaces use among themselves."""


def test_what_can_be_awaited_of_a_review_can_be_called() -> None:
    awaited = {name for name, method in vars(Review).items() if inspect.iscoroutinefunction(method)}
    called = {name for name, method in vars(BlockingReview).items() if isinstance(method, Blocks)}
    assert called == {name for name in awaited - OF_SURFACES if not name.startswith("_")}


def test_a_review_is_taken_to_its_report_without_an_event_loop(file_home: Path, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("title,abstract\nMice,Metformin in mice.\nRats,Metformin in rats.\n")
    (tmp_path / "protocol.toml").write_text(PROTOCOL)
    with Determinator() as client:
        review = client.start_review(tmp_path / "protocol.toml")
        assert review.approve(by="ada") == "protocol"
        wait_until(lambda: len(review.tasks("bob")) == 2, what="the records")
        for task in review.tasks("ada"):
            for name in ("ada", "bob"):
                review.decide(task.record, "exclude", by=name, criterion="E1")
        assert client.review(review.id).approve("report", by="ada") == "report"
        assert review.report().decode().startswith("# Two people")
        flow = review.published().report.flow
        assert (flow.screened, flow.excluded, flow.faults()) == (2, 2, ())
