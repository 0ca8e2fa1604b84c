"""Broad questions: what they are about, their sections, and which works and sentences a section takes."""

from typing import Any

import pytest

from activities import extractive
from activities.extractive.topics import asked_of_works, aspect_of, sought, topic
from activities.profiles.loader import load_profile
from activities.steps import ParsedQuery, PlanInput
from activities.text.facets import is_about, reports_harm
from activities.text.sentences import sentences
from activities.types import Evidence
from tests.activities.extractive.abstracts import cited, context, document, texts, written


def sections(question: str, *clauses: str, profile: str = "biomedical") -> dict[str, str]:
    """Title -> key question of the plan for a question."""
    parsed = ParsedQuery(original_query=question, improved_query=question, research_questions=clauses)
    about: Any = {**context(question), "profile": load_profile(profile)}
    plan = extractive.plan(PlanInput(**about, parsed=parsed, max_sections=5))
    return {section.title: section.key_question for section in plan.report_outline}


@pytest.mark.parametrize(
    ("question", "subject", "aspects"),
    [
        ("What are the treatment options for hernia?", "hernia", ("treatment options for hernia",)),
        ("Approaches to the treatment of gout", "gout", ("approaches to the treatment of gout",)),
        ("What is known about asthma in children?", "asthma in children", ()),
        ("Leigh syndrome: causes and treatment", "Leigh syndrome",
         ("causes of Leigh syndrome", "treatment of Leigh syndrome")),
        ("Give an overview of gout and its complications", "gout", ("complications of gout",)),
        ("What are the outcomes of low birth weight?", "low birth weight", ("outcomes of low birth weight",)),
        ("Which factors influence survival in sepsis?", "survival in sepsis",
         ("factors associated with survival in sepsis",)),
        ("What treatments slow the progression of gout?", "gout", ("treatments for gout",)),
        ("Which drugs are used to treat gout in women?", "gout in women", ("drugs for gout in women",)),
        ("Does metformin slow Alzheimer's disease?", "metformin and Alzheimer's disease", ()),
        ("Give an overview of the Roman road network", "Roman road network", ()),
        ("How is gout diagnosed in women?", "gout in women", ("diagnosis of gout in women",)),
        ("What helps against gout?", "gout", ("treatments for gout",)),
        ("What increases the risk of gout in young men?", "gout in young men",
         ("factors associated with gout in young men",)),
        ("Which drugs lower mortality in sepsis?", "sepsis", ("drugs for sepsis",)),
        ("What is known about working from home?", "working from home", ()),
    ],
)  # fmt: skip
def test_a_broad_question_is_divided_into_its_subject_and_what_is_asked_of_it(
    question: str, subject: str, aspects: tuple[str, ...]
) -> None:
    read = topic(question)
    assert (read.subject, read.aspects) == (subject, aspects)


@pytest.mark.parametrize(
    ("phrase", "name"),
    [
        ("treatment options for hernia", "treatment"),
        ("options for managing pain", "treatment"),
        ("prognosis after stroke", "prognosis"),
        ("survival in lung cancer", "survival"),
        ("harms of cancer screening", "safety"),
        ("risk factors for gout", "risk factors"),
        ("inheritance of Leigh syndrome", "inheritance"),
        ("asthma in children", None),
        ("treatment", None),
    ],
)
def test_the_first_words_name_the_aspect(phrase: str, name: str | None) -> None:
    found = aspect_of(phrase)
    assert (found.name if found else None) == name


def test_what_is_asked_for_has_a_section_of_its_own_which_comes_first() -> None:
    plan = sections("What are the treatment options for hernia?")
    assert next(iter(plan)) == "Treatment options for hernia"
    assert plan["Background"] == "What is the background of hernia?"
    assert "treatment options for hernia" in plan["Evidence from studies in people"]
    assert "Mechanism" not in plan


@pytest.mark.parametrize(
    "question",
    [
        "Does coffee protect against liver cancer?",
        "When should statins be stopped in older people?",
        "Which drugs lower mortality in sepsis?",
        "How common is depression after stroke?",
    ],
)
def test_a_question_that_asks_for_one_thing_is_asked_itself_first(question: str) -> None:
    plan = sections(question)
    assert next(iter(plan.items())) == ("Direct evidence", question)
    assert "Mechanism" not in plan
    assert len(set(plan.values())) == len(plan)


