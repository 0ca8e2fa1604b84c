"""The HTML page, by its structure alone; `tests/browser` tests it in a browser."""

import base64
import hashlib
import itertools
import re
from typing import Any

from lxml import html as lxml_html

from activities.report.formats import render
from activities.report.schema import Report
from tests.activities.report.wide import RICH

ORDER = (
    *("section-s1", "section-s2", "section-s3", "candidates", "works"),
    *("open", "references", "quotes", "made"),
)


def page_of(report: Report) -> Any:
    return lxml_html.fromstring(render(report, "html"))


def test_the_page_has_its_parts_in_order_and_a_contents_entry_for_each() -> None:
    page = page_of(RICH)
    assert tuple(page.xpath("//main/section/@aria-labelledby")) == ORDER
    assert tuple(href[1:] for href in page.xpath("//nav//a/@href")) == ORDER
    levels = [int(name.tag[1]) for name in page.xpath("//h1 | //h2 | //h3")]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))


def test_figures_have_a_text_alternative() -> None:
    full = RICH.replace(length="full")
    (label,) = page_of(full).xpath("//*[local-name()='svg']/*[local-name()='desc']/text()")
    assert label.startswith("Identified: 15;")
    assert "Duplicates removed: 3; Not screened: 0; Screened: 12; Not cited: 8; Included (cited): 4" in label


def test_the_policy_allows_this_style_and_this_script_and_nothing_else() -> None:
    data = render(RICH, "html").decode()
    page = lxml_html.fromstring(data)
    policy = str(page.xpath("string(//meta[@http-equiv='Content-Security-Policy']/@content)"))
    for tag in ("style", "script"):
        (text,) = re.findall(rf"<{tag}>(.*?)</{tag}>", data, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
