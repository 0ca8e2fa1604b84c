import json
from typing import Any

import pytest

from activities.errors import Refused, SourceError
from activities.sources.base import search
from activities.sources.clinicaltrials import ClinicalTrials, parameters, read_study
from activities.types import Evidence, Filters, Query
from tests.activities.sources.faults import FAULTS, check_retry, client, pointed_at
from tests.replay import RECORDED, ReplayServer, Reply

STUDY = RECORDED / "ctgov" / "study_NCT02856893_full_with_results.json"


def study() -> dict[str, Any]:
    """The recorded study, fresh."""
    parsed: dict[str, Any] = json.loads(STUDY.read_text())
    return parsed


@pytest.fixture(scope="module")
def apple() -> Evidence:
    return read_study(study())


def test_a_registration_keeps_its_identity(apple: Evidence) -> None:
    assert apple.evidence_id == "nct:NCT02856893"
    assert apple.source == "clinicaltrials"
    assert apple.title == "Osimertinib Treatment on EGFR T790M Plasma Positive NSCLC Patients (APPLE)"
    assert apple.authors == ("European Organisation for Research and Treatment of Cancer - EORTC",)
    assert apple.year == 2016
    assert apple.venue == "ClinicalTrials.gov"
    assert apple.identifiers.nct == "NCT02856893"
    assert apple.identifiers.pmid is None  # the publication is another work
    assert apple.url == "https://clinicaltrials.gov/study/NCT02856893"
    assert apple.evidence_type == "trial_registration"
    assert apple.standing == "unknown"
    assert apple.full_text is True


def test_a_registration_shows_its_facts(apple: Evidence) -> None:
    assert apple.facts == {
        "nct": "NCT02856893",
        "overall_status": "ACTIVE_NOT_RECRUITING",
        "phase": "PHASE2",
        "study_type": "INTERVENTIONAL",
        "allocation": "RANDOMIZED",
        "masking": "NONE",
        "enrollment": "156",
        "enrollment_type": "ACTUAL",
        "sponsor": "European Organisation for Research and Treatment of Cancer - EORTC",
        "conditions": "NSCLC",
        "interventions": "Drug: Osimertinib; Drug: Gefitinib",
        "sex": "ALL",
        "minimum_age": "18 Years",
        "start_date": "2017-10-10",
        "completion_date": "2027-12",
        "last_update": "2025-10-31",
        "results": "posted",
        "linked_pmids": "38324744",
        "linked_dois": "10.1200/jco.23.01521",
    }


@pytest.mark.parametrize(
    "line",
    [
        "The phase II APPLE trial gives the opportunity to prospectively validate liquid biopsies",
        "Overall status: active not recruiting.",
        "Study design: interventional, phase 2, randomized, treatment, masking: none.",
        "Enrollment: 156 participants (actual).",
        "Conditions: NSCLC.",
        "Intervention: Drug: Osimertinib - Osimertinib 60 or 40 mg daily until progression",
        "Primary outcome: PFS Rate at 18 Months (time frame: 18 months after randomization).",
        "Secondary outcome: Overall Survival (OS) (time frame: From randomization till the date of death).",
        "Primary objective To evaluate the best strategy for delivering Osimertinib",
    ],
)
def test_the_registration_can_be_quoted(apple: Evidence, line: str) -> None:
    assert line in apple.text


def test_posted_results_can_be_quoted_group_by_group(apple: Evidence) -> None:
    lines = apple.text.splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith("Result, primary outcome"))
    assert lines[start] == (
        "Result, primary outcome: PFS Rate at 18 Months (18 months after randomization). "
        "number, 84% Confidence Interval, Percentage of participants."
    )
    assert lines[start + 1] == "Osimertinib Till Progression (n = 45): 51.1 (40.2 to 61.0)"
    gefitinib = "Gefitinib Till + Blood Test/Progression Than Osimertinib"
    assert lines[start + 2] == f"{gefitinib} (n = 47): 67.2 (56.4 to 75.9)"
    assert lines[start + 3] == "Gefitinib Till Progression Than Osimertinib (n = 44): 53.5 (42.3 to 63.5)"
    analysis = "Kaplan-Meier survival rate 67.2, 84% confidence interval 56.4 to 75.9"
    assert lines[start + 4] == f"Analysis, {gefitinib}: {analysis}"
    assert "(n = 44): 42.84 (27.01 to NA). upper limit could not be determined" in apple.text


@pytest.mark.parametrize("status", ["TERMINATED", "WITHDRAWN", "SUSPENDED"])
def test_a_stopped_trial_says_why(status: str) -> None:
    stopped = study()
    module = stopped["protocolSection"]["statusModule"]
    module["overallStatus"], module["whyStopped"] = status, "Futility at the interim analysis"
    record = read_study(stopped)
    assert f"Overall status: {status.lower()}." in record.text
    assert "Why the study stopped: Futility at the interim analysis" in record.text
    assert record.facts["overall_status"] == status
    assert record.facts["why_stopped"] == "Futility at the interim analysis"


def test_background_references_are_not_linked_to_the_trial() -> None:
    cited = study()
    cited["protocolSection"]["referencesModule"]["references"].append(
        {"pmid": "1", "type": "BACKGROUND", "citation": "doi: 10.1000/background"}
    )
    record = read_study(cited)
    assert record.facts["linked_pmids"] == "38324744"
    assert "background" not in record.facts["linked_dois"]


