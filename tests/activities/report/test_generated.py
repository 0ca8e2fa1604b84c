"""The report of any run is valid in every format; `benchmarks/reports.py` tries more of them."""

import pytest

from benchmarks.reports import defects
from tests.activities.report.generated import generated


@pytest.mark.parametrize("seed", range(24))
def test_a_generated_report_has_no_structural_defect(seed: int) -> None:
    assert defects(*generated(seed), pdf=seed % 6 == 0) == []
