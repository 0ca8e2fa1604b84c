"""Effects as abstracts print them: ratios and differences with their intervals, correlations, values of two
groups with a p value."""

import re
from collections.abc import Iterable, Sequence

_NUMBER = (
    r"[-\u2212\u2013+<>]?\s?(?:\d+(?:,\d{3})*(?:[./\u00b7]\s?\d+)?|[.\u00b7]\d+)\s?(?:%|percent\b|\u00b0)?"
)
_BARE = r"[-\u2212\u2013]?(?:\d+(?:[./\u00b7]\d+)?|[.\u00b7]\d+)\s?(?:%|\u00b0)?"
_RANGE = rf"{_BARE}\s*(?:to|-|\u2013|\u2014|\u2212|,|;)\s*{_BARE}"
_INTERVAL = (
    rf"\d{{2}}(?:\.\d)?\s?%?\s?-?(?:CI|CrI|confidence intervals?|credible intervals?|confidence limits?)?\b"
    rf"(?:\s*[(\[](?:CI|CrI)[)\]])?[\s:,=(\[]*{_RANGE}"
)
_SURE_INTERVAL = (
    rf"\d{{2}}(?:\.\d)?\s?(?:%|per ?cent)\s?-?(?:CI|CrI|confidence intervals?|credible intervals?"
    rf"|confidence limits?)\b"
    rf"(?:\s*[(\[](?:\d\d\s?%\s?)?(?:CI|CrI)[)\]])?[\s:,=(\[]*{_RANGE}"
)
_MEASURE = (
    r"(?:(?:adjusted |pooled |crude |unadjusted |multivariable |standardi[sz]ed |weighted |cumulative "
    r"|age-adjusted )*"
    r"(?:odds ratios?|hazards? ratios?|relative risks?|risk ratios?|rate ratios?|incidence rate ratios?|risk "
    r"differences?|mean differences?|prevalence ratios?|proportion ratios?|likelihood ratios?|sensitivity"
    r"|specificity"
    r"|area under the (?:\w+ ){0,4}curve|standardi[sz]ed mortality ratios?|standardi[sz]ed incidence ratios?)"
    r"|\b(?:a?OR|MH-OR|a?HR|a?RR|PR|s?IRR|SHR|SMD|WMD|MD|RD|AUC|AUROC|SMR|SIR|NNT|ICER|ICUR)\b)"
)
_OF = r"(?:\s*[(\[][A-Z]{2,4}[)\]])?[\s,:=(\[]*(?:of|was|were|is)?[\s,:=(\[]*"
_P = (
    r"\b[pP](?:[- ]?values?)?(?: for trend)?\s*(?:[=<>\u2264\u2265:]|was|of)+\s*(?:0?\s?[.\u00b7]\s?\d+"
    r"|NS\b|n\.s\.|ns\b)"
)
_MAYBE_P = rf"(?:\s*[,;(\[]*\s*{_P}[)\]]*)?"
_DIFFERENCE = r"\b(?:(?:absolute|adjusted|between-group|estimated|mean|treatment) )*differences?"
_NAMED = re.compile(
    rf"(?:{_MEASURE}|{_DIFFERENCE}){_OF}{_NUMBER}(?:\s?[a-z]+)?[\s,;:(\[]*(?:with\s)?(?:a\s)?(?:{_SURE_INTERVAL}|{_RANGE}(?=[)\]])"
    rf"|{_INTERVAL})[)\]]?{_MAYBE_P}"
)
_ESTIMATE = re.compile(
    rf"(?<![\w.,])(?<!\d[-\u2212\u2013])(?<!\+/)(?<!\u00b1)(?<!\u00b1\s){_NUMBER}"
    rf"\s*[\w\u00b0/ ]{{0,30}}[(\[;,]\s*{_SURE_INTERVAL}"
    rf"\s*[)\]]?{_MAYBE_P}"
)
_LISTED = re.compile(rf"(?<![\w.,/<>=\u2264\u2265])(?<!\d[-\u2212\u2013]){_BARE}\s*[(\[]{_RANGE}[)\]]")
"""`1.26 (1.15-1.38)` after the first of a list has said what its interval is."""
_SAYS_INTERVAL = re.compile(r"\b\d\d\s?%?\s?-?(?:CI|CrI|confidence intervals?|confidence limits?)\b")
_CORRELATION = re.compile(
    rf"(?<![\w.])(?:[rR]2?|r\(?s\)?|rho|\u03c1|\u03b2|beta|kappa|\u03ba)\s*=\s*{_NUMBER}{_MAYBE_P}"
)
_NAMED_ALONE = re.compile(rf"{_MEASURE}{_OF}{_NUMBER}(?!\s*(?:year|month|week|day|time)){_MAYBE_P}")
_VALUE = rf"{_NUMBER}(?:\s?(?:\u00b1|\+/-|\+-)\s?{_BARE})?"
_WORD = r"[A-Za-z/\u00b5\u00b0][\w/.\u00b0]*"
_UNIT = rf"(?:\s?{_WORD}(?:\s{_WORD}){{0,3}})?"
_BRACKET = r"(?:\s*[(\[](?![pP]\s*[<=>])[^()\[\]]{1,40}[)\]])?"
_GROUPS = (
    rf"(?<![\w.,/<>=\u2264\u2265]){_VALUE}{_UNIT}{_BRACKET}\s*,?\s*(?:versus|vs\.?|v|compared (?:with|to)"
    rf"|as compared (?:with|to))\s+(?:[A-Za-z-]+\s+){{0,6}}?{_VALUE}"
)
_COMPARED_P = re.compile(rf"{_GROUPS}[^.;()\[\]]{{0,80}}[,;(\[]\s*{_P}[)\]]?")
_AND_P = re.compile(
    rf"(?:\bfrom\s+{_VALUE}{_UNIT}{_BRACKET}[^.;()\[\]]{{0,30}}\sto\s"
    rf"|(?<![\w.,/]){_VALUE}{_UNIT}{_BRACKET}[^.;()\[\]]{{0,50}}"
    rf"\s(?:and|than)\s)(?:[A-Za-z-]+\s+){{0,6}}?{_VALUE}{_BRACKET}[^.;()\[\]]{{0,60}}"
    rf"[,;(\[]\s*{_P}[)\]]?"
)
_COMPARED = re.compile(rf"{_GROUPS}(?:\s?(?:%|percent|[a-z]{{1,6}}\b))?")
_ONLY_P = re.compile(rf"[(\[]?{_P}[)\]]?")
_LABEL_BEFORE = re.compile(
    r"\b(?:part|phase|grade|stage|type|level|class|step|day|week|month|year|version|item|section|aged?|than|over"
    r"|under|least|most)\s$",
    re.IGNORECASE,
)
"""What stands before a number that is a name or a bound and no result: `part 3`, `older than 30 years`."""
_AGE = re.compile(r"\d+\s?years?\s(?:of age|old)\b", re.IGNORECASE)
_LONGEST_ASIDE = 60
"""Characters up to the bracket that closes one which an effect opens."""
_NEEDED = {
    _COMPARED_P: re.compile(_P),
    _AND_P: re.compile(_P),
    _LISTED: _SAYS_INTERVAL,
    _COMPARED: re.compile(r"\d.*(?:v|compared)", re.DOTALL),
}
"""What must stand in a text that has a form: forms with many optional parts are slow where there is none."""
_FORMS = (_NAMED, _ESTIMATE, _LISTED, _COMPARED_P, _CORRELATION, _NAMED_ALONE, _AND_P, _COMPARED, _ONLY_P)
"""From what says most to what says least."""


