"""The first step: what the worker has, and one clear line for what it has not."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from activities.contracts.evidence import Effort, ModelChoice, Query, SourceInfo
from activities.contracts.prepare import Prepared, PrepareInput
from activities.permits import Kind, request_key, sign
from activities.prepare_activity import PrepareActivities
from activities.settings import Settings
from activities.sources.base import Exchange


class Stub:
    """A source with nothing in it: the step only asks what there is."""

    def __init__(self, name: str, missing: str = "", **info: str) -> None:
        self.info = SourceInfo.model_validate({"name": name, "title": name, "covers": "Tests.", **info})
        self.missing = missing

    async def exchanges(self, query: Query) -> AsyncIterator[Exchange]:
        yield Exchange()


SOURCES = {
    "library": Stub("library"),
    "brave": Stub("brave", "set BRAVE_API_KEY"),
    "by_doi": Stub("by_doi", role="lookup"),
}
GPT = ModelChoice(backend="openai", model="gpt-4o-mini", effort="normal")


async def prepare(step: PrepareInput, tmp_path: Path, **settings: object) -> Prepared:
    configured = Settings.model_validate({"home": tmp_path, **settings})
    named: dict[Kind, str | None] = {"library": step.library, "profile_path": step.profile_path}
    run_id = ActivityEnvironment().info.workflow_id or ""
    key = request_key(tmp_path)
    signatures = {kind: sign(key, run_id, kind, name) for kind, name in named.items() if name}
    step = step.model_copy(update={"signatures": signatures})
    done: Prepared = await ActivityEnvironment().run(PrepareActivities(configured, SOURCES).prepare, step)
    return done


async def refusal(step: PrepareInput, tmp_path: Path, **settings: object) -> str:
    with pytest.raises(ApplicationError) as raised:
        await prepare(step, tmp_path, **settings)
    assert raised.value.non_retryable
    assert "\n" not in raised.value.message
    return raised.value.message


async def test_sources_say_why_they_are_closed_and_a_library_whose_it_is(tmp_path: Path) -> None:
    done = await prepare(PrepareInput(profile="general"), tmp_path)
    assert {o.info.name: o.enabled for o in done.sources} == {"library": True, "brave": False}
    prepared = await prepare(PrepareInput(profile="general", library=str(tmp_path)), tmp_path)
    [library] = [source.info for source in prepared.sources if source.info.name == "library"]
    assert library.title == "Local library"
    assert tmp_path.name in library.covers
    assert str(tmp_path) not in library.covers, "no model needs to know where it lies"


async def test_the_settings_name_the_models_and_their_fallbacks(tmp_path: Path) -> None:
    done = await prepare(
        PrepareInput(profile="general"),
        tmp_path,
        model="gpt-4o-mini",
        roles={"judge": "tiny"},
        fallback=["extractive"],
        prices={"tiny": {"input": 1, "output": 2}},
    )
    assert done.models == {
        "default": GPT,
        "judge": ModelChoice(backend="openai", model="tiny", effort="normal"),
    }
    assert done.fallbacks == (ModelChoice(),)
    assert done.prices["tiny"] is not None
    assert done.prices["tiny"].output_per_million == 2
    assert done.prices["gpt-4o-mini"] is not None


async def test_the_request_goes_before_the_settings(tmp_path: Path) -> None:
    step = PrepareInput(profile="general", models={"writer": GPT})
    done = await prepare(step, tmp_path, model="small", roles={"judge": "tiny"})
    assert done.models == {
        "default": ModelChoice(backend="openai", model="small", effort="normal"),
        "writer": GPT,
    }


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (PrepareInput(profile="nope"), "no profile named nope"),
        (
            PrepareInput(profile="general", sources=("library", "medline")),
            "the worker that serves this run has no source named medline; it has: library, brave",
        ),
        (PrepareInput(profile="general", sources=("brave",)), "BRAVE_API_KEY"),
        (PrepareInput(profile="general", sources=("by_doi",)), "no source named by_doi"),
        (PrepareInput(profile="general", library="/no/such/folder"), "/no/such/folder"),
        (PrepareInput(profile="general", library="docs"), "absolute"),
        (PrepareInput(profile="general", models={"judge": ModelChoice(backend="openai")}), "judge"),
    ],
)
async def test_what_is_not_there_is_refused_in_one_line(
    tmp_path: Path, step: PrepareInput, said: str
) -> None:
    assert said in await refusal(step, tmp_path)


async def test_a_broken_profile_that_no_run_uses_stops_no_run(tmp_path: Path) -> None:
    (tmp_path / "broken.toml").write_text("name = ")
    done = await prepare(PrepareInput(profile="general"), tmp_path, profiles_dir=tmp_path)
    assert "broken" not in done.profiles
    said = await refusal(PrepareInput(profile="broken"), tmp_path, profiles_dir=tmp_path)
    assert "broken.toml" in said


@pytest.mark.parametrize(
    ("model", "settings", "asked", "effort"),
    [
        ("gpt-4o-mini", {}, None, "normal"),
        ("qwen2.5:1.5b", {}, None, "small"),
        ("SmolLM2-135M-Instruct", {}, None, "small"),
        ("llama-3.1-70b", {}, None, "normal"),
        ("gpt-4o-mini", {"effort": "large"}, None, "large"),
        ("qwen2.5:1.5b", {"effort": "large"}, "normal", "normal"),
    ],
)
async def test_how_much_a_model_is_asked_for_is_chosen_or_follows_from_its_size(
    tmp_path: Path, model: str, settings: dict[str, object], asked: Effort | None, effort: Effort
) -> None:
    choice = ModelChoice(backend="openai", model=model, effort=asked)
    done = await prepare(PrepareInput(profile="general", models={"default": choice}), tmp_path, **settings)
    assert done.models["default"].effort == effort
