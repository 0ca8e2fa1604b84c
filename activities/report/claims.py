"""The claims and judgements of a report: what of each is printed, once its quotes were looked for.

Invariants:

- Whether words of a model stand was decided before (`activities.verification.gate`); here only quotes and
  standings decide. A sentence falls with any of its quotes; what is left of these is printed in its place.
- A sentence keeps the id that it was written under.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from activities.contracts.evidence import (
    UNPLANNED,
    Claim,
    Evidence,
    EvidenceRef,
    Sentence,
    Statement,
    Support,
    fields_of,
)
from activities.contracts.judge import WorkJudgement
from activities.contracts.publish import PlannedSection
from activities.contracts.write import (
    DraftClaim,
    Edited,
    EditedSentence,
    Passage,
    Refused,
    RefusedKind,
    SectionDraft,
    SentenceKind,
    with_ids,
)
from activities.messages import _
from activities.report.formats.prose import blocks_of, headed
from activities.report.formats.statements import sentence
from activities.report.formats.text import clean, in_quotes, shortened
from activities.report.schema import Dropped, JudgedWork, QuotedPassage, ReportSection
from activities.text.normal_form import normalise
from activities.verification.quote_check import Checked, QuoteChecker
from activities.verification.verdicts import bases_of, printable_draft, refusal_of

MAX_CUT_CHARS = 300
"""Characters of a sentence that a letter lost."""
MAX_REASON_WORDS = 20
"""Words of a judgement's reason that are shown."""
CLAIM_KINDS: frozenset[RefusedKind] = frozenset({"claim", "wording"})
"""Kinds of what is refused of a draft's own sentences."""
WITHOUT_QUOTES: frozenset[SentenceKind] = frozenset({"inference", "transition", "background"})


def draft_claims(draft: SectionDraft) -> tuple[tuple[Claim, ...], tuple[Claim, ...]]:
    """Return answer and claims of a draft as a report has them, for the editor: those that rest on works."""
    printable = printable_draft(draft)
    parts = printable.answer, [claim for paragraph in printable.paragraphs for claim in paragraph.claims]
    answer, claims = (tuple(as_claim(c) for c in part if c.kind != "background") for part in parts)
    return answer, claims


def as_claim(draft: DraftClaim) -> Claim:
    draft = draft.replace(text=clean(draft.text))
    if draft.cells:
        draft = draft.shaped((clean(head), clean(field)) for head, field in draft.cells)
    text = draft.text
    is_quote = any(normalise(text) == normalise(support.quote) for support in draft.support)
    return Claim(
        **fields_of(Sentence, draft.replace(emphasis=()) if is_quote else draft),
        quoted=is_quote,
        kind=draft.kind if draft.kind not in ("transition", "translation") else "finding",
    )


