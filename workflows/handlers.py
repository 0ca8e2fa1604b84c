"""The messages of a run: signals, updates and queries, the same for every research workflow.

Invariants:

* a signal only records what was requested; one that cannot be read becomes an event and is ignored;
* an answer counts only while its gate waits: nothing is approved before it was shown;
* what may be wrong (a plan, an amount, a name) is an update with a validator, and a refusal changes nothing;
* the answer of every query stays under the payload limit.
"""

import re
from datetime import UTC, datetime
from typing import Literal, TypeVar

from pydantic import ValidationError
from temporalio import workflow
from temporalio.exceptions import ApplicationError

with workflow.unsafe.imports_passed_through():
    from activities.draft_progress import DraftProgress
    from activities.publication import Decision
    from activities.types import Frozen
    from workflows.event_types import AgentEvent
    from workflows.types import (
        MAX_COST_MICROUSD,
        MAX_ITERATIONS,
        MAX_SECONDS,
        MAX_TOKENS,
        QUESTION_CHARS,
        AddSource,
        Approval,
        BudgetStatus,
        ChooseCandidates,
        EditPlan,
        EventLogView,
        EventsAfter,
        EvidenceIndex,
        ExtendBudget,
        Grant,
        ItemsAfter,
        IterationHistory,
        LeaseRequest,
        Limits,
        PlanView,
        Progress,
        ReportView,
        SectionProgress,
        SharedEvidence,
        Steer,
    )

from workflows.gates import APPROVED
from workflows.iterations import iterations_of
from workflows.rules.payload_limits import ROOM, rows, within
from workflows.run import Run
from workflows.sections.coordinator import SectionCoordinator

M = TypeVar("M", bound=Frozen)

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
"""What the Web UI and the stock command line show of each signal, update and query."""

STEERING_CHARS = 2_000
STEERING_KEPT = 20
"""Steering texts that are kept and shown to later steps: the latest."""
SOURCES_ADDED = 20
SEARCHES_SHOWN = 20
NAME_CHARS = 200
TITLE_CHARS = 300
BACKGROUND_CHARS = 8_000
SECTION_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")
"""An id becomes part of a child workflow's id."""


