"""Reports of every shape that a run can end in, made at random from a seed.

Modes, back ends, writers with false claims, sections that fail, outages, candidates, contradictions, text in
other scripts, text that looks like markup.
"""

import random
from typing import get_args

from activities.contracts.candidates import Candidate
from activities.contracts.evidence import (
    Evidence,
    EvidenceType,
    Identifiers,
    ReportPlanSection,
    SearchRecord,
    SearchStatus,
    Standing,
    Statement,
    StopReason,
    Support,
    Usage,
)
from activities.contracts.publish import PlannedSection, PrismaCounts, PublishInput
from activities.contracts.write import DraftClaim, DraftParagraph, Edited, SectionDraft, SentenceState
from activities.report.assemble import build_report
from activities.report.schema import Report
from tests.activities.cases import ref_of

TEXT = (
    "metformin reduced mortality in adults with diabetes over many years of follow up while the risk of "
    "hospital admission did not change between groups and TNF-\u03b1 fell by half"
)
WORDS = TEXT.split()
ODD = (
    *("<script>alert(1)</script>", "![x](http://evil.example/p.png)", "[1] [9]", "| cell", "# Head", "$x$"),
    *(
        "\u4e8c\u7532\u53cc\u80cd",
        "\u05e9\u05dc\u05d5\u05dd",
        "\u202egnp",
        "{brace \\input",
        "95% CI [2, 14]",
        "",
    ),
)


class _Made:
    """One generated case."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.documents = {item.evidence_id: item for item in map(self._document, range(self._upto(9)))}

    def _upto(self, most: int) -> int:
        return self.random.randint(0, most)

    def _some(self, *choices: str) -> str:
        return self.random.choice(choices)

    def sentence(self) -> str:
        start = self._upto(len(WORDS) - 9)
        text = " ".join(WORDS[start : start + 8 + self._upto(8)])
        odd = f" {self._some(*ODD)}" if self.random.random() < 0.2 else ""
        return f"{text.capitalize()} in {self.random.randint(12, 9999)} people{odd}."

    def _document(self, number: int) -> Evidence:
        pmid = str(1000 + number) if self.random.random() < 0.6 else None
        return Evidence(
            evidence_id=f"x:{number}",
            source=self._some("pubmed", "europepmc", "library"),
            title=f"{self.sentence()} {self._some(*ODD)}",
            text=" ".join(self.sentence() for _ in range(1 + self._upto(12))),
            authors=tuple(self._some("Doe J", "Roe, B.", "\u738b\u5c0f\u660e", "The X Group", "<b>Poe E</b>")
                          for _ in range(self._upto(8))),
            year=self.random.choice([None, 1987, 2004, 2019, 2020, 2024]),
            venue=self._some("Lancet", "", "J & K | L"),
            identifiers=Identifiers(pmid=pmid, doi=f"10.1000/x({number})<y>" if number % 3 == 0 else None),
            url=self.random.choice([None, "https://example.org/a b", "javascript:alert(1)",
                                    f"https://example.org/{number}?q=[1]&r=(2)"]),
            evidence_type=self.random.choice(get_args(EvidenceType)),
            standing=self.random.choice([*get_args(Standing), "none", "none"]),
            full_text=self.random.random() < 0.3,
        )  # fmt: skip

    def support(self) -> Support:
        """A true quote, or one that is wrong in one of the ways in which quotes are wrong."""
        if not self.documents:
            return Support(evidence_id="x:none", quote="words of a document that was never found")
        item = self.random.choice(list(self.documents.values()))
        words = item.text.split(" ")
        start = self._upto(max(len(words) - 9, 0))
        quote = " ".join(words[start : start + 9])
        lie = self.random.random()
        if lie < 0.1:
            quote = quote.replace("reduced", "doubled").replace("in", "out")
        elif lie < 0.15:
            quote = item.title
        elif lie < 0.2:
            quote = quote[:9]
        return Support(evidence_id="x:none" if 0.2 < lie < 0.23 else item.evidence_id, quote=quote)

    def claim(self) -> DraftClaim:
        supports = tuple(self.support() for _ in range(self._upto(3)))
        own = self.random.random() < 0.5 and supports
        text = f"{supports[0].quote}." if own else f"{self.sentence()} {self._some(*ODD)}"
        state = self.random.choice(get_args(SentenceState)) if self.random.random() < 0.3 else "stands"
        return DraftClaim(text=text, support=supports, state=state)

    def section(self, number: int) -> PlannedSection:
        paragraphs = tuple(
            DraftParagraph(claims=tuple(self.claim() for _ in range(self._upto(4))))
            for _ in range(self._upto(3))
        )
        return PlannedSection(
            section=ReportPlanSection(
                id=self._some(f"s{number}", ""),
                title=self._some("Benefit", "", *ODD),
                key_question="Is it?",
            ),
            draft=SectionDraft(paragraphs=paragraphs, limitations=(self._some(*ODD),)),
            status=self.random.choice(["complete", "partial", "failed", "cancelled"]),
            note=self._some("no new evidence", "", *ODD),
        )

    def step(self) -> PublishInput:
        searches = tuple(
            SearchRecord(
                source=self._some("pubmed", "library"),
                query=self._some("metformin", *ODD),
                status=self.random.choice(get_args(SearchStatus)),
                hits=self._upto(900),
                kept=self._upto(9),
                set_aside=self._upto(2),
            )
            for _ in range(self._upto(6))
        )
        candidates = tuple(
            Candidate(
                name=self._some("Metformin", "Aspirin", *ODD),
                mechanism=self._some("AMPK -> mTOR", "reduced mortality", *ODD),
                current_indications=(self._some("diabetes", *ODD),),
                support=tuple(self.support() for _ in range(self._upto(3))),
            )
            for _ in range(self._upto(3))
        )
        return PublishInput(
            run_id="ask-generated",
            question=self._some("Does metformin reduce mortality?", "", *ODD),
            mode=self.random.choice(["iterative", "deep"]),
            profile=self._some("drug_repurposing", "general"),
            title=self._some("Metformin", "", *ODD),
            sections=tuple(self.section(n) for n in range(1, 1 + self._upto(5))),
            candidates=candidates,
            edited=Edited(contradictions=(("s1.1", "s2.1"), ("s1.2", "s3.1"))),
            evidence=tuple(map(ref_of, self.documents.values())),
            searches=searches,
            counts=PrismaCounts(identified=self._upto(90), duplicates=self._upto(9), screened=self._upto(40)),
            usage=Usage(calls=self._upto(9), cost_microusd=self.random.choice([None, 0, 31000])),
            models=self.random.choice([(), ("extractive",), ("m", "extractive"), ("m",)]),
            limitations=(Statement(code="candidates_rejected"), self._some("", *ODD)),
            confidence=self.random.random(),
            confidence_reasons=(Statement(code="not_known_here", values={"n": 3}),),
            stop_reason=self.random.choice(get_args(StopReason)),
            generated_at="2026-01-01T00:00:00Z",
            draft=self.random.random() < 0.1,
        )


def generated(seed: int) -> tuple[Report, dict[str, Evidence]]:
    """A report and the documents that it was made from."""
    made = _Made(seed)
    return build_report(made.step(), made.documents), made.documents