class Checks:
    """The checks of one report: its sections as far as they stand, and the record of what does not."""

    def __init__(self, documents: Mapping[str, Evidence]) -> None:
        self.documents = documents
        self._checker = QuoteChecker(documents)
        self._ids_by_text: dict[str, str] = {}
        """Text of a claim -> its id: a claim that another section has made already is left out."""
        self.sections: list[ReportSection] = []
        self.totals: dict[str, int] = {}
        """Id of a section -> sentences that were written for it."""
        self.losses: dict[str, int] = {}
        """The same -> those of them that do not stand, also where a quote is printed in their place."""
        self.without_lead: set[str] = set()
        """Ids of sections of whose answer the first sentence fell."""
        self.dropped: list[Dropped] = []
        self.retracted: dict[str, None] = {}
        """Ids of retracted works that were cited, in order."""
        self.statements: list[Statement] = []
        """Limitations that the checks found."""
        self.replaced = 0
        """Quotes that are printed in the place of refused sentences."""
        self.quotes_refused = 0
        """Quotes that no longer stand beside others that do."""
        self.omissions: list[str] = []
        """Headings, and first fields of rows, that do not stand, in whose place nothing is printed."""
        self.repeats: dict[str, str] = {}
        """Id of a claim that was left out -> id of the claim that says the same."""

    @property
    def claims(self) -> list[Claim]:
        return [claim for section in self.sections for claim in (*section.answer, *section.claims)]

    def supports(self, supports: Iterable[Support]) -> Checked:
        result = self._checker.supports(supports)
        self.retracted |= dict.fromkeys(result.retracted)
        return result

    def drop(
        self, text: str, reasons: Sequence[Statement], kind: RefusedKind, section: str, ids: Iterable[str]
    ) -> None:
        self.dropped.append(
            Dropped(
                text=text,
                reason=reasons_text(reasons),
                kind=kind,
                section=section,
                evidence_ids=tuple(dict.fromkeys(ids)),
                statement=reasons[0],
            )
        )

    def drop_refused(self, refusals: Iterable[Refused], section: str = "") -> None:
        for refusal in refusals:
            self.drop(clean(refusal.text), [refusal.reason], refusal.kind, section, refusal.evidence_ids)

    def add_section(self, plan: PlannedSection) -> None:
        """Look for every quote of a draft, and keep what stands."""
        place = len(self.sections) + 1
        name = plan.section.id or f"s{place}"
        title = _(clean(plan.section.title)) or clean(plan.draft.title)
        if plan.section.title == UNPLANNED and plan.draft.passages:
            title = _("Nearest passages")  # nobody has found anything: these stand as they were ranked
        draft = with_ids(name, plan.draft).changed(lambda claim: (self._with_quotes(claim),))
        printable = printable_draft(draft)
        start = len(self.dropped)
        self.drop_refused(printable.refused, name)
        ids = {claim.id for claim in printable.claims}
        if cut_claims := [claim for claim in draft.claims if claim.letter and claim.id not in ids]:
            texts = " ".join(_of_letter(claim) for claim in cut_claims)
            self.statements.append(Statement.of("letter_cut", sentences=len(cut_claims), texts=texts))
        passages = tuple(filter(None, (self._passage(passage, name) for passage in draft.passages)))
        rows = (c for c in draft.claims if c.is_row and not c.letter and c.id not in ids)
        self.omissions += [first_field for row in rows for _, first_field in row.cells[:1]]
        blocks = [("", claims) for claims in _quotes(passages, name)] or self._blocks(printable, name)
        losses = [item for item in self.dropped[start:] if item.statement.code != "repeats_claim"]
        refusals = sum(refusal.kind == "claim" for refusal in plan.draft.refused)
        self.totals[name] = refusals + len(draft.claims)
        self.losses[name] = sum(item.kind in CLAIM_KINDS for item in losses)
        first_id = f"{draft.answer[0].id}." if draft.answer else ""
        if first_id and not any(f"{c.id}.".startswith(first_id) for c in printable.answer):
            self.without_lead.add(name)
        text_by_id = {claim.id: claim.text for claim in draft.claims}
        self.replaced += sum(text_by_id.get(claim.id) != claim.text for claim in printable.claims)
        question = clean(plan.section.key_question)
        self.sections.append(
            ReportSection(
                id=name,
                title=title or question or _("Section {number}").format(number=place),
                key_question=question,
                markdown="",
                status=plan.status,
                claims=tuple(claim for _, claims in blocks for claim in claims),
                paragraphs=tuple(tuple(claim.id for claim in claims) for _, claims in blocks),
                headings=tuple(heading for heading, _ in blocks),
                answer=tuple(map(as_claim, printable.answer)),
                passages=passages,
            )
        )

    def _with_quotes(self, draft: DraftClaim) -> DraftClaim:
        """Keep the quotes of a sentence that stand; it falls where one of its works has none left."""
        result = self.supports(draft.support)
        lost_ids = {s.evidence_id for s in draft.support} - {s.evidence_id for s in result.support}
        reasons = result.refused if lost_ids else ()
        if not draft.support and draft.kind not in WITHOUT_QUOTES:
            reasons = (Statement.of("cites_nothing"),)
        if not clean(draft.text):
            reasons = (Statement.of("claim_empty"),)
        if draft.state != "stands" or not reasons:
            return draft.replace(support=result.support)
        self.quotes_refused += len(result.refused) if result.support else 0
        return draft.replace(support=result.support, state="refused", problem=reasons[0])

    def _blocks(self, draft: SectionDraft, section: str) -> list[tuple[str, list[Claim]]]:
        """Return the heading and the claims of each paragraph, list and table."""
        blocks = []
        for paragraph in draft.paragraphs:
            claims = []
            carrying = bases_of(paragraph.claims)
            for claim in map(as_claim, paragraph.claims):
                key = normalise(claim.text).casefold()
                is_needed = claim.letter or claim.id in carrying
                if claim.support and not is_needed and (earlier_id := self._ids_by_text.get(key)):
                    self.drop_repeated(claim, earlier_id, section)
                else:
                    claims.append(claim)
                    if not claim.letter:
                        self._ids_by_text[key] = claim.id
            blocks.append((clean(paragraph.heading.text) if paragraph.heading else "", claims))
        return headed(blocks)

    def drop_repeated(self, claim: Claim, earlier_id: str, section: str) -> None:
        self.repeats[claim.id] = earlier_id
        ids = (support.evidence_id for support in claim.support)
        self.drop(claim.text, [Statement.of("repeats_claim", claim=earlier_id)], "claim", section, ids)

    def _passage(self, passage: Passage, section: str) -> QuotedPassage | None:
        """Keep the quotes of a passage that stand, and the text around them; None without any."""
        name = passage.evidence_id
        result = self.supports(Support(evidence_id=name, quote=quote) for quote in passage.quotes)
        if result.refused and not result.support:
            self.drop(" ".join(map(clean, passage.quotes)), result.refused, "claim", section, [name])
            return None
        self.quotes_refused += len(result.refused)
        text = normalise(self.documents[name].text)
        around = {
            side: value if normalise(value) in text else ""
            for side, value in (("before", clean(passage.before)), ("after", clean(passage.after)))
        }
        quotes = tuple(support.quote for support in result.support)
        return QuotedPassage.model_validate({**passage.model_dump(), **around, "quotes": quotes})


