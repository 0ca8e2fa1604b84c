"""The one data converter of client and worker: pydantic JSON, with a limit on what may enter a history.

A payload over the server's 2 MB blocks a workflow for ever and makes an activity's result be retried, that
is, paid for again. The limit here is far below it and its error is final: the run fails with the name of the
value that was too large, and the message says where documents belong.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

from temporalio.api.common.v1 import Payload
from temporalio.api.failure.v1 import Failure
from temporalio.contrib.pydantic import PydanticJSONPlainPayloadConverter, PydanticPayloadConverter
from temporalio.converter import (
    CompositePayloadConverter,
    DataConverter,
    DefaultFailureConverter,
    PayloadCodec,
    PayloadConverter,
)
from temporalio.exceptions import ApplicationError

from activities.contracts.errors import PayloadTooLarge, to_application_error
from activities.contracts.evidence import Compact

PAYLOAD_LIMIT = 256 * 1024
"""Bytes of one encoded value. The server warns at 512 KiB and refuses at 2 MiB."""


def too_large(value: object, size: int) -> ApplicationError:
    """Return the final error for a value over the limit; its type is `PayloadTooLarge`.

    A container is named with what is in it: `list of EvidenceRef`.
    """
    name = type(value).__name__
    if isinstance(value, list | tuple | set | frozenset) and value:
        name = f"{name} of {type(next(iter(value))).__name__}"
    return to_application_error(
        PayloadTooLarge(
            f"a {name} of {size / 1024:.0f} KiB is over the limit of {PAYLOAD_LIMIT // 1024} KiB "
            "for a workflow's history; put it into the evidence store and pass its reference"
        )
    )


class CompactConverter(PydanticJSONPlainPayloadConverter):
    """Pydantic JSON, without the defaults of a `Compact`."""

    def to_payload(self, value: object) -> Payload | None:
        if not isinstance(value, Compact):
            return super().to_payload(value)
        data = value.model_dump_json(exclude_defaults=True).encode()
        return Payload(metadata={"encoding": self.encoding.encode()}, data=data)


CONVERTERS = (
    *(
        converter
        for converter in PydanticPayloadConverter().converters.values()
        if converter.encoding != "json/plain"
    ),
    CompactConverter(),
)
"""Shared, because they have no state but the validators of the types they have met: the SDK makes a converter
for each workflow and two for each workflow task."""


class GuardedPayloadConverter(PydanticPayloadConverter):
    """Pydantic JSON that refuses what is too large. Raises ApplicationError, never retryable."""

    def __init__(self) -> None:
        CompositePayloadConverter.__init__(self, *CONVERTERS)

    def to_payloads(self, values: Sequence[Any]) -> list[Payload]:
        payloads = super().to_payloads(values)
        for value, payload in zip(values, payloads, strict=True):
            size = len(payload.data)
            if size > PAYLOAD_LIMIT:
                raise too_large(value, size)
        return payloads


class GuardedFailureConverter(DefaultFailureConverter):
    """An error whose own details are too large is reported without them instead of wedging the run."""

    def to_failure(
        self, exception: BaseException, payload_converter: PayloadConverter, failure: Failure
    ) -> None:
        try:
            super().to_failure(exception, payload_converter, failure)
        except ApplicationError as error:
            if error.type != PayloadTooLarge.__name__:
                raise
            failure.Clear()
            bare_error = ApplicationError(
                f"{exception} (its details were left out: {error.message})",
                type=getattr(exception, "type", None) or type(exception).__name__,
                non_retryable=True,
            )
            super().to_failure(bare_error, payload_converter, failure)


DATA_CONVERTER = DataConverter(
    payload_converter_class=GuardedPayloadConverter, failure_converter_class=GuardedFailureConverter
)
"""Given to every client without keys (`activities.codec`), and through it to every worker."""


class EncodedFailureConverter(GuardedFailureConverter):
    """The converter beside a codec: messages and stack traces of errors are encrypted as payloads are."""

    def __init__(self) -> None:
        super().__init__(encode_common_attributes=True)


def data_converter(codec: PayloadCodec | None = None) -> DataConverter:
    """Return the converter of a client, encrypting with `codec` where there is one."""
    if codec is None:
        return DATA_CONVERTER
    return dataclasses.replace(
        DATA_CONVERTER, payload_codec=codec, failure_converter_class=EncodedFailureConverter
    )
