"""How people and programs talk to a run: signals, updates and queries, the same for every research workflow.

Invariants:

* a signal only records what was said; one that cannot be read is noted and ignored, whoever sent it;
* an answer counts only while its gate waits: nobody approves what was not shown yet;
* what may be wrong (a plan, an amount, a name) is an update with a validator, and a refusal changes nothing;
* whatever was said or found, an answer stays under the payload limit.
"""

import re
from datetime import UTC, datetime
from typing import TypeVar

from pydantic import ValidationError
from temporalio import workflow
from temporalio.exceptions import ApplicationError

with workflow.unsafe.imports_passed_through():
    from activities.steps import Decision
    from activities.types import Frozen, Mode
    from workflows.types import (
        QUESTION_CHARS,
        AddSource,
        AgentEvent,
        Approval,
        BudgetStatus,
        ChooseCandidates,
        EditPlan,
        EventsAfter,
        EvidenceIndex,
        ExtendBudget,
        ItemsAfter,
        PlanView,
        Progress,
        ReportView,
        Steer,
    )

from workflows.control import GO_ON, ResearchControl, numbered, plan_hash
from workflows.rules.payload_limits import ROOM, rows, within

M = TypeVar("M", bound=Frozen)

STEERING_CHARS = 2_000
STEERING_KEPT = 20
"""Texts that are kept and shown to later steps; the latest win."""
SOURCES_ADDED = 20
SEARCHES_SHOWN = 20
NAME_CHARS = 200
TITLE_CHARS = 300
BACKGROUND_CHARS = 8_000
SECTION_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")
"""An id becomes part of a child workflow's id."""


