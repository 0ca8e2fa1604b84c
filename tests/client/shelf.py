"""A home with a finished run in its store and no server: what works with files alone."""

import asyncio
import json
from collections.abc import Iterable
from pathlib import Path

from activities.contracts.evidence import Evidence
from activities.contracts.publish import PublishInput
from activities.evidence_store import EvidenceStore
from activities.publish_activity import PublishActivities
from activities.report.schema import Report
from tests.activities.cases import DOCUMENTS, FULL
from tests.client.harness import Ran, inside
from tests.replay import ReplayServer, Reply

NO_SERVER = {"TEMPORAL_ADDRESS": "127.0.0.1:1"}
"""An address without a server, so that no embedded server is started either."""
RUN = FULL.run_id
STEERING = (
    *(("approve", "RUN"), ("reject", "RUN"), ("pause", "RUN"), ("resume", "RUN"), ("finish", "RUN")),
    *(("cancel", "RUN"), ("cancel", "RUN", "--section", "s1"), ("steer", "RUN", "only adults")),
    *(("extend", "RUN", "--tokens", "1"), ("candidates", "RUN", "--keep", "x"), ("plan", "edit", "RUN")),
)
"""Commands for a run under way; RUN stands for its name."""
VERBS_OF_A_RUN = (
    *(("status", "RUN"), ("watch", "RUN"), ("events", "RUN"), ("report", "RUN"), ("evidence", "RUN")),
    *(
        ("export", "RUN"),
        ("open", "RUN"),
        ("chart", "RUN", "--of", "effects"),
        ("verify", "RUN"),
        ("refresh", "RUN"),
        ("plan", "show", "RUN"),
    ),
    *(("candidates", "RUN"), ("inspect", "RUN")),
    *(("answer", "RUN"), ("tell", "RUN", "Why?"), ("change", "RUN", "shorter")),
    ("dispute", "RUN", "s1.1", "It says 34."),
    *(("rewind", "RUN", "--to-iteration", "1"), *STEERING),
)
"""Every command that is given the name of a run."""
JSON = {"content-type": "application/json"}


def shelve(
    home: Path, step: PublishInput = FULL, documents: Iterable[Evidence] = DOCUMENTS.values()
) -> Report:
    """Publish a report into the store of a home, by the very step that does it in a run."""

    async def publish() -> Report:
        store = EvidenceStore.at(str(home / "evidence"))
        refs = [await store.put(item) for item in documents]
        await PublishActivities(store).publish(step.model_copy(update={"evidence": tuple(refs)}))
        data = await store.get_named(f"reports/{step.run_id}/report.json")
        assert data is not None
        return Report.model_validate_json(data)

    return asyncio.run(publish())


def command(*arguments: str, **env: str) -> Ran:
    """Run a command line in this process, with no server to be had."""
    return inside(*arguments, **NO_SERVER, **env)


def crossref(doi: str, kind: str, notice: str, date: str) -> Reply:
    """A work as Crossref knows it once a notice on it was registered."""
    updated = {"date-parts": [[int(part) for part in date.split("-")]]}
    message = {"DOI": doi, "updated-by": [{"type": kind, "DOI": notice, "updated": updated}]}
    return Reply(200, json.dumps({"status": "ok", "message": message}), JSON)


def authorities(server: ReplayServer) -> dict[str, str]:
    """Variables that make a local server every authority on retractions."""
    return {f"DETERMINATOR_{name}_URL": server.url for name in ("PUBMED", "CROSSREF", "EUROPEPMC")}


def nobody_knows(server: ReplayServer) -> ReplayServer:
    """Authorities that answer, and know none of the works."""
    server.on("/efetch.fcgi", Reply(200, "<PubmedArticleSet/>", {"content-type": "text/xml"}))
    server.on("/works/*", Reply(404, "Resource not found.", {"content-type": "text/plain"}))
    empty = {"hitCount": 0, "resultList": {"result": []}}
    return server.on("/search", Reply(200, json.dumps(empty), JSON))
