"""A worker reads files, and sends what it read, only for its owner."""

import stat
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client, WorkflowFailureError
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from activities.contracts.errors import Refused
from activities.contracts.evidence import Filters, ModelChoice, Query
from activities.contracts.prepare import PrepareInput
from activities.contracts.search import SearchTask
from activities.evidence_store import EvidenceStore
from activities.permits import Kind, NotPermitted, Permits, request_key, sign
from activities.prepare_activity import PrepareActivities
from activities.private_files import WeakKey
from activities.search_activity import SearchActivities
from activities.settings import Settings
from activities.sources.library.source import LibrarySource
from client.api import Determinator
from client.failures import NoConnection
from client.runs.start import run_id_of, signing_key, start, with_signatures
from tests.activities.test_search import one
from worker.resources import LateModel
from workflows.types import Outcome, ResearchRequest

pytestmark = pytest.mark.xdist_group("plain")

PRIVATE = "The private diary says that aspirin was taken every morning without any harm at all."
RUN = ActivityEnvironment().info.workflow_id or ""


@pytest.fixture
def private(tmp_path: Path) -> Path:
    folder = tmp_path / "private"
    folder.mkdir()
    (folder / "diary.txt").write_text(PRIVATE)
    return folder


def configured(tmp_path: Path, **values: object) -> Settings:
    return Settings.model_validate({"home": tmp_path / "home", **values})


def signature(settings: Settings, kind: Kind, name: str, run_id: str = RUN) -> str:
    return sign(request_key(settings.home), run_id, kind, name)


async def searched(settings: Settings, task: SearchTask) -> list[str]:
    store = EvidenceStore.at(str(settings.home / "evidence"))
    activities = SearchActivities({"library": LibrarySource(settings)}, store, None, Permits(settings))
    hits = await one(activities, task)
    if hits.status == "refused":
        raise Refused(hits.detail)
    return [(await store.get(ref)).text for ref in hits.kept]


def task(library: Path | None, made: str = "", **filters: Any) -> SearchTask:
    query = Query(text="aspirin diary", filters=Filters(**filters))
    name = str(library) if library else None
    return SearchTask(run_id="r", source="library", query=query, library=name, library_signature=made)


def test_the_key_is_readable_by_its_owner_alone(tmp_path: Path) -> None:
    settings = configured(tmp_path)
    key = request_key(settings.home)
    assert len(key) == 32
    assert request_key(settings.home) == key
    mode = (settings.home / "state" / "request.key").stat().st_mode
    assert stat.S_IMODE(mode) == 0o600


async def test_a_library_without_a_signature_is_not_read(tmp_path: Path, private: Path) -> None:
    settings = configured(tmp_path)
    forged = sign(b"another key", RUN, "library", str(private))
    of_another_run = signature(settings, "library", str(private), run_id="ask-other")
    of_another_folder = signature(settings, "library", "/elsewhere")
    of_another_kind = signature(settings, "profile_path", str(private))
    for made in ("", "x", "é", forged, of_another_run, of_another_folder, of_another_kind):
        with pytest.raises(Refused):
            await searched(settings, task(private, made))


async def test_a_signed_library_is_read(tmp_path: Path, private: Path) -> None:
    settings = configured(tmp_path)
    assert await searched(settings, task(private, signature(settings, "library", str(private)))) == [PRIVATE]


async def test_an_option_of_the_query_names_no_folder(tmp_path: Path, private: Path) -> None:
    result = await searched(configured(tmp_path), task(None, options={"library": str(private)}))
    assert PRIVATE not in result


async def test_a_library_that_the_configuration_allows_is_read(tmp_path: Path, private: Path) -> None:
    for allowed in ({"library": private}, {"allowed_libraries": [str(tmp_path)]}):
        assert await searched(configured(tmp_path, **allowed), task(private)) == [PRIVATE]
    outside = configured(tmp_path, allowed_libraries=[str(private)])
    for name in (tmp_path, private / "..", tmp_path / "private-2"):
        with pytest.raises(NotPermitted):
            Permits(outside).check("library", str(name), RUN, "")


def test_a_link_out_of_an_allowed_folder_is_not_followed(tmp_path: Path, private: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "link").symlink_to(private)
    with pytest.raises(NotPermitted):
        Permits(configured(tmp_path, allowed_libraries=[str(shared)])).check(
            "library", str(shared / "link"), RUN, ""
        )


def test_a_section_reads_what_its_run_may_read(tmp_path: Path, private: Path) -> None:
    settings = configured(tmp_path)
    made = signature(settings, "library", str(private), run_id="ask-x")
    Permits(settings).check("library", str(private), "ask-x/s1", made)