def test_harms_are_asked_of_what_can_do_harm() -> None:
    assert "Safety and limits" in sections("When should statins be stopped in older people?")
    assert "Safety and limits" in sections("What is known about gout?")
    assert "Safety and limits" not in sections("What predicts length of stay in hospital?")
    assert "Safety and limits" not in sections("How common is depression after stroke?")


def test_a_section_asks_about_a_phrase_or_repeats_the_question() -> None:
    assert "coffee and liver cancer" in sections("Does coffee protect against liver cancer?")["Background"]
    stopped = "When should statins be stopped in older people?"
    assert sections(stopped)["Background"] == f"Background: {stopped}"


def test_two_titles_of_an_outline_that_ask_the_same_are_one_section() -> None:
    plan = sections("What is known about tides?", profile="general")
    assert list(plan) == ["Background", "What is known", "Points of dispute"]


def test_a_clause_that_points_back_asks_about_what_is_named_behind_it() -> None:
    plan = sections(
        "What causes gout and how is it treated?", "What causes gout?", "How is it treated (gout)?"
    )
    assert plan["Treatment of gout"] == "What treatments are there for gout?"
    assert "Direct evidence" not in plan


def test_an_aspect_has_one_section() -> None:
    plan = sections("What are the harms of cancer screening?")
    assert next(iter(plan)) == "Harms of cancer screening"
    assert "Safety and limits" not in plan


def test_a_part_that_points_back_names_what_it_points_to() -> None:
    plan = sections(
        "What affects adherence to HIV treatment, and what are its adverse effects?",
        "What affects adherence to HIV treatment?",
        "What are its adverse effects (adherence, HIV)?",
    )
    assert list(plan)[:2] == [
        "Factors associated with adherence to HIV treatment",
        "Adverse effects of HIV treatment",
    ]


def test_the_wording_of_outlines_is_not_looked_for_in_works() -> None:
    seek = sought("What do trials and studies in patients show about treatment options for hernia?")
    assert seek.text == seek.subject == "hernia"
    assert [facet.name for facet in seek.facets] == ["clinical", "treatment"]
    harms = sought("What harms, adverse effects and risks are reported for HIV treatment?")
    assert [facet.name for facet in harms.facets] == ["safety", "treatment"]
    assert sought("Does metformin reduce mortality?").text == "Does metformin reduce mortality?"


HERNIA = document(
    1,
    "BACKGROUND: Inguinal hernia is common.\nRESULTS: Mesh repair of inguinal hernia lowered recurrence "
    "from 9% to 3% in 300 patients.\nCONCLUSIONS: Mesh repair is effective in inguinal hernia.",
    title="Mesh repair of inguinal hernia: a randomized trial",
)
IN_PASSING = document(
    2,
    "BACKGROUND: Torsion of the testis is rare.\nRESULTS: The other side was fixed in 37 patients. No "
    "patient developed a hydrocele or a hernia during follow-up of 7 years. Pain was rare in all of them. "
    "Scars were small. Nobody was operated on again.\nCONCLUSIONS: Surgical fixation of the other side is "
    "safe in torsion.",
    title="Fixation of the other testis in torsion",
)


def hernia(question: str, title: str, *more: Evidence) -> list[str]:
    return texts(written(question, [HERNIA, IN_PASSING, *more], title=title))


def test_a_work_that_mentions_the_subject_in_passing_is_not_cited() -> None:
    draft = written(
        "What treatments are there for hernia?", [HERNIA, IN_PASSING], title="Treatment of hernia"
    )
    assert cited(draft) == {"pmid:1"}
    # the same work is cited where its subject is asked about
    torsion = written(
        "What treatments are there for torsion?", [HERNIA, IN_PASSING], title="Treatment of torsion"
    )
    assert cited(torsion) == {"pmid:2"}


