"""What each reader makes of the fields that its recordings lack; and that no value of them breaks it."""

import html
import json
import re
import string
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from activities.contracts.evidence import Evidence
from activities.documents.blocks import text_of
from activities.documents.markup import lines, plain
from activities.sources import (
    arxiv,
    clinicaltrials,
    crossref,
    europepmc,
    openalex,
    openfda,
    pmc,
    publication,
    pubmed,
    semanticscholar,
)
from activities.sources.publication import year_of
from activities.sources.records import Json, identifiers_of
from tests.activities.sources.recordings import PAGE_OF_WORKS, PAPER
from tests.replay import RECORDED


def load(name: str) -> Any:
    return json.loads((RECORDED / name).read_text())


STUDY = load("ctgov/study_NCT02856893_full_with_results.json")
LABEL = load("openfda/label_otc_silicea.json")["results"][0]
APPROVAL = load("openfda/drugsfda_imatinib.json")["results"][0]
RESULT = load("europepmc/search_core_25.json")["resultList"]["result"][2]
WORK = load(PAGE_OF_WORKS)["results"][0]
TREES = {
    name: etree.parse(RECORDED / name).getroot()
    for name in ("pmc/efetch_pmc_6329583.xml", "pmc/efetch_pmc_biopython.xml", "pmc/oa_ehp-116-1694.nxml")
}


