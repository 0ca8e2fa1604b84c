"""The wording of statements: every limitation, reason and note of a report, by its code.

Code decides and compares statements by code and values; only the formats read the sentences. A message is
filled with the values of its statement, as `VALUES` shows them; where lists change the sentence, a function
words it.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from activities.contracts.errors import install
from activities.contracts.evidence import MODEL_REFUSED, MODEL_SILENT, Grade, Statement
from activities.contracts.step import TITLES
from activities.contracts.stop_reasons import STOPS
from activities.messages import N_, Plural, _, day, join_names, ngettext, number
from activities.report.formats.text import clean, in_quotes, with_full_stop
from activities.sources.names import BUILT_IN, info_of

TEXT = "text"
"""A sentence that came as text, from a model."""
NEW_WORKS_NAMED = 10
"""New works that a report names; the record of the version has all."""
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
    "malformed": N_("unreadable response"),
    "refused": N_("request refused"),
}
SOURCES: Mapping[str, str] = {
    "library": N_("library"),
    "evidence": "evidence",
    "opentargets": "Open Targets",
    "vocabulary": N_("vocabulary of drugs"),
}
"""Names of sources for readers, where they are not their titles."""
EVIDENCE: Mapping[Grade, str] = {
    "strong": N_("strong evidence"),
    "moderate": N_("moderate evidence"),
    "weak": N_("weak evidence"),
}


class Choice(NamedTuple):
    """A message that depends on a value of its statement."""

    by: str
    among: Mapping[str, str]
    otherwise: str


SIDES: Mapping[str, Plural] = {
    "yes": Plural(N_("{count} answers yes"), N_("{count} answer yes")),
    "no": Plural(N_("{count} answers no"), N_("{count} answer no")),
    "mixed": Plural(N_("{count} gives mixed results"), N_("{count} give mixed results")),
}
"""Works by the direction in which they answer a question for yes or no."""
_AS_VALUES = (N_("budget"), N_("time"), N_("tell"), N_("change"), N_("dispute"), N_("decide"))
"""Words that stand in values."""


def source_title(name: str) -> str:
    title = info_of(name).title if name in BUILT_IN else clean(name)
    return _(SOURCES[name]) if name in SOURCES else title


def as_statement(value: Statement | str) -> Statement:
    """Make a statement of a sentence that no code has to understand."""
    return value if isinstance(value, Statement) else Statement.of(TEXT, text=value)


def sentence(statement: Statement) -> str:
    """Word a statement as plain text on one line.

    Never raises: a statement with a code or values that this version does not know is shown with its values.
    """
    wording = WORDING.get(statement.code)
    try:
        if wording is not None:
            return clean(wording(statement) if callable(wording) else _fill(wording, statement))
    except (KeyError, IndexError, ValueError):
        pass
    values = ", ".join(f"{name}: {clean(statement.text(name))}" for name in statement.values)
    return clean(f"{statement.code.replace('_', ' ').capitalize()}{f' ({values})' if values else ''}.")


def sentences(statements: Iterable[Statement]) -> tuple[str, ...]:
    """Word statements, each sentence once."""
    return tuple(dict.fromkeys(filter(None, map(sentence, statements))))


def _fill(wording: str | Choice, s: Statement) -> str:
    values = _Values(s)
    if isinstance(wording, Choice):
        wording = wording.among.get(values[wording.by], wording.otherwise)
    return _(wording).format_map(values)


class _Values(dict[str, str]):
    """The values of a statement as its message has them, made as they are asked for."""

    def __init__(self, statement: Statement) -> None:
        super().__init__()
        self._statement = statement

    def __missing__(self, name: str) -> str:
        if name in VALUES:
            return VALUES[name](self._statement)
        value = self._statement.values[name]
        if isinstance(value, tuple):
            return join_names(map(clean, value))
        return number(value) if isinstance(value, int) else _(clean(str(value)))


def because(reason: str) -> str:
    """Say how a run ended, as the end of a sentence; return any other text as it is."""
    code = reason.replace(" ", "_")
    return _(STOPS[code].because) if code in STOPS else _(reason.replace("_", " "))  # type: ignore[index]


def _step(s: Statement) -> str:
    return _step_name(s.text("step"))


def _step_name(name: str) -> str:
    return _(TITLES.get(clean(name).casefold().replace(" ", "_"), clean(name)))


def _note(s: Statement) -> str:
    note = because(s.text("note").rstrip(". "))
    return f" ({note})" if note else ""


def _why(s: Statement) -> str:
    """Say how a search failed, and why where that is known: in the words of the source or the system."""
    status = _(STATUSES.get(s.text("status"), s.text("status")))
    return f"{status}: {detail}" if (detail := s.text("detail")) else status


def _searches(s: Statement) -> str:
    """Name what was asked of which source and what to do next; nothing where not known."""
    rows = zip(s.texts("sources"), s.texts("queries"), map(_result, s.texts("gave")), strict=True)
    searches = [f"{source_title(name)} {in_quotes(query)} ({result})" for name, query, result in rows]
    text = _(". Searched: {searches}. What you can do: {next}")
    return text.format(searches="; ".join(searches), next=_(_NEXT)) if searches else ""


def _result(result: str) -> str:
    if not result.isdigit():
        return _("no answer: {why}").format(why=_(STATUSES.get(result, result)))
    text = ngettext("{count} record", "{count} records", int(result)) if int(result) else _("no record")
    return text.format(count=number(int(result)))


VALUES: Mapping[str, Callable[[Statement], str]] = {
    "because": lambda s: because(s.text("because") or s.text("stop_reason")),
    "step": _step,
    "source": lambda s: source_title(s.text("source")),
    "why": _why,
    "note": _note,
    "titles": lambda s: join_names(in_quotes(title) for title in s.texts("titles")),
    "fields": lambda s: join_names(name.replace("_", " ") for name in s.texts("fields")),
    "share": lambda s: "all" if s.number("items") == s.number("of") else "some",
    "shown_in": lambda s: s.text("step"),
    "how": lambda _s: install("analysis"),
    "partly": lambda s: "yes" if s.number("partly") else "no",
    "evidence": lambda s: _(EVIDENCE.get(s.text("grade"), s.text("grade"))),  # type: ignore[call-overload]
}
"""Values that are shown in other words than they have."""


def _and_asked(message: str) -> Callable[[Statement], str]:
    return lambda s: _fill(message, s) + _searches(s)


def _words_absent(s: Statement) -> str:
    words = [in_quotes(word) for word in s.texts("words")]
    text = ngettext(
        "{words} does not occur in any document searched ({count}).",
        "{words} do not occur in any document searched ({count}).",
        len(words),
    )
    if s.number("partly"):
        text = ngettext(
            "{words} does not occur in what was read of the documents searched ({count}).",
            "{words} do not occur in what was read of the documents searched ({count}).",
            len(words),
        )
    text = text.format(words=join_names(words), count=number(s.number("documents")))
    template = _("Another name for {word} that does occur: {names}.")
    pairs = zip(words, s.texts("instead"), strict=True)
    return " ".join((text, *(template.format(word=word, names=names) for word, names in pairs if names)))


def _not_supported(s: Statement) -> str:
    text = (
        _("according to the second reader, its quotes support it only in part")
        if s.text("verdict") == "partly"
        else _("according to the second reader, its quotes do not support it")
    )
    reason = s.text("reason").rstrip(". ")
    return f"{text}: {reason}" if reason else text


def _of_judgements(s: Statement) -> str:
    """Count the works that answer, and those on each side where they differ."""
    works, direct = s.number("works"), s.number("direct")
    text = ngettext(
        "{works} work that answers the question",
        "{works} works that answer the question",
        works,
    )
    how = _(", all of them directly") if direct == works > 1 else _(", {direct} of them directly")
    text += "" if works == 1 else how
    sides = {name: s.number(name) for name in SIDES if s.number(name)}
    if sum(sides.values()) > 1:
        text += "; " + join_names(
            ngettext(SIDES[name].one, SIDES[name].many, count).format(count=number(count))
            for name, count in sides.items()
        )
    return with_full_stop(text.format(works=number(works), direct=number(direct)))


def _nothing_found(s: Statement) -> str:
    failures = _fill(N_("; {failed} of {searches} searches failed"), s) if s.number("failed") else ""
    return _("the searches that succeeded found nothing") + failures + _searches(s)


def _new_version(s: Statement) -> str:
    titles = s.texts("new_works")
    names = "; ".join(in_quotes(title) for title in titles[:NEW_WORKS_NAMED])
    if (rest := len(titles) - NEW_WORKS_NAMED) > 0:
        names += _("; and {count} more").format(count=number(rest))
    texts = [_("This is version {version} of {at}, of a report of {first_at}.")]
    if s.texts("changes"):
        texts.append(
            _(
                "Since then the standing of these references, numbered as in that report, has changed: "
                "{changes}."
            )
        )
    if s.number("claims_lost"):
        texts.append(_("Sentences left out here because nothing else supported them: {lost}."))
    if titles:
        texts.append(
            _(
                "Its searches were repeated and found works that the first run had not; no sentence here "
                "rests on them: {titles}."
            )
        )
    return " ".join(texts).format(
        version=s.text("version"),
        at=day(s.text("at")),
        first_at=day(s.text("first_at")),
        changes="; ".join(s.texts("changes")),
        lost=number(s.number("claims_lost")),
        titles=names,
    )


def _revised_version(s: Statement) -> str:
    text = _("This is version {version} of the report, made on {at} at the request of {by} ({kind}: {text}).")
    if not s.text("text"):  # a decision
        text = _("This is version {version} of the report, made on {at} at the request of {by} ({kind}).")
    by = s.text("by") or _("somebody")
    return text.format(
        version=s.text("version"), at=day(s.text("at")), by=by, kind=_(s.text("kind")), text=s.text("text")
    )


def _steps_without_model(s: Statement) -> str:
    if "steps" not in s.values:
        return _("Some steps were done without a language model, by ranking and quoting sentences.")
    steps = join_names(map(_step_name, s.texts("steps")))
    text = _("Done without a language model, by ranking and quoting sentences: {steps}.")
    return text.format(steps=steps)


def _unanswered(s: Statement) -> str:
    reason = sentence(Statement(code=s.text("because"), values=s.values))
    return _("The question is not answered: {why}.").format(why=reason.rstrip("."))


Wording = str | Choice | Callable[[Statement], str]
WORDING: Mapping[str, Wording] = {
    TEXT: "{text}",
    # the run as a whole
    "sample_only": N_("Only the bundled sample library of 600 abstracts was searched."),
    "draft": N_("This is a draft: it is awaiting a reviewer's approval."),
    "unanswered": _unanswered,
    "stopped_early": N_("The research ended early: {because}."),
    "section_incomplete": Choice(
        "status",
        {
            "failed": N_("Sections that could not be researched: {titles}{note}."),
            "cancelled": N_("Cancelled sections: {titles}{note}."),
        },
        N_("Incomplete sections: {titles}{note}."),
    ),
    "section_without_claims": N_("Nothing that was found answers this question."),
    "section_stands_elsewhere": N_("What was found for this section is reported in another section."),
    "section_claims_refused": N_("No sentence written for this section passed the checks."),
    "section_not_researched": N_("No claim is made here{note}."),
    "new_version": _new_version,
    "revised_version": _revised_version,
    # why there is no answer: ends of a sentence
    "claims_all_refused": N_("none of the sentences that were written ({claims}) passed the checks"),
    "searches_all_failed": N_("every search failed, which says nothing about whether evidence exists"),
    "nothing_searched": N_("nothing was searched ({because})"),
    "nothing_found": _nothing_found,
    "no_item_answers": _and_asked(N_("nothing that was found answers it (works found: {items})")),
    "answers_without_claim": N_(
        "no sentence about the works judged to answer it ({answering} of {items}) passed the checks"
    ),
    "nothing_near": _and_asked(
        N_("nothing that was found is close enough to the question (works found: {items})")
    ),
    "words_absent": _words_absent,
    "name_absent": Choice(
        "partly",
        {
            "no": N_(
                "“{word}”, the rarest name in the question, does not occur in any document searched "
                "({documents})."
            )
        },
        N_(
            "“{word}”, the rarest name in the question, does not occur in what was read of the documents "
            "searched ({documents})."
        ),
    ),
    # searching
    "searches_failed": N_(
        "Failed searches of {source}: {failed} of {of} ({why}). What they would have found is not known."
    ),
    "records_unreadable": N_("Records or files that could not be read, or only in part: {records}."),
    "source_not_searched": N_("{source} was not searched: {reason}"),
    "source_unreachable": N_("{source} was not searched: {reason}"),
    "sources_not_reached": N_("Not searched, because they cannot be reached from here: {sources}."),
    "candidates_stand_alone": N_(
        "No sentence answers the question as a whole; each candidate has quotes of its own."
    ),
    "source_not_searchable": N_("{source} was requested but cannot be searched: {reason}"),
    "source_unknown": N_("{source} was requested, but there is no such source."),
    "source_not_available": N_("{source} was requested but is not available: {reason}"),
    "search_rows_missing": N_("The list of searches is incomplete: it was too long to be kept whole."),
    "items_kept": N_("Only the {kept} most promising works were kept for judging."),
    "follow_up": N_(
        "Works taken over from the earlier run {run_id}, whose report lists its own searches: {items}."
    ),
    "follow_up_missing": N_("The evidence of the earlier run {run_id} could not be read: {reason}"),
    # thinking
    "steps_without_model": _steps_without_model,
    "items_not_shown": Choice(
        "shown_in",
        {
            "": N_(
                "To fit the prompts, the model was not shown every work in every step; at most {missing} of "
                "{of} works were left out of a step."
            )
        },
        N_("{step}: to fit the prompt, {missing} of {of} works were not shown to the model."),
    ),
    "ordered_by_small_model": N_("{model} put the nearest works ({works}) in order and judged nothing."),
    "written_without_model": N_(
        "The {used_up} ran out: parts of the report were written without a language model."
    ),
    "read_without_model": N_("The question was read without a language model ({because})."),
    "planned_without_model": N_(
        "The {used_up} ran out during planning: the plan was made without a language model."
    ),
    MODEL_SILENT: N_("The language model did not complete the step “{step}” ({reason})."),
    MODEL_REFUSED: N_("The language model could not be used: {reason}."),
    "model_fell_back": N_("{step}: {model} stood in for a model that was not available."),
    "model_call_cancelled": N_("A model call was cancelled; what it had used by then is not counted."),
    "step_failed": N_("A step failed and is missing from this report: {step} ({reason})."),
    "nothing_pooled": N_(
        "The effects could have been pooled, but were not: the statistics are not installed ({how})."
    ),
    "price_unknown": N_("The cost of the run is not known, because the price of a model is not known."),
    "searched_as_typed": N_("The question was searched as it was typed: its rewording lost too much of it."),
    "not_judged": N_("Works shown to the judge but not judged: {works}."),
    "not_edited": N_("Sentences not edited because the prompt had no room for them: {sentences}."),
    "candidates_unsupported": N_(
        "Candidates left out because no work that was shown names or supports them: {candidates}."
    ),
    "searches_unknown": N_(
        "Searches chosen by the model and left out because they named an unknown source or gap: {searches}."
    ),
    "searches_by_code": N_(
        "Gaps without a usable search by the model: {gaps}. Searches chosen by code instead: {searches}."
    ),
    "no_section": N_("The plan had no usable section; the question itself is the only section."),
    # people
    "candidates_rejected": N_("The reviewer rejected the candidates."),
    "report_rejected": N_("The reviewer did not approve this report."),
    "gate_not_asked": Choice(
        "gate",
        {
            "plan": N_("The reviewer had asked to finish and was not asked about the plan."),
            "candidates": N_("The reviewer had asked to finish and was not asked about the candidates."),
        },
        N_("The reviewer had asked to finish and was not asked about the report."),
    ),
    # evidence
    "retracted_left_out": N_(
        "A retracted work was left out; nothing rests on it: “{title}” ({evidence_id})."
    ),
    "item_unreadable": N_("The stored text of {evidence_ids} could not be read; nothing rests on it."),
    "standing_not_looked_up": N_(
        "When this report was made, it could not be checked whether cited works have been retracted since "
        "they were found."
    ),
    "authority_silent": N_(
        "When this report was made, a register of retractions did not answer for {works} of {of} cited works."
    ),
    "standing_unknown": Choice(
        "share",
        {"all": N_("It is not known whether the cited works have been retracted or corrected.")},
        N_("Cited works not known to be free of retraction or correction: {items} of {of}."),
    ),
    "concern": N_("An expression of concern has been published about [{number}] “{title}”."),
    "abstract_only": Choice(
        "share",
        {"all": N_("Only the abstract or a summary of each cited work was read.")},
        N_("Only the abstract or a summary was read for {items} of the {of} cited works."),
    ),
    "preprints": N_("Cited works that are not peer reviewed: {items}."),
    "steer_late": N_(
        "An instruction came when the text had been written and is not followed in it: {texts}. Ask for it "
        "as a change of the report."
    ),
    # claims and candidates
    "letter_cut": N_(
        "Sentences left out of the text, since they did not pass the checks: {sentences}. {texts}"
    ),
    "general_knowledge": N_(
        "Sentences marked as general knowledge: {sentences}. No source that was read says so: check them "
        "before you act on them."
    ),
    "claims_refused": N_("Sentences left out because they did not pass the checks: {claims}."),
    "parts_refused": N_("Left out of the tables, because the sources do not bear it out: {parts}."),
    "wordings_replaced": N_("Sentences whose wording was refused, replaced by their quotes: {claims}."),
    "draft_lost": N_(
        "The checks refused {lost} of the {drafted} sentences written for “{title}”; where one had a quote, "
        "the quote stands in its place."
    ),
    "unread": N_(
        "Sentences that the second reader did not read, because it did not answer: {sentences}. Their quotes "
        "stand in their place."
    ),
    "unconfirmed": N_(
        "The second reader missed {missed} of {planted} planted errors, so its verdicts do not count. "
        "Sentences replaced by their quotes: {sentences}."
    ),
    "quotes_refused": N_("Quotes that failed the check in sentences whose other quotes passed: {quotes}."),
    "no_candidate": N_("No candidate drug is named: no quote that was found supports one."),
    "no_programs": N_("No program was written for the effects that could not be pooled: {reason}."),
    "not_analysed": N_("The effects were not analysed: {reason}."),
    "candidate_not_looked_up": N_("The candidate {name} could not be looked up: {reason}."),
    "candidates_not_looked_up": N_("Candidates not looked up for lack of time: {candidates}."),
    "not_for": N_("Quotes offered in favour of a candidate that do not support it, left out: {quotes}."),
    "not_against": N_("Quotes offered against a candidate that do not contradict it, left out: {quotes}."),
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
    "claim_empty": N_("it is empty"),
    "cites_nothing": N_("it cites nothing"),
    "cites_unknown_item": N_("it cites a work that was not found in this run"),
    "rests_on_retracted": N_("it rests on a retracted work"),
    "quote_too_short": N_("its quote is shorter than {min_chars} characters"),
    "quote_not_in_text": N_("its quote is not in the text of the work it cites"),
    "quote_is_title": N_("its quote is only the title"),
    "quote_is_copyright": N_("its quote is a copyright line"),
    "quote_is_citation": N_("its quote is a citation line"),
    "quote_is_reference": N_("its quote is from a list of references"),
    "number_missing": N_("it contains a number that its works do not, and shows no calculation: {number}"),
    "number_not_computed": N_("it prints {number}, which its calculation does not give: {computation}"),
    "name_missing": N_("it contains a name that the works it cites do not: {name}"),
    "not_supported": _not_supported,
    "not_read": N_("no second reader has read it"),
    "not_confirmed": N_(
        "it is not confirmed: its second reader found only {noticed} of {planted} planted errors"
    ),
    "not_carried": N_("the second reader named no sentence of the cited works that supports it"),
    "label_unknown": N_("it names a sentence or work that was not shown: {label}"),
    "general_many": N_("a report has at most {most} sentences of general knowledge in a section"),
    "text_cut": N_("it was cut off at the length limit"),
    "adds_to_claims": N_("it says more than the sentences it rests on"),
    "other_work": N_("the sentence it names is from another work"),
    "not_in_work": N_("the work does not say so"),
    "direction_of_numbers": N_("its numbers point in the opposite direction"),
    "dispute_upheld": N_("{by} disputed it ({reason}), and the dispute was upheld"),
    "answer_not_confirmed": N_(
        "The sentence that answered the question could not be confirmed; what was confirmed stands below."
    ),
    "repeats_claim": N_("it repeats sentence {claim}"),
    "leans_on_refused": N_("the sentence before it, on which it depends, did not pass the checks"),
    "rests_on_dropped": N_("it rests on a sentence that did not pass the checks"),
    "never_named": N_("the works it cites never name it"),
    # how the quality of a candidate's evidence follows
    "quality_best": N_("The strongest work in its favour: {design} ({evidence})."),
    "quality_studies": N_("Works: {works}; studies that they report: {studies}."),
    "quality_against": N_("Works that speak against it: {works}."),
    "quality_concern": N_("Works under an expression of concern, which do not count: {works}."),
    "quality_no_people": N_("None of the works is known to be a study in humans."),
    "quality_stopped_trials": N_("Registered trials terminated, withdrawn or suspended: {trials}."),
    # how confidence was computed
    "confidence_of_judgements": _of_judgements,
}
