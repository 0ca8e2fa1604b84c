"""Query parser, clarifier and planner: what a question asks, what is meant, and which sections answer it.

The first also names the smaller questions that it is made of; the second asks back where readings differ in
what would be searched; the third plans a long report, each section with its first searches.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

from activities.contracts.evidence import Evidence, ReportPlan, ReportPlanSection, Statement
from activities.contracts.plan import (
    MAX_READINGS,
    READING_CHARS,
    Asked,
    Clarified,
    ClarifyInput,
    ParsedQuery,
    ParseQueryInput,
    PlanInput,
)
from activities.contracts.step import Reading
from activities.extractive import planning
from activities.extractive.planning import standalone_question
from activities.messages import english_name
from activities.roles.fields import Loose, Text, Texts, limits
from activities.roles.prompt import CUT, compose, listing
from activities.roles.role import Accepted, Prompt, RoleSpec
from activities.roles.validation import is_relevant, line, lines, one_of
from activities.text.tokens import is_named, plain_words

MAX_ENTITIES = 8
MAX_QUESTIONS = 5
ASKED: tuple[Asked, ...] = get_args(Asked)
MIN_SOURCES = 3
"""Sources that are searched where a model chose fewer and more are there."""
COVERS = (100, 60, 30, 0)
"""Characters of what a source covers in the prompt: as many as leave room for all sources that may be
searched."""


class Wording(Loose):
    language: Text = ""
    query: Text = limits(length=400, default="")


class QueryAnswer(Loose):
    improved_query: Text = limits(length=400, default="")
    research_mode: Text = "iterative"
    profile: Text = ""
    specialist: Text = ""
    key_entities: Texts = limits(items=8, length=80, default_factory=list)
    research_questions: Texts = limits(items=5, length=200, default_factory=list)
    sources: Texts = limits(items=6, length=40, default_factory=list)
    asks: Texts = limits(items=4, length=12, default_factory=list)
    wordings: list[Wording] = limits(items=4, default_factory=list)
    """Where sources are in another language than the question."""


def render_query(step: ParseQueryInput, _documents: Sequence[Evidence], room: int) -> Prompt:
    profiles = "\n".join(f"- {name}: {line(description, 200)}" for name, description in step.profiles.items())
    choice = f"Profiles (`profile`: the one that fits best):\n{profiles}"
    inputs = [choice if profiles else f"Profile, chosen already: {step.profile.name}"]
    if step.earlier_question:
        inputs.append(
            "It follows up an earlier question, which was answered: `improved_query` names in full what it "
            "refers to, so that it stands alone.\n"
            + listing("Earlier question", [step.earlier_question], 1, 800)
            + "\n"
            + listing("Earlier answer", step.earlier_answer, 12, 300)
        )
    if step.mode:
        inputs.append(f"Mode, chosen already: {step.mode}")
    elif step.modes:
        modes = "\n".join(f"- {name}: {description}" for name, description in step.modes.items())
        inputs.append(f"Modes (`research_mode`: the one that fits best; in doubt `iterative`):\n{modes}")
    else:
        inputs.append(
            "`research_mode`: `deep` for an overview of a field or for subjects that each need works of "
            "their own; else `iterative`, also where one subject has several aspects."
        )
    if step.specialists:
        rows = "\n".join(f"- {name}: {does}" for name, does in step.specialists.items())
        instruction = "`specialist`: who searches; `general` where several or none fit"
        inputs.append(f"Specialists ({instruction}):\n{rows}")
    if step.wordings_in:
        names = ", ".join(f"{english_name(code)} (`{code}`)" for code in step.wordings_in)
        inputs.append(f"`wordings`: the question once in each of these languages, for the search: {names}.")
    for chars in COVERS:
        prompt = compose(
            "query_parser",
            step,
            room=room,
            inputs=[*inputs, *_sources(step, chars)],
            task="Prepare this question. Answer with JSON.",
        )
        if CUT not in prompt.user:
            break
    profile_names = tuple(step.profiles) or (step.profile.name,)
    choices = {"research_mode": modes_of(step), "profile": profile_names, "sources": names_of(step)}
    choices |= {"specialist": tuple(step.specialists), "asks": ASKED}
    choices["wordings.language" if step.wordings_in else "wordings"] = step.wordings_in
    return replace(prompt, choices=choices)


def _sources(step: ParseQueryInput, chars: int) -> list[str]:
    """List the sources that may be searched, with the beginning of what each covers."""
    rows = [
        f"- {o.info.name}: {line(o.info.covers, chars)}" if chars else f"- {o.info.name}"
        for o in step.sources
        if o.searchable
    ]
    instruction = "`sources`: those likely to hold the answer, the best first, at most 6"
    return ["\n".join((f"Sources ({instruction}):", *rows))] if rows else []


def names_of(step: ParseQueryInput) -> tuple[str, ...]:
    return tuple(o.info.name for o in step.sources if o.searchable)


def sources_of(step: ParseQueryInput, answer: QueryAnswer, profile: str) -> tuple[str, ...]:
    """Return the sources that were chosen; too few are filled up from the profile's."""
    names = names_of(step)
    choice = dict.fromkeys(name for source in answer.sources if (name := one_of(source, names)) is not None)
    preferred = (name for name in step.preferred(profile) if name in names)
    sources = [*dict.fromkeys((*choice, *preferred))]
    return tuple(sources[: max(MIN_SOURCES, len(choice))]) if choice else ()


