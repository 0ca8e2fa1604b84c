"""The wording of statements: every limitation, reason and note of a report, by its code.

Code decides and compares statements by code and values; only the formats read the sentences. A template is
filled with the statement's values; where number or lists change the sentence, a function words it.
"""

from collections.abc import Callable, Iterable, Mapping

from activities.contracts.evidence import MODEL_REFUSED, MODEL_SILENT, Grade, Statement
from activities.contracts.stop_reasons import STOPS
from activities.extras import install
from activities.messages import N_, Plural, _, day, listed, ngettext, number
from activities.report.formats.text import clean
from activities.text.normal_form import MIN_QUOTE_CHARS

TEXT = "text"
"""A sentence that came as text, from a model or from a run recorded before statements existed."""

_NEXT = N_(
    "try another name for the same thing, ask about one thing at a time, or add a source (--source) or a "
    "folder of your documents (--library)"
)
"""What a person can do about a question to which nothing comes near."""
STATUSES: Mapping[str, str] = {
    "ok": N_("ok"),
    "empty": N_("no result"),
    "rate_limited": N_("rate limit reached"),
    "unavailable": N_("source unavailable"),
    "malformed": N_("unreadable answer"),
    "refused": N_("request refused"),
}
SOURCES: Mapping[str, str] = {
    "library": N_("library"),
    "pubmed": "PubMed",
    "europepmc": "Europe PMC",
    "openalex": "OpenAlex",
    "crossref": "Crossref",
    "arxiv": "arXiv",
    "openfda": "openFDA",
    "clinicaltrials": "ClinicalTrials.gov",
    "chembl": "ChEMBL",
    "opentargets": "Open Targets",
    "uniprot": "UniProt",
    "reactome": "Reactome",
    "vocabulary": N_("vocabulary of drugs"),
}
"""Names of sources for readers."""
_SECTION: Mapping[str, Plural] = {
    "partial": Plural(
        N_("The section {titles} is incomplete{note}."), N_("The sections {titles} are incomplete{note}.")
    ),
    "failed": Plural(
        N_("The section {titles} could not be researched{note}."),
        N_("The sections {titles} could not be researched{note}."),
    ),
    "cancelled": Plural(
        N_("The section {titles} was cancelled{note}."), N_("The sections {titles} were cancelled{note}.")
    ),
}


def source_title(name: str) -> str:
    return _(SOURCES[name]) if name in SOURCES else clean(name)


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


STEPS: Mapping[str, str] = {
    "clarifier": N_("Asking back"),
    "query_parser": N_("Reading the question"),
    "planner": N_("Planning"),
    "observer": N_("Reading the evidence"),
    "gap_evaluator": N_("Finding what is missing"),
    "tool_selector": N_("Choosing searches"),
    "judge": N_("Judging the evidence"),
    "orderer": N_("Ordering the passages"),
    "reflector": N_("Reviewing searches"),
    "hypothesis_generator": N_("Naming candidates"),
    "writer": N_("Writing"),
    "verifier": N_("Verifying sentences"),
    "editor": N_("Editing"),
    "extractor": N_("Filling the table"),
    "appraiser": N_("Appraising the effects"),
    "reviser": N_("Changing the report"),
    "manager": N_("Managing the team"),
    "analyst": N_("Writing a program for the statistics"),
}
"""The steps of a run by their roles."""
USED_UP = (N_("budget"), N_("time"))
INSTRUCTIONS = (N_("tell"), N_("change"), N_("dispute"), N_("decide"))


def _step(s: Statement) -> str:
    """Name a step by its role, or by what it is called."""
    name = clean(s.text("step"))
    return _(STEPS.get(name.casefold().replace(" ", "_"), name))


def _filled(wording: str | Plural, statement: Statement) -> str:
    values = {name: _value(statement, name) for name in statement.values}
    if isinstance(wording, Plural):
        return ngettext(wording.one, wording.many, statement.number(wording.by)).format(**values)
    return _(wording).format(**values)


def _value(statement: Statement, name: str) -> str:
    """A value as a message has it: numbers by the language, words of our own translated."""
    value = statement.values[name]
    if name == "step":
        return _step(statement)
    return number(value) if isinstance(value, int) else _(clean(statement.text(name)))


def _unknown(statement: Statement) -> str:
    values = ", ".join(f"{name}: {clean(statement.text(name))}" for name in statement.values)
    return clean(f"{statement.code.replace('_', ' ').capitalize()}{f' ({values})' if values else ''}.")


