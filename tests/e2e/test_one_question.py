"""One command, one question, on a machine with no key and no network; and what may go wrong on the way."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from activities.contracts.parts import MODULES
from activities.report.formats.statements import STATUSES, source_title
from client.embedded.binary import free_port
from tests.client.harness import determinator, inside
from tests.e2e.stage import evidence_of, faults, markdown_of, report_of, supports
from tests.replay import RECORDED, Asked, ReplayServer, Reply, recorded

pytestmark = pytest.mark.xdist_group("e2e-alone")

QUESTION = "What is known about survival in lung cancer?"
ON_THE_SHELF = "Is laparoscopic surgery as safe as open surgery?"
MODES = ("team", "hierarchical")
"""Those that no other test runs without a model through a command."""
ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def offline(file_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DETERMINATOR_OFFLINE", "true")
    return file_home


def test_one_command_without_key_or_network_answers_with_quotes_that_hold(offline: Path) -> None:
    ran = determinator("ask", QUESTION, "--offline")
    assert ran.code == 0, ran
    report, evidence = report_of(ran.run_id), evidence_of(ran.run_id)
    first, second = [
        line for line in ran.out.splitlines() if not line.startswith(("Run ", "Temporal's view: "))
    ][:2]
    assert first.startswith("Only the bundled sample library")
    assert second.startswith("No language model has read this.")
    assert report["statements"][0]["code"] == "sample_only"

    assert len(supports(report)) >= 5
    assert not faults(report, evidence)
    assert len({name for name, _ in supports(report)}) >= 5
    assert f"question=${{1:-{QUESTION}}}\n" in (ROOT / "scripts/demo").read_text(), "the demo asks the same"
    assert report["verification"]["verified"] == report["verification"]["claims"] >= 5

    markdown = markdown_of(offline, ran.run_id)
    numbers = {int(n) for n in re.findall(r"\[(\d{1,2})\]", markdown)}
    assert {reference["number"] for reference in report["references"]} <= numbers
    for reference in report["references"]:
        assert reference["url"] in markdown
    assert (report["written_by"], report["confidence"]) == ("extractive", None)

    # what lies deeper is of the same models, whose keys `tests/contracts.json` lists
    listed = json.loads((ROOT / "tests" / "contracts.json").read_text())["report keys"]
    absent = MODULES.keys() - report.keys()  # parts that nobody asked for
    assert {key for key in listed if key.isidentifier()} - absent <= report.keys()

    printed = " ".join(f"{ran.err} {ran.out}".split())
    for page in ("README.md", "docs/tutorial.md"):
        shown = shown_after(page, f'determinator ask "{QUESTION}" --offline')
        assert shown, page
        for part in shown:
            assert part in printed, page


@pytest.mark.parametrize("mode", MODES)
def test_without_key_or_network_each_mode_answers_from_the_sample(offline: Path, mode: str) -> None:
    ran = determinator("ask", ON_THE_SHELF, "--mode", mode)
    assert ran.code == 0, ran
    report = report_of(ran.run_id)
    assert report["mode"] == mode
    assert report["methodology"]["model_calls"] == report["methodology"]["tokens"] == 0
    assert not faults(report, evidence_of(ran.run_id))
    assert report["verification"]["verified"] >= 4


def test_without_a_model_a_report_is_asked_for_passages_which_nobody_has_read(offline: Path) -> None:
    run = determinator("ask", ON_THE_SHELF, "--mode", "simple").run_id
    answer = inside("tell", run, "What of the complications of laparoscopic surgery?")
    assert (answer.code, "laparoscopic" in answer.out) == (0, True), answer
    assert answer.out.startswith("No language model has read this.")
    assert inside("tell", run, "What of surgery?", "--json").json()["answered"] is None
    disputed = inside("dispute", run, "s1.1", "wrong")
    assert disputed.err.count(run) == 1
    assert (disputed.code, "quotes only, word for word" in disputed.err) == (2, True), disputed
    assert inside("change", run, "shorter").code == 2  # it needs a model


def shown_after(page: str, command: str) -> list[str]:
    """The parts of what a page says that a command prints, without addresses: between them stands `...`."""
    text = (ROOT / page).read_text().partition(command)[2].removeprefix("\n```\n\n```")
    lines = [
        line for line in text.partition("```")[0].splitlines() if not line.startswith("Temporal's view: ")
    ]
    return [" ".join(part.split()) for part in "\n".join(lines).split("...") if part.strip()]


def test_a_question_outside_the_library_is_not_answered_and_the_report_says_why(offline: Path) -> None:
    ran = determinator("ask", "How do I bake sourdough bread?")
    assert ran.code == 4, ran
    report = report_of(ran.run_id)
    assert supports(report) == report["references"] == []
    assert report["stop_reason"] == "searched_out"
    assert {search["status"] for search in report["methodology"]["searches"]} == {"empty"}
    assert any("the question is not answered" in limitation.lower() for limitation in report["limitations"])
    assert report["limitations"][0] in markdown_of(offline, ran.run_id)


@pytest.fixture
def faulty(file_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ReplayServer]:
    """Four sources, each with a fault of its own."""
    html = recorded("pubmed/error_legacy_html_instead_of_xml.html")
    too_many = (RECORDED / "pubmed/error_429_rate_limit.json").read_bytes()
    kind = {"content-type": "application/json"}
    with ReplayServer() as server:
        server.on("/europepmc/*", Reply(429, too_many, {**kind, "retry-after": "1"}))
        server.on("/ctgov/*", Reply(500, '{"error": "internal"}', kind))
        server.on("/openalex/*", html)
        monkeypatch.setenv("DETERMINATOR_PUBMED_URL", f"http://127.0.0.1:{free_port()}")
        monkeypatch.setenv("DETERMINATOR_EUROPEPMC_URL", f"{server.url}/europepmc")
        monkeypatch.setenv("DETERMINATOR_CLINICALTRIALS_URL", f"{server.url}/ctgov")
        monkeypatch.setenv("DETERMINATOR_OPENALEX_URL", f"{server.url}/openalex")
        monkeypatch.setenv("DETERMINATOR_CROSSREF_URL", f"{server.url}/crossref")
        yield server


FAULTS = {
    "pubmed": "unavailable",
    "europepmc": "rate_limited",
    "clinicaltrials": "unavailable",
    "openalex": "malformed",
}


def test_sources_that_fail_are_named_as_failed_and_the_others_still_answer(
    file_home: Path, faulty: ReplayServer
) -> None:
    flags = [word for name in ("library", *FAULTS) for word in ("--source", name)]
    ran = determinator("ask", QUESTION, "--mode", "iterative", *flags)
    assert ran.code == 0, ran
    report = report_of(ran.run_id)
    assert not faults(report, evidence_of(ran.run_id))
    assert len(report["references"]) >= 5
    searches = report["methodology"]["searches"]
    assert {s["source"]: s["status"] for s in searches} == {"library": "ok", **FAULTS}
    for name, status in FAULTS.items():
        assert {s["status"] for s in searches if s["source"] == name} == {status}
        (told,) = [
            limitation
            for limitation in report["limitations"]
            if limitation.startswith(f"Failed searches of {source_title(name)}:")
        ]
        assert f"({STATUSES[status]}" in told, name

    # the same query until it is given up, and no other one because of the fault
    for name, resource in (("europepmc", "/europepmc/"), ("clinicaltrials", "/ctgov/")):
        attempts = [s["attempts"] for s in searches if s["source"] == name]
        arrived = [sent(a) for a in faulty.asked if a.path.startswith(resource) and not about_standing(a)]
        assert len(arrived) == sum(attempts) > len(attempts)
        assert len(set(arrived)) == len({s["query"] for s in searches if s["source"] == name})


def sent(asked: Asked) -> str:
    return str(sorted(asked.query.items()))


def about_standing(asked: Asked) -> bool:
    """Publishing asks Europe PMC by identifiers whether what is cited still stands."""
    return "EXT_ID" in sent(asked) or "DOI" in sent(asked)
