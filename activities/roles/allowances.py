"""What one step of each role may spend at most, its repair turn included, and how much is asked of a model.

Workflows reserve allowances before they start a step, so this module is pure data. Sized by the client's
cautious estimate (`activities.models.base`), which reads English about a third too high: what providers
report, and what a reservation is settled to, is usually well under.
"""

import math
from collections.abc import Sequence

from activities.contracts.appraisal import AppraiseInput
from activities.contracts.evidence import Allowance, EvidenceRef, ModelChoice
from activities.contracts.judge import JudgeInput
from activities.contracts.step import Role, StepContext
from activities.contracts.write import VerifyInput, WriteInput
from activities.models.base import BYTES_PER_TOKEN, PROMPT_SHARE
from activities.roles.assessment import MIN_ANSWERS

MAX_WORK_CHARS = 4_000
"""Characters of a work that is read whole whatever else is read, as every abstract is."""
MAX_CHARS_TOGETHER = 60_000
"""Characters up to which a writer, its second reader and an appraiser read all works of a call whole: 15,000
tokens of English, and the papers of one dispute."""
MIN_SHARE_CHARS = 1_500
"""Characters of a work below which others are left out rather than all be cut further."""
MAX_JUDGED_CHARS = 8_000
"""Characters of a work that a judge reads whole."""
PASSAGES_CHARS = 2_000
"""What a judge reads of a longer one, a page or a full text: the passages nearest to the question, as much as
an abstract says."""
HEADING_TOKENS = 110
"""Tokens of the line above a work and the labels of its sentences."""
FRAME_TOKENS = 1_300
"""Tokens of a judge's prompt without works."""
WRITER_FRAME_TOKENS = 6_500
"""Tokens of the prompt of a writer or its second reader without works."""
APPRAISER_FRAME_TOKENS = 2_600
SENTENCE_TOKENS = 110
"""Tokens of a sentence as its second reader is shown it: labels, computations, a share of the controls."""
REPORT_TOKENS = 14_000
"""Tokens of the answer of a writer of a whole report: 3,500 words in tables, with eighty computations."""
LINE_TOKENS = 30
"""Tokens of a sentence beside its words as its writer is shown it again: label, works, reason."""
VERDICT_TOKENS = 60
"""Tokens of its verdict, and a share of those on controls."""
EFFECT_TOKENS = 400
"""Tokens of an appraiser's answer for each work: its effects on two or three outcomes, most fields empty."""
WORKS_A_BATCH, WORKS_A_BATCH_LARGE = 12, 16
"""Works that one call of the judge reads by its usual allowance; of a model that reads more at once."""
MAX_JUDGED, MAX_JUDGED_LARGE = 20, 48
"""Works that are judged in one round at most, the most promising ones. The smaller is also what one call
reads where the context of the model and the budget hold it."""
MAX_WRITER_ITEMS = 30
"""Works that a writer is shown at most."""
MAX_APPRAISED = 16
"""Works whose effects are read in one call, the most relevant ones."""
MAX_TABLE_ITEMS = 24
"""Works of the reader's table at most, those that answer best."""
WORKS_A_TABLE_CALL = 6
"""Works whose columns one call fills."""
MAX_WEIGHED = 8
"""Works that a small model is asked about, the nearest ones, one a call."""