def because(reason: str) -> str:
    """How a run ended, as the end of a sentence; any other text as it is."""
    code = reason.replace(" ", "_")
    return _(STOPS[code].because) if code in STOPS else _(reason.replace("_", " "))  # type: ignore[index]


def _because(statement: Statement) -> str:
    return because(statement.text("because") or statement.text("stop_reason"))


def _searches_failed(s: Statement) -> str:
    status = s.text("status")
    text = ngettext(
        "The only search of {source} failed ({why}); what it would have found is not known.",
        "{failed} of {of} searches of {source} failed ({why}); what they would have found is not known.",
        s.number("of"),
    )
    why = _(STATUSES.get(status, status))
    return text.format(
        failed=number(s.number("failed")),
        of=number(s.number("of")),
        source=source_title(s.text("source")),
        why=why,
    )


def _section_incomplete(s: Statement) -> str:
    titles = [_("“{text}”").format(text=title) for title in s.texts("titles")]
    note = because(s.text("note").rstrip(". "))
    wording = _SECTION.get(s.text("status"), _SECTION["partial"])
    text = ngettext(wording.one, wording.many, len(titles))
    return text.format(titles=listed(titles), note=f": {note}" if note else "")


def _no_item_answers(s: Statement) -> str:
    count = s.number("items")
    text = ngettext(
        "the only work found does not answer it", "none of the {count} works found answers it", count
    )
    text = text if count else _("nothing that was found answers it")
    return text.format(count=number(count)) + _was_asked(s)


def _nothing_near(s: Statement) -> str:
    count = s.number("items")
    text = ngettext(
        "the only work found has no passage close enough to the question",
        "none of the {count} works found has a passage close enough to the question",
        count,
    )
    text = text if count else _("nothing that was found is close enough to the question")
    return text.format(count=number(count)) + _was_asked(s)


def _words_absent(s: Statement) -> str:
    words, count = s.texts("words"), s.number("documents")
    text = ngettext(
        "{words} occurs in none of the documents looked through ({count}).",
        "{words} occur in none of the documents looked through ({count}).",
        len(words),
    )
    quoted = [_("\u201c{text}\u201d").format(text=word) for word in words]
    told = [text.format(words=listed(quoted), count=number(count))]
    for word, names in zip(quoted, s.texts("instead"), strict=True):
        if names:
            told.append(_("Another name of {word} that occurs: {names}.").format(word=word, names=names))
    return " ".join(told)


def _was_asked(s: Statement) -> str:
    """What was asked of which source and what to do next, as further sentences; empty where not known."""
    rows = zip(s.texts("sources"), s.texts("queries"), s.texts("gave"), strict=True)
    asked = [
        f"{source_title(source)} {_('“{text}”').format(text=query)} ({_gave(gave)})"
        for source, query, gave in rows
    ]
    if not asked:
        return ""
    return _(". Searched: {searches}. What you can do: {next}").format(
        searches="; ".join(asked), next=_(_NEXT)
    )


def _gave(gave: str) -> str:
    if not gave.isdigit():
        return _("no answer: {why}").format(why=_(STATUSES.get(gave, gave)))
    text = ngettext("{count} record", "{count} records", int(gave)) if int(gave) else _("no record")
    return text.format(count=number(int(gave)))


def _not_supported(s: Statement) -> str:
    partly = s.text("verdict") == "partly"
    text = (
        _("according to the second reader, its quotes support it only in part")
        if partly
        else _("according to the second reader, its quotes do not support it")
    )
    why = s.text("reason").rstrip(". ")
    return f"{text}: {why}" if why else text


def _of_judgements(s: Statement) -> str:
    works, direct, sided = s.number("works"), s.number("direct"), s.number("sided")
    if works == 1:
        text = (
            _("One independent work answers the question directly.")
            if direct
            else _("One independent work answers the question in part.")
        )
    else:
        text = _("{works} independent works answer the question, {direct} of them directly.")
    if sided > 1:
        text += " " + _("Of the {sided} that take a side, {agreeing} agree.")
    return text.format(
        works=number(works), direct=number(direct), sided=number(sided), agreeing=number(s.number("agreeing"))
    )


