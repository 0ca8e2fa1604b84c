"""`determinator verify`: whether every quote of a report is in the item it cites."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from client.cli.common import (
    address_option,
    complete_run,
    json_option,
    load_settings,
    print_json,
    print_text,
    run_async,
    say,
)
from client.cli.failures import BadInput, Exit

if TYPE_CHECKING:
    from activities.report.audit import CheckedBearer, Examination
    from activities.report.schema import Report
    from activities.settings import Settings
    from client.reports.parcel import Parcel


@click.command(short_help="Check every quote of a report against the stored text.")
@click.argument(
    "target",
    metavar="RUN|REPORT.json|BUNDLE|TEXT.md",
    default="last",
    shell_complete=complete_run,
)
@click.option(
    "--evidence",
    "evidence",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE.jsonl",
    help="Check against these texts, as `evidence --format jsonl` prints them.",
)
@json_option
@address_option
def verify(target: str, evidence: Path | None, as_json: bool, address: str | None) -> int:
    """Check every quote of a report against the text of the very item it is attributed to, the numbering of
    the references, and that the text says no more than its claims. Exit code 0 when everything holds, 1 when
    something does not.

    The report is a run's, a JSON file, or what `export` made (a folder or .zip). A file is checked against
    --evidence, else against `evidence.jsonl` beside it, else against this machine's evidence store; no server
    is needed.

    Of any Markdown file, citations and references are checked against each other: references never cited,
    citations without a reference, gaps in the numbering, one address under several numbers, malformed
    identifiers.
    """
    from client.reports.parcel import is_file_name, is_markdown

    if is_markdown(target):
        return _verify_markdown(target, as_json=as_json)
    settings = load_settings()
    given = evidence.read_bytes() if evidence else None

    async def body() -> int:
        from activities.report.audit import examine
        from client.reports.parcel import BadParcel, open_parcel, read_lines

        try:
            parcel = (
                open_parcel(Path(target))
                if is_file_name(target)
                else await _of_run(settings, address, target)
            )
            lines = read_lines(given, str(evidence)) if given is not None else parcel.lines
        except BadParcel as error:
            raise BadInput(str(error)) from error
        if lines is None:
            lines = await _stored_lines(settings, parcel.report)
        found = examine(parcel.report, lines)
        # a report without a claim, a candidate or a near passage has nothing that could hold
        holds = found.holds and bool(found.bearers) and not parcel.damaged
        if parcel.foreign_script:
            say(
                "its check.py is not the one that this version writes: do not run it unless you trust its "
                "origin"
            )
        if as_json:
            print_json(_as_data(found, parcel, len(lines), holds=holds))
        else:
            _show(found, parcel, holds=holds)
        return Exit.DONE if holds else Exit.FAILED

    return run_async(body)


def _verify_markdown(target: str, *, as_json: bool) -> int:
    """Check a text file by itself."""
    from activities.report.formats.statements import sentence
    from activities.report.markdown_check import check_markdown
    from client.reports.parcel import BadParcel, read_markdown
    from client.terminal import plain

    try:
        found = check_markdown(read_markdown(Path(target)))
    except BadParcel as error:
        raise BadInput(str(error)) from error
    if not found.references and not found.citations:
        raise BadInput(f"{target} has neither citations nor a list of references to check")
    if as_json:
        print_json(
            {
                "file": target,
                "holds": found.holds,
                "references": found.references,
                "citations": found.citations,
                "problems": [{**p.model_dump(mode="json"), "text": sentence(p)} for p in found.problems],
            }
        )
        return Exit.DONE if found.holds else Exit.FAILED
    for problem in found.problems:
        print_text(f"FAILS  {plain(sentence(problem))}")
    verdict = "everything holds" if found.holds else "NOT everything holds"
    print_text(f"{verdict}: {found.citations} citations, {found.references} references")
    return Exit.DONE if found.holds else Exit.FAILED


async def _of_run(settings: "Settings", address: str | None, name: str) -> "Parcel":
    from client.reports.finished import find_finished
    from client.reports.parcel import Parcel

    run = await find_finished(settings, address, name, say, whole=False)
    return Parcel(run.report, [dict(line) for line in run.lines()])


async def _stored_lines(settings: "Settings", report: "Report") -> list[Mapping[str, object]]:
    """The quoted items from this machine's store. Raises BadInput when it has none of them."""
    from activities.report.archive import Archive
    from activities.report.audit import evidence_line

    works = report.quoted_works
    found = await Archive(settings.evidence_url).cited(report, works)
    if works and not found:
        raise BadInput(
            "the texts behind this report are not on this machine; give them with --evidence FILE.jsonl "
            "(`determinator evidence RUN --format jsonl` prints them)"
        )
    return [dict(evidence_line(ref, item)) for ref, item in found]


def _show(found: "Examination", parcel: "Parcel", *, holds: bool) -> None:
    from client.terminal import plain

    for bearer in found.bearers:
        state = "holds" if bearer.holds else "FAILS"
        numbers = ", ".join(str(n) for n in sorted({q.number for q in bearer.quotes if q.number}))
        said = bearer.text or " ".join(quote.quote for quote in bearer.quotes)
        marks = f"  [{numbers}]" if numbers else ""
        print_text(plain(f"{state}  {bearer.name}{marks}  {said}"))
        for fault in bearer.faults():
            print_text(f"       {plain(fault)}")
    for problem in (*found.problems, *parcel.damaged):
        print_text(f"FAILS  {plain(problem)}")
    counts = []
    for kind, names in (("claim", "claims"), ("candidate", "candidates"), ("near", "near passages")):
        these = [bearer.holds for bearer in found.bearers if bearer.kind == kind]
        if these or kind == "claim":
            counts.append(f"{sum(these)} of {len(these)} {names}")
    quotes = [not quote.problem for bearer in found.bearers for quote in bearer.quotes]
    verdict = "everything holds" if holds else "NOT everything holds"
    if not found.bearers:
        verdict = "nothing to check: the report makes no claim"
    print_text(
        f"{verdict}: {', '.join(counts)}, {sum(quotes)} of {len(quotes)} quotes; "
        f"{len(parcel.report.references)} references"
    )


def _as_data(found: "Examination", parcel: "Parcel", items: int, *, holds: bool) -> dict[str, Any]:
    def bearer_data(bearer: "CheckedBearer") -> dict[str, Any]:
        return {
            **bearer.model_dump(mode="json"),
            "holds": bearer.holds,
            "quotes": [{**q.model_dump(mode="json"), "holds": not q.problem} for q in bearer.quotes],
        }

    return {
        "run_id": found.run_id,
        "holds": holds,
        "items": items,
        "claims": [bearer_data(b) for b in found.bearers if b.kind == "claim"],
        "candidates": [bearer_data(b) for b in found.bearers if b.kind == "candidate"],
        "near": [bearer_data(b) for b in found.bearers if b.kind == "near"],
        "problems": [*found.problems, *parcel.damaged],
        "foreign_check_script": parcel.foreign_script,
    }