_SIZES: dict[Role, tuple[int, ...]] = {
    "clarifier": (2_000, 400),
    "query_parser": (2_000, 600),
    "planner": (2_000, 800),
    "observer": (3_000, 600),
    "gap_evaluator": (3_000, 600),
    "tool_selector": (3_000, 800),
    "judge": (15_000, 2_200, 20_000, 3_600),
    "reflector": (2_500, 600),
    "hypothesis_generator": (8_000, 1_500, 16_000, 2_500),
    "writer": (12_000, 9_000, 28_000, 12_000),
    "verifier": (16_000, 1_800, 34_000, 3_000),
    "editor": (8_000, 1_800, 16_000, 3_000),
    "extractor": (12_000, 2_500, 24_000, 5_000),
    "appraiser": (14_000, 3_000, 24_000, 5_000),
    "reviser": (14_000, 4_000, 28_000, 8_000),
    "manager": (3_000, 700),
    "analyst": (5_000, 2_500),
    "full_text_screener": (12_000, 600, 24_000, 1_000),
    "data_extractor": (14_000, 3_000, 28_000, 6_000),
    "bias_assessor": (14_000, 3_000, 28_000, 6_000),
    "screener": (14_000, 2_000),
    "own_role": (5_000, 1_000),
    "orderer": (1_900, 1),
}
"""Tokens of input and output of a model of normal size, then of one that reads more at once where it differs;
`orderer` of a small one, which reads some 200 tokens a second."""
ALLOWANCES = {role: Allowance(input_tokens=size[0], output_tokens=size[1]) for role, size in _SIZES.items()}
LARGE = {role: Allowance(input_tokens=size[-2], output_tokens=size[-1]) for role, size in _SIZES.items()}


def allowance_of(role: Role, choice: ModelChoice) -> Allowance:
    """Return what a step of a role may spend with the model that serves it; nothing where code does it."""
    if not asks_model(role, choice):
        return Allowance(input_tokens=0, output_tokens=0)
    return (LARGE if choice.effort == "large" else ALLOWANCES)[role]


def allowance_for(role: Role, choice: ModelChoice, step: StepContext) -> Allowance:
    """Return what this step of a role may spend.

    A writer and its second reader get as much as they need to read every work whole that was judged to
    answer, and for a whole report the output that a long one takes; a judge as much as its batch needs, an
    appraiser room for the effects of every work. The context of the model alone bounds what they are shown.
    """
    allowance = allowance_of(role, choice)
    if isinstance(step, AppraiseInput) and allowance.tokens:
        works = [ref.chars for ref in step.evidence[:MAX_APPRAISED]]
        input_tokens = math.ceil((APPRAISER_FRAME_TOKENS + _tokens_together(works)) / PROMPT_SHARE)
        effects = FRAME_TOKENS + EFFECT_TOKENS * len(works)
        return Allowance(
            input_tokens=max(input_tokens, allowance.input_tokens),
            output_tokens=max(effects, allowance.output_tokens),
        )
    if isinstance(step, JudgeInput):
        return allowance_to_judge([ref.chars for ref in step.evidence], choice)
    if not isinstance(step, WriteInput | VerifyInput) or not allowance.tokens:
        return allowance
    answer_ids = {judgement.evidence_id for judgement in step.judgements if judgement.answers >= MIN_ANSWERS}
    works_tokens = _tokens_together(
        [ref.chars for ref in step.evidence if ref.evidence_id in answer_ids or not step.judgements]
    )
    if isinstance(step, VerifyInput):
        sentence_tokens = len(step.sentences) * SENTENCE_TOKENS
        verdict_tokens = len(step.sentences) * VERDICT_TOKENS
    else:
        sentence_tokens, verdict_tokens = _tokens_again(step), 0
    input_tokens = math.ceil((WRITER_FRAME_TOKENS + works_tokens + sentence_tokens) / PROMPT_SHARE)
    is_whole_report = isinstance(step, WriteInput) and not (step.other_sections or step.failed)
    # what is read again leaves the works the room that they had before
    is_second = step.works_room if isinstance(step, VerifyInput) else step.plain_answer
    extra = math.ceil(sentence_tokens / PROMPT_SHARE) if is_second else 0
    return Allowance(
        input_tokens=max(input_tokens, allowance.input_tokens + extra),
        output_tokens=max(verdict_tokens, REPORT_TOKENS if is_whole_report else 0, allowance.output_tokens),
    )


