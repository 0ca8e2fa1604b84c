"""The base of the parts: acts at no stage and publishes nothing."""

from collections.abc import Awaitable, Collection, Iterable, Mapping

from workflows.context import RunPart


class Part(RunPart):
    """A part of one run. A subclass implements the stages that its row in `PARTS` names."""

    async def after_judging(self, use_model: bool) -> None:
        """Act after each judgement of a loop."""

    async def beside_drafts(self, use_model: bool) -> None:
        """Act while the last sections of a report are drafted."""

    async def before_writing(self, use_model: bool) -> None:
        """Act once nothing more is searched for."""

    async def before_draft(self, use_model: bool) -> None:
        """Act before the only section of a report is written."""

    async def before_answer(self, use_model: bool) -> None:
        """Act before the last step that writes the answer."""

    def beside_writing(self, use_model: bool) -> Iterable[Awaitable[None]]:
        """Return the steps that go on at the same time as that step."""
        return ()

    async def before_publishing(self, use_model: bool) -> None:
        """Act on all that is written."""

    def cited(self) -> Iterable[str]:
        """Ids of works that the part quotes."""
        return ()

    def published(self, cited: Collection[str]) -> Mapping[str, object]:
        """Return the fields of `PublishInput` that are the part's.

        `cited`: ids of all works that are cited.
        """
        return {}
