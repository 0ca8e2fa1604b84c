"""Verifier: the second reader. It says whether the works say what a sentence says, and by which sentences.

Its prompt begins as the writer's does, with the same works in the same order and under the same labels; the
sentences follow, each with the works that it cites, and among them control sentences by which the reader is
measured (`activities.verification.controls`).
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Literal, get_args

from activities.contracts.evidence import Evidence, Statement, Support, Vigilance
from activities.contracts.write import DraftClaim, SentenceKind, SentenceVerdict, Verdicts, VerifyInput
from activities.models.base import BYTES_PER_TOKEN, estimate
from activities.roles.allowances import MAX_CHARS_TOGETHER
from activities.roles.fields import Loose, OneClaim, SentenceLabels, Text, Truth, limits
from activities.roles.prompt import clip, fence, one_line
from activities.roles.role import Accepted, Prompt, RoleSpec
from activities.roles.validation import line, one_of, resolve, supports
from activities.roles.works import MAX_SENTENCE_CHARS, compose_works
from activities.text.numbers import figures
from activities.text.sentences import Sentence, language_in
from activities.text.tokens import terms
from activities.verification import gate
from activities.verification.computed import Computations
from activities.verification.controls import Control, controls, mix
from activities.verification.quotes import carrying_quotes

Supported = Literal["yes", "partly", "no"]
SUPPORTED: tuple[Supported, ...] = get_args(Supported)
SHARE_OF_SENTENCES = 0.4
"""The share of the prompt's room, for the sentences; the rest is for the works."""
MAX_LAYOUTS = 3
"""Times that the works are laid out: in their room, in what the sentences leave, in the least of it."""
ROUNDING = 8
"""Tokens by which estimates of parts may fall short of that of the whole."""
MAX_CARRYING = 16
"""Sentences that are named as carrying one: as many as a writer may rest it on."""
MAX_TRANSLATIONS = 24
"""Quotes in another language than the report that are translated."""
MIN_COMMON = 0.6
"""Share of the words of a sentence without works from which it says what a work says."""
_DIGITS = re.compile(r"\d+")
MAX_CUT = 16
"""Quotes of a sentence that are shown beside it, since the works are not shown whole."""
TASK = "Give a verdict on every sentence (C1, C2 ...). Answer with JSON."
MARKS: dict[SentenceKind, str] = {
    "transition": " (a heading)",
    "translation": " (a translation: `yes` only if it says what that sentence says, no more, no less)",
    "background": " (general knowledge: `yes` only if it is established and bears on the question)",
}
"""Behind the label of a sentence that is more than a finding."""


class VerdictAnswer(Loose):
    claim: OneClaim = ""
    supported: Text = ""
    sentences: SentenceLabels = limits(items=MAX_CARRYING, default_factory=list)
    leans: Truth = None
    reason: Text = limits(length=120, default="")


class VerdictsAnswer(Loose):
    verdicts: list[VerdictAnswer]


class _Rows:
    """The sentences as lines, as many as there is room for."""

    def __init__(self, works: Prompt, room: int) -> None:
        sentences = works.sentences
        self._works = {document.evidence_id: label for label, document in works.works.items()}
        self.labels = dict(sentences)
        """The sentences that a verdict may name: those of the works, and quotes that were cut off these."""
        self.lines: list[str] = []
        self.claims: dict[str, str] = {}
        self.controls: dict[str, Control] = {}
        self._room = int(room * BYTES_PER_TOKEN)
        self._computations: set[str] = set()
        """The computations that stand above."""
        self._labels_by_text: dict[str, str] = {}
        """Text of a sentence that stands above -> its label."""

    @property
    def size(self) -> int:
        """Tokens of the lines."""
        return estimate("\n".join(self.lines))

    def add(self, row: DraftClaim | Control) -> bool:
        """Add a sentence; False where there is no room for it."""
        label = f"C{len(self.lines) + 1}"
        sentence = row.sentence if isinstance(row, Control) else row
        quotes = self._cut(sentence)
        text = self._text(label, sentence, quotes)
        if (remaining := self._room - len(text.encode()) - 1) < 0:
            return False
        self._room = remaining
        self._computations.update(sentence.computed)
        self.labels |= quotes
        self.lines.append(text)
        if isinstance(row, Control):
            self.controls[label] = row
        else:
            self.claims[label] = sentence.id
            self._labels_by_text[one_line(sentence.text)] = label
        return True

    def _cut(self, sentence: DraftClaim) -> dict[str, Sentence]:
        """Label the quotes of a sentence that the works are not shown with."""
        pairs = {(source.evidence_id, source.quote) for source in self.labels.values()}
        quotes = [s for s in sentence.support if (s.evidence_id, s.quote) not in pairs][:MAX_CUT]
        first = len(self.labels) + 1
        return {f"S{first + n}": Sentence(s.evidence_id, s.quote, 0.0) for n, s in enumerate(quotes)}

    def _text(self, label: str, sentence: DraftClaim, sources: Mapping[str, Sentence]) -> str:
        marks = [self._works[name] for name in gate.works_of(sentence) if name in self._works]
        quote_lines = [
            f'   {mark} is "{clip(one_line(s.quote), MAX_SENTENCE_CHARS)}"' for mark, s in sources.items()
        ]
        rests = f" [{', '.join(marks)}]" if marks else ""
        before = one_line(sentence.after)
        above = next((name for text, name in self._labels_by_text.items() if before.endswith(text)), before)
        is_next = above == f"C{len(self.lines)}"
        after = [f"   after: {above}"] if before and not is_next else []
        expressions = [expression for expression in sentence.computed if expression not in self._computations]
        computed = (f"   computed: {one_line(expression)}" for expression in expressions)
        proposed = [f"   proposes: {', '.join(sentence.proposed)}"] if sentence.proposed else []
        disputed = [f"   disputed: {one_line(sentence.disputed)}"] if sentence.disputed else []
        head = f"{label}{rests}{MARKS.get(sentence.kind, '')}: {one_line(sentence.text)}"
        return "\n".join([head, *after, *quote_lines, *computed, *proposed, *disputed])


