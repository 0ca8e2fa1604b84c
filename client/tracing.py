"""Traces across client, workflows and activities, where OpenTelemetry's own variables name a collector.

`OTEL_EXPORTER_OTLP_ENDPOINT` (or `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`) turns tracing on; the other variables
of OpenTelemetry (headers, service name, sampling) act as it defines them. A run is one trace: the command
that started it, its workflow and sections, each attempt of each step. Spans hold ids and names of steps, no
payloads.
"""

import os
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING

from temporalio.client import Interceptor

from activities.extras import install
from activities.proxies import spare_this_machine

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

VARIABLES = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
FLUSH_MILLISECONDS = 3_000
"""How long the end of a process waits for a collector."""


class NoTracing(Exception):
    """Tracing is configured and not installed. The message says how to install it."""


def tracing(environment: Mapping[str, str] = os.environ) -> list[Interceptor]:
    """The interceptors that trace a client and the workers on it; none where no collector is named. Raises
    NoTracing."""
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
    """What sends the spans of this process. Raises ImportError."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    spare_this_machine()
    # OTEL_SERVICE_NAME goes over it
    tracers = TracerProvider(resource=Resource.create({"service.name": "determinator"}))
    tracers.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return tracers


def flush() -> None:
    """Send the spans that wait; called before a process ends."""
    if provider.cache_info().currsize:
        with suppress(Exception):  # a collector that is away must not change how a process ends
            provider().force_flush(FLUSH_MILLISECONDS)
