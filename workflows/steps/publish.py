"""How a run begins and ends: getting ready, and publishing.

Publishing is never clipped by a deadline: a report always comes out.
"""

from collections.abc import Sequence

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from activities.prepare import PrepareActivities
    from activities.publish import CHECK_PUBMED, PublishActivities, pubmed_check
    from activities.report.schema import Published
    from activities.role_activities import ThinkActivities
    from activities.roles.allowances import ALLOWANCES
    from activities.steps import (
        ParsedQuery,
        ParseQueryInput,
        Prepared,
        PrepareInput,
        PublishInput,
        PubMedSaid,
        Role,
    )
    from activities.types import Allowance, Price

from workflows.steps import policy
from workflows.steps.failures import OutOfBudget, search_failure
from workflows.steps.search import Searching

PUBMED_SECONDS = 120.0
"""What a report waits for PubMed at most, retries and all."""


class Conductor(Searching):
    """Base of the research workflows: gets ready and publishes."""

    async def prepare(self, profile: str, extra_sources: Sequence[str] = ()) -> Prepared:
        """Ask the worker for its sources, models, prices and the profile."""
        request = self.request
        return await workflow.execute_activity_method(
            PrepareActivities.prepare,
            PrepareInput(
                profile=profile,
                profile_path=request.profile_path,
                sources=(*request.sources, *extra_sources) if request.sources else (),
                library=request.library,
                models=request.models,
                fallbacks=request.fallbacks,
            ),
            **policy.bookkeeping("what this worker has"),
        )

    async def parse(self) -> ParsedQuery:
        """Read the question: what is asked, which mode and profile fit, and why."""
        question = self.request.question
        step = ParseQueryInput(
            run_id=workflow.info().workflow_id,
            question=question,
            profile=self.profile,
            profiles=self.prepared.profiles if self.request.profile == "auto" else {},
            mode=None if self.request.mode == "auto" else self.request.mode,
            sources=tuple(s for s in self.prepared.sources if s.enabled),
        )
        plain = ParsedQuery(original_query=question, improved_query=question, profile=self.profile.name)
        try:
            return await self.think("query_parser", ThinkActivities.parse_query, step, plain)
        except OutOfBudget as error:
            self.note(f"The question was read without a language model ({error.reason.replace('_', ' ')}).")
            return await self.think("query_parser", ThinkActivities.parse_query, step, plain, offline=True)

    async def get_ready(self) -> None:
        """Resolve what only the worker knows and read the question, unless that was done before."""
        state, request = self.state, self.request
        if state.prepared is None or state.parsed is None:
            self.enter("starting", "reading the question")
            state.prepared = await self.prepare("general" if request.profile == "auto" else request.profile)
            self.keep_for_writing()
            state.parsed = await self.parse()
            if request.profile == "auto" and state.parsed.profile != self.profile.name:
                state.prepared = await self.prepare(state.parsed.profile)
            state.chosen_because = state.parsed.rationale
            self.tell("understood", state.parsed.rationale or state.parsed.improved_query)
            self.admit_missing_sources()
        if state.job is None:
            self.keep_for_writing()

    def admit_missing_sources(self) -> None:
        """Note the sources that the question or its profile asks for and that are closed by a fault."""
        wanted = (*self.request.sources, *self.profile.sources)
        for option in self.prepared.sources:
            if option.info.name in wanted and not option.enabled and option.reason.startswith("cannot"):
                self.note(f"{option.info.title} was not searched: {option.reason}")

    def writing_roles(self) -> tuple[Role, ...]:
        """The steps that the report needs; what they may cost is kept back."""
        return ("writer",)

    def calls_to_write(self) -> list[tuple[Allowance, Price | None]]:
        """What the paid steps may take that the report still needs."""
        naming: tuple[Role, ...] = ("hypothesis_generator",) if self.profile.candidates else ()
        paid = [r for r in (*naming, *self.writing_roles()) if self.choice(r).backend != "extractive"]
        return [(ALLOWANCES[role], self.price(role)) for role in paid]

    def keep_for_writing(self) -> None:
        """Keep back what the report needs."""
        self.budget_ledger.keep_for_writing(self.calls_to_write())

    async def publish(self, document: PublishInput) -> "Published":
        """Have the quotes checked and the report rendered and stored."""
        document = document.model_copy(update={"pubmed": await self.ask_pubmed(document)})
        published = await workflow.execute_activity_method(
            PublishActivities.publish_report,
            document,
            **policy.bookkeeping("check quotes and render the report"),
        )
        self.published = published
        return published

    async def ask_pubmed(self, document: PublishInput) -> PubMedSaid | None:
        """What PubMed says now of the works a report cites, asked where NCBI's rate is held; None when there
        is nothing to ask or the run was cancelled. An outage changes nothing, and the report says so."""
        # A run that was prepared before this step existed has no queue for it: its history stays as it was.
        queue = self.state.prepared.pubmed_queue if self.state.prepared else None
        check = pubmed_check(document)
        if queue is None or check is None or self.state.control.cancelled:
            return None
        try:
            said: PubMedSaid = await workflow.execute_activity(
                CHECK_PUBMED,
                check,
                result_type=PubMedSaid,
                **policy.searching(PUBMED_SECONDS, f"pubmed: standing of {len(check.pmids)} works", queue),
            )
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            return PubMedSaid(asked=check.pmids, failure=search_failure(error)[1])
        return said
