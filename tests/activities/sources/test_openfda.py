import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from activities.errors import RateLimited, Refused, SourceError, Unavailable
from activities.sources.base import search
from activities.sources.openfda import OpenFda, lucene, shares_of
from activities.sources.openfda_records import read_approval, read_label
from activities.types import Filters, Query
from tests.activities.sources.faults import FAULTS, check_retry, client, pointed_at
from tests.replay import RECORDED, ReplayServer, Reply, recorded

LABEL, APPROVALS, EVENTS = "/drug/label.json", "/drug/drugsfda.json", "/drug/event.json"
NOTHING = recorded("openfda/error_404_no_matches.json", status=404)


def results(name: str) -> list[dict[str, Any]]:
    parsed: list[dict[str, Any]] = json.loads((RECORDED / "openfda" / name).read_text())["results"]
    return parsed


def asking(endpoint: str, text: str = "x") -> Query:
    return Query(text=text, filters=Filters(options={"endpoint": endpoint}))


def test_a_label_keeps_its_identity_and_facts() -> None:
    record = read_label(results("label_otc_silicea.json")[0])
    assert record.evidence_id == "fda:0000025c-6dbf-4af7-a741-5cbacaed519a"
    assert record.source == "openfda"
    assert record.title == "SILICEA - drug label"
    assert record.authors == ("Rxhomeo Private Limited d.b.a. Rxhomeo, Inc",)
    assert record.year == 2015
    assert record.venue == "FDA structured product labeling"
    assert record.url == (
        "https://dailymed.nlm.nih.gov/dailymed/drugInfo.cfm?setid=0000025c-6dbf-4af7-a741-5cbacaed519a"
    )
    assert record.evidence_type == "drug_label"
    assert record.standing == "unknown"
    assert record.full_text is True
    assert record.facts == {
        "brand_name": "SILICEA",
        "generic_name": "SILICEA",
        "substance_name": "SILICON DIOXIDE",
        "route": "ORAL",
        "product_type": "HUMAN OTC DRUG",
        "effective_date": "2015-11-02",
        "label_version": "1",
    }


def test_each_section_of_a_label_can_be_quoted() -> None:
    parts = read_label(results("label_otc_silicea.json")[0]).text.split("\n\n")
    assert parts[0] == (
        "Indications and usage\nINDICATIONS Condition listed above or as directed by the physician"
    )
    assert [part.split("\n")[0] for part in parts] == [
        "Indications and usage",
        "Purpose",
        "Dosage and administration",
        "Warnings",
        "Do not use",
        "Stop use",
        "Pregnancy or breast-feeding",
    ]


def test_a_prescription_label_puts_its_boxed_warning_first() -> None:
    label = results("label_otc_silicea.json")[0]
    label |= {
        "boxed_warning": ["WARNING: LACTIC ACIDOSIS"],
        "mechanism_of_action": ["12.1 Mechanism of Action Metformin decreases hepatic glucose production."],
        "adverse_reactions": ["6 ADVERSE REACTIONS"],
        "adverse_reactions_table": ["<table><tr><td>1</td></tr></table>"],
    }
    text = read_label(label).text
    assert text.startswith("Boxed warning\nWARNING: LACTIC ACIDOSIS\n\nIndications and usage\n")
    assert "Mechanism of action\n12.1 Mechanism of Action Metformin decreases hepatic glucose" in text
    assert "Adverse reactions\n6 ADVERSE REACTIONS" in text
    assert "<table>" not in text


def test_an_approval_keeps_its_identity_and_facts() -> None:
    record = read_approval(results("drugsfda_imatinib.json")[0])
    assert record.evidence_id == "fda:NDA021588"
    assert record.title == "GLEEVEC (IMATINIB MESYLATE) - FDA application NDA021588"
    assert record.authors == ("NOVARTIS",)
    assert record.year == 2003
    assert record.venue == "Drugs@FDA"
    assert record.url == (
        "https://www.accessdata.fda.gov/scripts/cder/daf/index.cfm?event=overview.process&ApplNo=021588"
    )
    assert record.evidence_type == "regulatory"
    assert record.full_text is True
    assert record.facts == {
        "application_number": "NDA021588",
        "sponsor": "NOVARTIS",
        "approval_status": "approved",
        "approval_date": "2003-04-18",
        "latest_action": "2003-04-18",
        "marketing_status": "Prescription",
        "brand_name": "GLEEVEC",
        "generic_name": "IMATINIB MESYLATE",
    }
    form = "(Type 3 - New Dosage Form)"
    assert record.text.splitlines() == [
        "FDA application NDA021588, sponsor NOVARTIS.",
        f"Original submission 1: approved on 2003-04-18 {form}, review priority: priority.",
        "Product: GLEEVEC (IMATINIB MESYLATE EQ 100MG BASE), tablet, oral. Marketing status: Prescription.",
    ]


