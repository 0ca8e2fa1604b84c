"""What is said of the expected cost before a run begins."""

from pathlib import Path

import pytest

from activities.contracts.publish import Amount, Estimate
from activities.evidence_store import EvidenceStore
from activities.report.archive import report_name
from activities.settings import Settings
from client.runs.estimating import limit_doubts, past_runs
from tests.client.seen import a_report
from tests.workflows.conftest import a_request


@pytest.mark.parametrize(
    ("most", "expected", "said"),
    [
        (None, None, ""),
        (100_000, None, "price"),
        (100_000, 200_000, "below"),
        (200_000, 100_000, ""),
    ],
)
def test_a_money_limit_that_cannot_hold_or_will_cut_the_run_short_is_told(
    most: int | None, expected: int | None, said: str
) -> None:
    request = a_request(limits={"max_cost_microusd": most})
    lines = [*limit_doubts(Estimate(cost_microusd=expected, basis="earlier"), request)]
    assert len(lines) == bool(said)
    assert said in "".join(lines)


@pytest.mark.parametrize(
    ("least", "most", "said"),
    [
        (
            Amount(calls=6, cost_microusd=0),
            Amount(calls=9, tokens=90, cost_microusd=61_000, seconds=9),
            "6 to 9 model calls, at most 90 tokens, at most $0.06, at most 9 s (from the plan)",
        ),
        (
            Amount(calls=6, tokens=8_186, seconds=19),
            Amount(calls=11, tokens=46_618, seconds=311),
            (
                "6 to 11 model calls, 8,200 to 47,000 tokens, cost unknown, 19 s to 5 minutes "
                "(based on 2 earlier runs)"
            ),
        ),
        (
            Amount(calls=6, tokens=90, cost_microusd=4_000, seconds=100),
            Amount(calls=6, tokens=90, cost_microusd=61_000, seconds=130),
            "6 model calls, 90 tokens, $0.00 to $0.06, 2 minutes (based on 2 earlier runs)",
        ),
        (
            Amount(calls=1, tokens=1, cost_microusd=0, seconds=2),
            Amount(calls=1, tokens=1, cost_microusd=0, seconds=119),
            "1 model call, 1 tokens, $0.00, 2 s to 2 minutes (based on 2 earlier runs)",
        ),
    ],
)
def test_the_bounds_are_said_once_where_they_are_the_same(least: Amount, most: Amount, said: str) -> None:
    source = {} if said.endswith("(from the plan)") else {"basis": "earlier", "runs": 2}
    assert Estimate.model_validate({"least": least, "most": most, **source}).text == said


async def test_past_runs_are_read_of_their_reports(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    store = EvidenceStore.at(settings.evidence_url)
    spent = {"tokens": 900, "model_calls": 9, "seconds": 60.0, "cost_usd": 0.5}
    fields = {"estimate": {"models": ["m"]}}
    for name, stop, method in (
        ("whole", "sufficient_evidence", spent | fields),
        ("cut-short", "cancelled", spent | fields),
        ("without-a-model", "sufficient_evidence", {}),
    ):
        report = a_report(run_id=name, stop_reason=stop, methodology=method)
        await store.put_named(report_name(name, "json"), report.model_dump_json().encode())
    ((mode, amount),) = await past_runs(settings, ("m",))
    assert mode == "iterative"
    assert amount == Amount(calls=9, tokens=900, cost_microusd=500_000, seconds=60.0)
    assert await past_runs(settings, ("another",)) == []
