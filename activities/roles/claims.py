"""The sentences, items and rows that a writer hands in, and the claims that they become.

Each has the labels of all sentences it rests on. Code fills in the quotes, and the gate decides of every one
(`activities.verification.gate`).
"""

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import Annotated, Literal, get_args

from pydantic import BeforeValidator

from activities.contracts.evidence import Support
from activities.contracts.judge import Refused
from activities.contracts.write import DraftClaim
from activities.roles.fields import Fields, Loose, SentenceLabels, Text, Texts, Truth, limits
from activities.roles.role import Prompt
from activities.roles.validation import cited, line, refusal, sentence_text, supports
from activities.verification import gate
from activities.verification.computed import MAX_EXPRESSION_CHARS
from activities.verification.gate import MAX_CLAIM_CHARS

MAX_CLAIMS = 40
"""Rows of a table, items of a list, sentences of a paragraph."""
MAX_COLUMNS = 7
MAX_FIELD_CHARS = 300
MAX_HEADING_CHARS = 80
WrittenKind = Literal["finding", "synthesis", "computed", "missing"]
"""The kinds of sentences that a writer names; the first where it names none."""
KINDS: tuple[WrittenKind, ...] = get_args(WrittenKind)
MAX_LABELS = 16
"""Sentences that one sentence may rest on."""
MAX_COMPUTED = 12
"""Computations that one sentence shows."""
MAX_PASSES = 40
"""Times that sentences are decided on, since one may be computed of what another one shows: a balance goes on
from that of the row above."""
Form = Literal["paragraph", "list", "table"]
FORMS: tuple[Form, ...] = get_args(Form)


class Rested(Loose):
    text: Text = limits(length=MAX_CLAIM_CHARS, default="")
    rests_on: SentenceLabels = limits(items=MAX_LABELS, default_factory=list)


class Written(Rested):
    kind: Annotated[WrittenKind, BeforeValidator(lambda kind: kind if kind in KINDS else KINDS[0])] = KINDS[0]
    computed: Texts = limits(items=MAX_COMPUTED, length=MAX_EXPRESSION_CHARS, default_factory=list)
    leans: Truth = None
    begins: Truth = None
    lead: Text = limits(length=MAX_HEADING_CHARS, default="")
    """The lead of an item of a list."""
    cells: Fields = limits(items=MAX_COLUMNS, length=MAX_FIELD_CHARS, default_factory=list)
    """The cells of a row of a table."""


class WrittenBlock(Loose):
    section: Text = limits(length=8, default="")
    form: Annotated[Form, BeforeValidator(lambda form: form if form in FORMS else FORMS[0])] = FORMS[0]
    heading: Text = limits(length=MAX_HEADING_CHARS, default="")
    columns: Fields = limits(items=MAX_COLUMNS, length=MAX_HEADING_CHARS, default_factory=list)
    claims: list[Written] = limits(items=MAX_CLAIMS, default_factory=list)


PARAGRAPH = WrittenBlock()


def claims_of(
    written: Iterable[Written], prompt: Prompt, refused: list[Refused], block: WrittenBlock = PARAGRAPH
) -> tuple[DraftClaim, ...]:
    """Make sentences, items or rows claims, each once.

    One that may not go without a quote and names nothing that was shown is recorded in `refused`.
    """
    claims: dict[str, DraftClaim] = {}
    for place, sentence in enumerate(written):
        claim = shaped(sentence, block)
        if not claim.text:
            continue
        sentences, unknown = cited(sentence.rests_on[:MAX_LABELS], prompt)
        claim = checked(claim, supports(sentences), prompt, sentence.computed, unknown)
        if claim.state == "refused" and not claim.support:
            label = ", ".join(unknown)
            code = "label_unknown" if unknown else claim.problem or "cites_nothing"
            refused.append(refusal("claim", claim.text, code, **{"label": label} if unknown else {}))
            continue
        leans = bool(place and sentence.leans and not claim.cells)
        claims.setdefault(claim.text, claim.replace(leans=leans, begins=bool(place and sentence.begins)))
    return tuple(claims.values())


def shaped(written: Written, block: WrittenBlock) -> DraftClaim:
    """Make a claim in the form of its block; fields without headings are a sentence."""
    heads = [line(head, MAX_HEADING_CHARS) for head in block.columns[:MAX_COLUMNS]]
    fields = [*map(sentence_text, written.cells)]
    claim = DraftClaim(text=sentence_text(written.text) or "; ".join(filter(None, fields)), kind=written.kind)
    if block.form == "table" and len(heads) > 1 and any(fields):
        fields[len(heads) - 1 :] = ["; ".join(filter(None, fields[len(heads) - 1 :]))]
        return claim.shaped(zip_longest(heads, fields, fillvalue=""))
    lead = line(written.lead, MAX_HEADING_CHARS).rstrip(".: \u3002\uff1a")
    return claim.shaped([(lead, claim.text)]) if block.form == "list" and claim.text else claim


def checked(
    claim: DraftClaim,
    support: tuple[Support, ...],
    prompt: Prompt,
    shown: Sequence[str] = (),
    unknown: Sequence[str] = (),
) -> DraftClaim:
    """Return a claim on its support, with what the gate decides of it. `shown`: its computations.

    A row loses the fields whose figures do not follow, and stands with the others; `problem` says why. Each
    figure has its quote where one sentence of the cited works alone states it."""
    documents = {document.evidence_id: document for document in prompt.shown.values()}
    claim = claim.replace(support=() if claim.kind == "missing" else support)
    if unknown and support:
        return gate.decided(claim, gate.refused("label_unknown", label=", ".join(unknown)))
    headings = gate.stated_headings([head for head, _ in claim.cells], documents.values())
    about = "\n".join((prompt.question, *prompt.stated, *headings))

    def decide(text: str) -> gate.Decision:
        return gate.sentence(
            text,
            claim.kind,
            claim.support,
            documents,
            about,
            shown=shown,
            results=prompt.results,
            is_row=claim.is_row,
        )

    decision = decide(claim.text)
    while len(claim.support) < MAX_LABELS and (operand := _operand_missing(decision)):
        quoted = gate.quote_of_operand(
            operand, {row.evidence_id for row in claim.support}, prompt.sentences.values()
        )
        if quoted is None or quoted in claim.support:
            break
        claim = claim.replace(support=(*claim.support, quoted))
        decision = decide(claim.text)
    problem = decision.refusal
    if claim.is_row and problem is not None and problem.code in gate.NUMERIC:
        (head, label), *others = claim.cells
        fields = [(name, "" if field and decide(field).refusal else field) for name, field in others]
        row = claim.shaped([(head, label), *fields])
        if label and any(field for _, field in fields) and (rest := decide(row.text)).refusal is None:
            claim, decision = row, rest
    claim = gate.decided(claim, decision).replace(problem=problem)
    if claim.state == "ask":
        quotes = gate.quotes_of_figures(claim, [documents[s.evidence_id] for s in claim.support], about)
        claim = claim.replace(support=tuple(dict.fromkeys((*claim.support, *quotes))))
    return claim


def _operand_missing(decision: gate.Decision) -> str:
    """Return the number or date that a computation takes from none of its quotes, if that is the refusal."""
    problem = decision.refusal
    return problem.text("operand") if problem is not None and problem.code == "operand_missing" else ""


def results_of(claims: Iterable[DraftClaim]) -> tuple[str, ...]:
    """Return the computations that hold, each once, also of sentences that are refused for another reason."""
    return tuple(dict.fromkeys(row for claim in claims for row in claim.computed))
