"""The fields of a candidate, labels and registrations, and what speaks for it or against it."""

import json
from collections.abc import Callable, Collection, Mapping

import pytest

from activities.candidates import lookup
from activities.candidates.both_sides import Side, to_read, with_verdicts
from activities.candidates.fields import ANSWERS, SOURCES, application_code, molecule_code
from activities.candidates.lookup import LookUpResult, look_up
from activities.candidates.reading import is_record_of_another, standing_of
from activities.contracts.candidates import Candidate, CandidateField, CandidateFieldName, CandidateLookUp
from activities.contracts.evidence import Statement, Support
from activities.contracts.write import SentenceVerdict, Verdicts
from activities.sources.clinicaltrials import read_study
from activities.sources.openfda import read_approval, read_label
from tests.activities.candidates.registers import answering, sources
from tests.activities.sources.faults import client
from tests.replay import RECORDED, ReplayServer, Reply

QUESTION = "Which approved drugs might treat pulmonary arterial hypertension?"
DOWN = Reply(503, "")
TEXTS = (
    "openfda/label_sildenafil.json",
    "ctgov/search_sildenafil_stopped.json",
    "uniprot/search_o76074.json",
)


async def found(
    server: ReplayServer, permitted: Collection[str] = SOURCES, name: str = "Viagra"
) -> LookUpResult:
    async with client() as http:
        step = CandidateLookUp(run_id="r", name=name, question=QUESTION, sources=tuple(permitted))
        return await look_up(step, sources(server, http))


def field(result: LookUpResult, name: CandidateFieldName) -> CandidateField:
    return next(f for f in result.findings.fields if f.name == name)


async def test_every_field_is_answered_with_the_address_and_the_words_of_its_record(
    server: ReplayServer,
) -> None:
    result = await found(answering(server))
    sent = {asked.path: asked.query for asked in server.asked if asked.method == "GET"}
    assert sent["/studies"]["query.intr"][0].casefold() == '"sildenafil"', "a brand, by the drug's own name"
    assert {f.name for f in result.findings.fields} == set(ANSWERS)
    assert {f.status for f in result.findings.fields} == {"found"}
    assert result.findings.silent == {}
    entries = [entry for f in result.findings.fields for entry in f.entries]
    assert all((entry.url or "").startswith("http") and entry.source in SOURCES for entry in entries)
    texts = " ".join((RECORDED / name).read_text() for name in TEXTS)
    plain = " ".join(texts.replace('\\"', '"').split())
    quotes = [entry.quote for entry in entries if entry.quote]
    assert len(quotes) >= 4
    assert all(quote[:60] in plain for quote in quotes)
    # the mechanism leads over the target to its pathways
    mechanism = {e.source: e for e in field(result, "mechanism").entries}
    assert set(mechanism) == {"openfda", "chembl", "opentargets"}
    assert mechanism["chembl"].values["action"] == "inhibitor"
    assert mechanism["openfda"].text.startswith("Sildenafil is an inhibitor")
    targets = {e.source: e for e in field(result, "targets").entries}
    assert targets["uniprot"].quote.startswith("Plays a role in signal transduction")
    pathways = [e.text for e in field(result, "pathways").entries]
    assert pathways == ["cGMP effects", "Smooth Muscle Contraction"]
    first = field(result, "regulatory").entries[0]
    assert (first.code, first.values["application"]) == ("approved", "NDA020895")
    label, platform = field(result, "indications").entries
    assert (label.source, label.code) == ("openfda", "names_disease_asked")
    assert platform.text == "pulmonary arterial hypertension; erectile dysfunction"
    stopped, completed = field(result, "trials").entries
    assert (stopped.code, stopped.quote) == ("TERMINATED", "Slow enrollment; no safety concern.")
    values = completed.values
    assert (completed.code, values["phase"], values["results"]) == ("COMPLETED", "PHASE3", "posted")


async def test_a_source_that_is_down_costs_only_what_it_alone_has(server: ReplayServer) -> None:
    answering(server)
    for path in ("/studies", "/data/mapping/UniProt/O76074/pathways", "/uniprotkb/search"):
        server.on(path, DOWN)
    result = await found(server)
    assert set(result.findings.silent) == {"clinicaltrials", "reactome", "uniprot"}
    assert result.temporary_failure is not None
    unreachable = {f.name for f in result.findings.fields if f.status == "unreachable"}
    assert unreachable == {"trials", "pathways"}, "what UniProt has of a target is no field of its own"


async def test_what_registers_have_of_another_drug_is_not_the_candidates(server: ReplayServer) -> None:
    result = await found(answering(server), name="bosentan")
    nothing = {f.name for f in result.findings.fields if f.status == "not_found"}
    assert nothing >= {"names", "mechanism", "indications", "pathways", "targets", "trials"}


