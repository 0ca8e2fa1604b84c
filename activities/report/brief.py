"""The short answer of a report that no model wrote: a few sentences, made by code from verified facts.

Invariants:

- Every sentence names the claims that it rests on; without a claim there is no sentence.
- A finding is quoted, never put into other words, so that it cannot be turned round.
- A direction is given only for works whose wording is certain (`activities.text.verdict`), with the finding.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from activities.candidates.types import Candidate
from activities.report.formats.statements import sentence
from activities.report.schema import Answer, BriefSentence, Reference
from activities.text.concepts import Concepts
from activities.text.drug_findings import Finding
from activities.text.drugs import drug, names_drug
from activities.text.evidence_strength import TYPE_NAMES
from activities.text.study_facts import is_named_design
from activities.text.tokens import terms
from activities.types import Claim, Statement, WorkRow

FINDINGS = 3
"""Works whose finding is quoted, beside one that speaks against them."""
NAMED = 12
"""Answers to a question for a fact or for a list that are named."""
LEAST_SHARE = 0.6
_BY_TITLE = 0.5
_PLAIN = 0.3
"""Weight of a word of the question that names nothing in particular."""
LONGEST_DESIGN = 6
"""Words of a design that are said before its year."""
SHOWN = 6
"""References up to which a sentence on all works prints their numbers."""
_INTERVAL = re.compile(r"\d\s*%?\s*(?:CI|CrI|confidence|credible)", re.IGNORECASE)
_NAMED: tuple[tuple[str, tuple[Finding, ...]], ...] = (
    ("brief_named", ("for", "none")),
    ("brief_named_disputed", ("mixed",)),
    ("brief_named_against", ("against",)),
)
_KINDS = "|".join(map(re.escape, TYPE_NAMES.values()))
_ATTRIBUTED = re.compile(rf"^An? (?:{_KINDS})(?: of \d{{4}})? reports: ")
"""Who says it, where the text of a claim begins so: the sentence says it itself."""
_UNSPECIFIC = frozenset({"article", "document", "web_page"})


def brief(
    question: str,
    claims: Sequence[Claim],
    summary: Sequence[Claim],
    works: Sequence[WorkRow],
    references: Sequence[Reference],
    answers: Sequence[Answer],
    candidates: Sequence[Candidate] = (),
    giving: Sequence[str] = (),
) -> tuple[BriefSentence, ...]:
    """The sentences in their order: what is named in answer, or the candidates where the run has looked for
    them, what was found, which way it points, the
    findings of the best works, the figures, what speaks against them. `summary`: the claims that answer best,
    the best first. `giving`: ids of claims that give what is asked for, in however few of its words."""
    if not claims or not summary:
        return ()
    quoted = {support for candidate in candidates for support in candidate.support}
    direct = {claim.id for claim in _direct(question, summary, references)}
    leading = [c for c in summary if c.id in direct or c.id in giving or quoted.intersection(c.support)]
    made = _Brief(claims, leading, works, references)
    return tuple(
        BriefSentence(statement=statement, text=sentence(statement), claims=ids)
        for statement, ids in (
            *made.put_forward(candidates),
            *made.named(_beside(candidates, answers)),
            *made.overview(),
            *(() if answers else made.direction()),
            *made.findings(),
        )
        if ids
    )


def _direct(question: str, summary: Sequence[Claim], references: Sequence[Reference]) -> Sequence[Claim]:
    """The claims that say at least `LEAST_SHARE` as much of the question as the one that says most, each of
    its words weighted by how surely it names one thing; the others are left to the points. A word that only
    the title of the cited work has counts half."""
    concepts = Concepts(question)
    titles = {reference.evidence_id: reference.title for reference in references}
    own = [claim.text for claim in summary]
    cited = [" ".join(titles.get(s.evidence_id, "") for s in claim.support) for claim in summary]
    spoken = concepts.read([terms(text) for text in (*own, *cited)], (*own, *cited))
    weights = [_PLAIN + word.technical for word in concepts.words]
    said = [
        sum(weights[place] * (1.0 if place in here else _BY_TITLE) for place in here | there)
        for here, there in zip(spoken[: len(own)], spoken[len(own) :], strict=True)
    ]
    return [c for c, share in zip(summary, said, strict=True) if share >= LEAST_SHARE * max(said)]


def _is_in_use(candidate: Candidate) -> bool:
    """Whether a label or a cited work says that a drug is in use for a disease asked about: it is not
    repurposed for it."""
    entries = (entry for field in candidate.fields if field.name == "indications" for entry in field.entries)
    return any(entry.code == "names_disease_asked" for entry in entries)


def _beside(candidates: Sequence[Candidate], answers: Sequence[Answer]) -> Sequence[Answer]:
    """Of the names that are given in answer, those that belong beside candidates: of which works find no
    gain. Beside none, all."""
    if not candidates:
        return answers
    names = {name.casefold() for c in candidates for name in (c.name, c.generic_name)}
    return [
        answer
        for answer in answers
        if answer.finding in ("mixed", "against") and not {answer.text.casefold(), drug(answer.text)} & names
    ]


def _called(name: str) -> str:
    """A generic name without the capital of a sentence's beginning."""
    return name.casefold() if drug(name) == name.casefold() else name


