"""The Chromium of this machine, without a window, driven by Playwright."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = ("--no-sandbox", "--disable-quic", "--disable-background-networking", "--hide-scrollbars")


@contextmanager
def open_browser() -> Iterator[Browser]:
    """A browser with a profile of its own. Raises FileNotFoundError where none is on PATH."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        raise FileNotFoundError(f"none of {', '.join(NAMES)} is on PATH; Debian: apt-get install chromium")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=found, args=FLAGS)
        yield browser
        browser.close()