def test_prevention_of_a_disease_is_no_treatment_of_it() -> None:
    prevents = document(
        3,
        "RESULTS: Weight training was associated with a higher risk of inguinal hernia in 900 men.\n"
        "CONCLUSIONS: Weight training prevents inguinal hernia less than expected.",
        title="Weight training and inguinal hernia",
    )
    said = hernia("What treatments are there for inguinal hernia?", "Treatment of inguinal hernia", prevents)
    assert said
    assert not any("Weight training" in text for text in said)
    factors = hernia("Which factors are associated with inguinal hernia?", "Risk factors", prevents)
    assert any("higher risk" in text for text in factors)


def test_a_disease_whose_name_has_the_words_of_another_is_another() -> None:
    own = document(
        4, "Spinal muscular atrophy is a recessive disease of motor neurons.", title="Spinal muscular atrophy"
    )
    other = document(
        5,
        "Spinal and bulbar muscular atrophy is an X-linked disease of adult men.",
        title="Spinal and bulbar muscular atrophy",
    )
    draft = written("What is the background of spinal muscular atrophy?", [own, other], title="Background")
    assert cited(draft) == {"pmid:4"}


def test_definitions_do_not_repeat_each_other() -> None:
    same = [
        document(
            10 + n,
            f"Gout is a {word} inflammatory disease of the joints with crystals of urate.",
            title="Gout",
        )
        for n, word in enumerate(("common", "painful", "frequent", "known"))
    ]
    draft = written("What is the background of gout?", same, title="Background")
    assert len(texts(draft)) == 1


def test_who_took_part_and_what_was_examined_are_no_findings() -> None:
    trial = document(
        6,
        "RESULTS: A total of 288 patients with gout were identified. The predictor variables included age "
        "and gout severity. Allopurinol lowered the rate of gout flares by 40%.",
        title="Allopurinol in gout",
    )
    draft = written(
        "What do trials and studies in patients show about gout?", [trial], title="Evidence from people"
    )
    assert texts(draft) == ["Allopurinol lowered the rate of gout flares by 40%."]


def test_a_section_of_which_nothing_speaks_stays_empty() -> None:
    assert hernia("What is known of the mechanisms and pathways behind hernia?", "Mechanism") == []


def test_a_harm_that_is_less_is_a_benefit() -> None:
    trial = document(
        7,
        "RESULTS: Keyhole surgery reduced the risk of wound infections in 300 patients. Keyhole surgery led "
        "to bleeding in 4% of patients.\nCONCLUSIONS: Keyhole surgery is safe.",
        title="Keyhole surgery in 300 patients",
    )
    question = "What harms, adverse effects and risks are reported for keyhole surgery?"
    said = texts(written(question, [trial], title="Harms of keyhole surgery"))
    assert "Keyhole surgery led to bleeding in 4% of patients." in said
    assert not any("reduced the risk" in text for text in said)


def test_a_sentence_that_was_cut_is_not_quoted() -> None:
    cut = document(
        8, "tional ability in children with gout was measured. Gout is a disease of joints.", title="Gout"
    )
    draft = written("What is the background of gout?", [cut], title="Background")
    assert texts(draft) == ["Gout is a disease of joints."]


def test_a_subject_of_several_words_is_found_where_a_work_says_it_once() -> None:
    programme = document(
        9,
        "BACKGROUND: Access is poor.\nRESULTS: The viral load of HIV stayed low in 300 patients.",
        title="Keeping the viral load low: HIV treatment in resource-limited settings",
    )
    question = "What do trials and studies in patients show about HIV treatment in resource-limited settings?"
    assert texts(written(question, [programme], title="Evidence from studies in people"))


@pytest.mark.parametrize(
    "call",
    [
        "More intensive efforts at early treatment of gout in remote areas may be needed.",
        "These findings show the need to educate patients with gout about treatment.",
        "The treatment of gout in children requires study.",
    ],
)
def test_what_ought_to_be_done_is_no_finding(call: str) -> None:
    trial = document(
        9,
        f"RESULTS: Allopurinol treatment lowered gout flares by 40%.\nCONCLUSIONS: {call}",
        title="Allopurinol in gout",
    )
    draft = written("What treatments are there for gout?", [trial], title="Treatment of gout")
    assert texts(draft) == ["Allopurinol treatment lowered gout flares by 40%."]


