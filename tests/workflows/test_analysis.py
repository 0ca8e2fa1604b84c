"""The statistics of a run: cells of the extractor are pooled; a program of a model computes the rest."""

from collections.abc import Callable, Sequence

import pytest

from activities.analysis.cells import EFFECT_COLUMNS
from activities.contracts.appraisal import PART as CONCLUSIONS
from activities.contracts.appraisal import Appraisal, AppraiseInput, StudyEffect
from activities.contracts.effects import PART as ANALYSIS
from activities.contracts.effects import Analysis, Effect
from activities.contracts.evidence import Evidence, ModelChoice, Support
from activities.contracts.judge import PART as TABLE
from activities.contracts.judge import Cell, JudgeBatch, JudgeInput, Table, TableRow
from activities.contracts.plan import TeamLedger
from activities.contracts.write import Extracted, ExtractInput
from activities.report.schema import Report
from tests.workflows.conftest import Stage, a_request
from tests.workflows.graph.graphs import a_graph
from tests.workflows.script import MODEL
from tests.workflows.test_deep_writing import sentences

QUOTE = "In trial {n} the odds ratio of {outcome} with the drug was {estimate} (95% CI {low} to {high})."
Numbers = tuple[str, str, str]
STRONG: Sequence[Numbers] = (("0.60", "0.45", "0.80"), ("0.55", "0.40", "0.76"), ("0.65", "0.50", "0.84"))
POOLING = """
x = [e for e in effects if e["low"]]
z = [(np.log(e["estimate"]), (np.log(e["high"]) - np.log(e["low"])) / 3.92) for e in x]
w = np.array([1 / s**2 for _, s in z])
m = float(np.sum(w * np.array([y for y, _ in z])) / np.sum(w))
s = float(1 / np.sqrt(np.sum(w)))
result = {"estimate": np.exp(m), "low": np.exp(m - 1.96 * s), "high": np.exp(m + 1.96 * s), "null": 1}
"""


def comparing(stage: Stage, answers: int = 3, *, compares: bool = True) -> None:
    """The judge says of every work how far it answers, and whether it compares."""

    def judge(step: JudgeInput) -> JudgeBatch:
        batch = stage.fakes.judged(step, enough=True)
        update = {"compares": compares, "answers": answers}
        judged = (judgement.model_copy(update=update) for judgement in batch.judgements)
        return batch.model_copy(update={"judgements": tuple(judged)})

    stage.script.answers["judge"] = judge


def trials(stage: Stage, outcome_of: Callable[[int], str], column: str = "dose") -> None:
    """Every work found is a trial with an odds ratio, which the extractor reads from it."""

    def found(_: object) -> list[Evidence]:
        works = []
        for n, (estimate, low, high) in enumerate(STRONG):
            text = QUOTE.format(n=n, outcome=outcome_of(n), estimate=estimate, low=low, high=high)
            works.append(Evidence(evidence_id=f"pmid:{n}", source="alpha", title=f"Trial {n}", text=text))
        return works

    def extract(step: ExtractInput) -> Extracted:
        rows = []
        for ref in step.evidence:
            n = int(ref.evidence_id.partition(":")[2])
            quote = stage.fakes.documents[ref.blob].text
            estimate, low, high = STRONG[n]
            cells = {
                "measure": "OR",
                "outcome": outcome_of(n),
                "estimate": estimate,
                "low": low,
                "high": high,
            }
            support = Support(evidence_id=ref.evidence_id, quote=quote)
            made = {name: Cell(text=text, support=support) for name, text in cells.items()}
            rows.append(TableRow(evidence_id=ref.evidence_id, cells={**made, column: made["outcome"]}))
        return Extracted(table=Table(columns=step.columns, rows=tuple(rows)))

    stage.script.search = found
    stage.script.answers["extractor"] = extract


def same(_: int) -> str:
    return "death"


def different(n: int) -> str:
    return ("death", "stroke", "infarction")[n]


def analysis_of(report: Report) -> Analysis:
    analysis = ANALYSIS.of_report(report)
    assert analysis is not None
    return analysis


@pytest.mark.parametrize("columns", [(), ("dose",)])
async def test_the_effects_of_the_works_are_pooled_and_the_readers_table_has_their_own_columns(
    stage: Stage, columns: tuple[str, ...]
) -> None:
    trials(stage, same)
    _, report, run = await stage.play(a_request(analyse=True, expected="lower", columns=columns))
    analysis = analysis_of(report)
    (pool,) = analysis.pools
    assert len(pool.rows) == 3
    assert analysis.verdict == "SUPPORTED"
    assert analysis.generated is None
    assert not stage.fakes.of("analyst")
    (complete,) = [event for event in await run.events() if event.type == "analysis_complete"]
    assert (complete.data["verdict"], complete.data["studies"]) == ("SUPPORTED", 3)
    table = TABLE.of_input(stage.fakes.published[-1])
    assert table.columns == columns
    assert {name for row in table.rows for name in row.cells} == set(columns)


