"""Control sentences: what code plants in the works of a run, and how a second reader is measured by it."""

import csv
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from activities.contracts.evidence import Evidence, Support
from activities.contracts.write import DraftClaim, VerifyInput
from activities.profiles.loader import load_profile
from activities.roles.role import Prompt, spec_of
from activities.roles.verifier import VerdictAnswer, VerdictsAnswer
from activities.text.normal_form import normalise
from activities.text.sentences import Sentence, sentences
from activities.verification.controls import MAX_COMPARED, Control, controls, mix
from tests.activities.roles.lies import works

EVERY = [document for document, _ in works()[:6]]
SHOWN = [sentence for document in EVERY for sentence in sentences(document)]
ASKED = [
    DraftClaim(
        id=f"s1.{n}",
        text=f"A sentence of the report, number {n}.",
        support=(Support(evidence_id=SHOWN[0].evidence_id, quote=SHOWN[0].quote),),
        state="ask",
    )
    for n in range(1, 13)
]
GERMAN = Evidence(
    evidence_id="doc:1",
    source="library",
    title="Bericht",
    text="Metformin senkte die Sterblichkeit bei den Patienten mit Diabetes nicht. "
    "In der ersten Gruppe starben 12,5 % der Patienten und in der zweiten Gruppe starben 18,2 % "
    "der Patienten.",
)


def made(shown: Sequence[Sentence] = SHOWN) -> tuple[Control, ...]:
    return controls(ASKED, shown)


def test_as_many_true_sentences_as_errors_and_at_least_three_of_each() -> None:
    every = made()
    assert sum(control.is_true for control in every) == sum(not control.is_true for control in every) >= 3
    assert len({control.sentence.text for control in every}) == len(every)
    assert all(control.sentence.support for control in every)
    assert made() == every, "a step that is repeated must have the same"


def test_an_error_is_none_of_the_sentences_it_is_said_to_rest_on_and_a_true_one_is() -> None:
    for one in made():
        (support,) = one.sentence.support
        assert (one.sentence.text == " ".join(support.quote.split())) is one.is_true


def test_errors_are_made_in_any_language() -> None:
    own = sentences(GERMAN)
    texts = {control.sentence.text for control in made(own) if not control.is_true}
    assert "Metformin senkte die Sterblichkeit bei den Patienten mit Diabetes." in texts
    assert any("18,2 % der Patienten und" in text for text in texts), texts


with (Path(__file__).parent / "control_texts.tsv").open(encoding="utf-8") as file:
    TEXTS = [*csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]
NEGATED = [row for row in TEXTS if row["changed"]]
SIGNED = [row for row in TEXTS if not row["changed"]]


def shown_of(row: Mapping[str, str]) -> Sequence[Sentence]:
    return sentences(GERMAN.replace(title="", text=row["text"], language=row["language"]))


@pytest.mark.parametrize("row", SIGNED, ids=[row["language"] for row in SIGNED])
def test_a_control_has_the_signs_of_its_text(row: Mapping[str, str]) -> None:
    def signs(text: str) -> list[str]:
        return [c for c in text if c == "\u2079" or not (c.isalnum() or c in ". \uff0e")]

    every = made(shown_of(row))
    assert len(every) >= 2
    assert all(signs(c.sentence.text) == signs(c.sentence.support[0].quote) for c in every)


@pytest.mark.parametrize("row", NEGATED, ids=[row["language"] for row in NEGATED])
def test_a_negator_is_left_out_in_any_language_that_has_it_as_a_word(row: Mapping[str, str]) -> None:
    texts = [control.sentence.text for control in made(shown_of(row)) if not control.is_true]
    assert any(row["changed"] in text for text in texts), texts


def test_an_exchanged_number_stands_beside_the_same_word() -> None:
    text = (
        "In this trial 48 patients took the drug for 12 weeks at a dose of 45 mg. "
        "In the other trial 93 patients took it for 30 weeks at a dose of 50 mg a day."
    )
    pairs = [{"48", "93"}, {"12", "30"}, {"45", "50"}]
    exchanged = [
        {old, new}
        for control in made(sentences(GERMAN.replace(title="", text=text, language="en")))
        if not control.is_true
        for old, new in zip(
            control.sentence.support[0].quote.split(), control.sentence.text.split(), strict=True
        )
        if old != new
    ]
    assert exchanged
    assert all(pair in pairs for pair in exchanged), exchanged


