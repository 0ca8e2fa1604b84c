"""Merging evidence: one work once, and nothing lost."""

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from activities.contracts.evidence import EvidenceRef, EvidenceType, Identifiers, Standing
from activities.contracts.identifiers import figures, fingerprint, first_author
from workflows.rules.dedup import MAX_QUERIES, merge, repeated_documents


def ref(name: str, **fields: object) -> EvidenceRef:
    values: dict[str, object] = {"blob": f"blobs/{name}", "source": "pubmed", "title": name, **fields}
    return EvidenceRef.model_validate({"evidence_id": name, **values})


def title(text: str, year: int | None = 2020) -> str:
    return fingerprint(text, year)


ASPIRIN = title("Aspirin for the prevention of dementia")


def test_a_file_that_each_search_of_its_folder_returns_is_no_duplicate_of_itself() -> None:
    corpus = [ref("file:1", source="library"), ref("pmid:1")]
    assert repeated_documents(corpus, ["file:1", "pmid:1", "file:2"]) == 1


def test_a_chain_of_shared_identifiers_is_one_work() -> None:
    one = ref("pmid:1", identifiers=Identifiers(pmid="1"))
    bridge = ref("doi:10.1/a", identifiers=Identifiers(doi="10.1/a", pmid="1"))
    far = ref("openalex:W1", identifiers=Identifiers(doi="10.1/a", openalex="W1"))
    for order in ([one, bridge, far], [far, one, bridge], [bridge, far, one]):
        merged = merge([], order, "s1")
        assert len(merged.refs) == 1
        assert merged.refs[0].identifiers == Identifiers(pmid="1", doi="10.1/a", openalex="W1")
        assert merged.duplicates == 2


def test_every_kind_of_identifier_is_enough() -> None:
    for kind in ("pmid", "pmcid", "doi", "arxiv", "openalex", "s2", "url"):
        ids = Identifiers(**{kind: "same"})
        assert len(merge([ref("a", identifiers=ids)], [ref("b", identifiers=ids)], "").refs) == 1, kind


def test_title_and_year_find_what_identifiers_do_not() -> None:
    earlier = [ref("a", fingerprint=ASPIRIN)]
    assert len(merge(earlier, [ref("b", fingerprint=ASPIRIN)], "").refs) == 1
    other_year = title("Aspirin for the prevention of dementia", 2021)
    assert len(merge(earlier, [ref("b", fingerprint=other_year)], "").refs) == 2
    assert len(merge([ref("a")], [ref("b")], "").refs) == 2, "no fingerprint is no match"


def test_two_papers_of_one_title_with_different_pmids_stay_two() -> None:
    one = ref("pmid:1", identifiers=Identifiers(pmid="1"), fingerprint=ASPIRIN)
    two = ref("pmid:2", identifiers=Identifiers(pmid="2"), fingerprint=ASPIRIN)
    nameless = ref("doc:x", fingerprint=ASPIRIN)
    assert len(merge([one], [two], "").refs) == 2
    assert len(merge([], [one, two], "").refs) == 2
    kept = {r.evidence_id: r for r in merge([], [nameless, two, one], "").refs}
    assert len(kept) == 2
    assert kept == {r.evidence_id: r for r in merge([], [one, nameless, two], "").refs}


NOISE = title("Wamvoxil in the treatment of chronic noise in old halls")


def paper(name: str, **fields: object) -> EvidenceRef:
    return ref(name, fingerprint=NOISE, **fields)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            {"identifiers": Identifiers(doi="10.5555/wam.1")},
            {"identifiers": Identifiers(doi="10.5555/wam.2")},
        ),
        ({"identifiers": Identifiers(pmcid="PMC1")}, {"identifiers": Identifiers(pmcid="PMC2")}),
        ({"first_author": first_author(["Ott, Ann"])}, {"first_author": first_author(["Zoe Zed"])}),
        ({"figures": figures("cut by 9 percent")}, {"figures": figures("cut by 25 percent in 12 halls")}),
        ({"evidence_type": "preprint"}, {"identifiers": Identifiers(pmid="93000001")}),
        (
            {"identifiers": Identifiers(doi="10.1101/2020.01.01.999999")},
            {"identifiers": Identifiers(pmid="9")},
        ),
        ({"identifiers": Identifiers(arxiv="2001.00001")}, {"identifiers": Identifiers(doi="10.5555/wam.1")}),
    ],
)
def test_works_of_one_title_that_differ_in_anything_stay_two(
    one: dict[str, object], other: dict[str, object]
) -> None:
    for first, second in ((one, other), (other, one)):
        assert len(merge([], [paper("a", **first), paper("b", **second)], "").refs) == 2
        assert len(merge([paper("a", **first)], [paper("b", **second)], "").refs) == 2