def test_where_candidates_are_looked_for_harms_are_those_of_drugs() -> None:
    plan = sections("Which approved drugs could be repurposed for gout?", profile="drug_repurposing")
    assert plan["Safety and regulatory standing"] == (
        "What harms, adverse effects and risks are reported for drugs against gout?"
    )
    assert plan["Disease biology and targets"].endswith("behind gout?")


def test_a_symptom_that_people_got_is_a_harm_without_that_word() -> None:
    assert reports_harm("Nausea occurred in 46% of participants.")
    assert reports_harm("Dizziness and oedema were more frequent with isradipine.")
    assert not reports_harm("Operating time was more frequently recorded.")
    assert not reports_harm("Larger tumours were studied, and visits were more frequent.")


def test_a_result_on_harm_need_not_name_the_subject_of_its_work() -> None:
    work = document(
        1,
        "BACKGROUND: Isradipine is given for Parkinson's disease.\n"
        "RESULTS: Dizziness and oedema were more frequent with isradipine.\n"
        "CONCLUSIONS: Isradipine did not slow Parkinson's disease.",
        "Isradipine in Parkinson's disease: a trial",
        "randomized_trial",
    )
    question = "What harms, adverse effects and risks are reported for drugs against Parkinson's disease?"
    draft = written(question, [work], title="Safety and limits")
    assert "Dizziness and oedema were more frequent with isradipine." in texts(draft)


def test_what_people_got_is_kept_however_little_of_the_question_it_says() -> None:
    trial = document(
        1,
        "BACKGROUND: Lixisenatide protected neurons in a mouse model of Parkinson's disease.\n"
        "RESULTS: Nausea occurred in 46% of participants receiving lixisenatide and vomiting in 13%.\n"
        "CONCLUSIONS: In participants with early Parkinson's disease, lixisenatide therapy slowed progression"
        " but was associated with gastrointestinal side effects.",
        "Lixisenatide in early Parkinson's disease: a trial",
        "randomized_trial",
    )
    question = "What harms, adverse effects and risks are reported for treatments for Parkinson's disease?"
    assert any("Nausea" in text for text in texts(written(question, [trial], title="Safety and limits")))
    candidates = written(
        "Which drugs are candidates for Parkinson's disease?", [trial], title="Candidate drugs"
    )
    assert texts(candidates)
    assert not any("Nausea" in text for text in texts(candidates))


def test_the_name_of_a_disease_is_no_sign_of_a_mechanism() -> None:
    mechanism = sought("What is known of the mechanisms and pathways behind lung cancer?").facets[0]
    said = sentences(document(1, "RESULTS: We identified 94 patients with small cell carcinoma of the lung."))
    assert not is_about(mechanism, said[0])


def test_drugs_to_slow_a_disease_are_found_in_works_that_do_not_say_slow() -> None:
    profile = load_profile("drug_repurposing")
    asked = asked_of_works("Which existing drugs could be repurposed to slow Parkinson's disease?", profile)
    assert asked == "Which drugs are candidates for Parkinson's disease?"
    assert asked_of_works("How safe is the keyhole repair?", profile) == (
        "What harms, adverse effects and risks are reported for keyhole repair?"
    )
    assert asked_of_works("What are the most common side effects of statins?", profile) == (
        "What harms, adverse effects and risks are reported for statins?"
    )
    rate = "What is the risk of stroke in atrial fibrillation?"
    assert asked_of_works(rate, profile) == rate
    same = "Is metformin effective in Parkinson's disease?"
    assert asked_of_works(same, profile) == same


def test_a_sentence_whose_subject_stands_before_it_and_what_a_work_says_of_itself_are_left_out() -> None:
    work = document(
        1,
        "BACKGROUND: Keyhole surgery is common.\n"
        "RESULTS: Keyhole surgery caused bleeding in 4 patients. This was a risk of keyhole surgery.\n"
        "CONCLUSIONS: To our knowledge this is the first report of complications of keyhole surgery.",
        "Keyhole surgery",
    )
    question = "What harms, adverse effects and risks are reported for keyhole surgery?"
    assert texts(written(question, [work], title="Safety and limits")) == [
        "Keyhole surgery caused bleeding in 4 patients."
    ]
