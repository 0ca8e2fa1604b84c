"""Checks of this machine, part by part: `determinator doctor`."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from activities.contracts.errors import DeterminatorError
from activities.credentials import without_credentials
from activities.evidence_store import EvidenceStore
from activities.messages import plural
from activities.private_files import write_whole
from client.connection import connection_config, open_client
from client.embedded.binary import find_temporal, server_version
from client.embedded.home import Places, WorkerNote, fingerprint, read_note
from client.embedded.network import has_own_network
from client.embedded.server import unwritable
from client.embedded.workers import NoSupervisor, state_of
from client.failures import BadInput, Failure
from client.model_servers import client_of, local_servers, model_names, server_of
from client.runs.checks import check_hooks as load_hooks
from client.runs.destinations import available

if TYPE_CHECKING:
    from collections.abc import Callable

    from activities.settings import Settings

State = Literal["ok", "warn", "fail"]
PROBE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Check:
    name: str
    state: State
    message: str
    """Finding and, when it does not work, how to repair it."""


async def checks(load: "Callable[[], Settings]", address: str | None) -> AsyncIterator[Check]:
    """Each part in turn; `load` gives the settings in force, or raises what is wrong with them."""
    try:
        settings = load()
    except Failure as error:
        yield Check("configuration", "fail", str(error))
        return
    yield Check("configuration", "ok", "read")
    yield check_home(settings)
    async for check in check_server(settings, address):
        yield check
    yield await check_store(settings)
    yield await check_model(settings)
    if settings.hooks:
        yield check_hooks(settings)
    async for check in check_sources(settings):
        yield check


def check_home(settings: "Settings") -> Check:
    import shutil

    places = Places(settings.home)
    try:
        places.make()
        probe = places.home / ".doctor"
        write_whole(probe, b"")
        probe.unlink()
    except OSError as error:
        return Check("home", "fail", unwritable(places.home, error))
    gigabytes = shutil.disk_usage(places.home).free / 1e9
    if gigabytes < 0.5:
        return Check("home", "warn", f"{places.home} has {gigabytes:.1f} GB left; free some space")
    return Check("home", "ok", str(places.home))


async def check_server(settings: "Settings", address: str | None) -> AsyncIterator[Check]:
    """Check the configured server; without one the processes of the home, and what starts them."""
    try:
        if (config := connection_config(address, settings)) is not None:
            await open_client(config)
            yield Check("server", "ok", f"answers at {config['target_host']}")
            yield Check("worker", "ok", "not checked: the workers of a configured server run elsewhere")
            return
        binary = find_temporal()
        version = server_version(binary)
    except Failure as error:
        yield Check("server", "fail", str(error))
        return
    places = Places(settings.home)
    try:
        state = await state_of(places)
    except NoSupervisor:
        yield Check("server", "ok", f"embedded {version} ({binary}); not running, `ask` starts it")
        yield check_worker(settings, places, None)
        return
    server = state.server
    if server.version == version:
        place = f"at {server.address}, pid {server.pid}, Web UI {server.ui_url or 'off'}"
        yield Check("server", "ok", f"embedded {version} {place}")
    else:
        message = f"embedded {server.version} runs, {version} is installed; `determinator down` and it is "
        yield Check("server", "warn", f"{message}used from the next start on (with a database of its own)")
    if has_own_network(server.pid):
        yield Check("other users", "ok", "the embedded server has a network of its own; only you reach it")
    else:
        yield Check(
            "other users",
            "warn",
            "other users of this machine can reach the embedded server: this system gives it no network of "
            "its own (docs/security.md); on a machine that you share, set TEMPORAL_ADDRESS",
        )
    yield check_worker(settings, places, state.worker)


def check_worker(settings: "Settings", places: Places, worker: WorkerNote | None) -> Check:
    if worker is None:
        note = read_note(places.worker_note, WorkerNote)
        if note is not None and note.failure:
            return Check("worker", "warn", f"{note.failure}; its log is {places.worker_log}")
        return Check("worker", "ok", "not running; `ask` starts it")
    message = f"pid {worker.pid}, started {worker.started_at}"
    if worker.fingerprint != fingerprint(settings, places):
        message += ", other settings; `ask` restarts it with these"
    return Check("worker", "ok", message)


async def check_store(settings: "Settings") -> Check:
    address = settings.evidence_url
    address = without_credentials(address) if "://" in address else address
    try:
        store = EvidenceStore.at(settings.evidence_url)
        await store.put_named("doctor", b"ok")
        if await store.get_named("doctor") != b"ok":
            return Check("evidence store", "fail", f"{address} does not return what was written")
    except DeterminatorError as error:
        return Check("evidence store", "fail", f"{error}; check DETERMINATOR_STORE_URL")
    return Check("evidence store", "ok", address)


def check_hooks(settings: "Settings") -> Check:
    try:
        load_hooks(settings)
    except BadInput as error:
        return Check("hooks", "fail", str(error))
    return Check("hooks", "ok", ", ".join(settings.hooks))


async def check_model(settings: "Settings") -> Check:
    """Tell whether the model's server answers and knows the model. Costs no tokens."""
    import httpx

    if settings.model is None or settings.model == "extractive":
        lines = ["none: reports quote and rank without a language model (set DETERMINATOR_MODEL)"]
        lines += [server.line() for server in await local_servers()]
        return Check("model", "ok", "; ".join(lines))

    address, headers = server_of(settings)
    base = without_credentials(address)
    if not headers and settings.openai_base_url is None:
        return Check("model", "fail", f"{settings.model} needs OPENAI_API_KEY, or OPENAI_BASE_URL")
    try:
        async with client_of(
            address, offline=settings.offline, timeout=PROBE_SECONDS, headers=headers
        ) as http:
            answer = await http.get(f"{address}/models")
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return Check("model", "fail", f"{base} does not answer ({error or type(error).__name__})")
    if answer.status_code in (401, 403):
        refusal = "refuses the key" if headers else "wants a key"
        message = f"{base} {refusal} ({answer.status_code}); OPENAI_API_KEY must hold one of this server"
        return Check("model", "fail", message)
    if not answer.is_success:
        return Check("model", "warn", f"{base} answers {answer.status_code} when asked for its models")
    names = model_names(answer)
    if names and settings.model not in names:
        examples = ", ".join(names[:5])
        return Check("model", "warn", f"{base} does not list {settings.model}; it has {examples}")
    return Check("model", "ok", f"{settings.model} at {base}; {await model_facts(settings, settings.model)}")


async def model_facts(settings: "Settings", model: str) -> str:
    """Describe how a model is used, by what its server says of it.

    As `effort small, context 4,096 tokens, 1 call at a time`.
    """
    from activities.models.prices import effort_for, facts_of
    from activities.settings import choice

    facts = await facts_of(settings, choice(model))
    context = (
        settings.context_tokens if "context_tokens" in settings.model_fields_set else facts.context_tokens
    )
    at_once = facts.slots if settings.model_concurrency is None else settings.model_concurrency
    parts = (
        f"effort {settings.effort or effort_for(facts)}",
        f"context {context:,} tokens" if context else "",
        f"{plural(at_once, 'call')} at a time" if at_once else "",
    )
    return ", ".join(filter(None, parts))


async def check_sources(settings: "Settings") -> AsyncIterator[Check]:
    """Say which sources are enabled, and how to enable the others."""
    for option in await available(settings):
        message = "enabled" if option.enabled else f"not enabled: {option.reason}"
        yield Check(f"source {option.info.name}", "ok", message)