def merged(base: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    """A record with a change, which may be deep in it; a list is replaced."""
    deep = {k: merged(base.get(k) or {}, v) for k, v in change.items() if isinstance(v, dict)}
    return {**base, **change, **deep}


def trial(**protocol: Any) -> Evidence:
    return clinicaltrials.read_study(merged(STUDY, {"protocolSection": protocol}))


def of_europepmc(**change: Any) -> Evidence:
    return europepmc.read_result({**RESULT, **change})


def of_openalex(**change: Any) -> Evidence:
    return openalex.read_work({**WORK, **change})


def of_crossref(**fields: Any) -> Evidence:
    return crossref.read_work({"DOI": "10.1000/x", **fields})


def paper(**change: Any) -> Evidence:
    return semanticscholar.read_paper({**PAPER, **change})


def article(inside: str, meta: str = "") -> Evidence:
    return pmc.read_evidence(
        etree.fromstring(
            '<article article-type="research-article" xmlns:xlink="http://www.w3.org/1999/xlink"><front>'
            f"<article-meta><title-group><article-title>T</article-title></title-group>{meta}</article-meta>"
            f"</front><body>{inside}</body></article>"
        )
    )


def preprint(**parts: str) -> Evidence:
    """An entry as arXiv sends it, with these parts in place of the usual ones."""
    usual = {"id": "http://arxiv.org/abs/1707.08567v3", "title": "A title", "summary": "A summary."} | parts
    atom = "".join(f"<{name}>{text}</{name}>" for name, text in usual.items() if name != "comment")
    comment = f"<a:comment>{usual['comment']}</a:comment>" if "comment" in usual else ""
    spaces = f'xmlns="{arxiv.SPACES["atom"]}" xmlns:a="{arxiv.SPACES["arxiv"]}"'
    return arxiv.read_entry(etree.fromstring(f"<entry {spaces}>{atom}{comment}</entry>"))


NOTICE = {"DOI": "10.1000/notice"}
MARK = '<xref ref-type="bibr" rid="r{0}">{0}</xref>'.format
RELATED = '<related-article related-article-type="{}" xlink:href="10.1000/Notice"/>'.format
OLD_DOI = "10.1002/(sici)1098-1004(200001)15:1<114::aid-humu21>3.0.co;2-4"
OLD_NUMBER = "http://arxiv.org/abs/hep-th/9901001v2"
PREPRINT_OF = {"commentCorrection": [{"id": "777", "source": "MED", "type": "Preprint of"}]}
POWERS = (
    "<PubmedArticle><MedlineCitation><PMID>1</PMID><Article><ArticleTitle>T</ArticleTitle><Abstract>"
    "<AbstractText>10<sup>3</sup> cells, CO<sub>2</sub>, Ca<sup>2+</sup>, <i>in\n vivo</i>."
    "</AbstractText></Abstract></Article></MedlineCitation></PubmedArticle>"
)
BOXED: dict[str, Any] = {
    "boxed_warning": ["WARNING: LACTIC ACIDOSIS"],
    "adverse_reactions": ["6 ADVERSE REACTIONS"],
    "adverse_reactions_table": ["<table><tr><td>1</td></tr></table>"],
}
TENTATIVE: dict[str, Any] = {"submissions": [{**APPROVAL["submissions"][0], "submission_status": "TA"}]}
BACKGROUND = {"pmid": "1", "type": "BACKGROUND", "citation": "doi: 10.1000/background"}


@pytest.mark.parametrize(
    ("read", "wanted"),
    [
        (
            partial(
                trial,
                referencesModule={
                    "references": [*STUDY["protocolSection"]["referencesModule"]["references"], BACKGROUND]
                },
            ),
            {"facts.linked_pmids": "38324744", "facts.linked_dois": "10.1200/jco.23.01521"},
        ),
        (
            lambda: openfda.read_label({**LABEL, **BOXED}),
            {"text": "Boxed warning\nWARNING: LACTIC ACIDOSIS\n\nIndications and usage\n"},
        ),
        (
            lambda: openfda.read_label({**LABEL, **BOXED}),
            {"text": "Adverse reactions\n6 ADVERSE REACTIONS\n\n"},  # without the table's tags
        ),
        (
            lambda: openfda.read_approval({**APPROVAL, **TENTATIVE}),
            {"facts.approval_status": "tentatively approved", "facts.approval_date": None},
        ),
        (partial(of_openalex, is_retracted=True), {"standing": "retracted"}),
        (partial(of_openalex, display_name="RETRACTED ARTICLE: A cure"), {"standing": "retracted"}),
        (
            partial(of_openalex, ids={"pmcid": "https://www.ncbi.nlm.nih.gov/pmc/articles/6329583"}),
            {"identifiers.pmcid": "PMC6329583"},
        ),
        (partial(of_openalex, doi=f"https://doi.org/{OLD_DOI.upper()}"), {"identifiers.doi": OLD_DOI}),
        (
            partial(of_crossref, **{"update-to": [{"DOI": "10.1000/X", "type": "retraction"}]}),
            {"standing": "retracted"},  # in place, by its own DOI
        ),
        (
            partial(of_crossref, **{"update-to": [{"DOI": "10.1000/other", "type": "retraction"}]}),
            {"standing": "none", "facts.notice_of": "10.1000/other"},
        ),
        *(
            (partial(of_crossref, **{"updated-by": [{**NOTICE, "type": kind}]}), {"standing": standing})
            for standing, kinds in {
                "retracted": ("retraction", "withdrawal", "removal"),
                "concern": ("partial_retraction", "expression_of_concern", "Expression of concern"),
                "corrected": ("erratum", "corrigendum", "correction"),
                "none": ("new_version", "new_edition", "something new"),
            }.items()
            for kind in kinds
        ),
        (partial(of_crossref, title=["RETRACTED: Ileal hyperplasia"]), {"standing": "retracted"}),
        (
            partial(of_crossref, type="posted-content", subtype="preprint"),
            {"evidence_type": "preprint"},
        ),
        (
            partial(of_crossref, issued={"date-parts": [[None]]}, title=None),
            {"year": None, "title": "Untitled"},
        ),
        (
            partial(
                of_europepmc,
                source="PPR",
                id="PPR123",
                pmid=None,
                pubTypeList={"pubType": ["Preprint", "Meta-Analysis"]},
                bookOrReportDetails={"publisher": "medRxiv"},
                journalInfo=None,
                commentCorrectionList=PREPRINT_OF,
            ),
            {
                "evidence_type": "preprint",
                "venue": "medRxiv",
                "facts.published_as": "pmid:777",
                "url": "https://europepmc.org/article/PPR/PPR123",
            },
        ),
        (
            partial(of_europepmc, source="PPR", pubTypeList={"pubType": ["preprint", "preprint-withdrawal"]}),
            {"standing": "retracted"},
        ),
        (partial(paper, tldr={"text": "By a machine."}), {"facts.tldr": "By a machine."}),
        (
            lambda: semanticscholar.read_paper(load("semanticscholar/title_match_full.json")["data"][0]),
            {
                "identifiers.pmid": "38799228",
                "identifiers.pmcid": "PMC11116106",
                "identifiers.doi": "10.1038/s42256-024-00832-8",
                "identifiers.arxiv": "2304.05376",
            },
        ),
        (
            partial(preprint, comment="This paper has been withdrawn by the author due to a crucial error"),
            {"standing": "retracted"},
        ),
        (
            partial(preprint, summary="This paper has been withdrawn by the authors."),
            {"standing": "retracted"},
        ),
        (partial(preprint, comment="Replaces a paper that was withdrawn"), {"standing": "unknown"}),
        (partial(preprint, id="http://arxiv.org/abs/1707.08567v1"), {"evidence_id": preprint().evidence_id}),
        (partial(preprint, id=OLD_NUMBER), {"identifiers.arxiv": "hep-th/9901001"}),
        (lambda: pubmed.read_record(etree.fromstring(POWERS)), {"text": "10³ cells, CO₂, Ca²⁺, in vivo."}),
        *(
            (partial(article, "<p>Text.</p>", RELATED(link)), {"standing": standing})
            for link, standing in {
                "retraction-forward": "retracted",
                "object-of-concern-forward": "concern",
                "correction-forward": "corrected",
            }.items()
        ),
        (
            partial(
                article,
                f"<p>It works [{MARK(1)}, {MARK(2)}&#8211;{MARK(4)}]. It grew<sup>{MARK(3)}</sup> to "
                '10<sup>3</sup> (see <xref ref-type="fig">Figure 1</xref>).</p>',
            ),
            {"text": "It works. It grew to 10³ (see Figure 1)."},
        ),
        (
            partial(
                article,
                "<p>Two things:<list><list-item><p>one</p></list-item><list-item><p>two</p></list-item>"
                "</list></p>",
            ),
            {"text": "Two things:\none\ntwo"},
        ),
        (partial(article, "", "<abstract><p>Only this.</p></abstract>"), {"full_text": False}),
    ],
)  # fmt: skip
def test_a_field_is_read(read: Callable[[], Evidence], wanted: dict[str, object]) -> None:
    record = read()
    for path, value in wanted.items():
        thing: Any = record
        for name in path.split("."):
            thing = thing.get(name) if isinstance(thing, dict) else getattr(thing, name)
        assert str(value) in thing if path == "text" else thing == value, path


@pytest.mark.parametrize(
    ("types", "mesh", "kind"),
    [
        (["Journal Article", "Meta-Analysis", "Randomized Controlled Trial"], [], "meta_analysis"),
        (["Review", "Systematic Review"], [], "systematic_review"),
        (["Practice Guideline"], [], "guideline"),
        (["Clinical Trial, Phase II"], [], "clinical_trial"),
        (["Preprint", "Randomized Controlled Trial"], [], "preprint"),
        (["Case Reports", "Review"], [], "case_report"),
        (["Journal Article"], ["Humans", "Cohort Studies"], "observational"),
        (["Journal Article"], ["Animals", "Mice"], "preclinical"),
        (["Journal Article"], ["Animals", "Humans"], "article"),
        (["Clinical Trial Protocol"], [], "article"),
        (["Journal Article"], ["Humans", "Double-Blind Method"], "randomized_trial"),
        (["Journal Article"], ["Randomized Controlled Trials as Topic", "Humans"], "article"),
        (["Retracted Publication"], [], "article"),
    ],
)
def test_the_type_of_evidence_follows_the_indexers(types: list[str], mesh: list[str], kind: str) -> None:
    assert publication.evidence_type(types, mesh) == kind


@pytest.mark.parametrize(
    ("read", "kind"),
    [
        # no title is read for the name of a design
        (partial(of_openalex, display_name="A systematic review", type="article"), "article"),
        (partial(of_openalex, display_name="A randomised trial", type="article"), "article"),
        (partial(of_openalex, display_name="A narrative overview", type="review"), "review"),
        (partial(of_openalex, display_name="A systematic review", type="preprint"), "preprint"),
        (partial(paper, publicationTypes=["JournalArticle", "MetaAnalysis", "Review"]), "meta_analysis"),
        (partial(paper, publicationTypes=["ClinicalTrial", "JournalArticle"]), "clinical_trial"),
        (partial(paper, publicationTypes=["CaseReport"]), "case_report"),
        (partial(paper, publicationTypes=["JournalArticle"]), "article"),
        (partial(paper, publicationTypes=None), "article"),
        (partial(paper, publicationTypes=None, venue="arXiv.org", journal=None), "preprint"),
        (partial(paper, publicationTypes=["JournalArticle"], venue="bioRxiv"), "preprint"),
        (
            partial(paper, publicationTypes=None, journal=None, externalIds={"ArXiv": "2304.05376"}),
            "preprint",
        ),
    ],
)
def test_the_type_of_evidence_follows_types_and_venue(read: Callable[[], Evidence], kind: str) -> None:
    assert read().evidence_type == kind


@pytest.mark.parametrize(
    ("link", "kind"),
    [
        *((f"{how}In", "retraction") for how in ("Retraction", "PartialRetraction")),
        ("RetractedAndRepublishedIn", "retraction"),
        ("ExpressionOfConcernIn", "concern"),
        *((f"{how}In", "correction") for how in ("Erratum", "CorrectedAndRepublished", "Republished")),
        *((f"{how}In", "withdrawal") for how in ("Withdrawal", "Removal")),
        ("CommentIn", None),
        ("RetractionOf", None),
    ],
)
def test_each_link_to_a_notice_has_its_kind(link: str, kind: str | None) -> None:
    notice = publication.notice(link, "Lancet. 2010 Feb 6;375(9713):445", None, "pubmed")
    assert (notice and notice.kind) == kind


def of_pubmed() -> dict[str, Evidence]:
    """Works with errata and retractions, and notices of them, by PMID."""
    tree = etree.parse(RECORDED / "pubmed/efetch_retractions_errata_updates_subset.xml")
    records = [pubmed.read_record(element) for element in tree.iterfind("PubmedArticle")]
    return {record.identifiers.pmid or "": record for record in records}


def test_an_erratum_is_not_a_retraction() -> None:
    works = of_pubmed()
    assert works["9505772"].standing == "corrected"
    assert [notice.kind for notice in works["9505772"].notices] == ["correction", "correction"]
    assert works["8863847"].standing == "retracted"
    assert {notice.kind for notice in works["8863847"].notices} == {"correction", "retraction"}
    for pmid in ("11034741", "11279676", "10612833", "11892742"):  # updates, comments, republications
        assert works[pmid].standing == "none", pmid


def test_the_notice_is_not_the_retracted_work() -> None:
    for pmid in ("9634358", "11600210"):
        notice = of_pubmed()[pmid]
        assert notice.facts["notice"] == "retraction notice"
        assert notice.standing != "retracted"


def test_references_figures_and_supplements_are_left_out_of_an_article() -> None:
    root = TREES["pmc/efetch_pmc_6329583.xml"][0]
    text = pmc.read_evidence(root).text
    assert "Supplementary Material" not in text.split("\n")
    cited = [text_of(reference) for reference in root.iter("mixed-citation")]
    assert len(cited) == 54
    assert not [reference for reference in cited if reference in text]
    running, _, tables = text.partition("\n\nTABLES\n\n")
    cells = [cell for one in root.iter("td") if len(cell := text_of(one)) > 60]
    assert not [cell for cell in cells if cell in running]
    assert [cell for cell in cells if cell in tables]
    lines = running.split("\n")
    headings = ["Introduction", "Methods", "Results", "Discussion"]
    assert lines[0].startswith("The ClinGen PTEN Expert Panel was organized by")
    assert [line for line in lines if line in headings] == headings


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<jats:title>Abstract</jats:title><jats:p>One.</jats:p><jats:p>Two.</jats:p>", "One.\nTwo."),
        ("<jats:sec><jats:title>Methods</jats:title><jats:p>We did.</jats:p></jats:sec>", "Methods: We did."),
        ("<jats:p>IC<jats:sub>50</jats:sub> &amp;lt; 5 &mu;M</jats:p>", "IC₅₀ < 5 μM"),
        ("<jats:p>10<jats:sup>3</jats:sup> cells</jats:p>", "10³ cells"),
        ("plain   text,\n p <0.05", "plain text, p <0.05"),
        ("<jats:p>before <!-- hidden --> after</jats:p>", "before after"),
        ("<p><tex-math>$x$</tex-math><mml:math><mml:mi>x</mml:mi></mml:math></p>", "x"),
        ("", ""),
    ],
)
def test_markup_of_crossref_becomes_text(markup: str, text: str) -> None:
    assert "\n".join(lines(markup)) == text