def test_records_of_one_work_under_its_title_are_one() -> None:
    pubmed = {
        "identifiers": Identifiers(pmid="1"),
        "first_author": first_author(["Ott A"]),
        "figures": figures("Noise fell by 9 percent in 1,240 halls, from 60 dB."),
    }
    crossref = {
        "identifiers": Identifiers(doi="10.5555/wam.1"),
        "first_author": first_author(["Ott, Ann"]),
        "figures": figures("RESULTS: Noise fell by 9 percent in 1240 halls."),
    }
    for first, second in ((pubmed, crossref), (crossref, pubmed)):
        (merged,) = merge([], [paper("a", **first), paper("b", **second)], "").refs
        assert merged.identifiers == Identifiers(pmid="1", doi="10.5555/wam.1")


def test_a_preprint_keeps_its_text_beside_the_article_that_its_record_names() -> None:
    preprint = paper(
        "arxiv:2001.1", identifiers=Identifiers(arxiv="2001.1"), chars=900, evidence_type="preprint"
    )
    article = paper("pmid:1", identifiers=Identifiers(pmid="1", doi="10.5555/wam.1"), chars=500)
    both = paper("doi:10.5555/wam.1", identifiers=Identifiers(doi="10.5555/wam.1", arxiv="2001.1"), chars=700)
    for batch in permutations((preprint, article, both)):
        merged = {item.evidence_id: item for item in merge([], batch, "").refs}
        assert merged["arxiv:2001.1"].identifiers == Identifiers(arxiv="2001.1")
        assert len(merged) == 2


def test_an_identifier_in_common_joins_nothing_that_another_one_parts() -> None:
    first = ref("pmid:1", identifiers=Identifiers(pmid="1", doi="10.1/supplement"))
    second = ref("pmid:2", identifiers=Identifiers(pmid="2", doi="10.1/supplement"))
    assert len(merge([], [first, second], "").refs) == 2
    assert len(merge([first], [second], "").refs) == 2
    third = ref("doi:10.1/supplement", identifiers=Identifiers(doi="10.1/supplement"))
    assert len(merge([], [third, second, first], "").refs) == 2


def abstract(title: str, author: str, source: str = "crossref", **fields: object) -> EvidenceRef:
    """An abstract of a conference as a source has it that knows the DOI of the supplement alone."""
    doi = "10.1183/13993003.congress-2021"
    values: dict[str, object] = {
        "blob": f"blobs/{source} {title}",
        "title": title,
        "fingerprint": fingerprint(title, 2021),
        "first_author": first_author([author]),
        "identifiers": Identifiers(doi=doi),
        **fields,
    }
    return ref(f"doi:{doi}", **values)


FARMERS, MINERS = "Pirfenidone in lung fibrosis of farmers", "Nintedanib in lung fibrosis of miners"


def test_abstracts_under_the_doi_of_their_supplement_are_works_of_their_own() -> None:
    farmers, miners = abstract(FARMERS, "Ito, K."), abstract(MINERS, "Lund, A.", chars=900)
    again = abstract(MINERS, "Anna Lund", "europepmc", chars=1000)
    mine = ref(
        "doc:1", fingerprint=fingerprint(MINERS, 2021), first_author="lund", source="library", title=MINERS
    )
    for batch in permutations((farmers, miners, again, mine)):
        merged = merge([], batch, "")
        assert {item.title: item.blob for item in merged.refs} == {FARMERS: farmers.blob, MINERS: again.blob}
        assert [item.blob for item in merged.batch] == [item.blob for item in batch]
        assert {item.evidence_id for item in merged.batch} == set(merged.kept_as)
    earlier = merge([], [miners], "").refs
    both = merge(earlier, [again, farmers], "")
    assert both.refs[0].evidence_id == miners.evidence_id
    assert [item.title for item in both.refs] == [MINERS, FARMERS]
    assert merge(both.refs, [farmers, miners, again], "").refs == both.refs


@pytest.mark.parametrize(
    "other",
    [
        abstract("Pirfenidon bei Lungenfibrose von Landwirten", "Ito K", "openalex"),
        abstract(FARMERS, "ILD Study Group", "openalex"),
        abstract("Pirfenidone for farmers", "Lund", "openalex"),
        abstract(MINERS, "Lund, A.", identifiers=Identifiers(doi="10.1183/13993003.congress-2021", pmid="1")),
    ],
    ids=["another language", "a group", "a short title", "a PMID in common"],
)
def test_a_doi_joins_records_where_not_both_title_and_author_differ(other: EvidenceRef) -> None:
    pmid = other.identifiers.pmid
    ids = Identifiers(doi=other.identifiers.doi, pmid=pmid)
    assert len(merge([], [abstract(FARMERS, "Ito, K.", identifiers=ids), other], "").refs) == 1


