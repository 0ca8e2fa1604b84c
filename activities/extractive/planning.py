"""Reading a question, planning a report and a team's turns, by vocabularies, aspects and a fixed rotation."""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from activities.contracts.evidence import ReportPlan, ReportPlanSection, SourceOption
from activities.contracts.plan import ManagerInput, ParsedQuery, ParseQueryInput, PlanInput, TeamLedger
from activities.contracts.profile import Aspect
from activities.contracts.step import Member, StepContext
from activities.text.embeddings import MULTILINGUAL, embedder
from activities.text.entities import Kind, entities_of_kind, link
from activities.text.language import ENGLISH, language_of_question
from activities.text.tokens import fold, is_named, phrases, terms, weak_stems

MAX_ENTITIES = 10
"""Names and phrases that are read from a question."""
MAX_ADDED = 6
"""Names of an earlier question that are added to one that follows it up."""
MAX_TITLE = 160
"""Characters of a report's title."""
MIN_SHARED = 2
"""Words that a question and a description share at least, so that the description fits: one alone may mean
something else (`error correction`, `corrections` of records)."""
ROTATION: tuple[Member, ...] = ("searcher", "hypothesizer", "judge")
"""Who works after whom; the reporter writes when the research has ended."""
MAX_FACTS = 10
_KINDS: tuple[Kind, ...] = ("drug", "drug_class", "disease", "phenotype", "protein")
MEDICAL = (
    "Drugs, diseases, symptoms, treatment of patients, medicine and health",
    "Which drug treats the disease?",
    "Does the treatment help patients?",
    "What are the risks of this illness?",
)
EVERYDAY = (
    "Sport, history, politics, geography, technology and everyday life",
    "Who is the treasurer of the club?",
    "When is the rent due?",
    "When was the battle fought?",
    "Who works on Saturday?",
)
NEARER = 0.1
"""Cosine by which a question of medicine is nearer to `MEDICAL` than to `EVERYDAY`. Of 52 questions of
medicine in ten languages 51 are, of 30 about a club, a house or a rota none, and of 360 of XQuAD 7 %, most of
which ask about diseases, drugs or cells."""
_BUILT_IN = ("general", "biomedical", "drug_repurposing")


def parse_query(step: ParseQueryInput) -> ParsedQuery:
    """Mode, profile, sources and names of a question.

    The mode is the one asked for, else `iterative`: without a model one search for the question itself finds
    what there is to quote."""
    one_line = " ".join(step.question.split())
    question = standalone_question(one_line, step.earlier_question)
    query = step.question if question == one_line else question  # line breaks make no second search of it
    profile, profile_reason = choose_profile(question, step.profiles, step.profile.name)
    mode = step.mode or ("iterative" if not step.modes or "iterative" in step.modes else min(step.modes))
    reason = "you asked for it" if step.mode else "without a model one search finds what there is to quote"
    return ParsedQuery(
        original_query=step.question,
        improved_query=query,
        research_mode=mode,
        profile=profile,
        sources=choose_sources(question, step.sources, step.preferred(profile)),
        key_entities=entities(question),
        research_questions=(query,),
        rationale=f"Mode {mode}: {reason}; profile {profile}: {profile_reason}.",
    )


def standalone_question(question: str, earlier: str) -> str:
    """Return a follow-up with the names of the earlier question that it lacks, in brackets at its end.

    The question itself where it lacks none. What the earlier question has in such brackets was added to it in
    turn."""
    head, _, tail = earlier.removesuffix(")").partition(" (") if earlier.endswith(")") else (earlier, "", "")
    earlier_names = dict.fromkeys((*entities(head), *(name.strip() for name in tail.split(","))))
    missing = [name for name in earlier_names if name and fold(name) not in fold(question)]
    return f"{question} ({', '.join(missing[:MAX_ADDED])})" if missing else question


def entities(question: str) -> tuple[str, ...]:
    """Return what a question names, as typed and in order: by the vocabularies, and other noun phrases."""
    mentions = [entity.surface for entity in link(question)]
    mentions += [
        p for p in phrases(question) if not any(fold(n) in fold(p) or fold(p) in fold(n) for n in mentions)
    ]
    return tuple(dict.fromkeys(sorted(mentions, key=question.find)))[:MAX_ENTITIES]


