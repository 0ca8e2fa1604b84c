"""Needs of a Temporal namespace for us: search attributes, and a retention that outlives a day.

Both are idempotent. A namespace that refuses (Temporal Cloud registers attributes out of band) is no
failure: runs then start without them and are found by type and id.
"""

import asyncio
from datetime import timedelta

from google.protobuf.duration_pb2 import Duration
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.namespace.v1 import NamespaceConfig
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest, ListSearchAttributesRequest
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest, UpdateNamespaceRequest
from temporalio.client import Client
from temporalio.common import SearchAttributeKey, SearchAttributePair, TypedSearchAttributes
from temporalio.service import RPCError, RPCStatusCode

QUESTION = SearchAttributeKey.for_text("DeterminatorQuestion")
MODE = SearchAttributeKey.for_keyword("DeterminatorMode")
PROFILE = SearchAttributeKey.for_keyword("DeterminatorProfile")

ATTRIBUTES = {
    QUESTION.name: "Text",
    MODE.name: "Keyword",
    PROFILE.name: "Keyword",
    "DeterminatorPhase": "Keyword",
    "DeterminatorStopReason": "Keyword",
    "DeterminatorIteration": "Int",
    "DeterminatorTokens": "Int",
    "DeterminatorConfidence": "Double",
}
"""Name -> type, as `temporal server start-dev --search-attribute` accepts them."""

RETENTION = timedelta(days=90)
"""Time for which the embedded server keeps finished runs; its own default is one day."""


def run_attributes(question: str, mode: str, profile: str) -> TypedSearchAttributes:
    """Return the attributes a run starts with.

    They are not encrypted: a question to be kept private is given empty.
    """
    return TypedSearchAttributes(
        [
            SearchAttributePair(QUESTION, question[:1000]),
            SearchAttributePair(MODE, mode),
            SearchAttributePair(PROFILE, profile),
        ]
    )


async def register_attributes(client: Client) -> bool:
    """Register what is missing; True when all are there to be used."""
    try:
        missing = await _missing(client)
        if not missing:
            return True
        await client.operator_service.add_search_attributes(
            AddSearchAttributesRequest(
                namespace=client.namespace,
                search_attributes={
                    name: IndexedValueType.Value(f"INDEXED_VALUE_TYPE_{ATTRIBUTES[name].upper()}")
                    for name in missing
                },
            )
        )
    except RPCError as error:
        if error.status != RPCStatusCode.ALREADY_EXISTS:
            return False
    # the server's own cache of attributes lags behind
    for _ in range(50):
        try:
            if not await _missing(client):
                return True
        except RPCError:
            return False
        await asyncio.sleep(0.1)
    return False


async def _missing(client: Client) -> list[str]:
    answer = await client.operator_service.list_search_attributes(
        ListSearchAttributesRequest(namespace=client.namespace)
    )
    return [name for name in ATTRIBUTES if name not in answer.custom_attributes]


async def raise_retention(client: Client) -> None:
    """Keep finished runs for `RETENTION` at least. Raises RPCError."""
    service = client.workflow_service
    answer = await service.describe_namespace(DescribeNamespaceRequest(namespace=client.namespace))
    wanted = int(RETENTION.total_seconds())
    if answer.config.workflow_execution_retention_ttl.seconds >= wanted:
        return
    await service.update_namespace(
        UpdateNamespaceRequest(
            namespace=client.namespace,
            config=NamespaceConfig(workflow_execution_retention_ttl=Duration(seconds=wanted)),
        )
    )