def modes_of(step: ParseQueryInput) -> tuple[str, ...]:
    return (step.mode,) if step.mode else tuple(step.modes) or ("iterative", "deep")


def accept_query(step: ParseQueryInput, _prompt: Prompt, answer: QueryAnswer) -> Accepted[ParsedQuery]:
    """Accept a rewrite that keeps most of the user's words, and names that these contain.

    A follow-up without a usable rewrite has the names of the earlier question added.
    """
    question = line(step.question, 4_000)
    text = " ".join((question, step.earlier_question, *step.earlier_answer))
    rewrite = line(answer.improved_query, 1_000)
    question_words = {word for word in plain_words(question) if len(word) > 3}
    shared_count = len(question_words & set(plain_words(rewrite)))
    notes: tuple[Statement, ...] = ()
    if not rewrite or 2 * shared_count < len(question_words):
        rewrite = standalone_question(question, step.earlier_question)
        notes = (Statement.of("searched_as_typed"),)
    rewrite = step.question if rewrite == question else rewrite  # line breaks make no second search of it
    profile = one_of(answer.profile, step.profiles) or step.profile.name
    parsed = ParsedQuery(
        original_query=step.question,
        improved_query=rewrite,
        research_mode=step.mode or one_of(answer.research_mode, modes_of(step)) or "iterative",
        profile=profile,
        sources=sources_of(step, answer, profile),
        specialist=one_of(answer.specialist, step.specialists) or "",
        key_entities=lines((e for e in answer.key_entities if is_named(e, text)), MAX_ENTITIES, 120),
        asks=tuple(dict.fromkeys(ask for text in answer.asks if (ask := one_of(text, ASKED)))),
        research_questions=lines(answer.research_questions, MAX_QUESTIONS) or (rewrite,),
        wordings={
            wording.language: query
            for wording in answer.wordings
            if wording.language in step.wordings_in and (query := line(wording.query, 400))
        },
    )
    return Accepted(parsed, notes)


QUERY_PARSER = RoleSpec(
    "query_parser", QueryAnswer, render_query, accept_query, lambda step, _: planning.parse_query(step)
)


class ReadingAnswer(Loose):
    question: Text = limits(length=READING_CHARS, default="")
    assumed: Text = limits(length=READING_CHARS, default="")


