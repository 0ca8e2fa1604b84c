"""The wording of statements: every limitation, reason and note of a report, by its code.

Code decides and compares statements by code and values; only the formats read the sentences. A template is
filled with the statement's values; where number or lists change the sentence, a function words it.
"""

from collections.abc import Callable, Iterable, Mapping

from activities.contracts.evidence import MODEL_REFUSED, MODEL_SILENT, Statement
from activities.contracts.stop_reasons import STOPS
from activities.extras import install
from activities.plural import counted
from activities.report.formats.text import clean, listed
from activities.text.normal_form import MIN_QUOTE_CHARS

TEXT = "text"
"""A sentence that came as text, from a model or from a run recorded before statements existed."""

_NEXT = (
    "ask by another name of the same thing, ask of one thing at a time, or add a source (--source) or a"
    " folder of documents (--library)"
)
"""What a person can do about a question to which nothing comes near."""
_FAILED: Mapping[str, str] = {
    "rate_limited": "the source's rate limit",
    "unavailable": "an outage",
    "malformed": "an answer that could not be read",
    "refused": "a refusal",
}
SOURCES: Mapping[str, str] = {
    "openfda": "openFDA",
    "clinicaltrials": "ClinicalTrials.gov",
    "chembl": "ChEMBL",
    "opentargets": "Open Targets",
    "uniprot": "UniProt",
    "reactome": "Reactome",
    "vocabulary": "vocabulary of drugs",
}
"""Names of sources for readers."""
_SECTION: Mapping[str, tuple[str, str]] = {
    "partial": ("is incomplete", "are incomplete"),
    "failed": ("could not be researched", "could not be researched"),
    "cancelled": ("was cancelled", "were cancelled"),
}


def source_title(name: str) -> str:
    return SOURCES.get(name, clean(name))


def plain(text: str) -> Statement:
    """A sentence that no code has to understand."""
    return Statement.of(TEXT, text=text)


def as_statement(value: Statement | str) -> Statement:
    return value if isinstance(value, Statement) else plain(value)


def sentence(statement: Statement) -> str:
    """The statement in words, as plain text on one line. Never raises: a statement with a code or values that
    this version does not know is printed with its values."""
    wording = WORDING.get(statement.code)
    if wording is None:
        return _unknown(statement)
    try:
        return clean(wording(statement) if callable(wording) else _filled(wording, statement))
    except (KeyError, IndexError, ValueError):
        return _unknown(statement)


def sentences(statements: Iterable[Statement]) -> tuple[str, ...]:
    """The statements in words, each sentence once."""
    return tuple(dict.fromkeys(filter(None, map(sentence, statements))))


def _filled(template: str, statement: Statement) -> str:
    return template.format(**{name: _Value(statement, name) for name in statement.values})


class _Value:
    """A value in a template: `{claims}` is its text, `{claims:#claim}` counts (`1 claim`, `2 claims`; another
    plural after a bar), `{claims:is|are}` is the word that fits the number."""

    def __init__(self, statement: Statement, name: str) -> None:
        self.text, self.number = clean(statement.text(name)), statement.number(name)

    def __format__(self, spec: str) -> str:
        if not spec:
            return self.text
        one, _, many = spec.removeprefix("#").partition("|")
        if spec.startswith("#"):
            return counted(self.number, one, many)
        return one if self.number == 1 else many


def _unknown(statement: Statement) -> str:
    values = ", ".join(f"{name}: {clean(statement.text(name))}" for name in statement.values)
    return clean(f"{statement.code.replace('_', ' ').capitalize()}{f' ({values})' if values else ''}.")


def _because(statement: Statement) -> str:
    """How a run ended, or what was used up."""
    reason = statement.text("because") or statement.text("stop_reason")
    return STOPS[reason].because if reason in STOPS else reason.replace("_", " ")  # type: ignore[index]


def _searches_failed(s: Statement) -> str:
    failed = s.number("failed")
    status = s.text("status")
    return (
        f"{failed} of {counted(s.number('of'), 'search', 'searches')} of {s.text('source')} failed through "
        f"{_FAILED.get(status, status)} ({status}): what {'it' if failed == 1 else 'they'} would have found "
        "is not known."
    )


def _section_incomplete(s: Statement) -> str:
    titles = [f'"{title}"' for title in s.texts("titles")]
    one, many = _SECTION.get(s.text("status"), ("is incomplete", "are incomplete"))
    note = f": {s.text('note').rstrip('. ')}" if s.text("note").strip() else ""
    if len(titles) == 1:
        return f"The section {titles[0]} {one}{note}."
    return f"The sections {listed(titles)} {many}{note}."


