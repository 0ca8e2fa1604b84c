"""What names a work: canonical identifiers, and the fingerprint of title and year.

Order of trust: PMID > PMCID > DOI > NCT id > arXiv > others > normalised URL. The DOI pattern follows
Crossref's recommendation (https://www.crossref.org/blog/dois-and-matching-regular-expressions/).
Brackets end a DOI in running text unless it is made of a SICI (ANSI/NISO Z39.56): cut there, it would name a
whole issue.
"""

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from activities.contracts.evidence import Identifiers

_DOI = re.compile(
    r"10\.\d{4,9}/[^\s\"<>]+"
    r"(?:<(?=\w*\d)\w++:[^\s\"<>]*>\d[^\s\"<>]*)?",  # a SICI's <first page:title code>
    re.IGNORECASE,
)
_BRACKETS = {"&lt;": "<", "%3c": "<", "&gt;": ">", "%3e": ">"}
_BRACKET = re.compile("|".join(_BRACKETS), re.IGNORECASE)
_NCT = re.compile(r"NCT\d{8}", re.IGNORECASE)
_RECORD = re.compile(
    rf"{_DOI.pattern}|{_NCT.pattern}|\bPMID:?\s*\d+|\b(?:https?://|www\.)\S+|(?<![\w.+-])[\w.+-]++@[\w.-]+",
    re.IGNORECASE,
)
_PREPRINT_DOI = re.compile(
    r"10\.(?:1101|64898)/(?:\d{4}\.\d\d\.\d\d\.)?\d{6,}"  # not Cold Spring Harbor's journals
    r"|10\.(?:48550/arxiv\.|21203/rs\.|20944/preprints|26434/chemrxiv|2139/ssrn|22541/au\.|36227/techrxiv"
    r"|312(?:19|22|23|34|35)/|7287/peerj\.preprints|32388/)"
)
"""DOIs that preprint servers give: bioRxiv and medRxiv, arXiv, Research Square, Preprints.org, ChemRxiv,
SSRN, Authorea, TechRxiv, those of OSF, PeerJ Preprints, Qeios."""
_ARXIV_VERSION = re.compile(r"v\d+$")
MAX_FIGURE_BITS = 128
"""Of 256: some fifty different numbers."""
ALL_FIGURES = "all"
_TRACKING = re.compile(r"^(utm_\w+|fbclid|gclid|mc_[ce]id|ref|ref_src)$")


def normal_doi(value: str | None) -> str | None:
    """`https://doi.org/10.1000/ABC.` -> `10.1000/abc`, also where HTML or a URL escaped its brackets.

    None when there is no DOI in the value.
    """
    match = _DOI.search(_BRACKET.sub(lambda sign: _BRACKETS[sign.group().lower()], value or ""))
    if match is None:
        return None
    doi = match.group().lower()
    while doi[-1] in ".,;/" or (doi[-1] == ")" and doi.count(")") > doi.count("(")):
        doi = doi[:-1]
    return doi if "/" in doi else None


def is_preprint_doi(doi: str | None) -> bool:
    """Whether a DOI, as `normal_doi` writes it, is of a preprint server."""
    return bool(doi and _PREPRINT_DOI.match(doi))


def normal_pmid(value: str | int | None) -> str | None:
    """Digits without leading zeros; None for anything else."""
    text = str(value or "").strip()
    return text.lstrip("0") or None if text.isdigit() else None


def normal_pmcid(value: str | None) -> str | None:
    """`6329583`, `PMC6329583` and `PMC6329583.1` -> `PMC6329583`."""
    match = re.fullmatch(r"(?:PMC)?(\d+)(?:\.\d+)?", (value or "").strip(), re.IGNORECASE)
    return f"PMC{match.group(1)}" if match else None


def normal_nct(value: str | None) -> str | None:
    """Return the registry number in the value, upper case."""
    match = _NCT.search(value or "")
    return match.group().upper() if match else None


