"""The citations of a report in Markdown held against its list of references."""

import re

_CITATION = re.compile(r"(?<!\\)\[(\d+(?:, \d+)*)\](?!\()")
_ENTRY = re.compile(r"^(\d+)\. ", re.MULTILINE)


def citation_faults(markdown: str) -> list[str]:
    """Name references that are never cited, citations without a reference, and gaps in the numbering."""
    body, _, rest = markdown.partition("\n## References\n")
    entries, marker, after = rest.partition("\n## ")
    listed = [int(number) for number in _ENTRY.findall(entries)]
    marks = _CITATION.findall(body + marker + after)
    cited = {int(number) for mark in marks for number in mark.split(", ")}
    faults = [f"reference {number} is never cited" for number in listed if number not in cited]
    faults += [f"[{number}] has no reference" for number in sorted(cited.difference(listed))]
    if listed != list(range(1, len(listed) + 1)):
        faults.append(f"the references are numbered {listed}")
    return faults