async def refused(settings: Settings, step: PrepareInput) -> str:
    activities = PrepareActivities(settings, {"library": LibrarySource(settings)})
    with pytest.raises(ApplicationError) as caught:
        await ActivityEnvironment().run(activities.prepare, step)
    assert caught.value.non_retryable
    return str(caught.value.type)


async def test_prepare_refuses_names_that_are_not_the_owners(tmp_path: Path, private: Path) -> None:
    settings = configured(tmp_path, openai_base_url="http://127.0.0.1:1/v1")
    evil = ModelChoice(backend="openai", model="m", base_url="https://evil.example/v1")
    for step in (
        PrepareInput(profile="general", library=str(private)),
        PrepareInput(profile="general", library="/no/such/folder"),
        PrepareInput(profile="general", profile_path=str(private / "diary.txt")),
        PrepareInput(profile="general", models={"default": evil}),
        PrepareInput(profile="general", models={"default": ModelChoice(), "judge": evil}),
        PrepareInput(profile="general", fallbacks=(evil,)),
    ):
        assert await refused(settings, step) == "NotPermitted"


async def test_a_plain_question_needs_no_signature(tmp_path: Path) -> None:
    settings = configured(tmp_path, openai_base_url="http://127.0.0.1:1/v1")
    activities = PrepareActivities(settings, {"library": LibrarySource(settings)})
    ours = ModelChoice(backend="openai", model="m", base_url="http://127.0.0.1:1/v1/")
    for step in (PrepareInput(profile="general"), PrepareInput(profile="general", models={"default": ours})):
        assert await ActivityEnvironment().run(activities.prepare, step)


def test_a_model_server_of_others_gets_nothing(tmp_path: Path) -> None:
    model = LateModel(configured(tmp_path), EvidenceStore.at(str(tmp_path / "store")))
    with pytest.raises(NotPermitted):
        model.of(ModelChoice(backend="openai", model="m", base_url="https://evil.example/v1"))


def test_a_signature_does_not_change_the_id_of_a_run() -> None:
    request = ResearchRequest(question="Does aspirin help?", library="/papers")
    made = with_signatures(request, "r", b"key")
    assert set(made.signatures) == {"library"}
    assert run_id_of(made) == run_id_of(request)


async def test_a_client_of_the_server_can_read_no_folder(file_home: Path, private: Path) -> None:
    """The whole way: a raw start is refused with the reason, that of the command line is answered."""
    settings = Settings()
    connection = await Determinator(settings).connect()
    client: Client = connection.client
    request = ResearchRequest(
        question="What does the diary say of aspirin?",
        mode="iterative",
        library=str(private),
        sources=("library",),
    )
    handle = await client.start_workflow(
        "IterativeResearch", request, id="stranger", task_queue=settings.task_queue, result_type=Outcome
    )
    with pytest.raises(WorkflowFailureError) as caught:
        await handle.result()
    assert PRIVATE[:30] not in str(await handle.fetch_history())
    refusal = caught.value.cause.__cause__ if caught.value.cause else None
    assert isinstance(refusal, ApplicationError)
    assert refusal.type == "NotPermitted"
    started = await start(client, request, settings.task_queue, key=signing_key(settings, embedded=False))
    outcome = await client.get_workflow_handle(started.run_id, result_type=Outcome).result()
    assert outcome.references == 1


def test_nothing_is_begun_here_without_a_key_of_the_home(tmp_path: Path) -> None:
    """Its worker would refuse the folder, and the run would fail for good: a full disk is no reason."""
    (tmp_path / "file").write_text("no folder")
    settings = configured(tmp_path).model_copy(update={"home": tmp_path / "file"})
    with pytest.raises(NoConnection, match="cannot be used"):
        signing_key(settings, embedded=True)
    assert signing_key(settings, embedded=False) == b""


@pytest.mark.parametrize("weak", [b"", b"short", b"x" * 31])
async def test_a_key_that_others_could_guess_signs_nothing(
    tmp_path: Path, private: Path, weak: bytes
) -> None:
    """Neither the command that would sign with it nor the worker that would check accepts it."""
    settings = configured(tmp_path)
    path = settings.home / "state" / "request.key"
    path.parent.mkdir(parents=True)
    path.write_bytes(weak)
    with pytest.raises(WeakKey, match="remove it"):
        request_key(settings.home)
    forged = sign(weak, RUN, "library", str(private))
    with pytest.raises(WeakKey):
        Permits(settings).check("library", str(private), RUN, forged)
