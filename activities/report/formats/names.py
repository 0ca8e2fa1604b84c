"""What a reader sees for stop reasons and standings. Evidence types have their names in
`activities.text.evidence_strength`."""

from collections.abc import Mapping

from activities.types import Standing, StopReason

STOPPED: Mapping[StopReason, str] = {
    "sufficient_evidence": "the evidence was judged sufficient",
    "token_budget_exceeded": "the token budget was used up before the evidence was judged sufficient",
    "cost_budget_exceeded": "the cost budget was used up before the evidence was judged sufficient",
    "max_iterations_reached": "the limit of iterations was reached before the evidence was judged sufficient",
    "timeout": "the time limit was reached before the evidence was judged sufficient",
    "no_new_evidence": "further searches found nothing new although the evidence was not judged sufficient",
    "judge_unavailable": "no model could be reached to judge the evidence, so its sufficiency is not known",
    "all_sources_failed": "every source failed, so the literature was not searched as asked",
    "finished_by_reviewer": "a reviewer ended the search before the evidence was judged sufficient",
    "rejected_by_reviewer": "a reviewer rejected the plan, the candidates or the report",
    "cancelled": "the run was cancelled before it was finished",
}
"""Why the search ended, as the end of a sentence."""

STANDINGS: Mapping[Standing, str] = {
    "none": "",
    "retracted": "RETRACTED",
    "concern": "EXPRESSION OF CONCERN",
    "corrected": "corrected",
    "unknown": "standing not checked",
}
"""As a mark on a reference; a standing without fault has none."""

STANDING_SENTENCES: Mapping[Standing, str] = {
    "none": "looked up, and nothing is reported against it",
    "retracted": "retracted",
    "concern": "under an expression of concern",
    "corrected": "corrected",
    "unknown": "not known to any authority that was asked",
}
"""As the end of a sentence."""