@pytest.mark.usefixtures("sandbox")
async def test_a_program_of_a_model_computes_what_the_fixed_analysis_lists(stage: Stage) -> None:
    trials(stage, different)
    stage.script.program = POOLING
    stage.script.answers["writer"] = lambda step: sentences(stage, step, "ask")
    _, report, run = await stage.play(a_request(analyse=True, expected="lower"))
    (asked,) = stage.fakes.of("analyst")
    assert len(asked.step.not_pooled) == 3  # type: ignore[attr-defined]
    analysis = analysis_of(report)
    assert analysis.pools == ()
    assert analysis.generated is not None
    assert analysis.generated.failed == ""
    assert analysis.generated.model == MODEL.model
    assert analysis.generated.high is not None
    assert analysis.generated.high < 1
    assert (analysis.verdict, analysis.confidence) == ("SUPPORTED", None)
    assert len([e for e in await run.events() if e.type == "analysis_complete"]) == 1


async def test_without_bubblewrap_no_program_is_paid_for_and_the_fixed_analysis_stands(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    trials(stage, lambda n: "stroke" if n else "death")
    effects = tuple(
        Effect(study=f"own {n}", outcome="infarction", measure="OR", estimate=0.9, low=0.5, high=1.6)
        for n in range(1)
    )
    stage.script.program = POOLING
    _, report, _ = await stage.play(a_request(analyse=True, expected="lower", effects=effects))
    assert not stage.fakes.of("analyst")
    analysis = analysis_of(report)
    assert [(pool.outcome, len(pool.rows)) for pool in analysis.pools] == [("stroke", 2)]
    (line,) = [text for text in report.limitations if "bubblewrap" in text]
    assert "\n" not in line


async def test_without_a_model_only_the_users_effects_are_pooled(stage: Stage) -> None:
    stage.script.models = {"default": ModelChoice()}
    effects = tuple(
        Effect(study=f"own {n}", outcome="death", measure="OR", estimate=0.5, low=0.4, high=0.63)
        for n in range(3)
    )
    _, report, _ = await stage.play(a_request(analyse=True, expected="lower", effects=effects))
    analysis = analysis_of(report)
    assert (analysis.verdict, len(analysis.pools)) == ("SUPPORTED", 1)


async def test_a_graph_analyses_where_its_node_says_so_and_only_new_works_again(stage: Stage) -> None:
    trials(stage, same)
    graph = a_graph("begin wanted select search judge analyse again", until="sufficient")
    _, report, run = await stage.play(a_request("graph", graph=graph, expected="lower"))
    types = [event.type for event in await run.events()]
    assert types.count("analysis_complete") == 1
    assert types.index("analysis_complete") < types.index("synthesizing")
    assert analysis_of(report).verdict == "SUPPORTED"
    assert set(EFFECT_COLUMNS) <= set(stage.fakes.of("extractor")[0].step.columns)  # type: ignore[attr-defined]
    assert TABLE.of_input(stage.fakes.published[-1]).columns == ()


@pytest.mark.parametrize("analyse", [True, False])
async def test_a_team_whose_effects_are_analysed_has_an_analyst(stage: Stage, analyse: bool) -> None:
    trials(stage, same)
    order = iter(("searcher", "judge", "analyst"))
    shown: list[tuple[str, ...]] = []

    def manage(step: object) -> TeamLedger:
        shown.append(tuple(step.members))  # type: ignore[attr-defined]
        return TeamLedger.model_validate({"next_speaker": next(order, "searcher"), "progress": True})

    stage.script.sufficient_at = 3
    stage.script.answers["manager"] = manage
    limits = {"max_iterations": 4}
    _, report, run = await stage.play(a_request("team", analyse=analyse, expected="lower", limits=limits))
    assert ("analyst" in shown[0]) is analyse
    if analyse:
        assert "analyst" in [event.data["member"] for event in await run.events() if event.type == "turn"]
        assert analysis_of(report).verdict == "SUPPORTED"


@pytest.mark.parametrize(
    ("comparator", "answers", "asked"), [("placebo", 3, 1), ("", 3, 0), ("placebo", 1, 1), ("placebo", 0, 0)]
)
async def test_effects_are_read_where_works_compare_though_none_may_answer(
    stage: Stage, comparator: str, answers: int, asked: int
) -> None:
    def appraise(step: AppraiseInput) -> Appraisal:
        (first, *_) = step.evidence
        quote = Support(evidence_id=first.evidence_id, quote=stage.fakes.documents[first.blob].text)
        named = {"outcome": "mortality", "group": "metformin", "comparator": "placebo"}
        effect = StudyEffect(evidence_id=first.evidence_id, direction="lower", support=(quote,), **named)
        return Appraisal(effects=(effect,))

    comparing(stage, answers, compares=bool(comparator))
    stage.script.answers["appraiser"] = appraise
    _, report, _ = await stage.play(a_request())
    assert len(stage.fakes.of("appraiser")) == asked
    assert [conclusion.outcome for conclusion in CONCLUSIONS.of_report(report)] == ["mortality"] * asked