def _quotes(passages: Iterable[Passage], section: str) -> list[list[Claim]]:
    """Make of each passage a paragraph of claims whose text is their quote."""
    places = count(1)

    def claim(passage: Passage, quote: str) -> Claim:
        support = Support(evidence_id=passage.evidence_id, quote=quote)
        return Claim(id=f"{section}.{next(places)}", text=clean(quote), support=(support,), quoted=True)

    return [[claim(passage, quote) for quote in passage.quotes] for passage in passages]


def _of_letter(claim: DraftClaim) -> str:
    reason = reasons_text([claim.problem]) if claim.problem else sentence(Statement.of("not_read"))
    return f"{in_quotes(shortened(clean(claim.text), MAX_CUT_CHARS))} ({reason})."


def reasons_text(reasons: Iterable[Statement]) -> str:
    return "; ".join(dict.fromkeys(map(sentence, reasons)))


def check_judgements(
    judgements: Iterable[WorkJudgement], refs: Iterable[EvidenceRef], checks: Checks
) -> tuple[JudgedWork, ...]:
    """Check the judgements, each work once; of one whose text is not at hand nothing is quoted."""
    by_id = {ref.evidence_id: ref for ref in refs}
    works: dict[str, JudgedWork] = {}
    for judgement in judgements:
        name = judgement.evidence_id
        item = checks.documents.get(name)
        work = JudgedWork.model_validate(judgement.model_dump())
        if (record := item or by_id.get(name)) is not None:
            title, kind = clean(record.title), record.evidence_type
            work = work.replace(title=title, year=record.year, evidence_type=kind)
        result = checks.supports(judgement.support if item else ())
        if result.refused:
            checks.drop(clean(judgement.finding), result.refused, "judgement", "", [name])
        if item is None or checks.supports(judgement.design_support).refused:
            work = work.replace(design="", design_support=(), participants=None)
        work = work.replace(
            finding="" if item is None or result.refused else clean(judgement.finding),
            support=result.support,
            comparator=clean(judgement.comparator) if item else "",
            reason=" ".join(clean(judgement.reason).split()[:MAX_REASON_WORDS]),
        )
        works.setdefault(name, work)
    return tuple(works.values())


