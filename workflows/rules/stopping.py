"""What happens next in a search-judge loop, and why: `decide_next`, a pure function over the loop's state.

The model scores, the code decides. The order of the rules is the order of their weight: what a person or the
system demands comes before any limit, limits before the state of the evidence.
"""

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel

from activities.contracts.evidence import ANSWERED, Frozen, SearchStatus
from activities.contracts.judge import JudgeAssessment
from activities.contracts.profile import Profile
from activities.contracts.stop_reasons import StopReason
from activities.messages import plural

Step = Literal["observe", "evaluate_gaps", "select_tools", "search", "judge", "write"]
LastStep = Literal["start", "observe", "evaluate_gaps", "select_tools", "search", "judge"]
"""The step that was completed last in an iteration."""

MAX_JUDGE_FAILURES = 3
"""Judgements that fail in a row before the run ends in `judge_unavailable`."""
MAX_STALLED_ITERATIONS = 2
"""Iterations in a row without anything new before the run ends in `no_new_evidence`."""
MAX_FAR_FOR_ONE = 20
"""Works far from the question for each one that is near, above which a round is not sent to a judge."""


class LoopState(BaseModel, defer_build=True):
    """Everything the decision depends on; the workflow keeps it up to date."""

    iteration: int = 0
    """Iterations begun."""
    max_iterations: int = 5
    cancelled: bool = False
    rejected: bool = False
    finish: bool = False
    out_of_time: bool = False
    refused: StopReason | None = None
    """Set when a reservation was refused: the budget that is spent."""
    nearly_spent: StopReason | None = None
    """The budget of which less than a tenth is left."""
    judge_failures: int = 0
    gaps: tuple[str, ...] = ()
    research_complete: bool = False
    """Whether the last gap evaluation found nothing missing."""
    tasks: int = 0
    """Searches selected for this iteration."""
    statuses: tuple[SearchStatus, ...] = ()
    """How this iteration's searches ended."""
    new_evidence: int = 0
    """Items this iteration's searches added."""
    stalled: int = 0
    evidence: int = 0
    judged: JudgeAssessment | None = None
    """The latest judgement; None until one succeeded."""
    unjudged: int = 0
    """Items found since it was made (since the start, while there is none)."""
    unread_steering: int = 0
    """What a reviewer said that no gap evaluation has read yet."""
    gained: int = 0
    """Works that answer which the latest judgement added to those before."""
    found_all: bool = False
    """Whether a folder alone is searched, and each of its documents was found."""
    off_subject: bool = False
    """Whether most works of the latest round, which was not the first, are on another subject."""


class NextStep(Frozen):
    """The next step and the reason in words; `stop` is set when it is `write`."""

    step: Step
    reason: str
    stop: StopReason | None = None


def decide_next(last_step: LastStep, state: LoopState, profile: Profile) -> NextStep:
    """Return the next step of the loop after the one that happened, and why."""
    stop = forced_end(state)
    if stop is not None:
        return stop
    match last_step:
        case "start":
            return NextStep(step="observe", reason="a new iteration begins")
        case "observe":
            return NextStep(step="evaluate_gaps", reason="what is known has been looked at")
        case "evaluate_gaps":
            return _after_gaps(state, profile)
        case "select_tools":
            if state.tasks == 0:
                return _nothing_left(state, "searched_out", "no search is left that has not been made")
            return NextStep(step="search", reason=f"{plural(state.tasks, 'search')} selected")
        case "search":
            return _after_search(state)
        case "judge":
            return _after_judge(state, profile)


def forced_end(state: LoopState) -> NextStep | None:
    """Return what ends every loop, whatever its steps: people, limits, a judge that does not answer."""
    if state.cancelled:
        return write("cancelled", "the run was cancelled")
    if state.rejected:
        return write("rejected_by_reviewer", "the reviewer rejected it")
    if state.finish:
        return write("finished_by_reviewer", "the reviewer asked to finish now")
    if state.out_of_time:
        return write("timeout", "the time for research is used up")
    if state.refused is not None:
        return write(state.refused, "the next call would not fit into the budget")
    if state.nearly_spent is not None:
        return write(state.nearly_spent, "less than a tenth of the budget is left, which is for the report")
    if state.judge_failures >= MAX_JUDGE_FAILURES:
        return write("judge_unavailable", "no verdict could be had from the judge")
    return None


