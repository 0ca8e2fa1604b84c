"""A report that a model wrote, judged and edited, and one of passages without a model."""

from activities.contracts.evidence import AbsentWord, Claim, ReportPlanSection, Statement, Support
from activities.contracts.judge import Cell, Refused, Table, TableRow, WorkJudgement
from activities.contracts.publish import PlannedSection, PublishInput
from activities.contracts.write import (
    DraftClaim,
    DraftParagraph,
    Edited,
    EditedSentence,
    Passage,
    SectionDraft,
)
from activities.report.assemble import build_report
from activities.report.schema import Report
from tests.activities.cases import publish_input, pubmed, quoting, ref_of, refused

LAPAROSCOPIC = pubmed(
    11,
    "Laparoscopic against open appendectomy: a randomized trial",
    "We compared laparoscopic with open appendectomy in 210 adults. Wound infection occurred in 4% after "
    "laparoscopic surgery and in 11% after open surgery. The stay was shorter by one day after "
    "laparoscopic appendectomy. Operating time was longer in the laparoscopic group.",
    "randomized_trial",
    authors=("Doe JA",),
    year=2012,
)
REGISTRY = pubmed(
    12,
    "A registry of gallbladder surgery",
    "In a registry of 5,400 patients bile duct injury was as frequent after laparoscopic as after open "
    "cholecystectomy. Pneumonia was rarer after laparoscopic cholecystectomy.",
    "observational",
    authors=("Roe B",),
    year=2015,
)
AGAINST = pubmed(
    13,
    "Hysterectomy by two routes",
    "Urinary tract injury was more frequent after laparoscopic than after abdominal hysterectomy.",
    "meta_analysis",
    year=2009,
)
WORKS = {item.evidence_id: item for item in (LAPAROSCOPIC, REGISTRY, AGAINST)}
INFECTION = "Wound infection occurred in 4% after laparoscopic surgery and in 11% after open surgery."
STAY = "The stay was shorter by one day after laparoscopic appendectomy."
PNEUMONIA = "Pneumonia was rarer after laparoscopic cholecystectomy."
INJURY = "Urinary tract injury was more frequent after laparoscopic than after abdominal hysterectomy."
QUESTION = "Is laparoscopic surgery as safe and effective as open surgery?"
FEWER = "After laparoscopic surgery wound infection and pneumonia were rarer."


def section(identity: str, draft: SectionDraft, title: str = "") -> PlannedSection:
    asked = ReportPlanSection(
        id=identity, title=title or f"Part {identity}", key_question=f"What of {identity}?"
    )
    return PlannedSection(section=asked, draft=draft)


def judged(name: str, answers: int, direction: str, quote: str, **more: object) -> WorkJudgement:
    return WorkJudgement.model_validate(
        {
            "evidence_id": name,
            "answers": answers,
            "direction": direction,
            "role": "clinical",
            "finding": quote,
            "support": (Support(evidence_id=name, quote=quote),),
            **more,
        }
    )


DRAFT = SectionDraft(
    answer=(
        quoting(FEWER, ("pmid:11", INFECTION), ("pmid:12", PNEUMONIA)),
        quoting("The urinary tract was injured more often.", ("pmid:13", INJURY)),
    ),
    paragraphs=(
        DraftParagraph(
            claims=(
                quoting("Wound infection fell from 11% to 4%.", ("pmid:11", INFECTION)),
                quoting("Patients left a day earlier.", ("pmid:11", STAY)),
                quoting("Surgeons were not blinded.", kind="inference", stands_by="reader"),
                quoting("Only 777 patients had cancer.", kind="inference", state="ask"),
                refused("Nobody died in 9,999 operations.", ("pmid:11", STAY), number="9,999"),
            )
        ),
    ),
    refused=(
        Refused(kind="claim", text="A claim that the writer lost.", reason=Statement(code="cites_nothing")),
    ),
)
OPENING = "We compared laparoscopic with open appendectomy in 210 adults."
ADULTS, RARE = (
    Cell(text=text, support=Support(evidence_id="pmid:11", quote=quote))
    for text, quote in (("210 adults", OPENING), ("4% after laparoscopic surgery", INFECTION))
)
FALSE = Statement(code="number_missing", values={"number": "55%"})


def edited(name: str, text: str, *claims: str, **more: object) -> EditedSentence:
    """A sentence of the editor that stands, on claims of the first work."""
    support = (Support(evidence_id="pmid:11", quote=INFECTION),)
    return EditedSentence.model_validate(
        {"id": name, "text": text, "claims": claims, "support": support, **more}
    )


EDITED = Edited(
    title="Laparoscopic and open surgery",
    mechanism=(edited("m1", "Infection fell by 55%.", "s1.1", state="refused", problem=FALSE),),
)
STEP = publish_input(
    section("s1", DRAFT, "Appendectomy"),
    question=QUESTION,
    profile="biomedical",
    evidence=tuple(map(ref_of, WORKS.values())),
    found={name: work.title for name, work in WORKS.items()},
    edited=EDITED,
    judgements=(
        judged("pmid:13", 2, "no", INJURY),
        judged("pmid:11", 3, "yes", INFECTION, participants=210, comparator="open appendectomy"),
        judged("pmid:12", 3, "yes", PNEUMONIA, participants=999, design="cohort"),
    ),
    table=Table(
        columns=("population", "infection"),
        rows=(
            TableRow(evidence_id="pmid:11", cells={"population": ADULTS, "infection": RARE}),
            TableRow(evidence_id="pmid:12", cells={"infection": RARE}),
        ),
    ),
    confidence=0.62,
    models=("some-model",),
)
PASSAGES = publish_input(
    section(
        "s1",
        SectionDraft(
            passages=(
                Passage(evidence_id="pmid:11", quotes=(INFECTION,), before=OPENING),
                Passage(evidence_id="pmid:12", quotes=("Nobody ever wrote this sentence anywhere.",)),
            ),
            absent=(
                AbsentWord(word="keyhole", decides=True),
                AbsentWord(word="appendix", instead=("appendectomy",)),
            ),
            documents=3,
        ),
    ),
    question=QUESTION,
    profile="biomedical",
    evidence=tuple(map(ref_of, WORKS.values())),
    written_by="extractive",
    models=("extractive",),
)


def draft(*claims: DraftClaim, **more: object) -> SectionDraft:
    """A draft of one paragraph, or of what else is given."""
    paragraphs = (DraftParagraph(claims=claims),) if claims else ()
    return SectionDraft.model_validate({"paragraphs": paragraphs, **more})


def made(*drafts: SectionDraft, **more: object) -> Report:
    """A report of sections that were drafted so, without an editor."""
    sections = tuple(section(f"s{number}", one) for number, one in enumerate(drafts, 1))
    return build_report(step(**{"sections": sections, "edited": None, **more}), WORKS)


def claims(*texts: str) -> tuple[Claim, ...]:
    """Claims of the first work, for steps that are given claims."""
    support = (Support(evidence_id="pmid:11", quote=INFECTION),)
    return tuple(Claim(id=f"s1.{n}", text=text, support=support) for n, text in enumerate(texts, start=1))


def step(**more: object) -> PublishInput:
    return STEP.model_copy(update=dict(more))
