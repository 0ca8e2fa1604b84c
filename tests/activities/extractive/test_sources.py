"""Sources are chosen for the question, out of those that are enabled."""

import pytest

from activities.contracts.evidence import SourceOption
from activities.contracts.plan import ParseQueryInput, SelectInput
from activities.extractive.planning import choose_sources, parse_query
from activities.extractive.searching import select_tools
from activities.profiles.loader import load_profile
from activities.roles.question import MIN_SOURCES, QUERY_PARSER, QueryAnswer
from activities.settings import Settings
from activities.sources.http.client import open_http
from activities.sources.registry import Sources

BIOMEDICAL = load_profile("biomedical")


@pytest.fixture
async def offered(tmp_path: object) -> tuple[SourceOption, ...]:
    """Every source of the registry, enabled."""
    settings = Settings(home=tmp_path)
    async with open_http(settings) as http:
        built = Sources(settings, http)
    return tuple(SourceOption(info=source.info, enabled=True) for source in built.values())


def a_step(question: str, offered: tuple[SourceOption, ...]) -> ParseQueryInput:
    return ParseQueryInput(run_id="r", question=question, profile=BIOMEDICAL, sources=offered)


def test_a_source_that_the_question_names_comes_first(offered: tuple[SourceOption, ...]) -> None:
    chosen = choose_sources("What does arXiv have on protein folding?", offered, BIOMEDICAL.sources)
    assert chosen[0] == "arxiv"
    assert set(BIOMEDICAL.sources) <= set(chosen)


def test_what_is_not_enabled_is_not_chosen(offered: tuple[SourceOption, ...]) -> None:
    closed = tuple(o.replace(enabled=o.info.name == "crossref") for o in offered)
    assert parse_query(a_step("Does zinc help?", closed)).sources == ("crossref",)
    assert parse_query(a_step("Does zinc help?", ())).sources == ()


def test_a_models_choice_is_kept_within_what_is_offered(offered: tuple[SourceOption, ...]) -> None:
    step = a_step("Does zinc help?", offered)
    answer = QueryAnswer(sources=["OpenFDA", "shell", "openfda"])
    chosen = QUERY_PARSER.accept(step, QUERY_PARSER.render(step, (), 4_000), answer).output.sources
    assert chosen[0] == "openfda"
    assert len(chosen) == MIN_SOURCES
    assert set(chosen) <= {o.info.name for o in offered}
    assert QUERY_PARSER.accept(step, QUERY_PARSER.render(step, (), 4_000), QueryAnswer()).output.sources == ()


def test_the_tests_of_hypotheses_come_first_and_are_spread_over_sources(
    offered: tuple[SourceOption, ...],
) -> None:
    tests = ("sildenafil pulmonary hypertension no benefit", "bosentan pulmonary hypertension trial")
    step = SelectInput(
        run_id="r",
        question="Which drugs treat pulmonary hypertension?",
        profile=BIOMEDICAL,
        iteration=2,
        gaps=("Which drugs treat pulmonary hypertension?",),
        sources=tuple(o for o in offered if o.info.name in ("pubmed", "clinicaltrials")),
        tests=tests,
    )
    first, second, *rest = select_tools(step).tasks
    assert [first.gap, second.gap] == list(tests)
    assert (first.agent, second.agent) == ("pubmed", "clinicaltrials")
    assert rest