def _after_gaps(state: LoopState, profile: Profile) -> NextStep:
    if state.gaps:
        return NextStep(step="select_tools", reason=f"{len(state.gaps)} gaps are open")
    has_judged_all = not state.unjudged and not state.unread_steering
    judged = state.judged
    if (
        state.research_complete
        and has_judged_all
        and judged
        and judged.relevant
        and meets_criteria(profile, judged)
    ):
        return write("sufficient_evidence", "no gap is left and the judge's scores agree")
    return _nothing_left(state, "searched_out", "no gap is left to search for")


def _after_search(state: LoopState) -> NextStep:
    if all_failed(state.statuses):
        return write("all_sources_failed", "every search of this iteration failed")
    if state.stalled >= MAX_STALLED_ITERATIONS:
        reason = f"{state.stalled} iterations in a row found nothing new"
        return _nothing_left(state, "no_new_evidence", reason)
    if state.evidence == 0 or (state.judged is not None and state.unjudged == 0):
        return _next_iteration(state, "nothing new was found to judge")
    return NextStep(step="judge", reason=f"{plural(state.evidence, 'item')} found")


def _after_judge(state: LoopState, profile: Profile) -> NextStep:
    if state.judge_failures:
        return NextStep(
            step="judge", reason=f"the judge failed {state.judge_failures} times; it is asked again"
        )
    if state.unread_steering:
        return _next_iteration(state, "the reviewer's words have not been acted on yet")
    if ending := judged_end(profile, state.judged, state.gained):
        return ending
    if state.found_all and not state.unjudged:
        return write("searched_out", "every document of the folder has been read")
    if state.off_subject:
        return write("searched_out", "two thirds of what the last searches found are on another subject")
    return _next_iteration(state, "the judgements do not suffice yet")


def _nothing_left(state: LoopState, stop: StopReason, reason: str) -> NextStep:
    """Nothing is left to do, unless a reviewer has just given another instruction."""
    if state.unread_steering:
        return _next_iteration(state, "the reviewer's words have not been acted on yet")
    return write(stop, reason)


def _next_iteration(state: LoopState, reason: str) -> NextStep:
    if state.iteration >= state.max_iterations:
        return write("max_iterations_reached", f"{reason}, and {state.max_iterations} iterations are used up")
    return NextStep(step="observe", reason=reason)


def is_sufficient(profile: Profile, judged: JudgeAssessment | None) -> bool:
    """Tell whether a model's judgement meets the profile.

    What its works carry, and the minimum of every criterion that was scored. One that does not apply to the
    question has no score.
    """
    if judged is None or judged.confidence is None:
        return False
    carried = judged.confidence if judged.carried is None else judged.carried
    return carried >= profile.confidence_threshold and meets_criteria(profile, judged)


def meets_criteria(profile: Profile, judged: JudgeAssessment) -> bool:
    """Tell whether every criterion that was scored has its minimum."""
    return all(judged.scores[c.name] >= c.minimum for c in profile.criteria if c.name in judged.scores)


def judged_end(profile: Profile, judged: JudgeAssessment | None, gained: int = 0) -> NextStep | None:
    """Return the end of the search where a judgement is a reason for it, else None.

    Without a model there is one look: what is near enough is shown, and no further search follows from it. A
    model is believed, it has read the works: when it recommends to write, and when it recommends to continue
    and names gaps with their searches, as long as rounds bring works that answer (`gained` by the last one).
    """
    if judged is None:
        return None
    if judged.by_code:
        return write("searched_out", "what was found has been looked through; no model judges it")
    if gained and judged.recommendation == "continue" and judged.gaps and judged.recommended_searches:
        return None
    if is_sufficient(profile, judged):
        return write("sufficient_evidence", "the judgements meet the profile")
    if judged.recommendation == "synthesize" and judged.relevant:
        return write("sufficient_evidence", "the judge recommends to write")
    if judged.recommendation == "synthesize":
        return write("searched_out", "the judge expects nothing of further searches")
    return None


def is_off_subject(grades: Sequence[int]) -> bool:
    """Tell whether two thirds of the works of a round, by their grades, are on another subject."""
    return bool(grades) and 3 * sum(grade == 0 for grade in grades) >= 2 * len(grades)


def is_worth_judging(near_count: int, far_count: int) -> bool:
    """Tell whether the works of a round go to a judge: not where nearly all are far from the question."""
    return near_count * MAX_FAR_FOR_ONE >= far_count and near_count > 0


def all_failed(statuses: tuple[SearchStatus, ...]) -> bool:
    """Tell whether searches were made and not one of them got an answer. An empty answer is an answer."""
    return bool(statuses) and not any(status in ANSWERED for status in statuses)


def write(stop: StopReason, reason: str) -> NextStep:
    """Return the step that ends the loop."""
    return NextStep(step="write", reason=reason, stop=stop)
