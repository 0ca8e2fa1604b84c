"""A living review: conclusions that changed between two versions of its report, and the notice of them.

A notice goes to an address, a command and a file of the user's own settings. A conclusion has changed where
the sentence that states it (its direction and how certain it is) is another one, or where it is new or gone.
Figures that moved without that are no news: nothing rings.
"""

import shlex
from collections.abc import Sequence
from datetime import datetime
from email.utils import format_datetime
from subprocess import TimeoutExpired
from xml.etree import ElementTree

import httpx

from activities import processes
from activities.contracts.appraisal import Conclusion
from activities.contracts.errors import Refused, Unavailable
from activities.contracts.evidence import Frozen
from activities.report.formats.conclusion_words import line, statement
from activities.report.formats.text import clean
from activities.review.findings import Findings
from activities.review.steps import StateStep

SECONDS = 30.0
"""Time that the other side of a webhook, or a command, has."""


class ChangedConclusion(Frozen):
    """One outcome whose conclusion is another one; `before` or `after` is empty where it is new or gone."""

    outcome: str
    before: str = ""
    after: str = ""


class Notice(Frozen):
    """The conclusions of a review that changed."""

    run_id: str
    title: str
    at: str
    version: int
    new_studies: int = 0
    changes: tuple[ChangedConclusion, ...]


def compare(before: Findings, after: Findings, step: StateStep) -> Notice | None:
    """Compare the conclusions of a report with those of the one that a step makes; None without a change."""
    old = {synthesis.id: synthesis.conclusion for synthesis in before.syntheses}
    new = {synthesis.id: synthesis.conclusion for synthesis in after.syntheses}

    def line_of(conclusion: Conclusion | None) -> str:
        return line(conclusion) if conclusion else ""

    changes = tuple(
        ChangedConclusion(outcome=row.outcome, before=line_of(old.get(name)), after=line_of(new.get(name)))
        for name, row in (old | new).items()
        if name not in old or name not in new or statement(old[name]) != statement(new[name])
    )
    if not changes:
        return None
    studies = {study.evidence_id for study in before.studies}
    return Notice(
        run_id=step.run_id,
        title=clean(step.state.protocol.title),
        at=step.at,
        version=step.state.reports + 1,
        new_studies=sum(study.evidence_id not in studies for study in after.studies),
        changes=changes,
    )


def message(notice: Notice) -> str:
    """Write the notice as plain text, for a mail."""
    rows = [f"{notice.title}: version {notice.version} of {notice.at[:10]}", ""]
    if notice.new_studies:
        rows += [f"New studies: {notice.new_studies}", ""]
    for change in notice.changes:
        rows += [change.outcome, f"  before: {change.before or '-'}", f"  now:    {change.after or '-'}", ""]
    return "\n".join(map(str.rstrip, rows))


def feed(notices: Sequence[Notice]) -> bytes:
    """Write the notices of a review as RSS 2.0 (https://www.rssboard.org/rss-specification), newest first."""
    newest = sorted(notices, key=lambda notice: notice.version, reverse=True)
    root = ElementTree.Element("rss", version="2.0")
    channel = ElementTree.SubElement(root, "channel")

    def add(parent: ElementTree.Element, **texts: str) -> None:
        for name, text in texts.items():
            ElementTree.SubElement(parent, name).text = text

    title, run_id = (newest[0].title, newest[0].run_id) if newest else ("A systematic review", "")
    link = f"urn:determinator:review:{run_id}"
    add(channel, title=title, link=link, description=f"Conclusions that changed: {title}")
    for notice in newest:
        item = ElementTree.SubElement(channel, "item")
        outcomes = "; ".join(change.outcome for change in notice.changes)
        at = format_datetime(datetime.fromisoformat(notice.at))
        add(item, title=f"Version {notice.version}: {outcomes}", description=message(notice), pubDate=at)
        guid = ElementTree.SubElement(item, "guid", isPermaLink="false")
        guid.text = f"{notice.run_id}/{notice.version}"
    data: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return data


async def post(notice: Notice, address: str) -> None:
    """Send a notice as JSON to an address. Raises Unavailable, which may pass, and Refused."""
    body = notice.model_dump_json().encode()
    headers = {"content-type": "application/json", "user-agent": "determinator"}
    try:
        async with httpx.AsyncClient(timeout=SECONDS) as client:
            answer = await client.post(address, content=body, headers=headers)
    except httpx.HTTPError as error:
        raise Unavailable(f"the webhook does not answer: {error or type(error).__name__}") from error
    if answer.status_code >= 500 or answer.status_code == 429:
        raise Unavailable(f"the webhook answers {answer.status_code}")
    if not answer.is_success:
        raise Refused(f"the webhook answers {answer.status_code}")


def pipe(notice: Notice, command: str) -> None:
    """Run a command with the notice as its standard input; no shell reads it. Raises Refused."""
    try:
        process = processes.run(
            shlex.split(command), input=message(notice).encode(), capture_output=True, timeout=SECONDS
        )
    except (OSError, ValueError, TimeoutExpired) as error:
        raise Refused(f"the command of notices cannot be run: {error}") from error
    if process.returncode:
        lines = ["", *process.stderr.decode(errors="replace").strip().splitlines()]
        raise Refused(f"the command of notices ends with {process.returncode}: {lines[-1][:200]}")
