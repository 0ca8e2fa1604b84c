"""`refresh`: the present standing of a report's references, and a new version beside the old one."""

import asyncio
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from temporalio.testing import ActivityEnvironment

from activities.contracts.candidates import PART as CANDIDATES
from activities.contracts.errors import SourceError
from activities.contracts.evidence import Evidence, Standing, StandingNotice
from activities.contracts.publish import PubMedSaid
from activities.refresh_activity import RefreshActivities, RefreshFindings, RefreshOutcome, RefreshRequest
from activities.report import versions
from activities.report.archive import Archive
from activities.report.audit import examine
from activities.report.evidence_lines import evidence_line
from activities.report.schema import Report
from activities.sources.http.client import open_http
from activities.sources.standing_lookup import StandingLookup, StandingVerdict
from determinator import Determinator
from tests.activities.cases import DOCUMENTS, FULL, INCREASED, REDUCED, TRIAL, planned, quoting, ref_of
from tests.client.harness import Ran
from tests.client.shelf import RUN, authorities, command, crossref, nobody_knows, shelve
from tests.replay import ReplayServer, Reply

NOTICE = "10.1016/notice.1"
DOI = TRIAL.identifiers.doi or ""
RETRACTION = crossref(DOI, "retraction", NOTICE, "2026-03-01")


