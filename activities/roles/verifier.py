"""Verifier: a second reader who says whether the quoted text says what a sentence of the draft says."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, get_args

from activities.drafts import CheckedSentence, SentenceVerdict, Verdicts, VerifyInput
from activities.models.tokens import BYTES_PER_TOKEN
from activities.roles.prompt import fenced, one_line
from activities.roles.role import Accepted, Prompt, RoleSpec
from activities.roles.validation import Loose, OneClaim, Text, limits, line
from activities.roles.works import compose_works
from activities.types import Evidence

Supported = Literal["yes", "partly", "no"]
SUPPORTED: tuple[Supported, ...] = get_args(Supported)
SHARE_OF_SENTENCES = 0.6
"""Of the prompt's room, for the sentences and their quotes; the rest is for the works they are from."""
TASK = "Give a verdict on every sentence (C1, C2 ...). Answer with JSON."


class VerdictAnswer(Loose):
    claim: OneClaim = ""
    supported: Text = ""
    reason: Text = limits(length=120, default="")


class VerdictsAnswer(Loose):
    verdicts: list[VerdictAnswer]


def render(step: VerifyInput, documents: Sequence[Evidence], room: int) -> Prompt:
    sound = [document for document in documents if document.standing != "retracted"]
    places = {document.evidence_id: n for n, document in enumerate(sound, 1)}
    limit = int(room * SHARE_OF_SENTENCES * BYTES_PER_TOKEN)
    rows: list[str] = []
    labels: dict[str, str] = {}
    for sentence in step.sentences:
        row = _row(f"C{len(labels) + 1}", sentence, places)
        if (limit := limit - len(row.encode()) - 1) < 0:
            break
        rows.append(row)
        labels[f"C{len(labels) + 1}"] = sentence.id
    prompt = compose_works(
        "verifier",
        step.model_copy(update={"background": "", "steering": ()}),
        sound,
        room=room,
        given=["Sentences with the quoted text:\n" + fenced("claims", "\n".join(rows))],
        task=TASK,
        labelled=False,
    )
    choices = {"ClaimLabel": tuple(labels), "verdicts.supported": SUPPORTED}
    return replace(prompt, claims=labels, choices=choices, notes=())


def _row(label: str, sentence: CheckedSentence, places: dict[str, int]) -> str:
    quotes = "\n".join(
        f'   E{places.get(one.evidence_id, 0)}: "{one_line(one.quote)}"' for one in sentence.support
    )
    return f"{label}: {one_line(sentence.text)}\n{quotes}"


def accept(_step: VerifyInput, prompt: Prompt, answer: VerdictsAnswer) -> Accepted[Verdicts]:
    """Verdicts on the sentences that were asked about; of two on one sentence the stricter one. A sentence
    without a verdict stays unverified."""
    found: dict[str, SentenceVerdict] = {}
    for given in answer.verdicts:
        name = prompt.claims.get(given.claim)
        said = next((one for one in SUPPORTED if one == given.supported.strip().casefold()), None)
        if name is None or said is None:
            continue
        if name in found and SUPPORTED.index(found[name].supported) >= SUPPORTED.index(said):
            continue
        found[name] = SentenceVerdict(id=name, supported=said, reason=line(given.reason, 160))
    return Accepted(Verdicts(verdicts=tuple(found.values())))


def by_code(step: VerifyInput, _documents: Sequence[Evidence]) -> Verdicts | None:
    return None if step.sentences else Verdicts()


SPEC = RoleSpec[VerifyInput, VerdictsAnswer, Verdicts](
    "verifier",
    VerdictsAnswer,
    render,
    accept,
    lambda step: step.evidence,
    by_code,
    without_model=lambda _step: Verdicts(),
)