@given(st.lists(st.sampled_from(["the", "dose", "of", "5", "mg", "Abstract"]), max_size=30))
def test_an_abstract_of_openalex_comes_back_word_for_word(words: list[str]) -> None:
    index: dict[str, Any] = {}
    for position, word in enumerate(words):
        index.setdefault(word, []).append(position)
    expected = words[1:] if words[:1] == ["Abstract"] else words
    assert openalex.abstract(Json({"abstract_inverted_index": index})) == " ".join(expected)


@given(st.text())
def test_no_text_breaks_a_reader(value: str) -> None:
    notice = publication.notice("RetractionIn", value, None, "pubmed")
    assert notice is not None
    assert notice.kind == "retraction"
    assert year_of(value) is None or 1500 <= (year_of(value) or 0) < 2200
    assert identifiers_of(doi=value).arxiv is None or "10.48550/arxiv." in value.lower()


@given(
    st.lists(
        st.sampled_from(
            ["TSH", "<LLN", "in", "5", ">ULN", "p<0.05", "a<b", "c>d", "&", "10", "<65", "IC50<MIC", "n<p"]
        ),
        min_size=1,
    )
)
def test_what_is_no_markup_comes_out_as_it_went_in(words: list[str]) -> None:
    text = " ".join(words)
    escaped = html.escape(text, quote=False)
    assert plain(text) == text
    assert plain(f"<jats:p>{text}</jats:p>") == text
    assert plain(f"<p>{escaped}</p>") == text
    assert plain(f"&lt;p&gt;{html.escape(escaped, quote=False)}&lt;/p&gt;") == text
    assert plain(f"<b>Results</b> {text} <i>in vivo</i>") == f"Results {text} in vivo"


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        (
            "gave <mml:math><mml:msup><mml:mn>10</mml:mn><mml:mn>3</mml:mn></mml:msup></mml:math> cells",
            "gave 10³ cells",
        ),
        ("<math><msub><mi>x</mi><mn>1</mn></msub></math>", "x₁"),
        ("<math><mfrac><mn>1</mn><mn>2</mn></mfrac></math> of them", "1/2 of them"),
        ("<math><msubsup><mi>x</mi><mi>a</mi><mn>2</mn></msubsup></math>", "x_a²"),
        ("<math><msup><mn>2</mn><mrow><mi>k</mi><mo>+</mo><mn>1</mn></mrow></msup></math>", "2^k+1"),
        ("10<sup>-3</sup> H<sub>2</sub>O", "10⁻³ H₂O"),
        ("Journal of A &amp;amp; B", "Journal of A & B"),
        ("4<x<8 and 5<y. Zorvanex <i>n</i>", "4<x<8 and 5<y. Zorvanex n"),
    ],
)
def test_formulas_and_entities_keep_their_meaning(markup: str, text: str) -> None:
    assert plain(markup) == text