class ResearchHandlers:
    """Declares the handlers of every research workflow; they act on the parts the workflow holds."""

    research: Run
    sections: SectionCoordinator | None = None
    """Set by a workflow that runs sections as children."""

    # Signals: what may be sent without an answer. They accept any arguments, since Temporal calls a handler
    # with as many as were sent, and an exception in one would end the run.

    @workflow.signal(description=DESCRIPTIONS["approve"])
    async def approve(self, *args: object) -> None:
        self._record_answer("approve", "approved", args)

    @workflow.signal(description=DESCRIPTIONS["reject"])
    async def reject(self, *args: object) -> None:
        self._record_answer("reject", "rejected", args)

    @workflow.signal(description=DESCRIPTIONS["pause"])
    async def pause(self, *_: object) -> None:
        context, control = self.research.context, self.research.state.control
        if not (control.paused or control.finish or control.cancelled):
            control.paused = True
            context.budget.hold_clock("pause", context.now())
            self.research.events.emit_event("paused", "a reviewer paused the run")
            self.research.events.show_paused()
            await self._forward("pause")

    @workflow.signal(description=DESCRIPTIONS["resume"])
    async def resume(self, *_: object) -> None:
        if self.research.state.control.paused:
            self.research.gates.end_pause()
            self.research.events.emit_event("resumed", "a reviewer resumed the run")
            self.research.events.show_paused()
            await self._forward("resume")

    @workflow.signal(description=DESCRIPTIONS["steer"])
    async def steer(self, *args: object) -> None:
        steer = self._read_signal("steer", Steer, args)
        text = steer.text.strip()[:STEERING_CHARS] if steer else ""
        if steer and text:
            control = self.research.state.control
            control.steering = [*control.steering, text][-STEERING_KEPT:]
            control.steered += 1
            self.research.events.emit_event("steered", text, text=text)
            await self._forward("steer", steer)

    @workflow.signal(description=DESCRIPTIONS["add_source"])
    async def add_source(self, *args: object) -> None:
        request = self._read_signal("add_source", AddSource, args)
        added = self.research.state.control.added_sources
        name = request.source.strip()[:NAME_CHARS] if request else ""
        if request and name and name not in added and len(added) < SOURCES_ADDED:
            added.append(name)
            self.research.events.emit_event(
                "source_added", f"a reviewer added the source {name}", source=name
            )
            await self._forward("add_source", request)

    @workflow.signal(description=DESCRIPTIONS["finish_now"])
    async def finish_now(self, *_: object) -> None:
        if not self.research.state.control.finish:
            self.research.state.control.finish = True
            self.research.gates.end_pause()
            self.research.events.emit_event(
                "finishing", "a reviewer asked to finish: the report is written from what was found"
            )
            await self._forward("finish_now")

    # Signals between a run and its sections.

    @workflow.signal(description=DESCRIPTIONS["grant"])
    def grant(self, *args: object) -> None:
        grant = self._read_signal("grant", Grant, args)
        if grant is not None:
            self.research.parent.accept_grant(grant)

    @workflow.signal(description=DESCRIPTIONS["request_lease"])
    async def request_lease(self, *args: object) -> None:
        request = self._read_signal("request_lease", LeaseRequest, args)
        if request is not None and self.sections is not None:
            await self.sections.accept_lease_request(request)

    @workflow.signal(description=DESCRIPTIONS["section_report"])
    async def section_report(self, *args: object) -> None:
        progress = self._read_signal("section_report", SectionProgress, args)
        if progress is not None and self.sections is not None:
            await self.sections.accept_report(progress)

    @workflow.signal(description=DESCRIPTIONS["offer_evidence"])
    def offer_evidence(self, *args: object) -> None:
        offer = self._read_signal("offer_evidence", SharedEvidence, args)
        if offer is not None and self.research.state.job is not None:
            self.research.parent.accept_offer(offer)

    # Signal of a writing step, to the run that follows the draft.

    @workflow.signal(description=DESCRIPTIONS["draft_progress"])
    def draft_progress(self, *args: object) -> None:
        report = self._read_signal("draft_progress", DraftProgress, args)
        if report is not None:
            self.research.events.stream_progress(report)

    def _read_signal(self, signal: str, model: type[M], args: tuple[object, ...]) -> M | None:
        """A signal's payload; None, with an event, when it cannot be read."""
        try:
            return model.model_validate(args[0] if args else {})
        except ValidationError:
            fields = ", ".join(model.model_fields)
            self.research.events.emit_event(
                "ignored",
                f"signal {signal} could not be read: it needs one JSON object with {fields}",
                signal=signal,
            )
            return None

    def _record_answer(
        self, signal: str, action: Literal["approved", "rejected"], args: tuple[object, ...]
    ) -> None:
        approval = self._read_signal(signal, Approval, args)
        if approval is None:
            return
        gate = approval.gate
        if not self.research.gates.waits_for(gate):
            self.research.events.emit_event(
                "ignored",
                f"signal {signal}: the gate {gate} does not wait for a decision",
                signal=signal,
                gate=gate,
            )
            return
        self.research.gates.record_decision(
            Decision(
                gate=gate,
                action=action,
                by=approval.by[:NAME_CHARS],
                note=approval.note[:STEERING_CHARS],
                at=self.research.context.timestamp(),
            )
        )

    async def _forward(self, signal: str, payload: Steer | AddSource | None = None) -> None:
        """Forward a signal to the running sections, if there are any."""
        if self.sections is not None:
            await self.sections.forward(signal, payload)

    # Updates: what must be refused when it is wrong.

    @workflow.update(description=DESCRIPTIONS["edit_plan"])
    async def edit_plan(self, edit: EditPlan) -> PlanView:
        """Replace the plan that waits for approval; the gate stays open."""
        context, state = self.research.context, self.research.state
        context.set_plan(edit.plan)
        state.control.decisions.append(
            Decision(
                gate="plan",
                action="edited",
                by=edit.by[:NAME_CHARS],
                at=context.timestamp(),
                plan_hash=state.plan_hash,
            )
        )
        self.research.events.emit_event(
            "planned",
            f"the plan now has {len(context.outline)} sections",
            sections=len(context.outline),
            plan_hash=context.state.plan_hash,
            by=edit.by[:NAME_CHARS] or "a reviewer",
        )
        self.research.events.show_details()
        return self.plan()

    @edit_plan.validator
    def _check_plan(self, edit: EditPlan) -> None:
        if not self.research.gates.waits_for("plan"):
            raise _refusal("the plan can only be edited while it waits for approval")
        outline, most = edit.plan.report_outline, self.research.context.max_sections
        if not 1 <= len(outline) <= most:
            wanted = "1 section" if most == 1 else f"1 to {most} sections"
            raise _refusal(f"the plan of this run has {wanted}, this one has {len(outline)}")
        if any(not s.title.strip() or not s.key_question.strip() for s in outline):
            raise _refusal("every section needs a title and a key question")
        titles = (edit.plan.report_title, *(s.title for s in outline))
        if (
            any(len(title) > TITLE_CHARS for title in titles)
            or any(len(s.key_question) > QUESTION_CHARS for s in outline)
            or len(edit.plan.background_context) > BACKGROUND_CHARS
        ):
            raise _refusal(
                f"a title has at most {TITLE_CHARS} characters, a key question {QUESTION_CHARS}, "
                f"the background {BACKGROUND_CHARS}"
            )
        ids = [s.id for s in outline if s.id]
        if len(ids) != len(set(ids)):
            raise _refusal("two sections have the same id")
        if any(not SECTION_ID.fullmatch(name) for name in ids):
            raise _refusal("a section's id has letters, digits, - and _ only; leave it out to have one given")

    @workflow.update(description=DESCRIPTIONS["extend_budget"])
    async def extend_budget(self, more: ExtendBudget) -> BudgetStatus:
        """Raise the limits; a run whose next call did not fit continues if it has not begun to write."""
        loop = self.research.state.loop
        self.research.context.budget.extend(more.tokens, more.cost_microusd, more.seconds, more.iterations)
        loop.max_iterations += more.iterations
        loop.refused = None
        self.research.events.emit_event(
            "budget",
            _described(more),
            tokens=more.tokens,
            cost_usd=more.cost_microusd / 1e6,
            seconds=more.seconds,
            iterations=more.iterations,
        )
        if self.sections is not None:
            await self.sections.share_extension(more)
        return self.budget()

    @extend_budget.validator
    def _check_extension(self, more: ExtendBudget) -> None:
        if not (more.tokens or more.cost_microusd or more.seconds or more.iterations):
            raise _refusal("nothing to add: give tokens, cost, seconds or iterations")
        over = _beyond_maximum(self.research.context.budget.limits, more)
        if over:
            raise _refusal(f"a run may have at most {over}, extensions included")
        if self.research.state.stop_reason is not None:
            raise _refusal(f"the run has stopped searching ({self.research.state.stop_reason})")

    @workflow.update(description=DESCRIPTIONS["choose_candidates"])
    async def choose_candidates(self, choice: ChooseCandidates) -> tuple[str, ...]:
        """Keep only the named candidates and open the gate."""
        state = self.research.state
        names = {name.casefold() for name in choice.names}
        others = [c for c in state.candidates if c.name.casefold() not in names]
        state.control.left_out += [name for c in others for name in (c.name, c.generic_name) if name]
        state.candidates = [c for c in state.candidates if c.name.casefold() in names]
        state.hypotheses = [h for h in state.hypotheses if h.drug.casefold() in names]
        state.control.chosen = [c.name for c in state.candidates]
        self.research.gates.record_decision(
            Decision(
                gate="candidates",
                action="chosen",
                by=choice.by[:NAME_CHARS],
                note=", ".join(state.control.chosen),
                at=self.research.context.timestamp(),
            )
        )
        return tuple(state.control.chosen)

    @choose_candidates.validator
    def _check_choice(self, choice: ChooseCandidates) -> None:
        if not self.research.gates.waits_for("candidates"):
            raise _refusal("no candidates wait to be chosen")
        known = {c.name.casefold(): c.name for c in self.research.state.candidates}
        unknown = [name for name in choice.names if name.casefold() not in known]
        if unknown or not choice.names:
            raise _refusal(
                f"not among the candidates: {', '.join(unknown) or 'no name given'}; "
                f"there are {', '.join(known.values())}"
            )

    # Queries.

    @workflow.query(description=DESCRIPTIONS["progress"])
    def progress(self) -> Progress:
        context, state = self.research.context, self.research.state
        control, judged = state.control, state.loop.judged
        return Progress(
            run_id=context.run_id,
            question=context.whole_question,
            mode=context.traits.mode or context.request.mode,
            profile=state.prepared.profile.name if state.prepared else context.request.profile,
            phase=control.phase,
            message=control.message,
            iteration=state.loop.iteration,
            max_iterations=state.loop.max_iterations,
            evidence=len(state.evidence) + sum(section.evidence for section in state.running),
            searches=rows(state.searches[-SEARCHES_SHOWN:]),
            searches_total=len(state.searches) + sum(section.searches for section in state.running),
            sections=tuple(state.sections.values()),
            budget=self.budget(),
            waiting_for=control.waiting_for,
            paused=control.paused,
            confidence=judged.confidence if judged else None,
            scores=judged.scores if judged else {},
            steering=tuple(control.steering),
            candidates=tuple(state.candidates),
            chosen_because=state.chosen_because,
            stop_reason=state.stop_reason,
            started_at=_iso(context.budget.started_at),
            updated_at=control.events[-1].timestamp if control.events else "",
            last_seq=control.last_seq,
        )

    @workflow.query(description=DESCRIPTIONS["budget"])
    def budget(self) -> BudgetStatus:
        context = self.research.context
        return context.budget.status(context.now(), context.state.running)

    @workflow.query(description=DESCRIPTIONS["plan"])
    def plan(self) -> PlanView:
        state = self.research.state
        decision = state.control.answers.get("plan")
        return PlanView(
            plan=state.plan,
            plan_hash=state.plan_hash,
            approved=decision is not None and decision.action in APPROVED,
            asked="plan" in self.research.request.approve,
        )

    @workflow.query(description=DESCRIPTIONS["evidence_index"])
    def evidence_index(self, after: ItemsAfter | None = None) -> EvidenceIndex:
        """As many items as fit; query again after the number that was returned."""
        items = self.research.state.evidence
        return EvidenceIndex(
            items=within(items[max(after.after, 0) if after else 0 :], ROOM), total=len(items)
        )

    @workflow.query(description=DESCRIPTIONS["iterations"])
    def iterations(self, after: ItemsAfter | None = None) -> IterationHistory:
        """What each iteration was missing, searched, found and thought, those of sections included. As many
        as fit; query again after the number that was returned."""
        records = iterations_of(self.research.state)
        return IterationHistory(
            items=within(records[max(after.after, 0) if after else 0 :], ROOM), total=len(records)
        )

    @workflow.query(description=DESCRIPTIONS["events"])
    def events(self, after: EventsAfter | None = None) -> list[AgentEvent]:
        """Events after a number, the oldest first; as many as fit, so query again after the last of them."""
        seq, events = after.after if after else 0, self.research.state.control.events
        return list(within((event for event in events if event.seq > seq), ROOM))

    @workflow.query(description=DESCRIPTIONS["event_log"])
    def event_log(self) -> EventLogView:
        """Where the older part of the event log is stored; query `events` returns the rest."""
        control = self.research.state.control
        return EventLogView(stored=tuple(control.stored_events), last_seq=control.last_seq)

    @workflow.query(description=DESCRIPTIONS["report"])
    def report(self) -> ReportView:
        published = self.research.publisher.published
        if published is None:
            return ReportView()
        return ReportView(
            report=published.report,
            draft=self.research.state.control.phase != "done",
            blob=published.blob,
        )