class ClarifierAnswer(Loose):
    questions: list[ReadingAnswer] = limits(items=MAX_READINGS, default_factory=list)


def render_readings(step: ClarifyInput, _documents: Sequence[Evidence], room: int) -> Prompt:
    earlier_question = listing("It follows up an earlier question", [step.earlier_question], 1, 800)
    return compose(
        "clarifier",
        step,
        room=room,
        inputs=[earlier_question if step.earlier_question else ""],
        task="What must be known before the search? Answer with JSON.",
    )


def accept_readings(_step: ClarifyInput, _prompt: Prompt, answer: ClarifierAnswer) -> Accepted[Clarified]:
    """Accept the first questions that have an assumed answer, each once."""
    readings: dict[str, Reading] = {}
    for part in answer.questions:
        question, assumed = line(part.question, READING_CHARS), line(part.assumed, READING_CHARS)
        if question and assumed:
            readings.setdefault(question.casefold(), Reading(question=question, assumed=assumed))
    return Accepted(Clarified(readings=tuple(readings.values())[:MAX_READINGS]))


CLARIFIER = RoleSpec("clarifier", ClarifierAnswer, render_readings, accept_readings, lambda *_: Clarified())


MAX_QUERIES = 3
"""First searches of a section."""
MAX_QUERY_CHARS = 160


class SectionAnswer(Loose):
    title: Text = limits(length=100, default="")
    key_question: Text = limits(length=240, default="")
    queries: Texts = limits(items=MAX_QUERIES, length=MAX_QUERY_CHARS, default_factory=list)


class PlanAnswer(Loose):
    report_title: Text = limits(length=140, default="")
    sections: list[SectionAnswer] = limits(items=8)


def render_plan(step: PlanInput, _documents: Sequence[Evidence], room: int) -> Prompt:
    parsed = step.parsed
    sources = [f"{option.info.title}: {option.info.covers}" for option in step.sources]
    return compose(
        "planner",
        step,
        room=room,
        inputs=[
            listing("Sources that will be searched", sources, max_items=len(sources), max_chars=120),
            listing("Named in the question", parsed.key_entities),
            listing("Smaller questions", parsed.research_questions),
            listing("Usual sections of this profile", tuple(aspect.title for aspect in step.profile.aspects)),
        ],
        task=f"Plan the report in at most {step.max_sections} sections. Answer with JSON.",
    )


def accept_plan(step: PlanInput, _prompt: Prompt, answer: PlanAnswer) -> Accepted[ReportPlan]:
    """Accept sections up to the number asked for, with a title and a question relevant to the user's.

    No title stands twice. The title of the report is printed without a quote: it must be relevant too.
    """
    question = step.parsed.improved_query or step.question
    subject = (question, *step.parsed.key_entities, *step.parsed.research_questions)
    usual_texts = (
        *(aspect.title for aspect in step.profile.aspects),
        *(c.description for c in step.profile.criteria),
    )
    sections: dict[str, ReportPlanSection] = {}
    for section in answer.sections:
        title, key_question = line(section.title, 120), line(section.key_question, 400)
        if title and key_question and is_relevant(f"{title} {key_question}", *subject, *usual_texts):
            queries = lines(section.queries, MAX_QUERIES, MAX_QUERY_CHARS)
            plan_section = ReportPlanSection(title=title, key_question=key_question, queries=queries)
            sections.setdefault(title.casefold(), plan_section)
    outline = tuple(sections.values())[: step.max_sections]
    notes = () if outline else (Statement.of("no_section"),)
    title = line(answer.report_title, 200)
    plan = ReportPlan(
        report_title=title if is_relevant(title, *subject) else line(question, 200),
        report_outline=outline
        or (ReportPlanSection(title=line(question, 120), key_question=line(question, 400)),),
    )
    return Accepted(plan, notes)


PLANNER = RoleSpec("planner", PlanAnswer, render_plan, accept_plan, lambda step, _: planning.plan(step))
