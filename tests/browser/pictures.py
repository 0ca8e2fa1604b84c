"""Pictures of a report for the documents: `python -m tests.browser.pictures REPORT.html docs/images`."""

import sys
from pathlib import Path

from tests.browser.chromium import open_page

WIDTH, HEIGHT = 1024, 760
WIDE = 1400
"""Pixels across in which every column of the table of works has its place."""


def main(report: Path, folder: Path) -> None:
    """Save the top of the page in both colour schemes, an opened quote, and the table of works."""
    with open_page() as page:
        page.open(report.resolve().as_uri(), width=WIDTH, height=HEIGHT)
        for scheme in ("light", "dark"):
            page.media(scheme)
            page.picture(folder / f"report-{scheme}.png")
        page.media()
        page.click("main section:not(.bottom) .cites a")
        page.picture(folder / "report-quote.png")
        page.size(WIDE, HEIGHT)
        page.value("document.getElementById('studies').scrollIntoView()")
        page.picture(folder / "report-works.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
