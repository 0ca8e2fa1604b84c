"""Settings as they are in force: models and keys by name, sources, folders, budgets; what `doctor` says."""

from fastapi import APIRouter, Request
from fastapi.responses import Response

from activities.configuration.declaration import declared
from activities.credentials import without_credentials
from activities.settings import Settings
from client.checkup import Check, checks
from client.configuration import load_settings
from client.runs.destinations import available
from client.web.frame import Frame

BUDGETS = ("max_iterations", "max_sections", "max_tokens", "max_cost", "max_time", "results_per_search")


class SettingsPage:
    def __init__(self, frame: Frame) -> None:
        self._frame = frame
        self._answers: dict[str, Check] = {}
        """Answer of each source when it was asked last, by its name."""

    def router(self) -> APIRouter:
        router = APIRouter(prefix="/settings")
        router.get("")(self.page)
        router.get("/checks")(self.checks)
        return router

    async def page(self, request: Request) -> Response:
        self._frame.user(request)
        settings, fields = self._frame.settings, declared(Settings.model_fields)
        return await self._frame.page(
            "settings",
            model=settings.model or "none",
            address=without_credentials(settings.openai_base_url or "OpenAI's own"),
            roles=settings.roles,
            fallback=settings.fallback,
            keys=keys_of(settings),
            options=await available(settings),
            answers=self._answers,
            budgets=[(name, getattr(settings, name), fields[name].help) for name in BUDGETS],
            folders=[] if self._frame.access.shared else folders_of(settings),
        )

    async def checks(self, request: Request, network: bool = False) -> Response:
        """Return what `doctor` says; with `network`, each source is asked one small question."""
        self._frame.user(request)
        every = [check async for check in checks(load_settings, self._frame.client.address, network=network)]
        shown = [check for check in every if network or not check.source]
        if network:
            self._answers = {check.source: check for check in shown if check.source}
        return await self._frame.part("checks", checks=shown, network=network)


def keys_of(settings: Settings) -> list[tuple[str, bool]]:
    """Return the names of keys, and whether each is there; never its value."""
    fields = type(settings).model_fields
    names = [name for name in fields if name.endswith(("_key", "_keys", "_password"))]
    return [
        (
            str(fields[name].validation_alias or f"DETERMINATOR_{name.upper()}"),
            getattr(settings, name) is not None,
        )
        for name in names
    ]


def folders_of(settings: Settings) -> list[tuple[str, str]]:
    return [
        ("Home", str(settings.home)),
        ("Your documents", str(settings.library or "the bundled sample library")),
        ("Reports", str(settings.reports_dir or settings.home / "reports")),
    ]
