"""What the Web UI and the stock command line show of each signal, update and query."""

DESCRIPTIONS = {
    "approve": (
        'Approve what waits at a gate: {"gate": "plan"|"candidates"|"report", "by": "...", "note": "..."}'
    ),
    "reject": (
        'Reject what waits at a gate: {"gate": "plan"|"candidates"|"report", "by": "...", "note": "..."}'
    ),
    "pause": "Pause the run at its next step; no input.",
    "resume": "Resume a paused run; no input.",
    "steer": 'Give an instruction that later steps follow: {"text": "..."}',
    "add_source": 'Search another source too: {"source": "pubmed"}',
    "finish_now": "Stop searching and write the report from what was found; no input.",
    "grant": "Sent by a run to its section: more budget.",
    "request_lease": "Sent by a section to its run: it needs more budget.",
    "section_report": "Sent by a section to its run: how far it is.",
    "offer_evidence": "Sent by a run to its section: what other sections found.",
    "draft_progress": "Sent by a writing step: the paragraphs written so far.",
    "edit_plan": (
        'Replace the plan that waits for approval: {"plan": {"report_title": "...", '
        '"report_outline": [{"title": "...", "key_question": "..."}]}, "by": "..."}'
    ),
    "extend_budget": 'Add to the limits: {"tokens": 0, "cost_microusd": 0, "seconds": 0, "iterations": 0}',
    "choose_candidates": 'Keep only these candidates and open the gate: {"names": ["..."], "by": "..."}',
    "progress": "The state of the run: phase, counts, sections, scores, what it waits for.",
    "budget": "What was used, what is held for calls under way, what is left.",
    "plan": "The plan, its hash, and whether it was approved.",
    "evidence_index": 'What was found, as many items as fit: {"after": 0}',
    "iterations": 'What each iteration searched, found and thought: {"after": 0}',
    "events": 'Events after a number, the oldest first: {"after": 0}',
    "event_log": "Where the older part of the event log is stored.",
    "report": "The report, or its draft while the report gate waits.",
}
