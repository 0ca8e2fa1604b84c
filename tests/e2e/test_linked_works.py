"""A model uses the links of `related:` and `citedby:`: the searches are made at PubMed, and the works that
they find reach the next judge."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from lxml import etree

from client.failures import Exit
from tests.client.harness import determinator
from tests.e2e.stage import PMIDS, PUBMED, Clock, evidence_of, faults, pubmed, report_of
from tests.fake_openai import PATH, FakeOpenAI, criteria_of, labels_by_work, role_of, says, sensible
from tests.fake_openai import evidence_of as shown_to
from tests.replay import Asked, ReplayServer, Reply

pytestmark = [pytest.mark.xdist_group("e2e-modes"), pytest.mark.timeout(300)]

QUESTION = "Does trametinib prolong survival of adults with melanoma?"
FOUND = PMIDS[0]
LINKED = {"pubmed_pubmed": PMIDS[1], "pubmed_pubmed_citedin": PMIDS[2]}
"""Link of the work that is found first -> the work that it leads to."""


class Follower:
    """A model that asks for the works linked to the one that was found, and is content with those."""

    def __init__(self) -> None:
        self.judged: list[set[str]] = []
        """Texts of the works in each prompt of the judge."""

    def __call__(self, asked: Asked) -> Reply:
        role = role_of(asked)
        if role == "tool_selector":
            (pmid,) = set(re.findall(r"^- PMID (\d+): ", shown(asked), re.MULTILINE))
            queries = (f"related:{pmid}", f"citedby:{pmid}")
            return says({"searches": [{"gap": 1, "source": "pubmed", "query": q} for q in queries]})(asked)
        if role == "judge":
            works = labels_by_work(asked)
            self.judged.append(set(shown_to(asked).values()))
            enough = len(self.judged) > 1
            judged = [
                {"work": work, "answers": 3 if enough else 1, "sentences": labels[:1] if enough else []}
                for work, labels in works.items()
            ]
            return says(
                {
                    "works": judged,
                    "scores": [{"criterion": name, "score": 8 * enough} for name in criteria_of(asked)],
                    "recommendation": "synthesize" if enough else "continue",
                    "gaps": [] if enough else ["Works like the one that was found"],
                    "searches": [],
                }
            )(asked)
        return sensible(asked)


def shown(asked: Asked) -> str:
    """The prompt of the user."""
    return str(asked.json()["messages"][-1]["content"])  # type: ignore[index]


def linked(asked: Asked) -> Reply:
    """The recorded answer of ELink, with one link of each kind, to a work whose record is at hand."""
    root = etree.parse(PUBMED / "elink1.xml").getroot()
    for group in root.iter("LinkSetDb"):
        links = group.findall("Link")
        for link in links[1:]:
            group.remove(link)
        for uid in links[0].iterfind("Id"):
            uid.text = LINKED.get(group.findtext("LinkName", ""), "")
    return Reply(200, etree.tostring(root), {"content-type": "text/xml"})


@pytest.fixture
def sources() -> Iterator[ReplayServer]:
    with ReplayServer() as server:
        pubmed(server, Clock(0))
        server.on("/elink.fcgi", linked)
        yield server


def test_linked_works_are_searched_for_and_judged(
    sources: ReplayServer, file_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    follower = Follower()
    with FakeOpenAI() as model:
        model.on(PATH, follower)
        for name, value in {
            "OPENAI_BASE_URL": model.base_url,
            "OPENAI_API_KEY": "sk-of-the-test",
            "DETERMINATOR_MODEL": "fake",
            "DETERMINATOR_EMBEDDINGS": "off",  # the linked works that are recorded are of other subjects
            "DETERMINATOR_PUBMED_URL": sources.url,
        }.items():
            monkeypatch.setenv(name, value)
        flags = ("--mode", "iterative", "--profile", "biomedical", "--source", "pubmed")
        ran = determinator("ask", QUESTION, *flags)
    assert ran.code == Exit.DONE, ran
    asked = [one.query for one in sources.asked if one.path.startswith("/elink.fcgi")]
    assert {one["linkname"][0] for one in asked} == set(LINKED)
    assert {one["id"][0] for one in asked} == {FOUND}
    report = report_of(ran.run_id)
    assert not faults(report, evidence_of(ran.run_id))
    cited = {reference["identifiers"]["pmid"] for reference in report["references"]}
    assert cited == set(LINKED.values())
    assert [len(works) for works in follower.judged] == [1, 2]
    assert follower.judged[0].isdisjoint(follower.judged[1])
