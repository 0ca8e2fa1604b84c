"""The sentences of a draft that a check refused, which its writer writes once more."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from activities.contracts.evidence import Evidence
from activities.contracts.write import DraftClaim, DraftParagraph, SectionDraft, WriteInput
from activities.report.formats.statements import sentence as in_words
from activities.roles.claims import MAX_LABELS, MAX_PASSES, Written, checked, results_of
from activities.roles.fields import Loose, OneClaim
from activities.roles.prompt import fenced, listed
from activities.roles.role import Prompt, prompt_text
from activities.roles.validation import cited, sentence_text, supports
from activities.roles.works import compose_works
from activities.verification.verdicts import is_rewordable, leaning_on_refused

MAX_REWORDING_CHARS = 1_500
"""Characters of a work that are shown: what the sentences quote, its neighbours, and what is nearest."""
TASK_AGAIN = "Write the refused sentences once more. Answer with JSON."


class WrittenAgain(Written):
    claim: OneClaim = ""


class AgainAnswer(Loose):
    sentences: list[WrittenAgain]


def render_again(step: WriteInput, documents: Sequence[Evidence], room: int) -> Prompt:
    """Show the paragraphs with refused sentences, the reason of each, and the works they cite."""
    named: dict[str, list[str]] = {}
    labels: dict[str, str] = {}
    rows: list[str] = []
    for paragraph in step.failed:
        if rows:
            rows.append("")
        leaning = leaning_on_refused(paragraph.claims)
        for claim in paragraph.claims:
            labels[label := f"C{len(labels) + 1}"] = claim.id
            why = in_words(claim.problem) if claim.problem else "not verified"
            refused = f" (refused: {why})" if claim.state != "stands" else ""
            refused = f" (fields left out: {why})" if claim.problem and not refused else refused
            shape = " (a row: `cells`)" if claim.is_row else ""
            leans = " (leans on it)" if claim.id in leaning else ""
            fields = "; ".join(f"{head}: {field or '-'}" for head, field in claim.cells)
            text = fields if claim.is_row else claim.text
            rows.append(f"{label}{shape}: {text}{refused}{leans}")
            if refused or claim.id in leaning:
                for support in claim.support:
                    named.setdefault(support.evidence_id, []).append(support.quote)
    prompt = compose_works(
        "writer",
        step.replace(prompt=prompt_text("rewording")),
        [document for document in documents if document.evidence_id in named],
        room=room,
        inputs=[
            listed("Computed in the same text", step.computed, 40, 160),
            "Paragraphs:\n" + fenced("claims", "\n".join(rows)),
        ],
        named=named,
        task=TASK_AGAIN,
        chars=MAX_REWORDING_CHARS,
    )
    unasked = dict.fromkeys(("sentences.kind", "sentences.lead", "sentences.begins"), ())
    choices = {**prompt.choices, **unasked, "ClaimLabel": tuple(labels)}
    return replace(
        prompt,
        choices=choices,
        claims=labels,
        notes=(),
        answer=AgainAnswer,
        stated=step.concluded,
        results=step.computed,
    )


def accept_again(step: WriteInput, prompt: Prompt, answer: AgainAnswer) -> SectionDraft:
    """Accept second wordings under the ids of the first ones: of what was refused, and what leans on that.

    A refused sentence that the model did not write again is left out.
    """
    rows = [sentence for paragraph in step.failed for sentence in paragraph.claims]
    leaning = {name for paragraph in step.failed for name in leaning_on_refused(paragraph.claims)}
    first = {row.id: row for row in rows if is_rewordable(row) or row.id in leaning}
    again: dict[str, DraftClaim] = {}
    for _ in range(MAX_PASSES):
        again.clear()
        for written in answer.sentences:
            name = prompt.claims.get(written.claim)
            if name is None or name not in first or name in again:
                continue
            claim = first[name].worded(sentence_text(written.text), [*map(sentence_text, written.cells)])
            if not claim.text or (claim.is_row and not written.cells):
                continue
            sentences, unknown = cited(written.rests_on[:MAX_LABELS], prompt)
            support = supports(sentences) or (first[name].support if name in leaning else ())
            claim = checked(claim.replace(kind="finding"), support, prompt, written.computed, unknown)
            again[name] = claim.replace(reworded=True, leans=written.leans is True and not claim.cells)
        results = (*step.computed, *results_of(again.values()))
        if results == prompt.results:
            break
        prompt = replace(prompt, results=results)

    def second(draft_claim: DraftClaim) -> Iterator[DraftClaim]:
        claim = again.get(draft_claim.id)
        if claim is not None and claim.state != "refused":
            if draft_claim.state == "refused" or claim.problem is None:  # else the first row stands
                yield claim
        elif claim is not None and draft_claim.state == "refused":  # its first quotes stand in its place
            yield draft_claim.replace(problem=claim.problem, reworded=True)
        elif claim is None and draft_claim.state == "refused":
            yield draft_claim.replace(state="out")

    claims = tuple(new for draft_claim in first.values() for new in second(draft_claim))
    return SectionDraft(paragraphs=(DraftParagraph(claims=claims),) if claims else ())
