"""Full texts: an exclusion has a criterion and words of the work, and a person decides what is open."""

from pathlib import Path

import pytest

from activities.contracts.evidence import Evidence, Identifiers
from activities.review.files import read_full_texts
from activities.review.steps import RecordDecision, ScreenInput
from activities.roles.full_texts import WHOLE_CHARS
from activities.roles.screener import VerdictAnswer, accept_full_text, render_full_text
from tests.activities.review.studies import OTHER, PROTOCOL, STEP, TRIAL

RULES = PROTOCOL.criteria


def verdict(answer: dict[str, object], work: Evidence = OTHER) -> RecordDecision:
    step = ScreenInput.model_validate({**STEP, "criteria": RULES})
    prompt = render_full_text(step, [work], 12_000)
    answered = VerdictAnswer.model_validate(answer)
    (decision,) = accept_full_text(step, prompt, answered).output.decisions
    return decision


def test_an_exclusion_stands_with_its_criterion_and_words_of_the_work() -> None:
    decision = verdict({"decision": "exclude", "criterion": "E1", "reason": "rats", "sentences": ["S1"]})
    assert (decision.verdict, decision.criterion) == ("exclude", "E1")
    assert decision.words[0] in OTHER.text


@pytest.mark.parametrize(
    "answer",
    [
        {"decision": "exclude", "criterion": "E1"},
        {"decision": "exclude", "criterion": "E9", "sentences": ["S1"]},
        {"decision": "exclude", "criterion": "E1", "sentences": ["S99"]},
        {"decision": "exclude", "criterion": "E1", "copied": "The drug was given to sixty mice with it."},
        {"decision": "perhaps"},
    ],
)
def test_an_exclusion_without_either_is_unsure(answer: dict[str, object]) -> None:
    assert verdict(answer).verdict == "unsure"


def test_of_a_long_text_the_passages_near_the_criteria_are_shown() -> None:
    filler = "".join(
        f"The weather of day {day} was recorded at the station by its keeper. " for day in range(900)
    )
    quote = "All of the animals were rats of one strain, which the study bought from a breeder."
    work = OTHER.replace(text=f"{OTHER.text} {filler}{quote} {filler}")
    assert len(work.text) > 3 * WHOLE_CHARS
    step = ScreenInput.model_validate({**STEP, "criteria": RULES})
    prompt = render_full_text(step, [work], 9_000)
    assert quote in prompt.user
    assert len(prompt.user) < WHOLE_CHARS


def test_a_persons_files_are_matched_by_name_identifier_or_title(tmp_path: Path) -> None:
    body = "The methods are told here at length. " * 20
    works = [
        TRIAL,
        OTHER,
        TRIAL.replace(evidence_id="pmid:3", title="A third study of vegetables", identifiers=Identifiers()),
    ]
    (tmp_path / "10.1000_trial.1.txt").write_text(body)
    (tmp_path / "rats.txt").write_text(f"{OTHER.title}\n\n{body}")
    (tmp_path / "else.txt").write_text(f"Nothing of the kind\n\n{body}")
    texts, lines = read_full_texts(tmp_path, works)
    assert set(texts) == {"pmid:1", "pmid:2"}
    assert lines == ["else.txt is the text of no awaited record, or of several: say of which"]
    text = texts["pmid:1"]
    assert text.text.startswith(TRIAL.text)  # what was quoted before keeps standing
    assert "told here at length" in text.text
    assert text.full_text
    assert text.facts["full_text_from"] == "10.1000_trial.1.txt"
    assert set(read_full_texts(tmp_path / "rats.txt", works)[0]) == {"pmid:2"}


def test_of_works_with_like_titles_the_one_with_the_very_title_is_meant(tmp_path: Path) -> None:
    works = [TRIAL.replace(evidence_id=f"pmid:{n}", title=f"Trial {n} of the drug in adults") for n in (7, 8)]
    works = [work.replace(identifiers=Identifiers()) for work in works]
    (tmp_path / "a.txt").write_text(f"Trial 8 of the drug in adults\n\n{'Methods and results of it. ' * 20}")
    assert set(read_full_texts(tmp_path, works)[0]) == {"pmid:8"}


def test_a_file_that_fits_two_works_is_nobodys(tmp_path: Path) -> None:
    twin = OTHER.replace(evidence_id="pmid:4", identifiers=Identifiers(pmid="4"))
    (tmp_path / "rats.txt").write_text(f"{OTHER.title}\n\n{'Methods and results of it. ' * 20}")
    texts, lines = read_full_texts(tmp_path, [OTHER, twin])
    assert texts == {}
    assert [line.split()[0] for line in lines] == ["rats.txt"]
