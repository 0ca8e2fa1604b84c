"""Logs of a worker: one JSON object a line, with the run's id where there is one and no secret anywhere."""

import logging
import sys

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger
from temporalio import activity, workflow
from temporalio.exceptions import ApplicationError, CancelledError
from temporalio.runtime import (
    LogForwardingConfig,
    LoggingConfig,
    PrometheusConfig,
    Runtime,
    TelemetryConfig,
    TelemetryFilter,
)

from activities.credentials import redacted
from activities.settings import Settings

NOISY = ("httpx", "httpx2", "httpcore", "openai", "trafilatura", "asyncio")
"""Libraries that log addresses, keys included, or bodies at the levels below warning."""


def configure_logging(settings: Settings) -> None:
    """Send structlog's and the standard library's records to stderr: JSON, or plain lines on a terminal."""
    level = logging.getLevelNamesMapping().get(settings.log_level.upper(), logging.INFO)
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        add_run_id,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    render: Processor = (
        structlog.dev.ConsoleRenderer() if sys.stderr.isatty() else structlog.processors.JSONRenderer()
    )

    def finish(logger: WrappedLogger, name: str, event: EventDict) -> str:
        return redacted(str(render(logger, name, event)))

    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, finish],
        )
    )
    logging.basicConfig(level=level, handlers=[handler], force=True)
    for name in NOISY:
        logging.getLogger(name).setLevel(max(level, logging.WARNING))
    logging.getLogger("temporalio.activity").addFilter(is_unforeseen)
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )


def logging_runtime(metrics: PrometheusConfig | None = None) -> Runtime:
    """Return the SDK's native core, whose warnings are among our records.

    By default they are lines of its own on stdout.

    It serves `metrics` where they are configured; raises RuntimeError when their address is in use.
    """
    forwarding = LogForwardingConfig(logger=logging.getLogger("temporalio.core"), append_target_to_name=False)
    level = TelemetryFilter(core_level="WARN", other_level="ERROR")
    return Runtime(
        telemetry=TelemetryConfig(logging=LoggingConfig(filter=level, forwarding=forwarding), metrics=metrics)
    )


def is_unforeseen(record: logging.LogRecord) -> bool:
    """Tell whether the SDK's record of a failed activity is news.

    Errors of our table were logged where they happened, on one line and without a stack.
    """
    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, ApplicationError | CancelledError)


def add_run_id(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """Return the run a record belongs to: the part of the workflow's id before the sections'."""
    if "run_id" not in event:
        workflow_id = None
        if activity.in_activity():
            workflow_id = activity.info().workflow_id
        elif workflow.in_workflow():
            workflow_id = workflow.info().workflow_id
        if workflow_id:
            event["run_id"] = workflow_id.partition("/")[0]
    return event