@pytest.mark.parametrize(
    ("comment", "abstract"),
    [
        ("withdrawn due to error in eq 3", ""),
        ("This paper has been withdrawn by the authors", ""),
        ("Paper withdrawn", ""),
        ("12 pages, 3 figures. Retracted: the proof is wrong", ""),
        ("The authors withdraw the paper because of a gap in Lemma 2", ""),
        ("Submission has been withdrawn by arXiv administration", ""),
        ("", "This paper has been withdrawn by the author due to a crucial sign error in equation 1."),
        ("", "We study knots in 5 spaces. This paper has been withdrawn."),
        ("", "We withdraw this paper. The main theorem is false."),
        ("", "The author has withdrawn this paper pending revision."),
        ("", "Paper withdrawn due to a fault in the code."),
        ("", "This submission has been withdrawn by arXiv administrators because it plagiarises others."),
        ("", "This manuscript was retracted at the request of two authors."),
        ("", "Our preprint has now been retracted. It had measured 5 cells."),
        ("", "[Withdrawn]"),
        ("", "This version was withdrawn because figure 2 is missing."),
    ],
)
def test_a_preprint_that_says_it_is_withdrawn_is(comment: str, abstract: str) -> None:
    read = preprint(summary=abstract or "Knots in 5 spaces.", comment=comment)
    assert read.standing == "retracted"


