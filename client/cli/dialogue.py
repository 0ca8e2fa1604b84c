"""Output on a finished report that was asked, changed or disputed."""

from typing import TYPE_CHECKING

from client.cli.common import print_json, print_text, say
from client.failures import Exit
from client.terminal import plain

if TYPE_CHECKING:
    from activities.report.schema import Report
    from client.runs.revising import Answered


def show_answer(answered: "Answered", *, as_json: bool) -> Exit:
    """Print the answer to a question, with its works."""
    from activities.report.formats.prose import NOT_READ
    from client.reports.answer import with_references
    from client.reports.answer_panel import work_line
    from client.reports.replies import Told

    report, state = answered.report, Told.of(answered)
    claims = state.claims
    if as_json:
        print_json(state)
        return Exit.DONE if claims else Exit.NOT_ENOUGH_EVIDENCE
    if claims and state.answered is None:
        print_text(NOT_READ)
    for sentence in (one for one in report.answer if not one.support):
        print_text(plain(sentence.text))
    for claim in claims:
        print_text(plain(with_references(claim)))
    for reference in report.references:
        print_text(plain(work_line(reference)))
    if not claims:
        question = answered.asked.replace('"', "'")
        print_text("This is not in the evidence of the run.")
        say(f'to search for it: determinator ask --follow-up {answered.outcome.run_id} "{question}"')
    return Exit.DONE if claims else Exit.NOT_ENOUGH_EVIDENCE


def show_version(answered: "Answered", *, as_json: bool) -> Exit:
    """Print what a change, a dispute or a decision made of a report."""
    from activities.report.formats.words import dispute_line
    from client.reports.replies import Changed

    outcome = answered.outcome
    code = Exit.DONE if outcome.made else Exit.NOT_ENOUGH_EVIDENCE
    if as_json:
        print_json(Changed.of(answered))
        return code
    differs = show_difference(answered.before, answered.report)
    for dispute in answered.report.disputes if not outcome.claims_changed else ():
        if dispute not in answered.before.disputes:
            print_text(plain(dispute_line(dispute)))
    for note in outcome.notes:
        say(plain(note))
    if not outcome.made:
        print_text("nothing was changed")
        return code
    if not differs and answered.report.disputes == answered.before.disputes:
        print_text("no sentence reads otherwise")
    print_text(
        f"Version {outcome.version} of {outcome.run_id}; `determinator report {outcome.run_id}` prints it, "
        f"--version {outcome.version - 1} the one before"
    )
    return code


def show_difference(before: "Report", after: "Report") -> bool:
    """Print the difference sentence by sentence; return whether there is any."""
    from activities.report.instructions import differences

    changes = differences(before, after)
    for change in changes:
        for mark, text in (("-", change.before), ("+", change.after)):
            if text:
                print_text(plain(f"{mark} {change.id} {text}"))
    return bool(changes)