def test_the_approval_counts_not_the_latest_supplement() -> None:
    wegovy = read_approval(results("drugsfda_semaglutide_2.json")[1])
    assert wegovy.facts["approval_date"] == "2021-06-04"
    assert wegovy.facts["latest_action"] == "2024-11-27"
    assert wegovy.year == 2021
    assert "Supplement 11: approved on 2024-03-08 (Efficacy), review priority: priority." in wegovy.text


def test_a_tentative_approval_is_not_an_approval() -> None:
    application = results("drugsfda_imatinib.json")[0]
    application["submissions"][0]["submission_status"] = "TA"
    record = read_approval(application)
    assert record.facts["approval_status"] == "tentatively approved"
    assert "approval_date" not in record.facts
    assert "Original submission 1: tentatively approved on 2003-04-18" in record.text


async def test_one_search_asks_three_endpoints_in_three_exchanges() -> None:
    with ReplayServer() as server:
        server.on(LABEL, recorded("openfda/label_otc_silicea.json"))
        server.on(APPROVALS, recorded("openfda/drugsfda_imatinib.json"))
        server.on(EVENTS, recorded("openfda/event_count_pembrolizumab.json"))
        async with client() as http:
            source = OpenFda(pointed_at(server, "openfda"), http)
            step = await source.exchange(Query(text="pembrolizumab"))
            assert len(server.asked) == 1
            assert step.cursor == {"endpoint": "drugsfda"}
            found = await search(source, Query(text="pembrolizumab"))
    assert [r.evidence_type for r in found.records] == ["drug_label", "regulatory", "adverse_events"]
    assert found.status == "ok"
    assert found.hits == 121131
    asked = {a.path: a.query for a in server.asked}
    assert asked[LABEL]["limit"] == ["6"]
    assert asked[APPROVALS]["limit"] == ["3"]
    assert asked[EVENTS]["count"] == ["patient.reaction.reactionmeddrapt.exact"]
    assert asked[EVENTS]["search"][0].split(" OR ") == [
        'patient.drug.openfda.generic_name:"pembrolizumab"',
        'patient.drug.openfda.brand_name:"pembrolizumab"',
        'patient.drug.medicinalproduct:"pembrolizumab"',
    ]


async def test_adverse_events_are_one_record_that_names_its_limits() -> None:
    with ReplayServer() as server:
        server.on(EVENTS, recorded("openfda/event_count_pembrolizumab.json"))
        async with client() as http:
            found = await search(
                OpenFda(pointed_at(server, "openfda", openfda_api_key="k3y"), http),
                asking("event", "pembrolizumab"),
            )
        (record,) = found.records
        assert record.url is not None
        assert record.url.startswith(f"{server.url}/drug/event.json?search=patient.drug")
    assert record.evidence_type == "adverse_events"
    assert record.title == "Adverse events reported to the FDA: pembrolizumab"
    head, *reactions = record.text.splitlines()
    assert head == (
        "Reactions most often named in reports to the FDA Adverse Event Reporting System that match "
        "pembrolizumab:"
    )
    assert reactions == ["Malignant neoplasm progression: 12016 reports."]
    assert record.year == 2026
    assert record.facts["last_updated"] == "2026-07-30"
    assert "not rates" in record.facts["caution"]
    assert record.evidence_id.startswith("url:")
    assert "k3y" not in record.model_dump_json()


async def test_no_match_is_empty_whatever_status_carries_it() -> None:
    with ReplayServer() as server:
        server.on(LABEL, NOTHING)
        server.on(APPROVALS, recorded("openfda/device_510k_404.json", status=200))
        server.on(EVENTS, NOTHING)
        async with client() as http:
            found = await search(OpenFda(pointed_at(server, "openfda"), http), Query(text="nothing"))
    assert (found.status, found.hits, found.set_aside) == ("empty", 0, 0)
    assert found.details == ("label: no match", "drugsfda: no match", "event: no match")


async def test_what_one_endpoint_lacks_another_still_gives() -> None:
    with ReplayServer() as server:
        server.on(LABEL, NOTHING).on(EVENTS, NOTHING)
        server.on(APPROVALS, recorded("openfda/drugsfda_semaglutide_2.json"))
        async with client() as http:
            found = await search(OpenFda(pointed_at(server, "openfda"), http), Query(text="semaglutide"))
    assert [r.identifiers.fda for r in found.records] == ["NDA213051", "NDA215256"]


async def test_labels_without_sections_are_set_aside_not_kept_empty() -> None:
    with ReplayServer() as server:
        server.on(LABEL, recorded("openfda/label_keytruda_min.json"))
        async with client() as http:
            found = await search(OpenFda(pointed_at(server, "openfda"), http), asking("label", "Keytruda"))
    assert (found.status, found.records, found.set_aside, found.hits) == ("empty", (), 2, 2)
    assert found.details == ("label: set aside: 2 without text to quote",)


