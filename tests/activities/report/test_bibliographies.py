import json

import rispy
from bibtexparser.entrypoint import parse_string

from activities.contracts.evidence import Identifiers
from activities.report.formats import render
from activities.report.formats.bibliography import keys
from activities.report.schema import Reference
from tests.activities.cases import DOCUMENTS, TRIAL
from tests.activities.report.rendered import REPORT, hostile


def test_bibtex_is_read_back_with_every_reference() -> None:
    library = parse_string(render(REPORT, "bibtex", DOCUMENTS).decode())
    assert not library.failed_blocks
    entry = library.entries[0]
    assert entry["title"] == TRIAL.title
    assert entry["author"] == "Doe, J. A. and Roe, B."
    assert entry["doi"] == "10.1016/s0140-6736(20)1234-5"
    assert "M\\" in library.entries[1]["author"]
    assert len(library.entries) == 2


def test_citation_keys_are_what_people_write() -> None:
    def reference(number: int, *authors: str, **more: object) -> Reference:
        fields = {
            "number": number,
            "evidence_id": f"x:{number}",
            "source": "pubmed",
            "year": 2009,
            "title": "",
        }
        return Reference.model_validate({**fields, "authors": authors, **more})

    expected = {
        "Smith2009a": reference(1, "Smith JA", "Roe B"),
        "Smith2009b": reference(2, "Smith P"),
        "Muller2021": reference(3, "M\u00fcller K", year=2021),
        "Sorensen2009": reference(4, "\u0141ukasz S\u00f8rensen"),
        "Aspirin": reference(5, title="On the use of aspirin", year=None),
        "Pubmed2009": reference(6, "\u738b\u5c0f\u660e"),
        "PMID16827975-2009": reference(7, title="On aspirin", identifiers=Identifiers(pmid="16827975")),
        "Smith2006": reference(8, "Smith P", year=2006, identifiers=Identifiers(pmid="16968876")),
    }
    assert list(keys(list(expected.values())).values()) == list(expected)
    many = keys([reference(n, "Doe J") for n in range(30)])
    assert len(set(many.values())) == 30
    assert many[29] == "Doe2009ad"


def test_ris_and_csl_are_what_other_programs_read() -> None:
    first, second = rispy.loads(render(REPORT, "ris", DOCUMENTS).decode())
    assert (first["type_of_reference"], first["year"], first["id"]) == ("JOUR", "2020", "Doe2020")
    assert (first["authors"], first["doi"]) == (["Doe, J. A.", "Roe, B."], "10.1016/s0140-6736(20)1234-5")
    assert second["authors"] == ["M\u00fcller, K."]
    assert len(rispy.loads(render(hostile(), "ris").decode())) == 1
    first = json.loads(render(REPORT, "csl"))[0]
    assert first["author"] == [{"family": "Doe", "given": "J. A."}, {"family": "Roe", "given": "B."}]
    assert first["issued"] == {"date-parts": [[2020]]}
    assert (first["type"], first["PMID"]) == ("article-journal", "1")