async def test_a_source_that_is_slow_is_not_waited_for(
    server: ReplayServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lookup, "SOURCE_SECONDS", 3.0)
    answering(server).on("/studies", Reply(200, "{}", delay=8.0))
    result = await found(server)
    assert (field(result, "trials").status, set(result.findings.silent)) == (
        "unreachable",
        {"clinicaltrials"},
    )
    assert field(result, "mechanism").status == "found"


APPROVED = {"approval_status": "approved"}


@pytest.mark.parametrize(
    ("read", "facts", "code"),
    [
        (application_code, APPROVED | {"marketing_status": "Prescription"}, "approved"),
        (application_code, APPROVED, "approved"),
        (application_code, APPROVED | {"marketing_status": "Discontinued"}, "discontinued"),
        (application_code, APPROVED | {"marketing_status": "Discontinued; Prescription"}, "approved"),
        (application_code, {"approval_status": "tentatively approved"}, "tentatively_approved"),
        (application_code, {"approval_status": "status WD"}, None),
        (application_code, {}, None),
        (molecule_code, {"max_phase": "4"}, "approved"),
        (molecule_code, {"max_phase": "2"}, "investigational"),
        (molecule_code, {"max_phase": "-1"}, None),
        (molecule_code, {"max_phase": "4", "withdrawn": "yes"}, "withdrawn"),
        (molecule_code, {}, None),
    ],
)
def test_the_code_of_an_application_or_a_molecule_follows_from_its_fields(
    read: Callable[[Mapping[str, str]], str | None], facts: dict[str, str], code: str | None
) -> None:
    assert read(facts) == code


LABELS = json.loads((RECORDED / "openfda/label_sildenafil.json").read_text())["results"]
APPROVALS = json.loads((RECORDED / "openfda/drugsfda_sildenafil.json").read_text())["results"]
STUDIES = json.loads((RECORDED / "ctgov/search_sildenafil_stopped.json").read_text())["studies"]
ITEMS = (*map(read_label, LABELS), *map(read_approval, APPROVALS), *map(read_study, STUDIES))


def test_a_drug_has_its_own_records_the_new_drug_application_first() -> None:
    standing = standing_of("sildenafil", ITEMS)
    assert standing.regulatory_status == "approved"
    assert standing.approval is not None
    assert standing.approval.evidence_id == "fda:NDA020895"
    assert standing.trial_status == "PHASE2; PHASE3, TERMINATED"
    (indication,) = standing.indications
    assert indication.startswith(
        "Sildenafil tablets are a phosphodiesterase-5 (PDE-5) inhibitor indicated for"
    )
    texts = {item.evidence_id: " ".join(item.text.split()) for item in ITEMS}
    assert len(standing.quotes) == 3
    for support in standing.quotes:
        assert " ".join(support.quote.split()) in texts[support.evidence_id]


def test_records_of_another_drug_say_nothing_for_one_that_they_mention() -> None:
    label = read_label(LABELS[0])
    assert "bosentan" in label.text
    assert standing_of("bosentan", ITEMS).quotes == ()
    assert is_record_of_another(label, "bosentan")
    assert not is_record_of_another(label, "sildenafil")


LOWER = Support(evidence_id="pmid:1", quote="Metformin was associated with a lower risk of dementia.")
FAILED = Support(evidence_id="pmid:2", quote="Metformin did not slow decline in a trial of 80 adults.")


@pytest.mark.parametrize(
    ("side", "denied", "statement"),
    [
        ("against", LOWER, "Metformin did not help here, or did harm."),
        ("support", FAILED, "Metformin helped here, or there is a reason why it may help."),
    ],
)
def test_a_quote_that_speaks_for_a_candidate_is_no_counter_evidence_and_a_null_result_speaks_for_none(
    side: Side, denied: Support, statement: str
) -> None:
    kept = FAILED if denied == LOWER else LOWER
    offered = (Candidate(name="Lithium"), Candidate(name="Metformin").replace(**{side: (denied, kept)}))
    first, second = to_read(offered)
    assert (first.text, first.support) == (statement, (denied,))
    no = Statement(code="not_supported", values={"verdict": "no", "reason": "it does not"})
    answers = (SentenceVerdict(id=first.id, problem=no), SentenceVerdict(id=second.id))
    (_, metformin), left_out = with_verdicts(offered, Verdicts(verdicts=answers), ())
    assert getattr(metformin, side) == (kept,)
    assert left_out == {"support": 0, "against": 0} | {side: 1}