def render(step: VerifyInput, documents: Sequence[Evidence], room: int) -> Prompt:
    """Lay out the works, name the sentences by the labels of what is shown, and put both together.

    The works are laid out for what the sentences leave, and at last for the most that these may take, so that
    the labels of the sentences are always those of the works beside them.
    """

    def compose_with(lines: Sequence[str], works_room: int) -> Prompt:
        return compose_works(
            "verifier",
            step,
            documents,
            room=room,
            inputs=[
                "Sentences:\n" + fence("claims", "\n".join(lines)),
            ],
            judgements=step.judgements,
            task=TASK,
            together=MAX_CHARS_TOGETHER,
            max_tokens=works_room,
        )

    shared_room = compose_with((), room).works_room - ROUNDING
    rows_room = max(min(int(room * SHARE_OF_SENTENCES), shared_room // 2), 0)
    works_room = min(step.works_room or int(room * (1 - SHARE_OF_SENTENCES)), shared_room)
    for attempt in range(MAX_LAYOUTS):
        works = compose_with((), max(works_room, 1))
        rows = _Rows(works, rows_room)
        control_rows = controls(step.sentences, tuple(works.sentences.values()), step.near_misses)
        for sentence in mix(step.sentences, control_rows):
            if not rows.add(sentence):
                break
        if works_room + rows.size <= shared_room:
            break
        works_room = shared_room - (rows_room if attempt else rows.size)
    prompt = compose_with(rows.lines, max(works_room, 1))
    choices: dict[str, tuple[str, ...]] = {
        "ClaimLabel": (*rows.claims, *rows.controls),
        "SentenceLabel": tuple(rows.labels),
        "verdicts.supported": SUPPORTED,
    }
    return replace(
        prompt,
        sentences=rows.labels,
        claims=rows.claims,
        controls=rows.controls,
        choices=choices,
        notes=(),
    )


def accept(step: VerifyInput, prompt: Prompt, answer: VerdictsAnswer) -> Accepted[Verdicts]:
    """Accept verdicts on the sentences that were asked about, as far as code can bear them out.

    Of two on one sentence the stricter one counts; a sentence without a verdict stays open. Control sentences
    are counted.
    """
    sentences = {sentence.id: sentence for sentence in step.sentences}
    documents = {document.evidence_id: document for document in prompt.works.values()}
    strictest: dict[str, tuple[int, VerdictAnswer]] = {}
    for verdict in answer.verdicts:
        label, supported = verdict.claim, one_of(verdict.supported, SUPPORTED)
        if supported is not None and (label in prompt.claims or label in prompt.controls):
            severity = SUPPORTED.index(supported)
            if label not in strictest or strictest[label][0] < severity:
                strictest[label] = severity, verdict
    foreign = {name for name, work in documents.items() if language_in(work) != step.language}
    cited_values = {
        value
        for sentence in step.sentences
        if sentence.cites
        for number in figures(sentence.text)
        for value in number.values
    }
    verdicts: list[SentenceVerdict] = []
    outcomes: list[tuple[Control, bool]] = []
    confirmed_ids: set[str] = set()
    for label, (severity, verdict) in strictest.items():
        support = supports(resolve(verdict.sentences, prompt)[0])
        control = prompt.controls.get(label)
        sentence = control.sentence if control else sentences[prompt.claims[label]]
        reason = line(verdict.reason, 160)
        problem = gate.objection(sentence, SUPPORTED[severity], support, reason)
        if control is not None:
            # a yes that names nothing was said without looking
            is_blind = SUPPORTED[severity] == "yes" and not support and not control.is_true
            outcomes.append((control, problem is not None and not is_blind))
            continue
        if problem is None:
            confirmed_ids.add(sentence.id)
        quotes: tuple[Support, ...] = ()
        support = _pick(sentence, support, foreign)
        if problem is None:
            context = "\n".join((step.question, *(head for head, _ in sentence.cells)))
            if not sentence.cites and not _says(sentence, support, foreign):
                support = _stating_figures(sentence, support, cited_values)
            if support or sentence.support:
                quotes = carrying_quotes(sentence, support, documents, context)
            problem = _missing_number(sentence, quotes, documents, context) if sentence.cites else None
        new_support = quotes if quotes != sentence.support else ()
        leans = verdict.leans is True and not sentence.is_row
        verdicts.append(SentenceVerdict(id=sentence.id, problem=problem, support=new_support, leans=leans))
    untranslated = [
        quote
        for verdict in verdicts
        if verdict.problem is None
        for quote in verdict.support or sentences[verdict.id].support
        if quote.evidence_id in foreign
    ]
    return Accepted(
        Verdicts(
            verdicts=tuple(verdicts),
            untranslated=tuple(dict.fromkeys(untranslated))[:MAX_TRANSLATIONS],
            vigilance=_vigilance(outcomes, confirmed_ids),
        )
    )


def _vigilance(outcomes: Iterable[tuple[Control, bool]], confirmed_ids: Collection[str]) -> Vigilance:
    """Count the control sentences, each with whether it was refused.

    An error that was made of a sentence which the reader did not confirm shows nothing: it may be true."""
    vigilance = Vigilance()
    for control, is_refused in outcomes:
        if control.is_true:
            vigilance += Vigilance(true=1, refused=is_refused)
        elif not control.made_of or control.made_of in confirmed_ids:
            vigilance += Vigilance(planted=1, noticed=is_refused)
    return vigilance


def _pick(sentence: DraftClaim, support: Sequence[Support], foreign: Collection[str]) -> tuple[Support, ...]:
    """Return the quotes with a word or a figure of a sentence; all of a work that it cites, where none has.

    A reader who names many labels slips in some. In another language than that of the report words do not
    tell."""
    text = "\n".join((sentence.text, *sentence.computed))
    words, digits = set(terms(text)), set(_DIGITS.findall(text))  # of dates and clauses as well

    def touches(quote: str) -> bool:
        return not (words.isdisjoint(terms(quote)) and digits.isdisjoint(_DIGITS.findall(quote)))

    touching = {s for s in support if s.evidence_id in foreign or touches(s.quote)}
    missing_ids = {*sentence.cites}.difference(s.evidence_id for s in touching)
    return tuple(s for s in support if s in touching or s.evidence_id in missing_ids) or tuple(support)


def _says(sentence: DraftClaim, named_quotes: Sequence[Support], foreign: Collection[str]) -> bool:
    """Tell whether a sentence without a citation says what a reader names for it, or only follows from it.

    Advice and weighing rest on their neighbours; most words of a finding are those of its work. In another
    language than that of the report words do not tell."""
    words = set(terms(sentence.text))
    quotes = [support.quote for support in named_quotes]
    if any(support.evidence_id in foreign for support in named_quotes):
        return True
    common = words.intersection(term for quote in quotes for term in terms(quote))
    return len(common) >= MIN_COMMON * len(words) > 0


def _stating_figures(
    sentence: DraftClaim, support: Sequence[Support], cited_values: Collection[Decimal]
) -> tuple[Support, ...]:
    """Return the quotes that state a figure of a sentence that cites nothing.

    None for one that others print with their works, that is computed, or of one digit, which stands in many
    by chance."""
    computed_values = {
        value for row in sentence.computed for number in figures(row) for value in number.values
    }
    values = {
        value
        for number in figures(sentence.text)
        if number.percent or sum(map(str.isdigit, number.text)) != 1
        for value in number.values
    }.difference(cited_values, computed_values)
    return tuple(s for s in support if any(values & number.values for number in figures(s.quote)))


def _missing_number(
    sentence: DraftClaim, quotes: Sequence[Support], documents: Mapping[str, Evidence], context: str
) -> Statement | None:
    """Tell which number of a sentence no work has that carries it; None where each has its work."""
    decision = gate.sentence(
        sentence.text,
        [*dict.fromkeys(quote.evidence_id for quote in quotes)],
        documents,
        context,
        quotes=[*sentence.computed, *(quote.quote for quote in quotes)],
        computations=Computations(sentence.computed, sentence.computed, sentence.computed),
        is_row=sentence.is_row,
    )
    return decision.refusal if decision.refusal and decision.refusal.code in gate.NUMERIC else None


VERIFIER = RoleSpec(
    "verifier",
    VerdictsAnswer,
    render,
    accept,
    lambda *_: Verdicts(),
    reads=True,
    idle=lambda step, _: not step.sentences,
)