def records_in(text: str) -> list[str]:
    """Return the DOIs, registry numbers, PMIDs and addresses of web and mail that a text names."""
    return [match.group().rstrip(".,;)") for match in _RECORD.finditer(text)]


def normal_arxiv(value: str | None) -> str | None:
    """`http://arxiv.org/abs/1707.08567v2` and `arXiv:1707.08567` -> `1707.08567`."""
    text = re.sub(
        r"^(https?://)?(www\.)?(export\.)?arxiv\.org/(abs|pdf)/|^arxiv:",
        "",
        (value or "").strip(),
        flags=re.IGNORECASE,
    )
    return _ARXIV_VERSION.sub("", text.removesuffix(".pdf")) or None


def normal_url(value: str | None) -> str | None:
    """Lower-case host without `www.`, no fragment, no tracking parameters, sorted query, no last slash.

    None for what is no address of the web (`http://[::1`).
    """
    try:
        parts = urlsplit((value or "").strip())
        number = parts.port
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return None
    port = f":{number}" if number and number not in (80, 443) else ""
    query = urlencode(sorted((k, v) for k, v in parse_qsl(parts.query) if not _TRACKING.match(k)))
    return urlunsplit(
        ("https", parts.hostname.removeprefix("www.") + port, parts.path.rstrip("/"), query, "")
    )


def evidence_id(identifiers: Identifiers, content: str) -> str:
    """Return the name of an item.

    Its best identifier (`pmid:22663011`), else `doc:` and a digest of its content.
    """
    for name, value in identifiers.items_in_order():
        if name == "url":
            return f"url:{_digest(value)}"
        return f"{name}:{value}"
    return f"doc:{_digest(content)}"


def fingerprint(title: str, year: int | None) -> str:
    """Digest of title and year that survives case, accents and punctuation.

    Empty for titles too short to distinguish works (under four words).
    """
    letters = unicodedata.normalize("NFKD", title).casefold()
    words = re.findall(r"[^\W_]+", "".join(c for c in letters if not unicodedata.combining(c)))
    return _digest(" ".join(words) + f"|{year or ''}") if len(words) >= 4 else ""


def first_author(authors: Sequence[str]) -> str:
    """Return the names of the first author, without initials, case and accents.

    `lovelace` for `Lovelace A`, `ada lovelace` for `Lovelace, Ada`.
    """
    letters = unicodedata.normalize("NFKD", authors[0] if authors else "").casefold()
    words = re.findall(r"[^\W\d_]+", "".join(c for c in letters if not unicodedata.combining(c)))
    return " ".join(sorted(word for word in words if len(word) > 1 or word > "\u2e7f"))[:60]


def figures(text: str) -> str:
    """Return a digest of the numbers in a text by which another can be said to have no others (`may_hold`).

    `0` where there are none, `ALL_FIGURES` where there are too many to be told apart.
    """
    bits = 0
    for number in set(re.findall(r"\d+", re.sub(r"(?<=\d)[, \u202f](?=\d{3}(?!\d))", "", text))):
        digest = hashlib.sha256(number.lstrip("0").encode()).digest()
        bits |= 1 << digest[0] | 1 << digest[1]
    return f"{bits:x}" if bits.bit_count() <= MAX_FIGURE_BITS else ALL_FIGURES


def differ(first: tuple[str, str], other: tuple[str, str]) -> bool:
    """Whether two works under one DOI are two, as abstracts in a supplement are, by title and first author.

    Another title may be the same in another language, and another author that of a group: both differ.
    """
    (title, author), (other_title, other_author) = first, other
    comparable = title and other_title and author and other_author
    return bool(comparable) and title != other_title and not set(author.split()) & set(other_author.split())


def may_hold(first: str, other: str) -> bool:
    """Whether of two texts one may have all the numbers of the other."""
    if ALL_FIGURES in (first, other):
        return first == other
    ours, theirs = int(first or "0", 16), int(other or "0", 16)
    return ours & theirs in (ours, theirs)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
