"""A connection to a Temporal server, and the configuration it is opened with.

Configured means `--address`, or an address in Temporal's own standard variables (`TEMPORAL_ADDRESS`,
`TEMPORAL_NAMESPACE`, `TEMPORAL_API_KEY`, `TEMPORAL_TLS...`) or profile file, read by `temporalio.envconfig`,
or one in the settings (`[temporal] address`); then no server and no worker is started. `Determinator.connect`
chooses between the configured server and the embedded one.
"""

import asyncio
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from google.protobuf.duration_pb2 import Duration
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.namespace.v1 import NamespaceConfig
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest, ListSearchAttributesRequest
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest, UpdateNamespaceRequest
from temporalio.client import Client, Interceptor
from temporalio.common import SearchAttributePair, TypedSearchAttributes
from temporalio.envconfig import ClientConfigProfile, ClientConnectConfig
from temporalio.runtime import Runtime, TelemetryConfig
from temporalio.service import GrpcCompression, HttpConnectProxyConfig, RetryConfig, RPCError, RPCStatusCode

from activities.codec import CodecError, codec_of
from activities.contracts.errors import install
from activities.payloads import data_converter
from activities.proxies import spare_this_machine
from activities.settings import Settings
from client.failures import BadConnectionSettings as BadConnectionSettings
from client.failures import NoConnection as NoConnection
from workflows import attributes

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

VARIABLES = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
FLUSH_MILLISECONDS = 3_000
"""Time for which the end of a process waits for a collector."""


class NoTracing(Exception):
    """Tracing is configured and not installed. The message says how to install it."""


def tracing(environment: Mapping[str, str] = os.environ) -> list[Interceptor]:
    """Return the interceptors that trace a client; none where no collector is named. Raises NoTracing."""
    if not any(environment.get(name) for name in VARIABLES):
        return []
    try:
        from temporalio.contrib.opentelemetry import TracingInterceptor

        tracer = provider().get_tracer("determinator")
    except ImportError as error:
        raise NoTracing(f"{VARIABLES[0]} is set, and tracing is not installed: {install('otel')}") from error
    return [TracingInterceptor(tracer)]


@cache
def provider() -> "TracerProvider":
    """Return what sends the spans of this process. Raises ImportError."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    spare_this_machine()
    # OTEL_SERVICE_NAME goes over it
    tracers = TracerProvider(resource=Resource.create({"service.name": "determinator"}))
    tracers.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return tracers


def flush_traces() -> None:
    """Send the spans that wait; called before a process ends."""
    if provider.cache_info().currsize:
        with suppress(Exception):  # a collector that is away must not change how a process ends
            provider().force_flush(FLUSH_MILLISECONDS)


CONNECT_SECONDS = 8.0
"""Time to wait for an address before it counts as unreachable."""

LOOPBACK = ("127.0.0.1", "localhost", "::1")

EMBEDDED_RETRY = RetryConfig(max_interval_millis=1_000, max_elapsed_time_millis=60_000, max_retries=1_000)
"""Time for which a request to the embedded server is repeated: its supervisor starts it again."""
MAX_SOCKET_PATH_BYTES = 100
"""The system allows the path of a socket 104 to 108 bytes."""

PLAIN = {
    "Connection refused": "connection refused",
    "dns error": "its name is not known",
    "InvalidCertificate": "its certificate is not accepted",
    "InvalidContentType": "it speaks no TLS: unset TEMPORAL_API_KEY and TEMPORAL_TLS",
    "PermissionDenied": "permission denied; check the API key and the namespace",
    "Unauthenticated": "not authenticated; check the API key",
}
"""Marks in the Rust client's error texts, and what they mean."""

Say = Callable[[str], None]
"""Receives messages for the person at the terminal."""


@dataclass(frozen=True, slots=True)
class Connection:
    """A client and what is known about the server behind it."""

    client: Client
    embedded: bool
    address: str
    ui_url: str | None = None
    """Base address of the Web UI, where it is known."""
    task_queue: str = "determinator"
    """The queue that serves the run in question, or on which a run is to start."""
    patient_until: float = 0.0
    """Time of the monotonic clock: a worker that was just started may need so long until it answers."""

    def link(self, run_id: str) -> str | None:
        from urllib.parse import quote

        if self.ui_url is None:
            return None
        return f"{self.ui_url}/namespaces/{self.client.namespace}/workflows/{quote(run_id, safe='')}"


def connection_config(
    address: str | None = None, settings: Settings | None = None
) -> ClientConnectConfig | None:
    """Return the configured connection, or None when there is none and the embedded server serves.

    `address` wins over Temporal's own variables and profile file, and these over the settings; TLS and API
    key always come from Temporal's own. Raises BadConnectionSettings.
    """
    try:
        profile = ClientConfigProfile.load()
        config = profile.to_client_connect_config()
    except (RuntimeError, ValueError, OSError) as error:
        raise BadConnectionSettings(
            f"Temporal's connection settings cannot be read: {error}; "
            "check the TEMPORAL_* variables and the profile file"
        ) from error
    if address:
        config["target_host"] = address
    elif not profile.address and settings is not None and settings.temporal_address:
        config["target_host"] = settings.temporal_address
    if not profile.namespace and settings is not None and settings.temporal_namespace:
        if not config.get("target_host"):
            raise BadConnectionSettings(
                f"the namespace {settings.temporal_namespace} needs a Temporal address: the embedded server "
                "has its own namespace; set `[temporal] address` or TEMPORAL_ADDRESS"
            )
        config["namespace"] = settings.temporal_namespace
    if not config.get("target_host"):
        return None
    config["target_host"] = plain_address(config["target_host"])
    return config