class Messages(ResearchControl):
    """The handlers of every research workflow."""

    # signals: what may be sent blind. They take whatever arrives, since Temporal calls a handler with as many
    # arguments as were sent, and an exception in one would end the run.

    @workflow.signal
    async def approve(self, *said: object) -> None:
        self._answer("approve", "approved", said)

    @workflow.signal
    async def reject(self, *said: object) -> None:
        self._answer("reject", "rejected", said)

    @workflow.signal
    async def pause(self, *_: object) -> None:
        control = self.state.control
        if not control.paused and not control.finish:
            control.paused = True
            self.budget_ledger.hold_clock("pause", self.now())
            self.tell("paused", "a reviewer paused the run")
            await self.pass_on("pause")

    @workflow.signal
    async def resume(self, *_: object) -> None:
        if self.state.control.paused:
            self.go_on()
            self.tell("resumed", "a reviewer resumed the run")
            await self.pass_on("resume")

    def go_on(self) -> None:
        """End a pause."""
        self.state.control.paused = False
        self.budget_ledger.release_clock("pause", self.now())

    @workflow.signal
    async def steer(self, *said: object) -> None:
        steer = self.read_signal("steer", Steer, said)
        text = steer.text.strip()[:STEERING_CHARS] if steer else ""
        if steer and text:
            control = self.state.control
            control.steering = [*control.steering, text][-STEERING_KEPT:]
            control.steered += 1
            self.tell("steered", text)
            await self.pass_on("steer", steer)

    @workflow.signal
    async def add_source(self, *said: object) -> None:
        wanted = self.read_signal("add_source", AddSource, said)
        added = self.state.control.added_sources
        name = wanted.source.strip()[:NAME_CHARS] if wanted else ""
        if wanted and name and name not in added and len(added) < SOURCES_ADDED:
            added.append(name)
            self.tell("source_added", f"{name} is to be searched as well", source=name)
            await self.pass_on("add_source", wanted)

    @workflow.signal
    async def finish_now(self, *_: object) -> None:
        if not self.state.control.finish:
            self.state.control.finish = True
            self.go_on()
            self.tell("finishing", "a reviewer asked to write what there is")
            await self.pass_on("finish_now")

    def read_signal(self, signal: str, model: type[M], said: tuple[object, ...]) -> M | None:
        """What a signal says; None, with an event, when it cannot be read."""
        try:
            return model.model_validate(said[0] if said else {})
        except ValidationError:
            fields = ", ".join(model.model_fields)
            self.tell("ignored", f"{signal} could not be read: it takes one JSON object with {fields}")
            return None

    def _answer(self, signal: str, action: str, said: tuple[object, ...]) -> None:
        approval = self.read_signal(signal, Approval, said)
        if approval is None:
            return
        gate, control = approval.gate, self.state.control
        if control.waiting_for != gate or gate in control.answers:
            self.tell("ignored", f"no gate waits for an answer about the {gate}", gate=gate)
            return
        self.decided(
            Decision.model_validate(
                {
                    "gate": gate,
                    "action": action,
                    "by": approval.by[:NAME_CHARS],
                    "note": approval.note[:STEERING_CHARS],
                    "at": self.stamp(),
                }
            )
        )

    async def pass_on(self, signal: str, payload: Steer | AddSource | None = None) -> None:
        """Hand a signal to running children; a workflow without children has none to hand it to."""

    async def share_extension(self, more: ExtendBudget) -> None:
        """Let running children have their part of more budget."""

    def most_sections(self) -> int:
        """How many sections a plan of this run may have."""
        return self.request.limits.max_sections

    # updates: what must be refused when it is wrong

    @workflow.update
    async def edit_plan(self, edit: EditPlan) -> PlanView:
        """Replace the plan that waits for approval; the gate goes on waiting."""
        self.state.plan = numbered(edit.plan)
        self.state.plan_hash = plan_hash(self.state.plan)
        self.state.control.decisions.append(
            Decision(
                gate="plan",
                action="edited",
                by=edit.by[:NAME_CHARS],
                at=self.stamp(),
                plan_hash=self.state.plan_hash,
            )
        )
        self.tell("plan_edited", f"the plan now has {len(self.state.plan.report_outline)} sections")
        return self.plan()

    @edit_plan.validator
    def _check_plan(self, edit: EditPlan) -> None:
        control = self.state.control
        if control.waiting_for != "plan" or "plan" in control.answers:
            raise _refused("the plan can only be edited while it waits for approval")
        outline, most = edit.plan.report_outline, self.most_sections()
        if not 1 <= len(outline) <= most:
            wanted = "1 section" if most == 1 else f"1 to {most} sections"
            raise _refused(f"the plan of this run has {wanted}, this one has {len(outline)}")
        if any(not s.title.strip() or not s.key_question.strip() for s in outline):
            raise _refused("every section needs a title and a key question")
        titles = (edit.plan.report_title, *(s.title for s in outline))
        if (
            any(len(title) > TITLE_CHARS for title in titles)
            or any(len(s.key_question) > QUESTION_CHARS for s in outline)
            or len(edit.plan.background_context) > BACKGROUND_CHARS
        ):
            raise _refused(
                f"a title has at most {TITLE_CHARS} characters, a key question {QUESTION_CHARS}, "
                f"the background {BACKGROUND_CHARS}"
            )
        ids = [s.id for s in outline if s.id]
        if len(ids) != len(set(ids)):
            raise _refused("two sections have the same id")
        if any(not SECTION_ID.fullmatch(name) for name in ids):
            raise _refused("a section's id has letters, digits, - and _ only; leave it out to have one given")

    @workflow.update
    async def extend_budget(self, more: ExtendBudget) -> BudgetStatus:
        """Raise the limits; a run whose next call did not fit goes on if it has not begun to write."""
        self.budget_ledger.extend(more.tokens, more.cost_microusd, more.seconds, more.iterations)
        self.state.loop.max_iterations += more.iterations
        self.state.loop.refused = None
        self.tell("budget_extended", _described(more))
        await self.share_extension(more)
        return self.budget()

    @extend_budget.validator
    def _check_extension(self, more: ExtendBudget) -> None:
        if not (more.tokens or more.cost_microusd or more.seconds or more.iterations):
            raise _refused("nothing to add: give tokens, cost, seconds or iterations")
        if self.state.stop_reason is not None:
            raise _refused(f"the run has stopped searching ({self.state.stop_reason})")

    @workflow.update
    async def choose_candidates(self, choice: ChooseCandidates) -> tuple[str, ...]:
        """Keep only the named candidates and let the gate open."""
        wanted = {name.casefold() for name in choice.names}
        kept = [c for c in self.state.candidates if c.name.casefold() in wanted]
        self.state.candidates = kept
        self.state.hypotheses = [h for h in self.state.hypotheses if h.drug.casefold() in wanted]
        self.state.control.chosen = [c.name for c in kept]
        self.decided(
            Decision(
                gate="candidates",
                action="chosen",
                by=choice.by[:NAME_CHARS],
                note=", ".join(self.state.control.chosen),
                at=self.stamp(),
            )
        )
        return tuple(self.state.control.chosen)

    @choose_candidates.validator
    def _check_choice(self, choice: ChooseCandidates) -> None:
        control = self.state.control
        if control.waiting_for != "candidates" or "candidates" in control.answers:
            raise _refused("no candidates wait to be chosen")
        known = {c.name.casefold(): c.name for c in self.state.candidates}
        unknown = [name for name in choice.names if name.casefold() not in known]
        if unknown or not choice.names:
            raise _refused(
                f"not among the candidates: {', '.join(unknown) or 'no name given'}; "
                f"there are {', '.join(known.values())}"
            )

    # queries

    @workflow.query
    def progress(self) -> Progress:
        state, control, judged = self.state, self.state.control, self.state.loop.judged
        return Progress(
            run_id=workflow.info().workflow_id,
            question=self.request.question,
            mode=_MODES.get(workflow.info().workflow_type, self.request.mode),
            profile=state.prepared.profile.name if state.prepared else self.request.profile,
            phase=control.phase,
            message=control.message,
            iteration=state.loop.iteration,
            max_iterations=state.loop.max_iterations,
            evidence=len(state.evidence),
            searches=rows(state.searches[-SEARCHES_SHOWN:]),
            searches_total=len(state.searches),
            sections=tuple(state.sections.values()),
            budget=self.budget(),
            waiting_for=control.waiting_for,
            paused=control.paused,
            confidence=judged.confidence if judged else 0.0,
            scores=judged.scores if judged else {},
            steering=tuple(control.steering),
            candidates=tuple(state.candidates),
            chosen_because=state.chosen_because,
            stop_reason=state.stop_reason,
            started_at=_iso(self.budget_ledger.started_at),
            updated_at=control.events[-1].timestamp if control.events else "",
            last_seq=control.last_seq,
        )

    @workflow.query
    def budget(self) -> BudgetStatus:
        return self.budget_ledger.status(self.now())

    @workflow.query
    def plan(self) -> PlanView:
        answer = self.state.control.answers.get("plan")
        approved = answer is not None and answer.action in GO_ON
        return PlanView(
            plan=self.state.plan,
            plan_hash=self.state.plan_hash,
            approved=approved,
            asked="plan" in self.request.approve,
        )

    @workflow.query
    def evidence_index(self, after: ItemsAfter | None = None) -> EvidenceIndex:
        """As many as fit; ask again after the number that came."""
        items = self.state.evidence
        return EvidenceIndex(
            items=within(items[max(after.after, 0) if after else 0 :], ROOM), total=len(items)
        )

    @workflow.query
    def events(self, after: EventsAfter | None = None) -> list[AgentEvent]:
        """Those after a number, the oldest first; as many as fit, so ask again after the last of them."""
        seq = after.after if after else 0
        return list(within((event for event in self.state.control.events if event.seq > seq), ROOM))

    @workflow.query
    def report(self) -> ReportView:
        if self.published is None:
            return ReportView()
        return ReportView(
            report=self.published.report,
            draft=self.state.control.phase != "done",
            blob=self.published.blob,
        )


_MODES: dict[str, Mode] = {"IterativeResearch": "iterative", "DeepResearch": "deep"}


def _refused(message: str) -> ApplicationError:
    return ApplicationError(message, non_retryable=True)


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds") if seconds else ""


def _described(more: ExtendBudget) -> str:
    parts = {
        "tokens": f"{more.tokens:,}" if more.tokens else "",
        "US dollars": f"{more.cost_microusd / 1e6:.2f}" if more.cost_microusd else "",
        "seconds": f"{more.seconds:g}" if more.seconds else "",
        "iterations": str(more.iterations) if more.iterations else "",
    }
    return "budget extended by " + ", ".join(f"{v} {k}" for k, v in parts.items() if v)