def choose_profile(question: str, profiles: dict[str, str], default: str) -> tuple[str, str]:
    """Return a profile among those on offer (`default` where none are), and the reason.

    One whose name the question has (`drugs to repurpose`), a user's own whose description fits, else by the
    vocabularies of medicine."""
    if not profiles:
        return default, "you asked for it"
    question_terms = set(terms(question))
    for name in sorted(profiles):
        words = set(terms(name.replace("_", " ").replace("-", " ")))
        if words and words <= question_terms and name != "general":
            return name, "the question has its name"
    shared = _shared(question, {name: text for name, text in profiles.items() if name not in _BUILT_IN})
    if best := max(sorted(shared), key=lambda name: shared[name], default=""):
        return best, "its description fits the question"
    if "biomedical" in profiles and is_biomedical(question):
        return "biomedical", "the question asks about medicine"
    if "general" in profiles:
        return "general", "nothing in the question points to a special field"
    return (default if default in profiles else min(profiles)), "nothing in the question points to another"


def _shared(question: str, descriptions: Mapping[str, str]) -> Counter[str]:
    """Count the words that a question shares with descriptions, of those that fit it."""
    question_terms = set(terms(question)) - weak_stems()
    counts = {name: len(question_terms.intersection(terms(text))) for name, text in descriptions.items()}
    return Counter({name: count for name, count in counts.items() if count >= MIN_SHARED})


def is_biomedical(question: str) -> bool:
    """Tell whether a question is one of medicine, in any language.

    By the vocabularies, which are English, or by the encoder, to which it is nearer to questions of medicine
    than to others."""
    language = language_of_question(question)
    if language in ("", ENGLISH) and entities_of_kind(question, _KINDS):
        return True
    # a short question does not tell its language
    model = embedder(MULTILINGUAL if not language and not question.isascii() else (language,))
    if model is None:
        return False
    question_vector, *vectors = model.encode([question, *MEDICAL, *EVERYDAY])
    likeness = np.stack(vectors) @ question_vector
    return bool(likeness[: len(MEDICAL)].max() - likeness[len(MEDICAL) :].max() > NEARER)


def choose_sources(
    question: str, options: Sequence[SourceOption], preferred: Sequence[str]
) -> tuple[str, ...]:
    """Return the enabled sources for a question.

    Those it names, then those whose description shares words with it, else in the profile's order. Sources
    that the profile does not prefer are among them only for one of these reasons."""
    infos = {o.info.name: o.info for o in options if o.searchable}
    mentions = {
        name
        for name, info in infos.items()
        if any(is_named(label, question) for label in (name, info.title) if label != "library")
    }
    shared = _shared(question, {name: info.covers for name, info in infos.items()})
    sources = [name for name in preferred if name in infos]
    choices = [*sources, *(n for n in infos if n not in sources and (n in mentions or shared[n]))]
    return tuple(sorted(choices, key=lambda name: (name not in mentions, -shared[name], choices.index(name))))


def plan(step: PlanInput) -> ReportPlan:
    """Return the question itself, then the profile's aspects of it, as far as sections go.

    The search words of aspects are English: a question in another language has the first section alone."""
    question = step.parsed.improved_query or step.question
    sections = [ReportPlanSection(title="The question itself", key_question=question)]
    aspects = step.profile.aspects if language_of_question(question) in ("", ENGLISH) else ()
    sections += [
        ReportPlanSection(title=aspect.title, key_question=question, aspect=aspect.title)
        for aspect in aspects
    ]
    title = " ".join(question.split())
    if len(title) > MAX_TITLE:
        title = title[: MAX_TITLE - 3].rsplit(" ", 1)[0] + " ..."
    return ReportPlan(
        report_title=title[:1].upper() + title[1:],
        report_outline=tuple(sections[: max(1, step.max_sections)]),
    )


def aspect_of(step: StepContext, text: str) -> Aspect | None:
    """Return the aspect that a step looks for by a text: that of its question, and none by another text."""
    return next((a for a in step.profile.aspects if a.title == step.aspect and text == step.question), None)


def search_text(step: StepContext, text: str) -> str:
    """Return what is searched for: a text, and the search words of the aspect that it is to be on."""
    aspect = aspect_of(step, text)
    return f"{text} {aspect.search}" if aspect else text


def manage(step: ManagerInput) -> TeamLedger:
    """Return the next member of a team by the rotation.

    A hypothesizer has a turn only where the profile names candidates."""
    rotation = [m for m in ROTATION if m != "hypothesizer" or step.profile.candidates]
    last = step.turns[-1] if step.turns else None
    place = rotation.index(last.member) + 1 if last and last.member in rotation else 0
    facts = (*step.facts, *((f"{last.member}: {last.result}",) if last else ()))
    instructions = step.steering[::-1] or step.judged_gaps or (step.question,)
    return TeamLedger(
        facts=tuple(dict.fromkeys(facts))[-MAX_FACTS:],
        plan=step.plan or (f"search for evidence on: {step.question}", "judge it", "report"),
        progress=last is None or last.new,
        next_speaker=rotation[place % len(rotation)],
        instruction=instructions[step.round % len(instructions)] if step.replan else instructions[0],
    )