class _Brief:
    def __init__(
        self,
        claims: Sequence[Claim],
        summary: Sequence[Claim],
        works: Sequence[WorkRow],
        references: Sequence[Reference],
    ) -> None:
        self.summary = summary
        self.by_id = {claim.id: claim for claim in claims}
        self.rows = {row.evidence_id: row for row in works}
        self.references = {reference.evidence_id: reference for reference in references}
        self.last = ""
        """The work that the sentence before has described."""
        self.by_work: dict[str, list[str]] = {}
        for claim in claims:
            for support in claim.support:
                self.by_work.setdefault(support.evidence_id, []).append(claim.id)

    def put_forward(self, candidates: Sequence[Candidate]) -> Iterator[tuple[Statement, tuple[str, ...]]]:
        """The candidates, each with the works that speak for it and the grade of its evidence."""
        shown: list[tuple[str, Sequence[str]]] = []
        in_use: list[tuple[str, Sequence[str]]] = []
        for candidate in candidates:
            works = list(dict.fromkeys(s.evidence_id for s in candidate.support))
            called = [name for name in (candidate.name, candidate.generic_name) if name]
            ids = [
                claim
                for work in works
                for claim in self.by_work.get(work, ())
                if any(names_drug(self.by_id[claim].text, name) for name in called)
            ]
            if ids:
                against = ", disputed" if candidate.against else ""
                text = (
                    f"{candidate.name} ({candidate.evidence_quality} evidence{against}) {self._mark(works)}"
                )
                (in_use if _is_in_use(candidate) else shown).append((text, ids))
        for code, named in (("brief_candidates", shown), ("brief_in_use", in_use)):
            if named:
                claims = tuple(dict.fromkeys(name for _, names in named for name in names))
                texts = tuple(text for text, _ in named)
                yield Statement(code=code, values={"names": texts}), claims

    def named(self, answers: Sequence[Answer]) -> Iterator[tuple[Statement, tuple[str, ...]]]:
        """What the quotes name in answer to a question for a fact or for a list."""
        known = [answer for answer in answers[:NAMED] if set(answer.claims) <= self.by_id.keys()]
        for code, findings in _NAMED:
            shown = [
                (f"{_called(a.text)} {self._mark([c for n in a.claims for c in self._cited(n)])}", a.claims)
                for a in known
                if a.finding in findings
            ]
            if shown:
                ids = tuple(dict.fromkeys(name for _, names in shown for name in names))
                yield Statement(code=code, values={"names": tuple(text for text, _ in shown)}), ids

    def overview(self) -> Iterator[tuple[Statement, tuple[str, ...]]]:
        """How many works answer, of which kinds, years and sizes. Nothing for a single work."""
        cited = [r for name, r in self.references.items() if name in self.by_work]
        if len(cited) < 2:
            return
        kinds = Counter(r.evidence_type for r in cited if r.evidence_type not in _UNSPECIFIC)
        years = [r.year for r in cited if r.year]
        sizes = [row.n for r in cited if (row := self.rows.get(r.evidence_id)) is not None and row.n]
        values: dict[str, int | float | str | tuple[str, ...]] = {
            "works": len(cited),
            "studies": len({r.study for r in cited if r.study}) + sum(not r.study for r in cited),
            "kinds": tuple(f"{count} {TYPE_NAMES[kind]}" for kind, count in kinds.most_common()),
        }
        if years:
            values |= {"first": min(years), "last": max(years)}
        if sizes:
            values |= {"least": min(sizes), "most": max(sizes), "sized": len(sizes)}
        if len(cited) <= SHOWN:
            values["mark"] = self._mark([r.evidence_id for r in cited])
        yield (
            Statement(code="brief_works", values=values),
            tuple(dict.fromkeys(self.by_work[r.evidence_id][0] for r in cited)),
        )

    def direction(self) -> Iterator[tuple[Statement, tuple[str, ...]]]:
        """Which works affirm, which deny and which do both, of those whose wording is certain."""
        sides = {way: self._pointing(way) for way in ("affirms", "denies", "mixed")}
        ids = tuple(dict.fromkeys(self.by_work[name][0] for names in sides.values() for name in names))
        if ids:
            values = {way: self._mark(names) for way, names in sides.items() if names}
            yield Statement(code="brief_direction", values={**values, "of": len(self.by_work)}), ids

    def findings(self) -> Iterator[tuple[Statement, tuple[str, ...]]]:
        """The finding of each of the best works, figures with an interval, and a finding to the contrary."""
        sides = {way: self._pointing(way) for way in ("affirms", "denies")}
        most = max(sides, key=lambda way: len(sides[way]))
        disputed = bool(sides["affirms"] and sides["denies"])
        minority = set(sides["denies" if most == "affirms" else "affirms"]) if disputed else set()
        told: dict[str, str] = {}
        self.last = ""
        against = [c for c in self.summary if minority & {s.evidence_id for s in c.support}]
        pointing = [c for c in self.summary if {s.evidence_id for s in c.support} & set(sides[most])]
        for claim in (*pointing, *self.summary):
            work = claim.support[0].evidence_id if claim.support else ""
            if len(told) < FINDINGS and work and work not in told and claim not in against:
                told[work] = self._decisive(work) or claim.id
        figures = next((c for c in self.summary if self._has_interval(c)), None)
        quoted = set(told.values())
        if figures is not None and any(self._has_interval(self.by_id[name]) for name in quoted):
            figures = None
        for work, name in told.items():
            yield self._finding(self.by_id[name], "brief_finding")
            if (other := self._other_side(work, name)) is not None:
                quoted.add(other.id)
                yield self._finding(other, "brief_against")
            if figures is not None and figures.support[0].evidence_id == work:
                quoted.add(figures.id)
                yield self._finding(figures, "brief_figures")
        if figures is not None and figures.id not in quoted:
            quoted.add(figures.id)
            yield self._finding(figures, "brief_figures")
        against += [c for c in self.summary if set(c.contradicts) & quoted]
        if opposite := next((c for c in against if c.id not in quoted), None):
            decisive = self._decisive(opposite.support[0].evidence_id)
            yield self._finding(self.by_id[decisive or opposite.id], "brief_against")

    def _finding(self, claim: Claim, code: str) -> tuple[Statement, tuple[str, ...]]:
        """One claim, quoted, with who says it."""
        support = claim.support[0]
        row = self.rows.get(support.evidence_id)
        reference = self.references.get(support.evidence_id)
        whole = claim.text.rstrip(" .").endswith(support.quote.rstrip(" ."))
        quoted = support.quote if whole else _ATTRIBUTED.sub("", claim.text)
        values: dict[str, int | float | str | tuple[str, ...]] = {
            "quote": quoted,
            "mark": self._mark([s.evidence_id for s in claim.support]),
            "kind": _kind(row, reference),
        }
        if support.evidence_id == self.last:
            values["again"] = 1
            return Statement(code=code, values=values), (claim.id,)
        self.last = support.evidence_id
        if reference is not None and reference.year:
            values["year"] = reference.year
        if row is not None and row.population:
            values["population"] = row.population
        if row is not None and row.n:
            values["n"] = row.n
        return Statement(code=code, values=values), (claim.id,)

    def _decisive(self, work: str) -> str | None:
        """The claim with the sentence that the direction of a work rests on, the first of several."""
        row = self.rows.get(work)
        if row is None or row.direction is None:
            return None
        held = [
            (row.finding.find(support.quote), name)
            for name in self.by_work[work]
            for support in self.by_id[name].support
            if support.evidence_id == work and support.quote in row.finding
        ]
        return min(held)[1] if held else None

    def _other_side(self, work: str, name: str) -> Claim | None:
        """Of a work that affirms and denies, the claim that stands beside the one that is quoted."""
        row = self.rows.get(work)
        if row is None or row.direction != "mixed":
            return None
        claims = (self.by_id[other] for other in self.by_work[work] if other != name)
        return next((c for c in claims if any(s.quote in row.finding for s in c.support)), None)

    def _has_interval(self, claim: Claim) -> bool:
        rows: Mapping[str, WorkRow] = self.rows
        return any(
            _INTERVAL.search(number) and number in support.quote
            for support in claim.support
            if support.evidence_id in rows
            for number in rows[support.evidence_id].numbers
        )

    def _pointing(self, way: str) -> list[str]:
        return [name for name, row in self.rows.items() if row.direction == way and name in self.by_work]

    def _cited(self, name: str) -> list[str]:
        return [support.evidence_id for support in self.by_id[name].support]

    def _mark(self, names: Sequence[str]) -> str:
        numbers = sorted({self.references[name].number for name in names if name in self.references})
        return f"[{', '.join(map(str, numbers))}]" if numbers else ""


def _kind(row: WorkRow | None, reference: Reference | None) -> str:
    """The design as the work names it, else its type; empty where neither says anything."""
    own = row.design.split(",")[0] if row is not None else ""
    if is_named_design(own) and len(own.split()) <= LONGEST_DESIGN:
        return own
    if reference is None or reference.evidence_type in _UNSPECIFIC:
        return ""
    return TYPE_NAMES[reference.evidence_type]
