"""Chromium for the tests of the page."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.browser.chromium import FLAGS, binary
from tests.browser.staged import Stage, staged


@pytest.fixture
def browser() -> Iterator[Browser]:
    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=binary(), args=[f for f in FLAGS if "pipe" not in f])
        yield opened
        opened.close()


@pytest.fixture
def stage(home: Path) -> Iterator[Stage]:
    """The page over a run that is played."""
    with staged(home) as served:
        yield served