def test_a_copy_without_identifiers_has_the_standing_of_the_work_that_it_repeats() -> None:
    work = paper(
        "pmid:1", identifiers=Identifiers(pmid="1"), standing="retracted", figures=figures("9 of 40")
    )
    copy = paper("doc:1", figures=figures("25 of 41"), full_text=True)
    preprint = paper("doc:2", figures=figures("7"), evidence_type="preprint")
    for other, standing in ((copy, "retracted"), (preprint, "unknown")):
        assert [item.standing for item in merge([work], [other], "").refs] == ["retracted", standing]


def test_a_paper_about_a_trial_is_not_its_registration() -> None:
    nct = Identifiers(nct="NCT00000001")
    registration = ref("nct:NCT00000001", identifiers=nct, evidence_type="trial_registration")
    paper = ref("pmid:1", identifiers=Identifiers(pmid="1", nct="NCT00000001"))
    second = ref("pmid:2", identifiers=Identifiers(pmid="2", nct="NCT00000001"))
    assert len(merge([registration], [paper, second], "").refs) == 3
    again = ref("registry", identifiers=nct, evidence_type="trial_registration")
    assert len(merge([registration], [again], "").refs) == 1


def test_a_label_is_not_the_adverse_events_of_the_same_application() -> None:
    fda = Identifiers(fda="NDA021335")
    label = ref("a", identifiers=fda, evidence_type="drug_label")
    events = ref("b", identifiers=fda, evidence_type="adverse_events")
    assert len(merge([label], [events], "").refs) == 2
    assert len(merge([label], [ref("c", identifiers=fda, evidence_type="drug_label")], "").refs) == 1


def test_the_richest_record_wins_and_the_known_id_stays() -> None:
    ids = Identifiers(pmid="1")
    abstract = ref("pmid:1", identifiers=ids, chars=1500, sections=("s1",), queries=("pubmed: a",))
    full = ref("pmcid:PMC1", identifiers=Identifiers(pmid="1", pmcid="PMC1"), full_text=True, chars=900)
    merged = merge([abstract], [full], "s2").refs[0]
    assert merged.evidence_id == "pmid:1"
    assert merged.blob == full.blob
    assert merged.full_text
    assert merged.chars == 900
    assert merged.identifiers == Identifiers(pmid="1", pmcid="PMC1")
    assert merged.sections == ("s1", "s2")
    assert merged.queries == ("pubmed: a",)
    longer = ref("x", identifiers=ids, chars=2000)
    assert merge([abstract], [longer], "").refs[0].blob == longer.blob
    assert merge([longer], [abstract], "").refs[0].blob == longer.blob


def test_a_record_found_again_does_not_change_what_quotes_are_checked_against() -> None:
    earlier = ref("pmid:1", chars=100, blob="blobs/old")
    again = ref("pmid:1", chars=100, blob="blobs/new", identifiers=Identifiers(pmid="1", doi="10.1/a"))
    assert merge([earlier], [again], "").refs[0].blob == "blobs/old"


def test_an_item_that_was_quoted_keeps_its_text_and_gets_the_other_fields() -> None:
    abstract = ref("pmid:1", identifiers=Identifiers(pmid="1"), chars=1500)
    full = ref("pmcid:PMC1", identifiers=Identifiers(pmid="1", pmcid="PMC1"), full_text=True, chars=9000)
    for found in (full, full.model_copy(update={"evidence_id": "pmid:1"})):
        merged = merge([abstract], [found], "s2", quoted_ids={"pmid:1"}).refs[0]
        assert (merged.blob, merged.chars, merged.full_text) == (abstract.blob, 1500, False)
        assert merged.identifiers == Identifiers(pmid="1", pmcid="PMC1")


def test_two_known_items_are_never_merged() -> None:
    earlier = [
        ref("pmid:1", identifiers=Identifiers(pmid="1")),
        ref("doi:a", identifiers=Identifiers(doi="a")),
    ]
    bridge = ref("s2:1", identifiers=Identifiers(pmid="1", doi="a", s2="1"))
    merged = merge(earlier, [bridge], "")
    assert [r.evidence_id for r in merged.refs] == ["pmid:1", "doi:a"]
    assert merged.new_ids == ()
    assert merged.duplicates == 1


