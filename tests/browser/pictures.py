"""Pictures of a report for the documents: `python -m tests.browser.pictures REPORT.html docs/images`."""

import sys
from pathlib import Path

from tests.browser.chromium import open_page

WIDTH, HEIGHT = 1024, 760


def main(report: Path, folder: Path) -> None:
    """Save the top of the page in both colour schemes, and a quote that a citation has opened."""
    with open_page() as page:
        page.open(report.resolve().as_uri(), width=WIDTH, height=HEIGHT)
        for scheme in ("light", "dark"):
            page.media(scheme)
            page.picture(folder / f"report-{scheme}.png")
        page.media()
        page.click("main section:not(.bottom) .cites a")
        page.picture(folder / "report-quote.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