async def test_one_bad_record_does_not_void_its_batch() -> None:
    good = results("drugsfda_imatinib.json")
    page = {"meta": {"results": {"total": 3}}, "results": [{"application_number": []}, *good, "text"]}
    with ReplayServer() as server:
        server.on(APPROVALS, Reply(200, json.dumps(page)))
        async with client() as http:
            found = await search(OpenFda(pointed_at(server, "openfda"), http), asking("drugsfda"))
    assert [r.identifiers.fda for r in found.records] == ["NDA021588"]
    assert found.set_aside == 2


@pytest.mark.parametrize(("reply", "kind"), FAULTS)
async def test_an_outage_is_never_no_results(reply: Reply, kind: type[SourceError]) -> None:
    with ReplayServer() as server:
        server.on("/drug/*", reply)
        async with client() as http:
            with pytest.raises(kind) as caught:
                await search(OpenFda(pointed_at(server, "openfda"), http), Query(text="x"))
        assert len(server.asked) == 1
    check_retry(caught.value)


@pytest.mark.parametrize(
    ("reply", "kind", "said"),
    [
        (recorded("openfda/error_400_bad_sort.json", status=400), Refused, "Sorting allowed"),
        (recorded("openfda/error_403_invalid_key.json", status=403), Refused, "API_KEY_INVALID"),
        (recorded("openfda/error_500_server.json", status=500), Refused, "cannot be parsed"),
        (Reply(500, '{"error": {"code": "SERVER_ERROR", "message": "later"}}'), Unavailable, "later"),
        (Reply(200, '{"error": {"code": "SERVER_ERROR", "message": "later"}}'), Unavailable, "later"),
        (
            Reply(200, '{"error": {"code": "OVER_RATE_LIMIT", "message": "too many"}}'),
            RateLimited,
            "too many",
        ),
        (Reply(200, '{"error": {"code": "API_KEY_MISSING", "message": "key"}}'), Refused, "API_KEY_MISSING"),
    ],
)
async def test_openfdas_own_error_bodies_are_understood(
    reply: Reply, kind: type[SourceError], said: str
) -> None:
    with ReplayServer() as server:
        server.on("/drug/*", reply)
        async with client() as http:
            with pytest.raises(kind, match=said):
                await search(OpenFda(pointed_at(server, "openfda"), http), Query(text="x"))


async def test_the_key_travels_in_a_header_and_is_optional() -> None:
    with ReplayServer() as server:
        server.on("/drug/*", NOTHING)
        async with client() as http:
            await search(OpenFda(pointed_at(server, "openfda", OPENFDA_API_KEY="k3y"), http), asking("label"))
            await search(OpenFda(pointed_at(server, "openfda"), http), asking("label"))
    assert server.asked[0].headers["x-api-key"] == "k3y"
    assert all("k3y" not in str(a.query) for a in server.asked)
    assert "x-api-key" not in server.asked[1].headers


@pytest.mark.parametrize(
    "typed",
    [
        'openfda.generic_name:"imatinib" AND openfda.route:ORAL',
        "_exists_:boxed_warning",
        "(products.brand_name:gleevec)",
    ],
)
def test_field_syntax_is_kept_as_typed(typed: str) -> None:
    assert lucene(typed, ("n",), anywhere=True) == typed
    assert lucene(typed, ("n",)) == typed


@pytest.mark.parametrize(
    ("typed", "sent"),
    [
        ("pembrolizumab", 'n:"pembrolizumab" OR (pembrolizumab)'),
        ("GLP-1 agonist", 'n:"GLP-1 agonist" OR ("GLP-1" AND agonist)'),
        ("Alzheimer's disease", 'n:"Alzheimer\'s disease" OR ("Alzheimer\'s" AND disease)'),
        ("metformin NOT insulin", "n:(metformin NOT insulin) OR (metformin NOT insulin)"),
        ('unbalanced " quote (', 'n:"unbalanced   quote" OR (unbalanced AND quote)'),
        ("antiviral or", 'n:"antiviral or" OR (antiviral AND or)'),
    ],
)
def test_other_text_is_quoted_without_losing_a_word(typed: str, sent: str) -> None:
    assert lucene(typed, ("n",), anywhere=True) == sent


@given(st.text(max_size=40))
def test_whatever_is_typed_parentheses_and_quotes_are_balanced(typed: str) -> None:
    try:
        sent = lucene(typed, ("n",), anywhere=True)
    except Refused:
        return
    if sent == typed:
        return
    assert sent.count('"') % 2 == 0
    outside = "".join(sent.split('"')[::2])
    assert outside.count("(") == outside.count(")")
    assert not set(outside) & set("+-!{}[]^~*?/\\")


def test_an_unknown_endpoint_is_refused() -> None:
    with pytest.raises(Refused, match="label, drugsfda or event"):
        shares_of(asking("device"))


@given(st.integers(1, 200))
def test_the_shares_add_up_to_the_limit(limit: int) -> None:
    shares = shares_of(Query(text="x", limit=limit))
    assert sum(shares.values()) == limit
    assert all(share > 0 for share in shares.values())
    assert next(iter(shares)) == "label"