def test_works_that_say_the_same_are_compared_a_limited_number_of_times(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compared: list[str] = []

    def alike(one: str, _: str, **__: float) -> float:
        compared.append(one)
        return 100.0

    monkeypatch.setattr("activities.verification.controls.fuzz.token_set_ratio", alike)
    made(SHOWN * 4)
    assert 0 < len(compared) <= MAX_COMPARED * len(EVERY)


def test_sentences_of_the_report_are_not_used_again_and_near_misses_are() -> None:
    near = DraftClaim(text="Sleep helps everybody.", support=ASKED[0].support, state="ask")
    told = [one.replace(text=normalise(SHOWN[place].quote)) for place, one in enumerate(ASKED)]
    every = controls(told, SHOWN, [near])
    assert every[0] == Control(near, is_true=False)
    assert not {control.sentence.text for control in every if control.is_true} & {
        control.text for control in told
    }


def test_controls_stand_among_the_sentences_and_keep_their_order() -> None:
    rows = mix(ASKED, made())
    assert [row for row in rows if isinstance(row, DraftClaim)] == ASKED
    assert (
        isinstance(rows[0], Control)
        or isinstance(rows[-1], Control)
        or any(isinstance(row, Control) for row in rows[1:-1])
    )
    assert len(rows) == len(ASKED) + len(made())


def prompt() -> tuple[VerifyInput, Prompt]:
    step = VerifyInput(run_id="r", question="What?", profile=load_profile("general"), sentences=tuple(ASKED))
    return step, spec_of("verifier").render(step, EVERY, 30_000)


@pytest.mark.parametrize("reader", ["yes to all", "honest", "no to all"])
def test_what_a_reader_misses_is_counted(reader: str) -> None:
    step, asked = prompt()
    assert not set(asked.claims) & set(asked.controls)
    label_of = {(sentence.evidence_id, sentence.quote): label for label, sentence in asked.sentences.items()}
    answers = []
    for label in (*asked.claims, *asked.controls):
        control = asked.controls.get(label)
        said = control.sentence if control else ASKED[0]
        yes = reader == "yes to all" or (reader == "honest" and (control is None or control.is_true))
        labels = [label_of[support.evidence_id, support.quote] for support in said.support]
        answers.append(VerdictAnswer(claim=label, supported="yes" if yes else "no", sentences=labels))
    verdicts = spec_of("verifier").accept(step, asked, VerdictsAnswer(verdicts=answers)).output
    assert {verdict.id for verdict in verdicts.verdicts} == {claim.id for claim in ASKED}, (
        "a control was reported"
    )
    read = verdicts.vigilance
    assert read.planted == read.true == sum(one.is_true for one in asked.controls.values()) >= 3
    assert (read.noticed, read.refused, read.is_believed) == {
        "yes to all": (0, 0, False),
        "honest": (read.planted, 0, True),
        "no to all": (read.planted, read.true, True),
    }[reader]


def test_a_control_looks_like_a_sentence_of_the_report() -> None:
    _, asked = prompt()
    lines = [line for line in asked.user.splitlines() if line.startswith("C") and ": " in line]
    assert len(lines) == len(asked.claims) + len(asked.controls)
    assert all(line.partition(" ")[2].startswith("[E") for line in lines)


def test_a_sentence_behind_another_row_names_the_one_before_it_by_its_label() -> None:
    step, _ = prompt()
    first, second, third = ASKED[0], ASKED[1].replace(after=ASKED[0].text), ASKED[2].replace(after="Gone.")
    asked = spec_of("verifier").render(step.replace(sentences=(first, second, third)), EVERY, 30_000)
    label = next(name for name, claim_id in asked.claims.items() if claim_id == first.id)
    behind = re.search(rf"^{label} .*\n(C\d+) ", asked.user, re.MULTILINE)
    follows = behind is not None and asked.claims.get(behind[1]) == second.id
    assert (f"\n   after: {label}\n" in f"{asked.user}\n") is not follows
    assert "\n   after: Gone.\n" in f"{asked.user}\n"
    assert asked.user.count(first.text) == 1 + sum(first.text in claim.text for claim in EVERY)


def test_half_of_the_errors_are_made_of_the_sentences_of_the_report() -> None:
    own = sentences(GERMAN)
    first, second = (Support(evidence_id=row.evidence_id, quote=row.quote) for row in own)
    texts = (
        ("Metformin senkte die Sterblichkeit der Diabetiker dieser Studie nicht.", first),
        ("Ohne das Mittel starben mehr, n\u00e4mlich 18,2 % der Patienten in dieser Gruppe.", second),
    )
    asked = [
        DraftClaim(id=f"s1.{n}", text=text, support=(row,), state="ask")
        for n, (text, row) in enumerate(texts)
    ]
    errors = {
        control.sentence.text: control.sentence.support
        for control in controls(asked, own)
        if not control.is_true
    }
    assert errors["Metformin senkte die Sterblichkeit der Diabetiker dieser Studie."] == (first,)
    assert errors[texts[1][0].replace("18,2", "12,5")] == (second,)
    assert len(errors) == 4, "the others are made of the sentences of the work"


def test_sentences_in_another_language_than_their_works_have_errors_in_their_own() -> None:
    (support,) = (
        Support(evidence_id=sentence.evidence_id, quote=sentence.quote)
        for sentence in sentences(GERMAN)
        if "18,2" in sentence.quote
    )
    text = "In the first group 12.5 % of the patients with diabetes died within the time of the study."
    asked = [DraftClaim(id="s1.1", text=text, support=(support,), state="ask")]
    every = controls(asked, sentences(GERMAN))
    changed = [control for control in every if control.sentence.text.startswith("In the first group 18.2 %")]
    assert [control.is_true for control in changed] == [False]
    assert changed[0].sentence.support == (support,)


@pytest.mark.parametrize("supported", ["yes", "no"])
def test_an_error_made_of_a_sentence_counts_where_that_sentence_was_confirmed(supported: str) -> None:
    """Of a false sentence a changed number may be the right one."""
    row = sentences(GERMAN)[1]
    support = Support(evidence_id=row.evidence_id, quote=row.quote)
    text = "In der ersten Gruppe starben 12,5 % der Patienten dieser Studie."
    claim = DraftClaim(id="s1.1", text=text, support=(support,), state="ask")
    step = VerifyInput(
        run_id="r", question="Was?", profile=load_profile("general"), sentences=(claim,), language="de"
    )
    asked = spec_of("verifier").render(step, [GERMAN], 30_000)
    (made_of,) = (control for control in asked.controls.values() if control.made_of)
    assert made_of.sentence.text == text.replace("12,5", "18,2")
    labels = [label for label, sentence in asked.sentences.items() if sentence.quote == row.quote]
    answers = [
        VerdictAnswer(claim=label, supported=supported if label in asked.claims else "no", sentences=labels)
        for label in (*asked.claims, *asked.controls)
    ]
    read = spec_of("verifier").accept(step, asked, VerdictsAnswer(verdicts=answers)).output.vigilance
    planted = sum(not control.is_true for control in asked.controls.values())
    assert (read.planted, read.noticed) == ((planted,) * 2 if supported == "yes" else (planted - 1,) * 2)


def test_a_number_is_exchanged_for_one_of_its_unit() -> None:
    text = (
        "The grant of the trial was $5 million in all. It was spent in 15 countries by the group of authors."
    )
    work = GERMAN.replace(text=text, language="en")
    shown = sentences(work)
    changed = [control.sentence.text for control in controls(ASKED, shown) if not control.is_true]
    assert not any("$15" in sentence or "5 million countries" in sentence for sentence in changed)


UNCITED = (
    ("In der ersten Gruppe starben 12,5 % der Patienten.", True),  # a finding that its writer left uncited
    ("Rechnen Sie mit weniger Toten als 18,2 %.", False),  # its figure stands elsewhere with its work
    ("Rechnen Sie mit weniger Toten als 12,5 %.", True),
    ("Wir empfehlen den meisten Patienten, den Blutzucker zu messen.", False),
)


@pytest.mark.parametrize(("text", "is_quoted"), UNCITED)
def test_a_sentence_without_works_gets_a_quote_where_it_says_what_one_says(
    text: str, is_quoted: bool
) -> None:
    row = sentences(GERMAN)[1]
    support = (Support(evidence_id=row.evidence_id, quote=row.quote),)
    cited = DraftClaim(id="s1.1", text="In der zweiten starben 18,2 %.", cites=("doc:1",), support=support)
    uncited = DraftClaim(id="s1.2", text=text, kind="inference")
    step = VerifyInput(
        run_id="r",
        question="Was?",
        profile=load_profile("general"),
        sentences=(cited, uncited),
        language="de",
    )
    asked = spec_of("verifier").render(step, [GERMAN], 30_000)
    labels = [label for label, sentence in asked.sentences.items() if sentence.quote == row.quote]
    answers = [VerdictAnswer(claim=label, supported="yes", sentences=labels) for label in asked.claims]
    verdicts = spec_of("verifier").accept(step, asked, VerdictsAnswer(verdicts=answers)).output.verdicts
    assert {verdict.id: bool(verdict.support) for verdict in verdicts}["s1.2"] is is_quoted
