"""The public interface of Determinator: what programs and plug-ins import, and the command line.

    from determinator import Determinator

The packages beside this one (`activities`, `workflows`, `worker`, `client`) may change with every version;
what this one names changes with a line in the changelog.
"""

import ast
import importlib
import importlib.util
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from activities.codec import CodecError as CodecError
    from activities.codec import codec_of as codec_of
    from activities.contracts.errors import Malformed as Malformed
    from activities.contracts.errors import RateLimited as RateLimited
    from activities.contracts.errors import Refused as Refused
    from activities.contracts.errors import Unavailable as Unavailable
    from activities.contracts.evidence import Evidence as Evidence
    from activities.contracts.evidence import Identifiers as Identifiers
    from activities.contracts.evidence import Query as Query
    from activities.contracts.evidence import SourceInfo as SourceInfo
    from activities.contracts.evidence import StopReason as StopReason
    from activities.contracts.identifiers import evidence_id as evidence_id
    from activities.contracts.identifiers import normal_doi as normal_doi
    from activities.contracts.profile import Profile as Profile
    from activities.contracts.search import SearchTask as SearchTask
    from activities.hooks import Call as Call
    from activities.hooks import CallOutcome as CallOutcome
    from activities.hooks import Veto as Veto
    from activities.own_step_activity import OwnStepInput as OwnStepInput
    from activities.own_step_activity import OwnStepOutput as OwnStepOutput
    from activities.own_step_activity import step as step
    from activities.processes import leave as leave
    from activities.report.formats import Format as Format
    from activities.report.schema import Report as Report
    from activities.roles.own import role as role
    from activities.settings import Settings as Settings
    from activities.sources.base import Exchange as Exchange
    from activities.sources.base import Source as Source
    from activities.sources.declared import record as record
    from activities.sources.declared import source as source
    from activities.sources.http.client import Http as Http
    from activities.sources.library.records import read_record as read_record
    from client.api import BlockingDeterminator as BlockingDeterminator
    from client.api import Determinator as Determinator
    from client.failures import BadInput as BadInput
    from client.failures import Failure as Failure
    from client.listing import Listing as Listing
    from client.reports.finished import Verification as Verification
    from client.reports.load import RunReport as RunReport
    from client.reviews.review import BlockingReview as BlockingReview
    from client.reviews.review import Review as Review
    from client.run import BlockingRun as BlockingRun
    from client.run import Run as Run
    from client.run import RunStatus as RunStatus
    from workflows.context import ModeTraits as ModeTraits
    from workflows.handlers import ResearchHandlers as ResearchHandlers
    from workflows.modes import mode as mode
    from workflows.run import RunParts as RunParts
    from workflows.state import RunState as RunState
    from workflows.steps.policy import OutOfBudget as OutOfBudget
    from workflows.types import Outcome as Outcome
    from workflows.types import ResearchRequest as ResearchRequest

PACKAGES = ("activities", "workflows", "worker", "client")


@cache
def public_names() -> dict[str, str]:
    """Public name -> its module, as the imports above state them. Only type checkers
    execute those: all of them take half a second, and plug-ins are loaded while some of these modules are."""
    tree = ast.parse(Path(__file__).read_text("utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    return {
        alias.name: line.module or ""
        for line in block.body
        if isinstance(line, ast.ImportFrom)
        for alias in line.names
    }


def collision(root: Path = Path(__file__).parents[1]) -> str:
    """What is wrong when another distribution has a package of one of our names (llama-index-core, for one,
    installs `workflows`), in one line with the remedy; empty when nothing is."""
    try:
        ours = {Path(str(file)) for file in distribution("determinator").files or ()}
    except PackageNotFoundError:
        ours = set()
    for name in PACKAGES:
        spec = importlib.util.find_spec(name)
        folder = Path(spec.origin).parent if spec and spec.origin else None
        foreign = folder != root / name
        if not foreign and Path(name, "__init__.py") in ours:  # not so where this is installed in place
            foreign = any(
                path.suffix in ("", ".py")
                and path.name != "__pycache__"
                and not any(file.is_relative_to(path.relative_to(root)) for file in ours)
                for path in (root / name).iterdir()
            )
        if foreign:
            owners = [one for one in packages_distributions().get(name, ()) if one.lower() != "determinator"]
            return (
                f"the package `{name}` of Determinator is hidden by {', '.join(owners) or folder}; install "
                "Determinator by itself: uv tool install determinator, or pipx install determinator"
            )
    return ""


def __getattr__(name: str) -> object:
    """Import what is asked for: a program seldom needs all of it."""
    if name == "__all__":
        return list(public_names())
    if name not in public_names():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if problem := collision():
        raise ImportError(problem)
    return getattr(importlib.import_module(public_names()[name]), name)


def __dir__() -> list[str]:
    """What a prompt or a notebook completes."""
    return sorted(public_names())


def main() -> NoReturn:
    """The command `determinator`."""
    if problem := collision():
        sys.exit(f"Error: {problem}")
    from client.cli.main import main as run

    run()