@dataclass(frozen=True, slots=True)
class CheckedEdit:
    title: str = ""
    answer: tuple[Claim, ...] = ()
    mechanism: tuple[Claim, ...] = ()


def check_edit(edit: Edited, checks: Checks) -> CheckedEdit:
    """Return what is printed of the editor's work, once repetitions are removed from the sections."""
    checks.drop_refused(edit.refused)
    claims = {claim.id: claim for claim in checks.claims}
    _remove_repeated(edit.repeated, checks)
    return CheckedEdit(
        title=clean(edit.title),
        answer=_printable_sentences(edit.answer, claims, checks),
        mechanism=_printable_sentences(edit.mechanism, claims, checks, in_place=False),
    )


def _printable_sentences(
    sentences: Sequence[EditedSentence], claims: Mapping[str, Claim], checks: Checks, *, in_place: bool = True
) -> tuple[Claim, ...]:
    """Keep the sentences that stand, each once; `in_place`: where most fall, their claims with them.

    Taken out of their section claims read badly: few that fall have no others in their place."""
    standing: list[Claim] = []
    with_bases: list[Claim] = []
    for row in sentences:
        names = tuple(dict.fromkeys(_base_of(name, checks.repeats) for name in row.claims))
        if (problem := _problem(row, names, claims, checks)) is None:
            standing.append(as_claim(row).replace(rests_on=names))
            with_bases.append(standing[-1])
            continue
        checks.drop_refused([refusal_of(row.replace(problem=problem), "summary")])
        with_bases += (claims[name] for name in names if name in claims)
    is_thin = in_place and 2 * len(standing) < len(sentences)
    first_claims: dict[str, Claim] = {}
    for claim in with_bases if is_thin else standing:
        first_claims.setdefault(claim.text, claim)
    return tuple(first_claims.values())


def _problem(
    sentence: EditedSentence, names: Sequence[str], claims: Collection[str], checks: Checks
) -> Statement | None:
    if sentence.state != "stands":
        return sentence.problem or Statement.of("not_read")
    if not names or any(name not in claims for name in names):
        return Statement.of("rests_on_dropped")
    return next(iter(checks.supports(sentence.support).refused), None)


def _base_of(name: str, repeats: Mapping[str, str]) -> str:
    """Follow a claim that was left out as a repetition to the one that says the same."""
    while name in repeats:
        name = repeats[name]
    return name


def _remove_repeated(pairs: Sequence[tuple[str, str]], checks: Checks) -> None:
    """Leave out the claims that another one which stands says.

    A text that leaves the report stays whole, and stands for nothing in the report."""
    by_id = {claim.id: (claim, section) for section in checks.sections for claim in section.claims}
    letters = {name for name, (claim, _section) in by_id.items() if claim.letter}
    carrying = {
        name for section in checks.sections for _, claims in blocks_of(section) for name in bases_of(claims)
    }
    for name, base in dict(pairs).items():
        stays = name in carrying or not letters.isdisjoint((name, base))
        if name in by_id and base in by_id and base != name and not stays:
            claim, section = by_id.pop(name)
            checks.drop_repeated(claim, base, section.id)
    for place, section in enumerate(checks.sections):
        blocks = headed(
            (heading, [claim for claim in claims if claim.id in by_id])
            for heading, claims in blocks_of(section)
        )
        checks.sections[place] = section.replace(
            claims=tuple(claim for claim in section.claims if claim.id in by_id),
            paragraphs=tuple(tuple(claim.id for claim in claims) for _, claims in blocks),
            headings=tuple(heading for heading, _ in blocks),
        )