def _refusal(message: str) -> ApplicationError:
    return ApplicationError(message, non_retryable=True)


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds") if seconds else ""


def _beyond_maximum(limits: Limits, more: ExtendBudget) -> str:
    """The maximum that an extension would exceed; empty when it exceeds none."""
    sums = (
        (limits.max_iterations + more.iterations, MAX_ITERATIONS, "iterations"),
        ((limits.max_tokens or 0) + more.tokens, MAX_TOKENS, "tokens"),
        ((limits.max_cost_microusd or 0) + more.cost_microusd, MAX_COST_MICROUSD, "microdollars"),
        ((limits.max_seconds or 0.0) + more.seconds, MAX_SECONDS, "seconds"),
    )
    return next((f"{most:,.0f} {kind}" for total, most, kind in sums if not total <= most), "")


def _described(more: ExtendBudget) -> str:
    parts = {
        "tokens": f"{more.tokens:,}" if more.tokens else "",
        "US dollars": f"{more.cost_microusd / 1e6:.2f}" if more.cost_microusd else "",
        "seconds": f"{more.seconds:g}" if more.seconds else "",
        "iterations": str(more.iterations) if more.iterations else "",
    }
    return "budget extended by " + ", ".join(f"{v} {k}" for k, v in parts.items() if v)
