"""Build a report from the shared documents, and read the statements it carries."""

from activities.contracts.evidence import Statement
from activities.contracts.publish import PublishInput
from activities.report.assemble import build_report
from activities.report.schema import Report
from tests.activities.cases import (
    DOCUMENTS,
)


def built(step: PublishInput) -> Report:
    return build_report(step, DOCUMENTS)


def codes(report: Report) -> list[str]:
    """The codes of the limitations."""
    return [statement.code for statement in report.statements]


def stated(report: Report, code: str) -> list[Statement]:
    return [statement for statement in report.statements if statement.code == code]
