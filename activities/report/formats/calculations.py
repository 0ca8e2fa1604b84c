"""The computations behind figures that no work states, as a report prints them."""

from collections.abc import Iterable, Sequence

from activities.contracts.effects import MEASURE_NAMES
from activities.contracts.evidence import Claim
from activities.messages import N_, _, decimals
from activities.report.formats.text import clean
from activities.text.numbers import Number, figures
from activities.verification.computed import STATISTIC
from activities.verification.expressions import COUNTS, STATISTICS

GROUP_OF_EVENTS, GROUP_OF_MEAN = N_("{0} of {1}"), N_("{0} (SD {1}, n = {2})")


def steps(claims: Iterable[Claim], expressions: set[str]) -> list[str]:
    """Show how figures that no work states follow from quoted ones, each computation with what it gives.

    One that goes on from another begins with its result; one whose numbers all stand in its sentence is
    there to see. `expressions`: the computations that a report shows already, to which these are added.
    """
    claims = [*claims]
    results: dict[str, str] = {}
    rows: list[str] = []
    for claim, line in [(c, clean(row)) for c in claims for row in c.computed]:
        expression, _equals, result = line.rpartition(" = ")
        stated = {value for number in figures(claim.text) for value in number.values}
        is_shown = all(stated & number.values for number in figures(line))
        if is_shown and claim.is_row:  # nor below the rows that go on from it
            expressions.add(expression)
        if is_shown or expression in expressions:
            continue
        expressions.add(expression)
        goes_on = [start for start in results if expression.startswith((f"{start} + ", f"{start} - "))]
        base = max(goes_on, key=len, default="")
        results[expression] = result
        computation = statistic(line) or f"{results.get(base, '')}{expression.removeprefix(base)} = {result}"
        computation = computation.replace(" * ", "*").replace("*", " \u00d7 ").replace(" - ", " \u2212 ")
        values = [number.values for number in figures(result)]
        is_of_row = claim.is_row and all(stated & amounts for amounts in values)
        name = _gives(claim, figures(result), claims) if is_of_row else ""
        rows.append(f"{name}: {computation}" if name else computation)
    return rows


def _gives(claim: Claim, results: Iterable[Number], claims: Sequence[Claim]) -> str:
    """Name what a computation of a row gives, by the row and its column."""
    values = {value for result in results for value in result.values}
    (_head, name), *cells = ((clean(head), clean(field)) for head, field in claim.cells)
    column = next((head for head, field in cells if any(values & f.values for f in figures(field))), "")
    row_group = [row for row in claims if row.is_row and row.cells[0][1] == claim.cells[0][1]]
    apart = (field for head, field in cells if head != column and field)
    second_name = next(apart, "") if len(row_group) > 1 else ""
    return ", ".join(filter(None, (name, second_name, column)))


def statistic(line: str) -> str:
    """Word a statistic of two groups; empty for any other computation."""
    if (match := STATISTIC.fullmatch(line)) is None:
        return ""
    measure = STATISTICS[match["name"]]
    numbers = [decimals(number) for number in match["numbers"].split(", ")]
    size = COUNTS[match["name"]] // 2
    form = _(GROUP_OF_MEAN) if measure == "MD" else _(GROUP_OF_EVENTS)
    groups = [form.format(*numbers[start : start + size]) for start in range(0, len(numbers), size)]
    studies = [
        _("{measure} of {group} against {other}").format(
            measure=_(MEASURE_NAMES[measure]), group=group, other=other
        )
        for group, other in zip(groups[::2], groups[1::2], strict=True)
    ]
    value, low, high = (decimals(match[name]) for name in ("value", "low", "high"))
    text = "; ".join(studies)
    if len(studies) > 1:
        text = _("{studies}, pooled with random effects (Paule-Mandel)").format(studies=text)
    return f"{text} = {value} ({_('{low} to {high}').format(low=low, high=high)})"
