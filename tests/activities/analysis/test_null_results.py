"""Works that found no effect enter the table and the pool like those that found one."""

from pathlib import Path

import pytest
from temporalio.testing import ActivityEnvironment

from activities.analysis_activity import AnalysisActivities
from activities.contracts.effects import AnalyseInput, Analysis, Effect
from activities.contracts.evidence import Evidence, ModelChoice
from activities.contracts.judge import Table
from activities.contracts.write import ExtractInput
from activities.evidence_store import EvidenceStore
from activities.profiles.loader import load_profile
from activities.roles.extractor import EXTRACTOR, ExtractAnswer

SENTENCES = {
    "The drug reduced mortality (RR 0.60, 95% CI 0.45 to 0.80).": ("0.60", "0.45", "0.80"),
    "Mortality was lower with the drug (relative risk 0.72; 95% CI 0.56-0.93).": ("0.72", "0.56", "0.93"),
    "The drug did not reduce mortality (RR 0.98, 95% CI 0.85 to 1.13).": ("0.98", "0.85", "1.13"),
    "The drug was not associated with mortality (RR 1.02, 95% CI 0.90 to 1.16).": ("1.02", "0.90", "1.16"),
}
COLUMNS = ("outcome", "measure", "estimate", "low", "high")
WORKS = [
    Evidence(evidence_id=f"pmid:{n}", source="pubmed", title=f"Trial {n}", text=sentence)
    for n, sentence in enumerate(SENTENCES)
]


def extracted(columns: tuple[str, ...] = COLUMNS) -> Table:
    """The table that the extractor accepts of a model that reads every work."""
    step = ExtractInput(
        run_id="r",
        question="Does the drug reduce mortality?",
        profile=load_profile("general"),
        model=ModelChoice(backend="openai", model="m"),
        columns=columns,
    )
    prompt = EXTRACTOR.render(step, WORKS, 20_000)
    rows = []
    for number, values in enumerate(SENTENCES.values(), start=1):
        cells = dict(zip(COLUMNS, ("mortality", "RR", *values), strict=True))
        rows.append(
            {
                "work": f"E{number}",
                "cells": [{"column": k, "text": v, "sentence": f"S{number}"} for k, v in cells.items()],
            }
        )
    accepted = EXTRACTOR.accept(step, prompt, ExtractAnswer.model_validate({"rows": rows})).output
    assert accepted.refused == ()
    return accepted.table


async def analysed(folder: Path, **fields: object) -> Analysis:
    store = EvidenceStore.at(str(folder))
    refs = [await store.put(work) for work in WORKS]
    step = AnalyseInput.model_validate({"run_id": "r", "evidence": refs, "expected": "lower", **fields})
    done = await ActivityEnvironment().run(AnalysisActivities(store).analyse_effects, step)
    return Analysis.model_validate_json(await store.get_bytes(done.blob))


async def test_null_results_of_works_and_of_a_file_give_one_verdict_and_one_figure(tmp_path: Path) -> None:
    of_works = await analysed(tmp_path / "works", table=extracted())
    effects = tuple(
        Effect(study=f"{n}", outcome="mortality", measure="RR", estimate=e, low=low, high=high)
        for n, (e, low, high) in enumerate(tuple(map(float, row)) for row in SENTENCES.values())
    )
    of_file = await analysed(tmp_path / "file", effects=effects)
    assert len(of_works.pools[0].rows) == 4
    assert of_works.pools[0].hartung_knapp == of_file.pools[0].hartung_knapp
    assert of_works.verdict == of_file.verdict == "INCONCLUSIVE"


@pytest.mark.parametrize("left_out", range(4))
async def test_no_verdict_is_given_where_an_effect_of_a_work_is_missing(
    tmp_path: Path, left_out: int
) -> None:
    table = extracted()
    rows = [
        row if number != left_out else row.model_copy(update={"cells": {}})
        for number, row in enumerate(table.rows)
    ]
    analysis = await analysed(tmp_path, table=table.model_copy(update={"rows": tuple(rows)}))
    assert (analysis.verdict, analysis.confidence) == ("INCONCLUSIVE", None)
    assert [(one.evidence_id, one.reason) for one in analysis.unread] == [(f"pmid:{left_out}", "not_read")]
    assert analysis.limitations[0].startswith("No verdict is given: effects of 1 work")