def _nothing_found(s: Statement) -> str:
    text = _("the searches that were answered found nothing")
    if failed := s.number("failed"):
        rest = _("; {failed} of {searches} searches failed")
        text += rest.format(failed=number(failed), searches=number(s.number("searches")))
    return text + _was_asked(s)


def _items_not_shown(s: Statement) -> str:
    text = (
        _("{step}: to fit the prompt, {missing} of {of} works were not shown to the model.")
        if s.text("step")
        else _(
            "To fit the prompts, the model was not shown every work in every step; at most {missing} of {of} "
            "works were left out of a step."
        )
    )
    return text.format(step=_(s.text("step")), missing=number(s.number("missing")), of=number(s.number("of")))


def _of_cited(s: Statement, every: str, some: str) -> str:
    items, of = s.number("items"), s.number("of")
    return (_(every) if items == of else _(some)).format(items=number(items), of=number(of))


def _new_version(s: Statement) -> str:
    parts = [
        _("This is version {version} of {at}, of a report of {first_at}.").format(
            version=s.text("version"), at=day(s.text("at")), first_at=day(s.text("first_at"))
        )
    ]
    if changes := "; ".join(s.texts("changes")):
        parts.append(
            _("Since then its references, numbered as there, have changed: {changes}.").format(
                changes=changes
            )
        )
    if lost := s.number("claims_lost"):
        text = ngettext(
            "One of its sentences rests on nothing else and is left out here; the verification names it.",
            "{count} of its sentences rest on nothing else and are left out here; the verification names "
            "each.",
            lost,
        )
        parts.append(text.format(count=number(lost)))
    if titles := s.texts("new_works"):
        named = "; ".join(_("“{text}”").format(text=title) for title in titles[:NEW_WORKS_NAMED])
        if (more := len(titles) - NEW_WORKS_NAMED) > 0:
            named += _("; and {count} more").format(count=number(more))
        text = ngettext(
            "Its searches, repeated, found one work that the first run had not found, and no sentence here "
            "rests on it: {titles}.",
            "Its searches, repeated, found {count} works that the first run had not found, and no sentence "
            "here rests on them: {titles}.",
            len(titles),
        )
        parts.append(text.format(count=number(len(titles)), titles=named))
    return " ".join(parts)


def _revised_version(s: Statement) -> str:
    text = _("This is version {version} of the report, made on {at} at the request of {by} ({kind}: {text}).")
    by = s.text("by") or _("somebody")
    return text.format(
        version=s.text("version"), at=day(s.text("at")), by=by, kind=_(s.text("kind")), text=s.text("text")
    )


NEW_WORKS_NAMED = 10
"""New works that a report names; the record of the version has all."""


def _unanswered(s: Statement) -> str:
    why = sentence(Statement(code=s.text("because"), values=s.values))
    return _("The question is not answered: {why}.").format(why=why.rstrip("."))


def _with_because(message: str) -> Callable[[Statement], str]:
    return lambda s: _(message).format(because=_because(s))


def _not_researched(s: Statement) -> str:
    note = because(s.text("note").rstrip(". "))
    return _("No claim is made here: {note}.").format(note=note) if note else _("No claim is made here.")


def _used_up(s: Statement) -> str:
    text = _("The {used_up} ran out: parts of the report were written without a language model.")
    return text.format(used_up=_(s.text("used_up") or "budget"))


def _quality_best(s: Statement) -> str:
    text = _("The strongest work in its favour: {design} ({evidence}).")
    grade = s.text("grade")
    return text.format(
        design=_(s.text("design")),
        evidence=next((_(text) for name, text in EVIDENCE.items() if name == grade), grade),
    )


EVIDENCE: Mapping[Grade, str] = {
    "strong": N_("strong evidence"),
    "moderate": N_("moderate evidence"),
    "weak": N_("weak evidence"),
}


GATES: Mapping[str, str] = {
    "plan": N_("The reviewer was not asked about the plan, having asked to finish."),
    "candidates": N_("The reviewer was not asked about the candidates, having asked to finish."),
    "report": N_("The reviewer was not asked about the report, having asked to finish."),
}