def test_the_gravest_standing_stays() -> None:
    ids = Identifiers(doi="10.1/a")
    retracted = ref("a", identifiers=ids, standing="retracted", chars=1)
    rich = ref("b", identifiers=ids, standing="none", chars=1000)
    assert merge([retracted], [rich], "").refs[0].standing == "retracted"
    assert merge([rich], [retracted], "").refs[0].standing == "retracted"
    assert merge([ref("c", identifiers=ids)], [rich], "").refs[0].standing == "none"


def test_a_kind_that_says_something_is_not_lost_to_one_that_does_not() -> None:
    ids = Identifiers(pmid="1")
    trial = ref("a", identifiers=ids, evidence_type="randomized_trial", chars=10)
    page = ref("b", identifiers=ids, evidence_type="web_page", chars=9000, full_text=True)
    assert merge([trial], [page], "").refs[0].evidence_type == "randomized_trial"


def test_queries_stay_few() -> None:
    ids = Identifiers(pmid="1")
    found = [ref("a", identifiers=ids, queries=(f"pubmed: {n}",)) for n in range(20)]
    assert merge([], found, "").refs[0].queries == tuple(f"pubmed: {n}" for n in range(MAX_QUERIES))


def test_sections_share_what_they_find() -> None:
    one = merge([], [ref("a")], "s1").refs
    two = merge(one, [ref("a"), ref("b")], "s2")
    assert [r.sections for r in two.refs] == [("s1", "s2"), ("s2",)]
    assert two.new_ids == ("b",)


_standings: st.SearchStrategy[Standing] = st.sampled_from(["unknown", "none", "retracted"])


@st.composite
def refs(draw: st.DrawFn) -> EvidenceRef:
    """A record of one of six works: some of its names, maybe its title. No two works share a name; works 1
    and 2 share a title, as an editorial and its reprint do."""
    work = draw(st.integers(1, 6))
    kinds = draw(st.sets(st.sampled_from(["pmid", "doi", "nct", "url"]), max_size=4))
    ids = Identifiers(**{kind: str(work) for kind in kinds})
    named = next(iter(ids.items_in_order()), ("doc", str(work)))
    kind: EvidenceType = "trial_registration" if named[0] == "nct" else "article"
    chars = draw(st.integers(0, 3))
    full = draw(st.booleans())
    return ref(
        ":".join(named),
        blob=f"blobs/{draw(st.sampled_from('uvwxyz'))}{named}{chars}{full}",
        identifiers=ids,
        fingerprint=draw(st.sampled_from(["", f"t{max(work, 2)}"])),
        chars=chars,
        full_text=full,
        evidence_type=kind,
        standing=draw(_standings),
        queries=(draw(st.sampled_from(["q1", "q2"])),),
    )


batches = st.lists(refs(), max_size=7)


@given(batches, batches)
def test_no_evidence_is_deleted(first: list[EvidenceRef], second: list[EvidenceRef]) -> None:
    earlier = merge([], first, "s1").refs
    merged = merge(earlier, second, "s2")
    ids = [r.evidence_id for r in merged.refs]
    assert ids[: len(earlier)] == [r.evidence_id for r in earlier]
    assert len(set(ids)) == len(ids)
    assert merged.duplicates + len(merged.new_ids) == len(second)
    assert {r.evidence_id for r in second} == set(merged.kept_as)
    assert set(merged.kept_as.values()) <= set(ids)
    for found in (*earlier, *second):
        assert any(set(found.queries) <= set(r.queries) for r in merged.refs)
        for kind, value in found.identifiers.items_in_order():
            assert any(getattr(r.identifiers, kind) for r in merged.refs), (kind, value)
    if second:
        best = max((r.full_text, r.chars) for r in (*earlier, *second))
        assert max((r.full_text, r.chars) for r in merged.refs) == best


@st.composite
def tangled_refs(draw: st.DrawFn) -> EvidenceRef:
    """A record with any of a few identifiers, which others have in other combinations."""
    pools = {"pmid": "12", "doi": "ab", "arxiv": "xy", "s2": "st"}
    ids = Identifiers(
        **{kind: draw(st.sampled_from(pool)) for kind, pool in pools.items() if draw(st.booleans())}
    )
    name = ":".join(next(iter(ids.items_in_order()), ("doc", draw(st.sampled_from("mn")))))
    title, author = draw(st.sampled_from([(FARMERS, "ott"), (MINERS, "zed")]))
    return ref(
        name,
        title=title,
        blob=f"blobs/{draw(st.integers(0, 9))}{name}{title}{ids}",  # a digest of all that is known of it
        identifiers=ids,
        fingerprint=draw(st.sampled_from(["", "t"])),
        first_author=author,
        figures=figures(draw(st.sampled_from(["", "9", "25", "9 of 25"]))),
        evidence_type=draw(st.sampled_from(["article", "preprint"])),
        chars=draw(st.integers(0, 3)),
    )


