"""The report in the formats people ask for: `render(report, "md")`."""

from activities.report.format_table import FORMATS as FORMATS
from activities.report.format_table import Format as Format
from activities.report.format_table import format_of as format_of
from activities.report.formats.render import MissingExtra as MissingExtra
from activities.report.formats.render import UnknownFormat as UnknownFormat
from activities.report.formats.render import render as render