@pytest.fixture
def known(home: Path) -> Iterator[ReplayServer]:
    """A finished report, and authorities that know of nothing against what it cites."""
    shelve(home)
    with ReplayServer() as server:
        yield nobody_knows(server)


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a refresh made by its activities in this process, and not by a worker."""

    async def send(client: Determinator, prepare: object) -> RefreshOutcome:
        settings, request = client.settings, RefreshRequest(run_id=RUN, search=False)
        async with open_http(settings) as http:
            lookup = StandingLookup(http, settings)
            activities = RefreshActivities(settings, {}, lookup)
            check = (await ActivityEnvironment().run(activities.plan_refresh, request)).check
            pmids = check.pmids if check else ()
            try:
                pubmed = await lookup.ask_pubmed(pmids)
            except SourceError as error:
                pubmed = PubMedSaid(asked=pmids, failure=str(error))
            at = datetime.now(UTC).isoformat(timespec="seconds")
            return await activities.keep(RefreshFindings(request=request, at=at, pubmed=pubmed))

    monkeypatch.setattr("client.runs.refreshing.send", send)


def refresh(server: ReplayServer, *flags: str, **env: str) -> Ran:
    return command("refresh", RUN, *flags, **authorities(server), **env)


def files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_a_retraction_since_makes_a_new_version_and_leaves_the_old_one_alone(
    home: Path, known: ReplayServer
) -> None:
    before = files(home / "evidence")
    known.on("/works/*", RETRACTION)
    ran = refresh(known)
    assert ran.code == 0, ran
    first, lost, where, asked = ran.out.splitlines()
    assert first == (
        "[1] Metformin and mortality: a randomized trial: none -> retracted "
        f"(retraction 1 March 2026, doi:{NOTICE}, reported by Crossref)"
    )
    assert lost == "no longer stands: s1.1 Metformin reduced mortality by 30%."
    assert where.startswith(f"Version 2 of {RUN}; ")
    assert asked == "asked crossref, europepmc, pubmed about 2 of 2 references"
    after = files(home / "evidence")
    assert {name: after[name] for name in before} == before

    text = command("report", RUN).out
    assert "Metformin reduced mortality by 30% [" not in text
    assert "This is version 2" in text
    assert command("verify", RUN).code == 0
    assert command("export", RUN, "--output", "bundle").code == 0
    report = json.loads(Path("bundle/report.json").read_text())
    assert [r["evidence_id"] for r in report["references"]] == ["pmid:2"]
    assert (
        json.loads(Path("bundle/versions/report.v1.json").read_text())["references"][0]["standing"] == "none"
    )
    assert json.loads(Path("bundle/versions/history.jsonl").read_text())["number"] == 2


def test_what_is_known_already_is_no_news(home: Path, known: ReplayServer) -> None:
    known.on("/works/*", crossref(DOI, "correction", NOTICE, "2026-03-01"))
    first = refresh(known, "--json").json()
    assert [(c["before"], c["after"]) for c in first["changes"]] == [("none", "corrected")]
    assert (first["version"], first["claims_lost"]) == (2, [])
    before = files(home)
    again = refresh(known)
    assert again.code == 0
    assert "nothing changed since" in again.out
    kept = {name: data for name, data in files(home).items() if not name.startswith("cache")}
    assert kept == {name: data for name, data in before.items() if not name.startswith("cache")}


def test_the_same_question_asked_again_has_no_later_versions(home: Path, known: ReplayServer) -> None:
    known.on("/works/*", RETRACTION)
    assert refresh(known).code == 0
    shelve(home, FULL.model_copy(update={"generated_at": "2026-05-01T00:00:00Z"}))
    assert command("export", RUN, "--output", "bundle").code == 0
    assert not Path("bundle/versions").exists()
    assert len(json.loads(Path("bundle/report.json").read_text())["references"]) == 2


def test_nothing_is_reported_unchanged_when_no_authority_answered(home: Path, known: ReplayServer) -> None:
    for path in ("/efetch.fcgi", "/works/*", "/search"):
        known.on(path, Reply(503, "down"))
    before = files(home / "evidence")
    ran = refresh(known)
    assert ran.code == 1
    assert "nothing changed" not in ran.out
    assert "no authority answered for 2 of 2 references" in ran.err
    assert files(home / "evidence") == before
    assert sorted(refresh(known, "--json").json()["unanswered"]) == ["pmid:1", "pmid:2"]


def test_one_authority_that_fails_is_named_and_the_others_count(home: Path, known: ReplayServer) -> None:
    known.on("/search", Reply(503, "down"))
    known.on("/works/*", RETRACTION)
    ran = refresh(known)
    assert "none -> retracted" in ran.out
    assert "not every authority answered: europepmc" in ran.err


def test_offline_no_request_is_sent(home: Path, known: ReplayServer) -> None:
    ran = refresh(known, DETERMINATOR_OFFLINE="true")
    assert ran.code == 2
    assert "DETERMINATOR_OFFLINE" in ran.err
    assert known.asked == []


def test_a_library_of_ones_own_is_nobodys_to_ask_about(home: Path) -> None:
    mine = [item.model_copy(update={"source": "library"}) for item in DOCUMENTS.values()]
    shelve(home, documents=mine)
    with ReplayServer() as server:
        ran = refresh(nobody_knows(server))
        assert server.asked == []
    assert ran.code == 0
    assert "nobody answered or could be asked" in ran.out


def test_without_the_stored_texts_the_change_is_reported_and_nothing_is_written(
    home: Path, known: ReplayServer
) -> None:
    known.on("/works/*", RETRACTION)
    for blob in (home / "evidence" / "blobs").rglob("*.json"):
        if blob.read_bytes().startswith(b'{"evidence_id":"pmid:2"'):
            blob.unlink()
    before = files(home / "evidence")
    ran = refresh(known)
    assert ran.code == 1
    assert "none -> retracted" in ran.err
    assert "the stored text of pmid:2 cannot be read" in ran.err
    assert files(home / "evidence") == before


# revising a report


def verdict(standing: Standing, *kinds: str) -> StandingVerdict:
    notices = tuple(StandingNotice.model_validate({"kind": kind, "date": "2026-03-01"}) for kind in kinds)
    return StandingVerdict(
        standing=standing, notices=notices, asked=("crossref",), reported={"crossref": standing}
    )


def told_again(home: Path, verdicts: dict[str, StandingVerdict]) -> Report:
    """The report in the store of a home, refreshed with these verdicts."""

    async def again() -> Report:
        archive = Archive(str(home / "evidence"))
        first = await archive.report(RUN)
        assert first is not None
        return (await versions.refresh(archive, first, verdicts, at="2026-06-01T00:00:00Z")).report

    return asyncio.run(again())


def lines_of(report: Report) -> list[dict[str, object]]:
    known = {reference.evidence_id: reference.standing for reference in report.references}
    items: list[Evidence] = [
        item.model_copy(update={"standing": known.get(name, "retracted")}) for name, item in DOCUMENTS.items()
    ]
    return [dict(evidence_line(ref_of(item), item)) for item in items]


def test_a_later_version_passes_the_same_check_and_keeps_its_ids(home: Path) -> None:
    step = FULL.model_copy(
        update={
            "sections": (
                planned(
                    "s1",
                    quoting("Nobody said this.", ("pmid:1", "words that are in no text at all, none")),
                    quoting("Metformin reduced mortality by 30%.", ("pmid:1", REDUCED)),
                    quoting("Both were seen.", ("pmid:1", REDUCED), ("pmid:2", INCREASED)),
                    quoting("A registry found increased mortality.", ("pmid:2", INCREASED)),
                ),
            )
        }
    )
    report = shelve(home, step)
    assert [claim.id for claim in report.claims()] == ["s1.2", "s1.3", "s1.4"]
    assert report.made_from
    later = told_again(home, {"pmid:1": verdict("retracted", "retraction")})
    assert [claim.id for claim in later.claims()] == ["s1.4"], "a fragment was printed for what it rested on"
    assert [len(claim.support) for claim in later.claims()] == [1]
    assert CANDIDATES.of_report(later) == ()
    assert examine(later, lines_of(later)).faults() == []
    check = later.verification
    assert (check.claims, check.verified, check.fell) == (4, 1, 3)
    assert [(item.kind, item.statement.code) for item in check.dropped] == [
        *[("claim", "rests_on_retracted")] * 3,
        ("hypothesis", "rests_on_retracted"),
    ]
    assert (later.statements[0].code, later.statements[0].number("claims_lost")) == ("new_version", 2)
    assert [s.number("lost") for s in later.statements if s.code == "draft_lost"] == [3]
    assert "retracted_left_out" in {s.code for s in later.statements}


def test_a_report_that_loses_every_claim_says_that_the_question_is_not_answered(home: Path) -> None:
    alone = {"sections": FULL.sections[:1], "candidates": (), "confidence": 0.8}
    shelve(home, FULL.model_copy(update=alone))
    later = told_again(home, {"pmid:1": verdict("retracted", "retraction")})
    assert list(later.claims()) == []
    assert later.references == ()
    assert later.confidence is None
    assert later.unanswered is not None
    assert "unanswered" in {s.code for s in later.statements}
    assert examine(later, []).faults() == []


def test_limitations_that_no_longer_hold_are_removed_and_the_others_stay(home: Path) -> None:
    unknown = [item.model_copy(update={"standing": "unknown"}) for item in DOCUMENTS.values()]
    empty = planned("s3", status="failed", note="the source was down")
    said = {"limitations": ("The reviewer was in a hurry.",), "sections": (*FULL.sections, empty)}
    report = shelve(home, FULL.model_copy(update=said), unknown)
    assert "standing_unknown" in {s.code for s in report.statements}
    later = told_again(home, {"pmid:1": verdict("none"), "pmid:2": verdict("concern", "concern")})
    assert "standing_unknown" not in {s.code for s in later.statements}
    assert [s.number("number") for s in later.statements if s.code == "concern"] == [2]
    assert "The reviewer was in a hurry." in later.limitations
    assert [(c.id, c.text, c.support) for c in later.claims()] == [
        (c.id, c.text, c.support) for c in report.claims()
    ]
    assert [c.strength for c in later.claims()] == ["strong", "weak"]
    assert later.sections[2] == report.sections[2]
    assert "the source was down" in later.sections[2].markdown


@pytest.mark.parametrize(
    ("before", "found", "after"),
    [
        ("corrected", verdict("unknown"), "corrected"),
        ("concern", verdict("none"), "concern"),
        ("concern", verdict("none", "concern", "reinstatement"), "none"),
        ("unknown", verdict("none"), "none"),
        ("none", verdict("corrected", "correction"), "corrected"),
    ],
)
def test_only_a_reinstatement_makes_a_standing_better(
    home: Path, before: Standing, found: StandingVerdict, after: Standing
) -> None:
    items = {**DOCUMENTS, "pmid:1": TRIAL.model_copy(update={"standing": before})}
    report = shelve(home, FULL, items.values())
    changed = {change.evidence_id: change.after for change in versions.changes(report, {"pmid:1": found})}
    assert changed.get("pmid:1", before) == after
