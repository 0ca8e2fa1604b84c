"""A follow-up searches what the run that it follows searched, unless the person says otherwise."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, Unpack, cast

import pytest

from activities.contracts.evidence import Filters
from activities.permits import NotPermitted, request_key, sign
from activities.report.schema import Report
from activities.settings import Settings
from client.failures import BadInput
from client.runs.following_up import merge_options, options_of_report, options_of_request
from client.runs.options import AskOptions
from client.runs.request import build_request
from workflows.amounts import Limits
from workflows.types import ResearchRequest

RUN = "ask-what-is-private-00000000"
QUESTION = "And in children?"


@pytest.fixture
def settings(home: Path) -> Settings:
    return Settings()


@pytest.fixture
def papers(tmp_path: Path) -> str:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "one.txt").write_text("A document that nobody else is to see.")
    return str(folder)


def asked(settings: Settings, library: str, **more: Any) -> ResearchRequest:
    """The request of a run over a folder, as this home signed it."""
    signature = sign(request_key(settings.home), RUN, "library", library)
    return ResearchRequest.model_validate(
        {
            "question": "What is private?",
            "mode": "simple",
            "sources": ("library",),
            "library": library,
            "signatures": {"library": signature},
            **more,
        }
    )


def followed(settings: Settings, earlier: ResearchRequest, **options: Unpack[AskOptions]) -> ResearchRequest:
    return build_request(
        settings, QUESTION, merge_options(options, options_of_request(settings, RUN, earlier))
    )


def test_a_follow_up_of_a_private_run_stays_in_its_folder(settings: Settings, papers: str) -> None:
    request = followed(settings, asked(settings, papers))
    assert (request.sources, request.library) == (("library",), papers)


def test_a_follow_up_takes_filters_and_the_limits_that_were_set(settings: Settings, papers: str) -> None:
    limits = Limits(max_cost_microusd=500_000, max_iterations=3, max_seconds=60.0)
    narrowed = Filters(year_from=2001, phases=("PHASE2",), free_full_text=True)
    request = followed(settings, asked(settings, papers, limits=limits, filters=narrowed))
    assert request.limits.max_cost_microusd == 500_000
    assert (request.limits.max_iterations, request.limits.max_seconds) == (3, 60.0)
    assert request.filters == narrowed
    usual = followed(settings, asked(settings, papers), mode="deep")
    assert usual.limits == build_request(settings, QUESTION, {"mode": "deep"}).limits


def test_a_follow_up_searches_elsewhere_when_told(settings: Settings, papers: str, tmp_path: Path) -> None:
    earlier = asked(settings, papers)
    other = tmp_path / "other"
    other.mkdir()
    (other / "two.txt").write_text("Another document.")
    elsewhere = followed(settings, earlier, sources=["pubmed"])
    assert (elsewhere.sources, elsewhere.library) == (("pubmed",), None)
    both = followed(settings, earlier, sources=["library", "pubmed"])
    assert (both.sources, both.library) == (("library", "pubmed"), papers)
    assert followed(settings, earlier, library=str(other)).library == str(other)
    wide = followed(settings, earlier, also_web=True)
    assert (wide.sources, wide.library) == ((), papers)


def test_the_folder_of_a_stranger_is_not_signed_as_ones_own(settings: Settings, papers: str) -> None:
    forged = asked(settings, papers).model_copy(update={"signatures": {"library": "0" * 64}})
    with pytest.raises(NotPermitted):
        options_of_request(settings, RUN, forged)


def test_without_its_request_a_follow_up_searches_what_the_report_names(settings: Settings) -> None:
    def report(*sources: str) -> Report:
        searches = [SimpleNamespace(source=name) for name in sources]
        method = SimpleNamespace(searches=searches)
        return cast("Report", SimpleNamespace(run_id=RUN, methodology=method))

    assert options_of_report(settings, report("pubmed", "pubmed"), {}) == {"sources": ("pubmed",)}
    with pytest.raises(BadInput, match="`library`"):
        options_of_report(settings, report("library"), {})
    assert options_of_report(settings, report("library"), {"library": "/papers"})