def _no_item_answers(s: Statement) -> str:
    count = s.number("items")
    if count == 1:
        text = "the only item found does not answer it"
    else:
        text = f"none of the {count} items found answers it" if count else "nothing found answers it"
    return text + _was_asked(s)


def _nothing_near(s: Statement) -> str:
    count = s.number("items")
    subject = f"of {counted(count, 'item')} none" if count else "nothing that was found"
    return f"{subject} has a passage that is near enough to the question{_was_asked(s)}"


def _was_asked(s: Statement) -> str:
    """What was asked of which source and what to do next, as further sentences; empty where not known."""
    rows = zip(s.texts("sources"), s.texts("queries"), s.texts("gave"), strict=True)
    asked = [f"{source_title(source)} \u201c{query}\u201d ({_gave(gave)})" for source, query, gave in rows]
    if not asked:
        return ""
    return f". Asked: {'; '.join(asked)}. Next: {_NEXT}"


def _gave(gave: str) -> str:
    if not gave.isdigit():
        return f"no answer: {gave.replace('_', ' ')}"
    return counted(int(gave), "record") if int(gave) else "no record"


def _not_supported(s: Statement) -> str:
    how = "only partly say" if s.text("verdict") == "partly" else "do not say"
    why = s.text("reason").rstrip(". ")
    return f"a second reader finds that its quotes {how} it{f': {why}' if why else ''}"


def _of_judgements(s: Statement) -> str:
    works, direct, sided = s.number("works"), s.number("direct"), s.number("sided")
    verb = "answers" if works == 1 else "answer"
    directly = ("directly" if direct else "in part") if works == 1 else f"{direct} of them directly"
    agreed = f"; {s.number('agreeing')} of the {sided} that take a side agree" if sided > 1 else ""
    return f"{counted(works, 'independent work')} {verb}, {directly}{agreed}."


def _nothing_found(s: Statement) -> str:
    failed = s.number("failed")
    rest = f"; {failed} of {s.number('searches')} searches failed" if failed else ""
    return f"the searches that were answered found nothing{rest}{_was_asked(s)}"


def _items_not_shown(s: Statement) -> str:
    missing, of = s.number("missing"), s.number("of")
    if not s.text("step"):
        return (
            "The model was not shown every item in every step, so that its prompts would fit: at most "
            f"{missing} of {of} items were left out of a step."
        )
    return (
        f"{s.text('step')}: {missing} of {of} items were not shown to the model, so that the prompt would "
        "fit."
    )


def _standing_unknown(s: Statement) -> str:
    items, of = s.number("items"), s.number("of")
    whom = "the cited items have" if items == of else f"{items} of {counted(of, 'cited item')} have"
    return f"Whether {whom} been retracted or corrected is not known."


def _abstract_only(s: Statement) -> str:
    items, of = s.number("items"), s.number("of")
    whom = "each cited item" if items == of else f"{items} of {counted(of, 'cited item')}"
    return f"Only the abstract or a summary was read of {whom}."


_LOST = (
    " {claims_lost} of its claims {claims_lost:rests|rest} on nothing else and {claims_lost:is|are} left out "
    "here; the verification names {claims_lost:it|each}."
)


def _new_version(s: Statement) -> str:
    changes = "; ".join(s.texts("changes"))
    text = f" What has become known of its references since, by their numbers there: {changes}."
    return (
        f"This is version {s.text('version')}, of {s.text('at')}, of a report of {s.text('first_at')}."
        f"{text if changes else ''}{_filled(_LOST, s) if s.number('claims_lost') else ''}"
        f"{_new_works(s.texts('new_works'))}"
    )


def _new_works(titles: tuple[str, ...]) -> str:
    if not titles:
        return ""
    named = "; ".join(f'"{title}"' for title in titles[:NEW_WORKS_NAMED])
    more = len(titles) - NEW_WORKS_NAMED
    return (
        f" Its searches, repeated, found {counted(len(titles), 'work')} that the run had not found and that "
        f"no claim here rests on: {named}{f', and {more} more' if more > 0 else ''}."
    )


NEW_WORKS_NAMED = 10
"""New works that a report names; the record of the version has all."""


def _unanswered(s: Statement) -> str:
    why = sentence(Statement(code=s.text("because"), values=s.values))
    return f"The question is not answered: {why.rstrip('.')}."