def plain_address(address: str) -> str:
    """`http://host:7233/` -> `host:7233`; the port 7233 where none is given.

    Raises BadConnectionSettings for what is not an address.
    """
    authority = address.strip().removeprefix("http://").removeprefix("https://").rstrip("/")
    host, colon, port = authority.rpartition(":")
    if not colon or authority.endswith("]"):
        host, port = authority, "7233"
    if not host or "/" in authority or any(c.isspace() for c in authority) or not port.isdigit():
        raise BadConnectionSettings(f"{address!r} is not a Temporal address; write host:port")
    return f"{host}:{port}"


@cache
def silent_runtime() -> Runtime:
    """Return the SDK's native core without its own log, which would go to stdout, between the data.

    Its errors are raised to the caller anyway.
    """
    return Runtime(telemetry=TelemetryConfig(logging=None))


async def open_client(
    config: ClientConnectConfig,
    timeout: float = CONNECT_SECONDS,  # noqa: ASYNC109 - the SDK's connect knows none
    runtime: Runtime | None = None,
    private_socket: Path | None = None,
) -> Client:
    """Connect with the data converter of this project, which encrypts where there are keys.

    `private_socket` is that of the home whose embedded server is meant. Raises NoConnection within
    `timeout` seconds, and BadConnectionSettings for keys that cannot be used.
    """
    address = config.get("target_host", "")
    proxy = HttpConnectProxyConfig(f"unix:{short_path(private_socket)}") if private_socket else None
    try:
        converter, interceptors = data_converter(codec_of()), tracing()
    except (CodecError, NoTracing) as error:
        raise BadConnectionSettings(str(error)) from error
    try:
        connecting = Client.connect(
            **config,
            data_converter=converter,
            interceptors=interceptors,
            runtime=runtime or silent_runtime(),
            grpc_compression=compression(address),
            http_connect_proxy_config=proxy,
            retry_config=EMBEDDED_RETRY if proxy else None,
        )
        return await asyncio.wait_for(connecting, timeout)
    except TimeoutError as error:
        raise NoConnection(f"no Temporal server answers at {address} (waited {timeout:.0f} s)") from error
    except RuntimeError as error:
        raise NoConnection(f"no Temporal server answers at {address}: {reason(error)}") from error


@cache
def short_path(path: Path) -> str:
    """Return the path of a socket; a long one by its folder, which this process keeps open (Linux)."""
    if len(os.fsencode(path)) <= MAX_SOCKET_PATH_BYTES or not Path("/proc/self/fd").exists():
        return str(path)
    return f"/proc/self/fd/{os.open(path.parent, os.O_PATH | os.O_DIRECTORY)}/{path.name}"


def compression(address: str) -> GrpcCompression:
    """Return how requests to an address are compressed: not at all on this machine.

    There compressing costs both sides more than the bytes.
    """
    host = address.rpartition(":")[0].strip("[]")
    return GrpcCompression.NONE if host in LOOPBACK else GrpcCompression.GZIP


def reason(error: BaseException) -> str:
    """Return the innermost cause in a Rust client's error text, on one line."""
    text = " ".join(str(error).split())
    return next((sentence for mark, sentence in PLAIN.items() if mark in text), text[:200])


def quiet(_: str) -> None:
    """Discard messages."""


ATTRIBUTES = {key.name: key.indexed_value_type.name.capitalize() for key in attributes.EVERY}
"""Name -> type, as `temporal server start-dev --search-attribute` accepts them."""

RETENTION = timedelta(days=90)
"""Time for which the embedded server keeps finished runs; its own default is one day."""


def run_attributes(question: str, mode: str, profile: str) -> TypedSearchAttributes:
    """Return the attributes a run starts with.

    They are not encrypted: a question to be kept private is given empty.
    """
    return TypedSearchAttributes(
        [
            SearchAttributePair(attributes.QUESTION, question[:1000]),
            SearchAttributePair(attributes.MODE, mode),
            SearchAttributePair(attributes.PROFILE, profile),
        ]
    )


async def register_attributes(client: Client) -> bool:
    """Register what is missing; True when all are there to be used."""
    try:
        names = await _missing_attributes(client)
        if not names:
            return True
        await client.operator_service.add_search_attributes(
            AddSearchAttributesRequest(
                namespace=client.namespace,
                search_attributes={
                    name: IndexedValueType.Value(f"INDEXED_VALUE_TYPE_{ATTRIBUTES[name].upper()}")
                    for name in names
                },
            )
        )
    except RPCError as error:
        if error.status != RPCStatusCode.ALREADY_EXISTS:
            return False
    # the server's own cache of attributes lags behind
    for _ in range(50):
        try:
            if not await _missing_attributes(client):
                return True
        except RPCError:
            return False
        await asyncio.sleep(0.1)
    return False


async def _missing_attributes(client: Client) -> list[str]:
    answer = await client.operator_service.list_search_attributes(
        ListSearchAttributesRequest(namespace=client.namespace)
    )
    return [name for name in ATTRIBUTES if name not in answer.custom_attributes]


async def raise_retention(client: Client) -> None:
    """Keep finished runs for `RETENTION` at least. Raises RPCError."""
    service = client.workflow_service
    answer = await service.describe_namespace(DescribeNamespaceRequest(namespace=client.namespace))
    seconds = int(RETENTION.total_seconds())
    if answer.config.workflow_execution_retention_ttl.seconds >= seconds:
        return
    await service.update_namespace(
        UpdateNamespaceRequest(
            namespace=client.namespace,
            config=NamespaceConfig(workflow_execution_retention_ttl=Duration(seconds=seconds)),
        )
    )
