"""The statistics of a run as an activity."""

from pathlib import Path

from activities.analysis_activity import AnalysisActivities
from activities.contracts.effects import AnalyseInput, Analysis
from activities.contracts.evidence import Evidence, EvidenceRef, Support
from activities.contracts.judge import Cell, Table, TableRow
from activities.evidence_store import EvidenceStore
from tests.activities.analysis.studies import bcg

SENTENCE = "The odds ratio of death with the drug was {estimate} (95% CI {low} to {high}) in this trial."


async def works(store: EvidenceStore) -> tuple[Table, tuple[EvidenceRef, ...]]:
    """Three trials whose abstracts report an odds ratio, and their rows; the third row has a wrong number."""
    rows, refs = [], []
    for number, (estimate, low, high) in enumerate(
        (("0.70", "0.50", "0.98"), ("0.80", "0.60", "1.07"), ("0.60", "0.40", "0.90"))
    ):
        name = f"pmid:{number}"
        quote = SENTENCE.format(estimate=estimate, low=low, high=high)
        work = Evidence(evidence_id=name, source="pubmed", title=f"Trial {number}", text=quote, year=2000)
        refs.append(await store.put(work))
        shown = {"outcome": "death", "measure": "OR", "estimate": estimate, "low": low, "high": high}
        if number == 2:
            shown["estimate"] = "6.0"
        support = Support(evidence_id=name, quote=quote)
        rows.append(
            TableRow(evidence_id=name, cells={k: Cell(text=v, support=support) for k, v in shown.items()})
        )
    return Table(columns=("outcome",), rows=tuple(rows)), tuple(refs)


async def analysed(folder: Path, **fields: object) -> Analysis:
    store = EvidenceStore.at(str(folder))
    table, refs = await works(store)
    given = {"run_id": "r", "table": table, "evidence": refs, "expected": "lower", **fields}
    done = await AnalysisActivities(store).analyse(AnalyseInput.model_validate(given))
    analysis = Analysis.model_validate_json(await store.get_bytes(done.blob))
    assert done.verdict == analysis.verdict
    assert done.studies == sum(len(pool.rows) for pool in analysis.pools)
    return analysis


async def test_effects_of_the_table_are_pooled_with_their_sentences(tmp_path: Path) -> None:
    analysis = await analysed(tmp_path)
    (pool,) = analysis.pools
    assert [row.effect.evidence_id for row in pool.rows] == ["pmid:0", "pmid:1"]
    assert all(row.effect.quote.startswith("The odds ratio") for row in pool.rows)
    assert [(one.evidence_id, one.column, one.reason) for one in analysis.unread] == [
        ("pmid:2", "estimate", "number_not_in_sentence")
    ]
    assert analysis.verdict == "INCONCLUSIVE"
    assert analysis.limitations[0].startswith("No verdict is given")
    assert 'Left out, Trial 2 (2000) (estimate "6.0")' in analysis.limitations[1]


async def test_effects_of_the_user_are_pooled_beside_them(tmp_path: Path) -> None:
    analysis = await analysed(tmp_path, effects=bcg("RR"))
    assert {(pool.outcome, pool.measure): len(pool.rows) for pool in analysis.pools} == {
        ("tuberculosis", "RR"): 13,
        ("death", "OR"): 2,
    }


async def test_the_same_input_gives_the_same_bytes(tmp_path: Path) -> None:
    first = await analysed(tmp_path / "a", effects=bcg("RR"))
    assert first == await analysed(tmp_path / "b", effects=bcg("RR"))


async def test_a_run_without_effects_is_inconclusive(tmp_path: Path) -> None:
    analysis = await analysed(tmp_path, table=Table())
    assert (analysis.verdict, analysis.pools) == ("INCONCLUSIVE", ())