Wording = str | Callable[[Statement], str]
WORDING: Mapping[str, Wording] = {
    TEXT: lambda s: s.text("text"),
    # the run as a whole
    "sample_only": "Only the bundled sample library was searched, 600 abstracts: no other source served.",
    "draft": "This is a draft: it waits for a reviewer's approval.",
    "unanswered": _unanswered,
    "stopped_early": lambda s: f"The research stopped early: {_because(s)}.",
    "section_incomplete": _section_incomplete,
    "section_without_claims": "No claim is made here: nothing that was found answers it.",
    "section_stands_elsewhere": "What was found for this section is said elsewhere in this report.",
    "section_claims_refused": "No claim written for this section passed the checks.",
    "section_not_researched": lambda s: (
        f"No claim is made here{f': {note}' if (note := s.text('note').rstrip('. ')) else ''}."
    ),
    "new_version": _new_version,
    "revised_version": lambda s: (
        f"This is version {s.text('version')} of the report, made {s.text('at')} as "
        f"{s.text('by') or 'somebody'} asked ({s.text('kind')}: {s.text('text')})."
    ),
    # why there is no answer: ends of a sentence
    "claims_all_refused": "none of the {claims:#claim} written passed the quote check",
    "searches_all_failed": "every search failed, which says nothing of whether evidence exists",
    "nothing_searched": lambda s: f"nothing was searched ({_because(s)})",
    "nothing_found": _nothing_found,
    "no_item_answers": _no_item_answers,
    "answers_without_claim": (
        "{answering:#work} of {items} {answering:answers|answer} it, and no sentence on {answering:it|them}"
        " stands in this report"
    ),
    "nothing_near": _nothing_near,
    # searching
    "searches_failed": _searches_failed,
    "records_unreadable": (
        "{records:#record} or {records:file|files} could not be read and {records:was|were} set aside."
    ),
    "source_not_searched": "{source} was not searched: {reason}",
    "source_unreachable": "{source} was not searched: {reason}",
    "sources_not_reached": lambda s: (
        f"Not searched, since no connection from here reaches them: {listed(s.texts('sources'))}."
    ),
    "candidates_stand_alone": (
        "No claim answers the question as a whole; {candidates:#candidate} {candidates:rests on quotes of "
        "its|rest on quotes of their} own."
    ),
    "source_not_searchable": "{source} was asked for but cannot be searched: {reason}",
    "source_unknown": "{source} was asked for, but there is no such source.",
    "source_not_available": "{source} was asked for but is not available: {reason}",
    "search_rows_missing": "The list of searches is not complete: it was too long to be kept whole.",
    "items_kept": "Only the {kept} most promising items were kept for judging.",
    "follow_up": (
        "{items:#item} of the evidence {items:was|were} imported from the earlier run {run_id}; what was "
        "searched there is in its report."
    ),
    "follow_up_missing": "The evidence of the earlier run {run_id} could not be read: {reason}",
    # thinking
    "steps_without_model": "Some steps were done without a language model, by ranking and quoting sentences.",
    "items_not_shown": _items_not_shown,
    "ordered_by_small_model": "{model} put the nearest {works:#work} in order; it judged nothing.",
    "written_without_model": lambda s: (
        f"The {s.text('used_up') or 'budget'} was used up: parts of the report were written without a "
        "language model."
    ),
    "read_without_model": lambda s: f"The question was read without a language model ({_because(s)}).",
    "planned_without_model": (
        "The {used_up} was used up while planning: the plan was made without a language model."
    ),
    MODEL_SILENT: "The language model did not answer as {step} ({reason}).",
    MODEL_REFUSED: "The language model could not be used: {reason}.",
    "model_fell_back": "{step}: {model} answered for a model that is down.",
    "model_call_cancelled": ("A model call was cancelled: what it had used until then is not counted."),
    "step_failed": "A step failed and is missing: {step} ({reason}).",
    "nothing_pooled": lambda _: (
        "Nothing was pooled for the conclusions, though their works could be: the statistics are not "
        f"installed ({install('analysis')})."
    ),
    "price_unknown": "What the run cost in money is not known: a model's price is not known.",
    # people
    "candidates_rejected": "The reviewer rejected the candidates.",
    "report_rejected": "The reviewer did not approve this report.",
    "gate_not_asked": "The {gate} was not put to the reviewer, who had asked to finish.",
    # evidence
    "retracted_left_out": (
        'Retracted work is not used as support and was left out: "{title}" ({evidence_id}).'
    ),
    "item_unreadable": "The stored text of {evidence_ids} could not be read; nothing rests on it.",
    "standing_not_looked_up": (
        "Whether cited work has been retracted since it was found could not be looked up when this report "
        "was made."
    ),
    "authority_silent": (
        "For {works} of {of} cited works an authority on retractions did not answer when this report "
        "was made."
    ),
    "standing_unknown": _standing_unknown,
    "concern": 'There is an expression of concern about [{number}] "{title}".',
    "abstract_only": _abstract_only,
    "preprints": "{items:#cited item} {items:is|are} not peer reviewed.",
    # claims and candidates
    "claims_refused": (
        "{claims:#claim} did not pass the checks and {claims:is|are} left out; the verification names each "
        "with its reason."
    ),
    "wordings_replaced": (
        "The wording of {claims:#claim} was refused: the sentence {claims:it quotes stands in its|they quote "
        "stands in their} place."
    ),
    "draft_lost": (
        'Of {drafted:#sentence} written for "{title}" the checks refused {lost}; where there is a quote it '
        "stands in their place."
    ),
    "unread": (
        "{sentences:#sentence} {sentences:was|were} not read by a second reader, which did not answer: "
        "{sentences:its quote stands in its|their quotes stand in their} place."
    ),
    "unconfirmed": (
        "The second reader let {missed} of {planted:#planted error} pass: what it says of "
        "{sentences:#sentence} does not count, and {sentences:its quote stands in its|their quotes stand in "
        "their} place."
    ),
    "quotes_refused": "{quotes:#quote} that did not pass the check stood beside others that did.",
    "no_candidate": "No candidate drug is named: no quote that was found speaks for one.",
    "no_programs": "No program was generated for effects that could not be pooled: {reason}.",
    "not_analysed": "The effects were not analysed: {reason}.",
    "candidate_not_looked_up": "Candidate {name} could not be looked up: {reason}.",
    "candidates_not_looked_up": (
        "{candidates:#candidate} {candidates:was|were} not looked up: no time was left for it."
    ),
    "not_for": (
        "{quotes:#quote} offered as speaking for a candidate {quotes:does|do} not, and {quotes:was|were}"
        " left out."
    ),
    "not_against": (
        "{quotes:#quote} offered as speaking against a candidate {quotes:does|do} not, and {quotes:was|were}"
        " left out."
    ),
    "candidate_left_out": "Candidate {name} was left out: {reason}.",
    "candidate_fields_unchecked": (
        "Of candidate {name} these fields have no quote that says so and are left out: {fields}."
    ),
    "sections_not_compared": (
        "The sections were not compared with each other: together they are too long, so that statements may "
        "be repeated."
    ),
    "report_cut": (
        "The report was too long to be published whole: the ends of its longest sections are missing."
    ),
    # why a claim or a quote was refused: ends of a sentence
    "claim_empty": "it says nothing",
    "cites_nothing": "it cites nothing",
    "cites_unknown_item": "it cites an item that was not found in this run",
    "rests_on_retracted": "it rests on retracted work",
    "quote_too_short": f"its quote is shorter than {MIN_QUOTE_CHARS} characters",
    "quote_not_in_text": "its quote is not in the text of the item it cites",
    "quote_is_title": "its quote is merely the title",
    "quote_is_copyright": "its quote is a copyright line",
    "quote_is_citation": "its quote is a citation line",
    "quote_is_reference": "its quote is a line of references",
    "number_missing": "it has a number that its works do not have, and shows no computation: {number}",
    "number_not_computed": "no computation that it shows gives this number from its quotes: {number}",
    "name_missing": "it has a name that the works it cites do not have: {name}",
    "not_supported": _not_supported,
    "not_read": "no second reader has read it",
    "not_confirmed": (
        "it is not confirmed: its second reader found only {noticed} of {planted:#planted error}"
    ),
    "not_carried": "a second reader named no sentence of the works it cites that carries it",
    "label_unknown": "it names a sentence or work that was not shown: {label}",
    "text_cut": "it was cut off at its length limit",
    "adds_to_claims": "it says more than the claims it rests on",
    "other_work": "the sentence it names is of another work",
    "not_in_work": "the work does not say it",
    "direction_of_numbers": "its numbers are on the other side of no effect",
    "dispute_upheld": "{by} disputed it ({reason}), and this was upheld",
    "not_settled": "The works that were found do not settle the question.",
    "repeats_claim": "it repeats claim {claim}",
    "leans_on_refused": "the sentence that it leans on does not stand",
    "rests_on_dropped": "it rests on a claim that does not stand",
    "never_named": "the items it cites never name it",
    # what the quality of a candidate's evidence follows from
    "quality_best": lambda s: (
        f"The strongest work that speaks for it is {'an' if s.text('design')[:1] in 'aeiou' else 'a'} "
        f"{s.text('design')}, graded {s.text('grade')}."
    ),
    "quality_studies": "{works:#work} from {studies:#independent study|independent studies}.",
    "quality_against": "{works:#work} {works:speaks|speak} against it.",
    "quality_concern": "{works:#work} under an expression of concern {works:counts|count} for nothing.",
    "quality_no_people": "None of the works is known to be a study in people.",
    "quality_stopped_trials": (
        "{trials:#registered trial} {trials:was|were} terminated, withdrawn or suspended."
    ),
    # what confidence was computed from
    "confidence_contradictions": "{claims:#claim} contradict each other.",
    "confidence_of_judgements": _of_judgements,
}