Wording = str | Plural | Callable[[Statement], str]
WORDING: Mapping[str, Wording] = {
    TEXT: lambda s: _(s.text("text")),
    # the run as a whole
    "sample_only": N_(
        "Only the bundled sample library of 600 abstracts was searched: no other source was available."
    ),
    "draft": N_("This is a draft: it is awaiting a reviewer's approval."),
    "unanswered": _unanswered,
    "stopped_early": _with_because(N_("The research ended early: {because}.")),
    "section_incomplete": _section_incomplete,
    "section_without_claims": N_("Nothing that was found answers this, so no claim is made here."),
    "section_stands_elsewhere": N_("What was found for this section is reported in another section."),
    "section_claims_refused": N_("No sentence written for this section passed the checks."),
    "section_not_researched": _not_researched,
    "new_version": _new_version,
    "revised_version": _revised_version,
    # why there is no answer: ends of a sentence
    "claims_all_refused": Plural(
        N_("the only sentence written did not pass the checks"),
        N_("none of the {claims} sentences written passed the checks"),
        "claims",
    ),
    "searches_all_failed": N_("every search failed, which says nothing about whether evidence exists"),
    "nothing_searched": _with_because(N_("nothing was searched ({because})")),
    "nothing_found": _nothing_found,
    "no_item_answers": _no_item_answers,
    "answers_without_claim": Plural(
        N_("one of {items} works answers it, but no sentence about it stands in this report"),
        N_("{answering} of {items} works answer it, but no sentence about them stands in this report"),
        "answering",
    ),
    "nothing_near": _nothing_near,
    "words_absent": _words_absent,
    "name_absent": N_(
        "The rarest name of the question, \u201c{word}\u201d, occurs in none of the documents looked through "
        "({documents})."
    ),
    # searching
    "searches_failed": _searches_failed,
    "records_unreadable": Plural(
        N_("One record or file could not be read and was set aside."),
        N_("{records} records or files could not be read and were set aside."),
        "records",
    ),
    "source_not_searched": N_("{source} was not searched: {reason}"),
    "source_unreachable": N_("{source} was not searched: {reason}"),
    "sources_not_reached": lambda s: _(
        "Not searched, because they cannot be reached from here: {sources}."
    ).format(sources=listed(s.texts("sources"))),
    "candidates_stand_alone": Plural(
        N_("No claim answers the question as a whole; the one candidate rests on quotes of its own."),
        N_(
            "No claim answers the question as a whole; the {candidates} candidates rest on quotes of their "
            "own."
        ),
        "candidates",
    ),
    "source_not_searchable": N_("{source} was requested but cannot be searched: {reason}"),
    "source_unknown": N_("{source} was requested, but there is no such source."),
    "source_not_available": N_("{source} was requested but is not available: {reason}"),
    "search_rows_missing": N_("The list of searches is incomplete: it was too long to be kept whole."),
    "items_kept": N_("Only the {kept} most promising works were kept for judging."),
    "follow_up": Plural(
        N_("One work was taken over from the earlier run {run_id}; its report says what was searched there."),
        N_(
            "{items} works were taken over from the earlier run {run_id}; its report says what was "
            "searched there."
        ),
        "items",
    ),
    "follow_up_missing": N_("The evidence of the earlier run {run_id} could not be read: {reason}"),
    # thinking
    "steps_without_model": N_(
        "Some steps were done without a language model, by ranking and quoting sentences."
    ),
    "items_not_shown": _items_not_shown,
    "ordered_by_small_model": Plural(
        N_("{model} looked at the nearest work; it judged nothing."),
        N_("{model} put the {works} nearest works in order; it judged nothing."),
        "works",
    ),
    "written_without_model": _used_up,
    "read_without_model": _with_because(N_("The question was read without a language model ({because}).")),
    "planned_without_model": N_(
        "The {used_up} ran out during planning: the plan was made without a language model."
    ),
    MODEL_SILENT: N_("The language model did not complete the step “{step}” ({reason})."),
    MODEL_REFUSED: N_("The language model could not be used: {reason}."),
    "model_fell_back": N_("{step}: {model} stood in for a model that was down."),
    "model_call_cancelled": N_("A model call was cancelled; what it had used by then is not counted."),
    "step_failed": N_("A step failed and is missing from this report: {step} ({reason})."),
    "nothing_pooled": lambda _s: _(
        "The effects could have been pooled, but were not: the statistics are not installed ({how})."
    ).format(how=install("analysis")),
    "price_unknown": N_("The cost of the run is not known, because the price of a model is not known."),
    "searched_as_typed": N_("The question was searched as it was typed: its rewording lost too much of it."),
    "not_judged": Plural(
        N_("One of the works shown to the judge was not judged."),
        N_("{works} of the works shown to the judge were not judged."),
        "works",
    ),
    "uncited": Plural(
        N_("One sentence of a draft was left out because it cited nothing that was shown."),
        N_("{sentences} sentences of a draft were left out because they cited nothing that was shown."),
        "sentences",
    ),
    "not_edited": Plural(
        N_("To fit the prompt, the last sentence was not edited."),
        N_("To fit the prompt, the last {sentences} sentences were not edited."),
        "sentences",
    ),
    "candidates_unsupported": Plural(
        N_("One candidate was left out because no work that was shown names or supports it."),
        N_("{candidates} candidates were left out because no work that was shown names or supports them."),
        "candidates",
    ),
    "searches_unknown": Plural(
        N_("One search chosen by the model was left out: it named an unknown source or gap."),
        N_("{searches} searches chosen by the model were left out: they named an unknown source or gap."),
        "searches",
    ),
    "searches_by_code": lambda s: _(
        "Gaps without a usable search by the model: {gaps}. Searches chosen by code instead: {searches}."
    ).format(gaps=number(s.number("gaps")), searches=number(s.number("searches"))),
    "no_section": N_("The plan had no usable section; the question itself is the only section."),
    # people
    "candidates_rejected": N_("The reviewer rejected the candidates."),
    "report_rejected": N_("The reviewer did not approve this report."),
    "gate_not_asked": lambda s: _(GATES[s.text("gate")]),
    # evidence
    "retracted_left_out": N_(
        "A retracted work was left out; nothing rests on it: “{title}” ({evidence_id})."
    ),
    "item_unreadable": N_("The stored text of {evidence_ids} could not be read; nothing rests on it."),
    "standing_not_looked_up": N_(
        "When this report was made, it could not be checked whether cited works have been retracted since "
        "they "
        "were found."
    ),
    "authority_silent": N_(
        "When this report was made, a register of retractions did not answer for {works} of {of} cited works."
    ),
    "standing_unknown": lambda s: _of_cited(
        s,
        N_("It is not known whether the cited works have been retracted or corrected."),
        N_("It is not known whether {items} of the {of} cited works have been retracted or corrected."),
    ),
    "concern": N_("An expression of concern has been published about [{number}] “{title}”."),
    "abstract_only": lambda s: _of_cited(
        s,
        N_("Only the abstract or a summary of each cited work was read."),
        N_("Only the abstract or a summary was read for {items} of the {of} cited works."),
    ),
    "preprints": Plural(
        N_("One cited work is not peer reviewed."),
        N_("{items} cited works are not peer reviewed."),
        "items",
    ),
    # claims and candidates
    "claims_refused": Plural(
        N_(
            "One sentence did not pass the checks and is left out; the verification names it with the reason."
        ),
        N_(
            "{claims} sentences did not pass the checks and are left out; the verification names each with "
            "the "
            "reason."
        ),
        "claims",
    ),
    "wordings_replaced": Plural(
        N_("The wording of one sentence was refused; the sentence it quotes stands in its place."),
        N_("The wording of {claims} sentences was refused; the sentences they quote stand in their place."),
        "claims",
    ),
    "draft_lost": N_(
        "The checks refused {lost} of the {drafted} sentences written for “{title}”; where one had a "
        "quote, the "
        "quote stands in its place."
    ),
    "unread": Plural(
        N_(
            "One sentence was not read by the second reader, which did not answer; its quote stands in its "
            "place."
        ),
        N_(
            "{sentences} sentences were not read by the second reader, which did not answer; their quotes "
            "stand "
            "in their place."
        ),
        "sentences",
    ),
    "unconfirmed": Plural(
        N_(
            "The second reader missed {missed} of {planted} planted errors, so that its verdict on one "
            "sentence does "
            "not count; the quote stands in its place."
        ),
        N_(
            "The second reader missed {missed} of {planted} planted errors, so that its verdicts on "
            "{sentences} "
            "sentences do not count; the quotes stand in their place."
        ),
        "sentences",
    ),
    "quotes_refused": Plural(
        N_("One quote did not pass the check; its sentence rests on other quotes that did."),
        N_("{quotes} quotes did not pass the check; their sentences rest on other quotes that did."),
        "quotes",
    ),
    "no_candidate": N_("No candidate drug is named: no quote that was found supports one."),
    "no_programs": N_("No program was written for the effects that could not be pooled: {reason}."),
    "not_analysed": N_("The effects were not analysed: {reason}."),
    "candidate_not_looked_up": N_("The candidate {name} could not be looked up: {reason}."),
    "candidates_not_looked_up": Plural(
        N_("One candidate was not looked up: there was no time left."),
        N_("{candidates} candidates were not looked up: there was no time left."),
        "candidates",
    ),
    "not_for": Plural(
        N_("One quote offered in favour of a candidate is not in its favour and was left out."),
        N_("{quotes} quotes offered in favour of a candidate are not in its favour and were left out."),
        "quotes",
    ),
    "not_against": Plural(
        N_("One quote offered against a candidate is not against it and was left out."),
        N_("{quotes} quotes offered against a candidate are not against it and were left out."),
        "quotes",
    ),
    "candidate_left_out": N_("The candidate {name} was left out: {reason}."),
    "candidate_fields_unchecked": N_(
        "For the candidate {name}, these fields are left out because no quote supports them: {fields}."
    ),
    "sections_not_compared": N_(
        "The sections were too long to be compared with each other, so statements may be repeated."
    ),
    "report_cut": N_(
        "The report was too long to be published whole: the ends of its longest sections are missing."
    ),
    # why a claim or a quote was refused: ends of a sentence
    "claim_empty": N_("it says nothing"),
    "cites_nothing": N_("it cites nothing"),
    "cites_unknown_item": N_("it cites a work that was not found in this run"),
    "rests_on_retracted": N_("it rests on a retracted work"),
    "quote_too_short": lambda _s: _("its quote is shorter than {count} characters").format(
        count=MIN_QUOTE_CHARS
    ),
    "quote_not_in_text": N_("its quote is not in the text of the work it cites"),
    "quote_is_title": N_("its quote is only the title"),
    "quote_is_copyright": N_("its quote is a copyright line"),
    "quote_is_citation": N_("its quote is a citation line"),
    "quote_is_reference": N_("its quote is from a list of references"),
    "number_missing": N_("it has a number that its works do not have, and shows no computation: {number}"),
    "number_not_computed": N_("the computation it shows does not give this number from its quotes: {number}"),
    "name_missing": N_("it has a name that the works it cites do not have: {name}"),
    "not_supported": _not_supported,
    "not_read": N_("no second reader has read it"),
    "not_confirmed": N_(
        "it is not confirmed: its second reader found only {noticed} of {planted} planted errors"
    ),
    "not_carried": N_("the second reader named no sentence of the cited works that supports it"),
    "label_unknown": N_("it names a sentence or work that was not shown: {label}"),
    "text_cut": N_("it was cut off at the length limit"),
    "adds_to_claims": N_("it says more than the sentences it rests on"),
    "other_work": N_("the sentence it names is from another work"),
    "not_in_work": N_("the work does not say it"),
    "direction_of_numbers": N_("its numbers point in the opposite direction"),
    "dispute_upheld": N_("{by} disputed it ({reason}), and the dispute was upheld"),
    "not_settled": N_("The works that were found do not settle the question."),
    "repeats_claim": N_("it repeats sentence {claim}"),
    "leans_on_refused": N_("the sentence it leans on does not stand"),
    "rests_on_dropped": N_("it rests on a sentence that does not stand"),
    "never_named": N_("the works it cites never name it"),
    # what the quality of a candidate's evidence follows from
    "quality_best": _quality_best,
    "quality_studies": lambda s: _("Works: {works}; independent studies: {studies}.").format(
        works=number(s.number("works")), studies=number(s.number("studies"))
    ),
    "quality_against": Plural(
        N_("One work speaks against it."), N_("{works} works speak against it."), "works"
    ),
    "quality_concern": Plural(
        N_("One work is under an expression of concern and does not count."),
        N_("{works} works are under an expression of concern and do not count."),
        "works",
    ),
    "quality_no_people": N_("None of the works is known to be a study in humans."),
    "quality_stopped_trials": Plural(
        N_("One registered trial was terminated, withdrawn or suspended."),
        N_("{trials} registered trials were terminated, withdrawn or suspended."),
        "trials",
    ),
    # what confidence was computed from
    "confidence_contradictions": Plural(
        N_("One sentence is contradicted by another."),
        N_("{claims} sentences contradict each other."),
        "claims",
    ),
    "confidence_of_judgements": _of_judgements,
}
