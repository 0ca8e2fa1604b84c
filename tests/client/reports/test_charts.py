"""The charts of a report: what each shows, for who sees it and who does not."""

import pytest
from lxml import etree

from activities.analysis.meta_analysis import analyse_effects
from activities.contracts.effects import Effect
from activities.report.formats import CHARTS
from activities.report.formats.figures import chart_of
from activities.report.run_folder import chart_file
from activities.report.schema import Report
from tests.activities.analysis.studies import bcg
from tests.activities.report.wide import RICH

SVG = "{http://www.w3.org/2000/svg}"


def effect(study: str, estimate: float, low: float, high: float, measure: str = "RR") -> Effect:
    named = {"study": study, "outcome": "death", "measure": measure, "estimate": estimate}
    return Effect.model_validate({**named, "low": low, "high": high})


def pooled(*effects: Effect) -> Report:
    return RICH.model_copy(update={"analysis": analyse_effects(effects)})


def drawn(report: Report, name: str) -> etree._Element:
    return etree.fromstring(chart_file(report, name, "svg") or b"")


def test_what_a_report_does_not_have_is_no_chart() -> None:
    empty = RICH.model_copy(update={"references": (), "sections": (), "analysis": None})
    assert [name for name in CHARTS if chart_of(empty, name)] == []


def test_a_forest_plot_shows_each_study_within_its_width_and_is_well_formed() -> None:
    effects = bcg("RR")
    tree = drawn(pooled(*effects), "pooled")
    texts = [str(node.text) for node in tree.iter(f"{SVG}text")]
    assert {e.study[:18] for e in effects} <= {text.rstrip("\u2026")[:18] for text in texts}
    assert "0.49 (0.33 to 0.73)" in texts
    boxes = list(tree.iter(f"{SVG}rect"))
    assert len(boxes) == len(effects)
    assert all(110 <= float(box.get("x", "0")) <= 260 for box in boxes)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_a_plot_of_differences_has_labelled_ticks_at_every_scale(scale: float) -> None:
    effects = [effect(str(i), i * scale, (i - 2) * scale, (i + 2) * scale, "MD") for i in range(1, 5)]
    chart = chart_of(pooled(*effects), "pooled")
    assert chart is not None
    assert chart.svg.count("fig-mid") >= 3


def test_text_of_a_work_cannot_add_to_a_picture() -> None:
    hostile = '</text></desc><script>alert(1)</script><image href="http://192.0.2.1/x"/>\x00\x1b'
    tree = drawn(pooled(effect(hostile, 0.8, 0.6, 1.07), effect("b", 0.9, 0.7, 1.16)), "pooled")
    assert {etree.QName(node).localname for node in tree.iter()} == {
        *("svg", "title", "desc", "style", "rect", "text", "path")
    }


def test_a_chart_is_a_picture_for_who_asks() -> None:
    report = pooled(effect("a", 0.8, 0.6, 1.07), effect("b", 0.9, 0.7, 1.16))
    assert (chart_file(report, "pooled", "png") or b"").startswith(b"\x89PNG")