tangles = st.lists(tangled_refs(), max_size=6)


@given(tangles, tangles)
def test_merging_tangled_records_twice_changes_nothing(
    first: list[EvidenceRef], second: list[EvidenceRef]
) -> None:
    earlier = merge([], first, "").refs
    once = merge(earlier, second, "")
    assert merge(once.refs, second, "").refs == once.refs


def test_one_text_under_two_titles_and_a_doi_in_common_stays_two_works() -> None:
    known = abstract(FARMERS, "Ott, A.", blob="blobs/one", identifiers=Identifiers(doi="a", arxiv="x"))
    again = abstract(FARMERS, "Ott, A.", blob="blobs/other", identifiers=Identifiers(doi="a"))
    other = abstract(MINERS, "Zed, Z.", blob="blobs/one", identifiers=known.identifiers, chars=1)
    once = merge([known], [again, other], "").refs
    assert [item.title for item in once] == [FARMERS, MINERS]
    assert merge(once, [again, other], "").refs == once


def test_a_known_work_keeps_title_and_author_beside_a_richer_record() -> None:
    known = abstract(MINERS, "Zed, Z.", identifiers=Identifiers(doi="a", s2="t"))
    richer = ref("s2:t", title=FARMERS, first_author="ott", identifiers=Identifiers(s2="t"), chars=1)
    apart = abstract(FARMERS, "Ott, A.", identifiers=Identifiers(doi="a"))
    once = merge([known], [richer, apart], "").refs
    assert [(item.title, item.chars) for item in once] == [(MINERS, 1), (FARMERS, 0)]
    assert merge(once, [richer, apart], "").refs == once


def test_a_title_joins_no_record_to_a_work_that_one_of_its_records_parts_from_it() -> None:
    known = abstract(MINERS, "Zed, Z.", identifiers=Identifiers(s2="s"), fingerprint="")
    joined = abstract(FARMERS, "Ott, A.", identifiers=Identifiers(doi="a", s2="s"), fingerprint="t")
    titled = abstract(MINERS, "Zed, Z.", identifiers=Identifiers(doi="a", pmid="1"), fingerprint="t")
    batch = [joined.replace(evidence_id="doi:a"), titled.replace(evidence_id="pmid:1")]
    once = merge([known.replace(evidence_id="s2:s")], batch, "").refs
    assert [item.evidence_id for item in once] == ["s2:s", "pmid:1"]
    assert merge(once, batch, "").refs == once


def test_a_title_joins_no_article_to_a_work_that_has_a_preprint_among_its_records() -> None:
    batch = [paper("b", evidence_type="preprint"), paper("c", identifiers=Identifiers(pmid="1"))]
    assert [item.evidence_id for item in merge([paper("a", chars=9)], batch, "").refs] == ["a", "c"]


@settings(max_examples=200)  # of 50 none has works that only their order joins
@given(st.data(), tangles)
def test_the_order_of_tangled_records_does_not_decide(data: st.DataObject, batch: list[EvidenceRef]) -> None:
    shuffled = data.draw(st.permutations(batch))
    names = {r.evidence_id for r in merge([], batch, "").refs}
    assert {r.evidence_id for r in merge([], shuffled, "").refs} == names


@pytest.mark.parametrize(
    ("name", "ids"), [("doc:m", Identifiers()), ("s2:t", Identifiers(s2="t"))], ids=["no identifier", "one"]
)
def test_the_order_of_records_with_one_text_does_not_decide(name: str, ids: Identifiers) -> None:
    kinds: tuple[EvidenceType, ...] = ("article", "preprint")
    batch = [paper(name, blob="blobs/m", identifiers=ids, evidence_type=kind) for kind in kinds]
    batch.append(paper("doi:a", identifiers=Identifiers(doi="a")))
    first, *others = [merge([], order, "").refs for order in permutations(batch)]
    for refs in others:
        assert {ref.evidence_id: ref for ref in refs} == {ref.evidence_id: ref for ref in first}


@given(tangles)
def test_a_text_never_stands_under_an_identifier_that_differs_from_its_own(batch: list[EvidenceRef]) -> None:
    own = {record.blob: record.identifiers for record in batch}
    for merged in merge([], batch, "").refs:
        for kind, value in own[merged.blob].items_in_order():
            assert getattr(merged.identifiers, kind) == value, kind
