"""Untrusted text made safe to print, and the words and links a reference is shown with.

Titles, quotes and claims come from the internet or from a model: nothing in them may become a link, an
image, a heading or markup of the report.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from urllib.parse import quote, urlsplit

from activities.report.schema import Reference
from activities.types import EvidenceType, Identifiers, Standing, StopReason, Support

_INVISIBLE = ("Cc", "Cf", "Cs", "Co", "Cn")
_EVERYWHERE = re.compile(
    r"([\\`*\[\]|$])|(?<![^\W_])(_)|(_)(?![^\W_])|(~)(?=~)|(<)(?=[A-Za-z/!?])|(&)(?=#?\w+;)"
)
_AUTOLINK = re.compile(r"(?<=\w)(:)(?=//)|(?<=\bwww)(\.)", re.IGNORECASE)
_BLOCK_START = re.compile(r"^(\d{1,9})([.)])(?=\s|$)|^()([#>+=~-])")

STOPPED: Mapping[StopReason, str] = {
    "sufficient_evidence": "the evidence was judged sufficient",
    "token_budget_exceeded": "the token budget was used up before the evidence was judged sufficient",
    "cost_budget_exceeded": "the cost budget was used up before the evidence was judged sufficient",
    "max_iterations_reached": "the limit of iterations was reached before the evidence was judged sufficient",
    "timeout": "the time limit was reached before the evidence was judged sufficient",
    "no_new_evidence": "further searches brought nothing new although the evidence was not judged sufficient",
    "judge_unavailable": "no model could be reached to judge the evidence, so its sufficiency is not known",
    "all_sources_failed": "every source failed, so the literature was not searched as asked",
    "finished_by_reviewer": "a reviewer ended the search before the evidence was judged sufficient",
    "rejected_by_reviewer": "a reviewer rejected the plan, the candidates or the report",
    "cancelled": "the run was cancelled before it was finished",
}
EVIDENCE_TYPES: Mapping[EvidenceType, str] = {
    "meta_analysis": "meta-analysis",
    "systematic_review": "systematic review",
    "randomized_trial": "randomized trial",
    "clinical_trial": "clinical trial",
    "observational": "observational study",
    "case_report": "case report",
    "review": "review",
    "guideline": "guideline",
    "preclinical": "preclinical study",
    "article": "article",
    "preprint": "preprint, not peer reviewed",
    "trial_registration": "trial registration",
    "drug_label": "drug label",
    "regulatory": "regulatory document",
    "adverse_events": "adverse event reports",
    "web_page": "web page",
    "document": "document",
}
STANDINGS: Mapping[Standing, str] = {
    "none": "",
    "retracted": "RETRACTED",
    "concern": "EXPRESSION OF CONCERN",
    "corrected": "corrected",
    "unknown": "standing not checked",
}
_RESOLVERS = {
    "pmid": ("PMID", "https://pubmed.ncbi.nlm.nih.gov/{}/"),
    "pmcid": ("PMCID", "https://pmc.ncbi.nlm.nih.gov/articles/{}/"),
    "doi": ("DOI", "https://doi.org/{}"),
    "nct": ("NCT", "https://clinicaltrials.gov/study/{}"),
    "arxiv": ("arXiv", "https://arxiv.org/abs/{}"),
    "openalex": ("OpenAlex", "https://openalex.org/{}"),
    "s2": ("Semantic Scholar", "https://www.semanticscholar.org/paper/{}"),
}


def clean(text: str) -> str:
    """One line without control, formatting (zero-width, right-to-left override) or unassigned characters."""
    spaced = "".join(" " if c in "\n\r\t\v\f\x85" else c for c in text)
    kept = "".join(c for c in spaced if unicodedata.category(c) not in _INVISIBLE)
    return " ".join(kept.split())


def escape_markdown(text: str) -> str:
    """The text as one line of CommonMark (GitHub's dialect included) that shows it literally and does
    nothing else."""
    line = _EVERYWHERE.sub(lambda m: "\\" + m.group(), clean(text))
    line = _AUTOLINK.sub(lambda m: "\\" + m.group(), line)
    return _BLOCK_START.sub(lambda m: f"{m[1] or ''}\\{m[2] or m[4]}", line)


def safe_url(url: str | None) -> str | None:
    """The address when it is plain http or https, with everything that could end a link encoded."""
    if not url or any(c.isspace() or unicodedata.category(c) in _INVISIBLE for c in url):
        return None
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    if parts.scheme.lower() not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
        return None
    return quote(url, safe=":/?#@!$&*+,;=%-._~[]").replace("[", "%5B").replace("]", "%5D")


def identifier_links(identifiers: Identifiers) -> list[tuple[str, str, str | None]]:
    """Label, value and address of each identifier, the best first; a plain address is left to the caller."""
    links: list[tuple[str, str, str | None]] = []
    for name, value in identifiers.items_in_order():
        if name in _RESOLVERS:
            label, pattern = _RESOLVERS[name]
            links.append((label, value, pattern.format(quote(value, safe="/:;.-_"))))
        elif name == "fda":
            links.append(("FDA", value, None))
    return links


def best_url(reference: Reference) -> str | None:
    """Where a reader goes first: the source's own page, else the first identifier that resolves."""
    own = safe_url(reference.url) or safe_url(reference.identifiers.url)
    return own or next((url for _, _, url in identifier_links(reference.identifiers) if url), None)


def authors_line(authors: Iterable[str], most: int = 6) -> str:
    """`A, B, C, et al.` from at most `most` names."""
    names = [clean(name) for name in authors if clean(name)]
    return ", ".join(names[:most]) + (", et al." if len(names) > most else "")


def ended(text: str) -> str:
    """The text with a full stop, unless it ends a sentence already."""
    return text if not text or text.endswith((".", "?", "!")) else f"{text}."


def badges(reference: Reference) -> list[str]:
    """What a reader should know before believing a reference."""
    words = [EVIDENCE_TYPES[reference.evidence_type]]
    if STANDINGS[reference.standing]:
        words.append(STANDINGS[reference.standing])
    words.append("full text read" if reference.full_text else "abstract or summary only")
    return words


def numbers_of(supports: Iterable[Support], numbers: Mapping[str, int]) -> list[int]:
    """The reference numbers behind quotes, in order, each once."""
    return sorted({numbers[s.evidence_id] for s in supports if s.evidence_id in numbers})


def citation(supports: Iterable[Support], numbers: Mapping[str, int]) -> str:
    """`[1]` or `[1, 3]`; empty when nothing is cited."""
    found = numbers_of(supports, numbers)
    return f"[{', '.join(map(str, found))}]" if found else ""


def cited(text: str, mark: str) -> str:
    """A sentence with its citation before the full stop."""
    if not mark:
        return text
    stem = text.rstrip()
    end = stem[-1:] if stem[-1:] in ".!?" and not stem.endswith("..") else ""
    return f"{stem.removesuffix(end) if end else stem} {mark}{end or '.'}"
