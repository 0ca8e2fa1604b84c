"""A run that follows up a finished one begins with its evidence and knows what it asked and answered."""

from collections.abc import Collection

from temporalio import workflow
from temporalio.exceptions import ActivityError

from activities.contracts.prepare import Continued, Imported
from activities.follow_up_activity import FollowUpActivities
from activities.messages import plural
from workflows.part_state import DialogueState
from workflows.parts.rows import OptionalPart
from workflows.rules.dedup import merge
from workflows.steps import policy
from workflows.steps.policy import reason_of


class DialoguePart(OptionalPart):
    """Imports the evidence of the earlier run."""

    def published_value(self, cited_ids: Collection[str]) -> object:
        return self.state.part(DialogueState).continues

    async def import_evidence(self) -> Imported | None:
        """Begin with the evidence of the earlier run, once, and return what that asked and answered.

        A run whose evidence cannot be read goes on without, and its report says so.
        """
        state, follow_up = self.state, self.request.follow_up
        part = state.part(DialogueState)
        if follow_up is None or part.imported:
            return None
        part.imported = True
        try:
            imported = await workflow.execute_activity_method(
                FollowUpActivities.import_evidence,
                follow_up,
                **policy.internal_step(f"evidence of {policy.shorten(follow_up.run_id, 60)}"),
            )
        except ActivityError as error:
            reason = reason_of(error)
            self.events.add_limitation("follow_up_missing", run_id=follow_up.run_id, reason=reason)
            return None
        part.continues = Continued(run_id=follow_up.run_id, question=imported.question)
        merged = merge(state.evidence.refs, imported.items, "")
        state.evidence.refs = [ref.replace(sections=()) for ref in merged.refs]
        state.evidence.identified += len(imported.items)
        state.loop.unjudged += len(merged.new_ids)
        items, run_id = len(merged.new_ids), follow_up.run_id
        self.events.add_limitation("follow_up", run_id=run_id, items=items)
        self.events.emit("imported", f"{plural(items, 'item')} from {run_id}", run_id=run_id, items=items)
        return imported


PART = DialoguePart