@pytest.mark.parametrize(
    ("comment", "abstract"),
    [
        ("This replaces the withdrawn arXiv:1707.00001", ""),
        ("An earlier version was withdrawn; this one is corrected", ""),
        ("12 pages, withdrawal symptoms in table 2", ""),
        ("", "Patients were withdrawn due to adverse events in 5 of 40 cases."),
        ("", "We study the withdrawal of liquidity from markets; 12 % was withdrawn by banks."),
        ("", "The drug was retracted from the market in 2004."),
        ("", "We detect retracted papers in this work with 5 features."),
        ("", "The needle was retracted by 3 mm in this paper."),
    ],
)
def test_a_preprint_that_speaks_of_withdrawing_is_not_withdrawn(comment: str, abstract: str) -> None:
    assert preprint(summary=abstract or "Knots in 5 spaces.", comment=comment).standing == "unknown"


@given(st.text(alphabet=string.ascii_letters + string.digits + " <>*[]_#~|.,()", max_size=60))
def test_the_backslashes_of_a_registration_go_and_its_words_stay(text: str) -> None:
    escaped = re.sub(r"([^\w\s])", r"\\\1", text)
    assert clinicaltrials.unescape({"a": [escaped]}) == {"a": [text]}


def test_null_is_absent_and_a_forged_position_costs_no_memory() -> None:
    read = Json({"name": None, "number": 7, "below": {"name": None}, "other": []})
    assert [read.text(at) for at in ("/name", "/number", "/below/name", "/none/name")] == ["", "7", "", ""]
    assert (
        openalex.abstract(Json({"abstract_inverted_index": {"end": [10**15], "begin": [0]}})) == "begin end"
    )


@pytest.mark.parametrize("method", ["text", "number", "objects", "texts"])
@pytest.mark.parametrize("value", [{"a": {"b": 1}}, {"a": True}, [], "text", None])
def test_a_value_of_another_type_is_unreadable(method: str, value: Any) -> None:
    with pytest.raises(ValueError, match=r"at /a"):
        getattr(Json(value), method)("/a")