def effects_in(texts: Sequence[str], most: int) -> list[tuple[str, str]]:
    """At most so many effects, each with the text it stands in. A p value alone only where there is nothing
    else."""
    found: list[tuple[str, str]] = []
    taken: dict[int, list[tuple[int, int]]] = {}
    for form in _FORMS:
        if form is _ONLY_P and found:
            break
        for place, start, end in _spans(form, texts):
            spans = taken.setdefault(place, [])
            if any(start < after and first < end for first, after in spans):
                continue
            first = end - len(texts[place][start:end].lstrip())
            number = texts[place][first].isdigit()
            if _outside(texts[place][start:end]):
                continue
            if number and (_LABEL_BEFORE.search(texts[place][:first]) or _AGE.match(texts[place], first)):
                continue
            text = _trimmed(texts[place], start, end)
            if len(found) < most and text not in (known for known, _ in found):
                spans.append((start, end))
                found.append((text, texts[place]))
    return found


_BOUNDS = re.compile(
    r"[\s:,=(\[]*(?P<low>\d+(?:\.\d+)?)\s?%?\s?(?:to|-|\u2013|\u2014|,|;)\s?(?P<high>\d+(?:\.\d+)?)(?![\d.])"
)
_IN_BRACKETS = re.compile(
    r"^[\d.]+\s?%?\s*[(\[](?P<low>\d+(?:\.\d+)?)\s?%?\s?(?:to|-|\u2013|\u2014)\s?(?P<high>\d+(?:\.\d+)?)\s?%?[)\]]$"
)
_FIRST_NUMBER = re.compile(r"(?<![\d.A-Za-z])\d+(?:\.\d+)?")


def _outside(text: str) -> bool:
    """Whether an estimate lies outside its own interval: another number was read as the estimate (`a score
    of at least 7 (95% CI 1.05-4.32)`). Undecided, and so False, where the numbers are signed."""
    plain = text.replace("\u00b7", ".")
    said = _SAYS_INTERVAL.search(plain)
    bounds = _BOUNDS.match(plain, said.end()) if said else _IN_BRACKETS.search(plain)
    if bounds is None or re.search(r"[\u2212+<>]|(?<![\d%])\s?-", plain[: bounds.end()]):
        return False
    first = _FIRST_NUMBER.search(plain)
    low, high = float(bounds["low"]), float(bounds["high"])
    return first is not None and low <= high and not low <= float(first.group()) <= high


def _spans(form: re.Pattern[str], texts: Iterable[str]) -> list[tuple[int, int, int]]:
    needed = _NEEDED.get(form)
    return [
        (place, m.start(), m.end())
        for place, text in enumerate(texts)
        if needed is None or needed.search(text)
        for m in form.finditer(text)
    ]


def _trimmed(text: str, start: int, end: int) -> str:
    """The run without stray brackets and stops at its ends, and with the bracket that it leaves open."""
    run = re.sub(r"\s(?:in|of|for|the|to|at|on|by|and|were|was)$", "", text[start:end].strip(" ,;:"))
    for opening, closing in ("()", "[]"):
        if run.count(opening) > run.count(closing):
            more = run + closing
            rest = text[end : end + _LONGEST_ASIDE].partition(closing)
            if more in text:
                run = more
            elif run.startswith(opening):
                run = run.lstrip(opening)
            elif rest[1] and opening not in rest[0] and run.endswith(text[:end].rstrip(" ,;:")[-8:]):
                run += text[:end][len(text[:end].rstrip(" ,;:")) :] + rest[0] + closing
        elif run.count(closing) > run.count(opening) and run.endswith(closing):
            run = run[: -len(closing)]
    return run