def _tokens_again(step: WriteInput) -> int:
    """Tokens of what a writer is to write once more, of what it computed and of a plain answer."""
    sentences = [claim.text for paragraph in step.failed for claim in paragraph.claims]
    texts = [*sentences, *step.computed, step.plain_answer, *(quote.quote for quote in step.untranslated)]
    chars = sum(len(text.encode()) for text in texts)
    return math.ceil(chars / BYTES_PER_TOKEN) + LINE_TOKENS * len(texts)


def max_chars_each(sizes: Sequence[int], total: int) -> int:
    """Return the size up to which each work is read, so that all have `total`.

    A short one leaves its share to the others."""
    remaining = total
    for place, size in enumerate(sorted(sizes)):
        share = remaining // (len(sizes) - place)
        if size > share:
            return max(share, MIN_SHARE_CHARS)
        remaining -= size
    return max([*sizes, MIN_SHARE_CHARS])


def _tokens_together(chars: Sequence[int]) -> int:
    longest = max_chars_each(chars, max(MAX_CHARS_TOGETHER, MAX_WORK_CHARS * len(chars)))
    return sum(_tokens(size, longest) for size in chars)


def _tokens(chars: int, longest: int) -> int:
    """Tokens of a work whose text is shown up to `longest` characters."""
    return math.ceil(min(chars, longest) / BYTES_PER_TOKEN) + HEADING_TOKENS


def works_a_batch(choice: ModelChoice) -> int:
    """Works that one call of this judge reads at most by its usual allowance."""
    return WORKS_A_BATCH_LARGE if choice.effort == "large" else WORKS_A_BATCH


def max_judged_works(choice: ModelChoice) -> int:
    """Works that this judge reads in one round at most."""
    return MAX_JUDGED_LARGE if choice.effort == "large" else MAX_JUDGED


def allowance_to_judge(chars: Sequence[int], choice: ModelChoice) -> Allowance:
    """Return what one call of the judge needs for works of this length, at least its usual allowance."""
    usual = allowance_of("judge", choice)
    if not usual.tokens:
        return usual
    input_tokens = math.ceil((FRAME_TOKENS + sum(map(_prompt_tokens, chars))) / PROMPT_SHARE)
    output_tokens = math.ceil(usual.output_tokens * len(chars) / works_a_batch(choice))
    return Allowance(
        input_tokens=max(input_tokens, usual.input_tokens),
        output_tokens=max(output_tokens, usual.output_tokens),
    )


def _prompt_tokens(chars: int) -> int:
    """Tokens of a work of so many characters as a judge is shown it."""
    return _tokens(chars, MAX_JUDGED_CHARS if chars <= MAX_JUDGED_CHARS else PASSAGES_CHARS)


def judge_batches(evidence: Sequence[EvidenceRef], choice: ModelChoice) -> list[tuple[EvidenceRef, ...]]:
    """Put works into batches that one call of the judge reads whole by its usual allowance.

    Each has at most `WORKS_A_BATCH`, and there are as few of about the same size as their prompts hold.
    """
    max_works = works_a_batch(choice)
    room = int(allowance_of("judge", choice).input_tokens * PROMPT_SHARE) - FRAME_TOKENS
    sizes = [_prompt_tokens(ref.chars) for ref in evidence]
    calls = max(math.ceil(len(evidence) / max_works), math.ceil(sum(sizes) / room))
    share = sum(sizes) / max(calls, 1)
    batches: list[list[EvidenceRef]] = []
    batch_tokens = total = 0.0
    for ref, tokens in zip(evidence, sizes, strict=True):
        has_share = total + tokens / 2 > share * len(batches)
        if not batches or len(batches[-1]) >= max_works or batch_tokens + tokens > room or has_share:
            batches.append([])
            batch_tokens = 0
        batches[-1].append(ref)
        batch_tokens += tokens
        total += tokens
    return [tuple(batch) for batch in batches]


def asks_model(role: Role, choice: ModelChoice) -> bool:
    """Tell whether a step is a call to this model; code does the others.

    A small model serves one role, and that role is of no use to a model that judges.
    """
    return choice.backend != "extractive" and (role == "orderer") == (choice.effort == "small")