def test_a_record_with_a_few_fields_is_enough() -> None:
    found = json.loads((RECORDED / "ctgov/search_keytruda_limit3_20260811.json").read_text())
    record = read_study(found["studies"][0])
    assert record.evidence_id == "nct:NCT05431270"
    assert record.year == 2022
    assert record.facts["phase"] == "PHASE1; PHASE2"
    assert record.facts["sponsor"] == "Phanes Therapeutics"
    assert record.facts["enrollment"] == "40"
    assert "results" not in record.facts
    assert "This is a first-in-human, Phase 1/2, open-label, study" in record.text


def test_the_query_is_sent_as_typed_and_filters_are_the_apis_own() -> None:
    typed = 'metformin AND "Alzheimer\'s disease" NOT antiviral'
    sent = parameters(
        Query(
            text=typed,
            limit=40,
            filters=Filters(
                year_from=2015, options={"trial_status": "terminated, Withdrawn", "phase": "Phase 2"}
            ),
        )
    )
    assert sent["query.term"] == typed
    assert sent["filter.overallStatus"] == "TERMINATED,WITHDRAWN"
    assert sent["filter.advanced"] == "AREA[Phase]PHASE2 AND AREA[StudyFirstPostDate]RANGE[2015-01-01,MAX]"
    assert sent["pageSize"] == "25"


async def test_a_search_follows_the_pages_one_exchange_each() -> None:
    first = json.loads((RECORDED / "ctgov/search_keytruda_limit3_20260811.json").read_text())
    second = json.loads((RECORDED / "ctgov/search_melanoma_recruiting_limit3_20260811.json").read_text())
    second.pop("totalCount")  # only a first page has it for certain
    with ReplayServer() as server:
        server.on("/studies", Reply(200, json.dumps(first)), Reply(200, json.dumps(second)))
        async with client() as http:
            source = ClinicalTrials(pointed_at(server, "clinicaltrials"), http)
            query = Query(text="Keytruda", limit=5)
            found = await search(source, query)
            assert server.count("/studies") == 2
            step = await source.exchange(query)
            assert server.count("/studies") == 3
    assert found.status == "ok"
    assert found.hits == 2924
    assert [r.identifiers.nct for r in found.records] == [
        "NCT05431270",
        "NCT03590054",
        "NCT04795661",
        "NCT06970236",
        "NCT04114136",
    ]
    assert step.cursor is not None
    assert step.cursor["seen"] == "3"
    assert found.sent == "query.term=Keytruda"
    assert found.records[0].provenance[0].query == "Keytruda"
    assert "pageToken" not in server.asked[0].query
    assert server.asked[1].query["pageToken"] == [first["nextPageToken"]]
    assert server.asked[1].query["query.term"] == ["Keytruda"]


async def test_one_bad_record_does_not_void_its_batch() -> None:
    page = json.loads((RECORDED / "ctgov/search_keytruda_limit3_20260811.json").read_text())
    del page["nextPageToken"]
    page["studies"][1] = {"protocolSection": {"identificationModule": {"nctId": 7}}}
    page["studies"].append({"protocolSection": {"identificationModule": {"nctId": "NCT00000001"}}})
    with ReplayServer() as server:
        server.on("/studies", Reply(200, json.dumps(page)))
        async with client() as http:
            found = await search(ClinicalTrials(pointed_at(server, "clinicaltrials"), http), Query(text="x"))
    assert [r.identifiers.nct for r in found.records] == ["NCT05431270", "NCT04795661"]
    assert found.set_aside == 2
    assert found.details == ("set aside: 1 unreadable, 1 without text to quote",)


async def test_no_match_is_empty() -> None:
    with ReplayServer() as server:
        server.on("/studies", Reply(200, '{"studies": [], "totalCount": 0}'))
        async with client() as http:
            found = await search(ClinicalTrials(pointed_at(server, "clinicaltrials"), http), Query(text="x"))
    assert (found.status, found.hits, found.records) == ("empty", 0, ())


@pytest.mark.parametrize(("reply", "kind"), FAULTS)
async def test_an_outage_is_never_no_results(reply: Reply, kind: type[SourceError]) -> None:
    with ReplayServer() as server:
        server.on("/studies", reply)
        async with client() as http:
            with pytest.raises(kind) as caught:
                await search(ClinicalTrials(pointed_at(server, "clinicaltrials"), http), Query(text="x"))
        assert server.count("/studies") == 1
    check_retry(caught.value)


async def test_403_says_how_to_go_on() -> None:
    with ReplayServer() as server:
        server.on("/studies", Reply(403, "<html>403 Forbidden</html>"))
        async with client() as http:
            with pytest.raises(Refused, match="TLS handshake") as caught:
                await search(ClinicalTrials(pointed_at(server, "clinicaltrials"), http), Query(text="x"))
    assert "DETERMINATOR_CLINICALTRIALS_URL" in str(caught.value)
    assert "DETERMINATOR_DISABLED_SOURCES" in str(caught.value)


async def test_a_full_record_passes_through_a_search() -> None:
    with ReplayServer() as server:
        server.on("/studies", Reply(200, json.dumps({"studies": [study()], "totalCount": 1})))
        async with client() as http:
            found = await search(
                ClinicalTrials(pointed_at(server, "clinicaltrials"), http), Query(text="NCT02856893")
            )
    assert found.records[0].facts["results"] == "posted"
