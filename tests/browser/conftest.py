"""Chromium for the tests of the page."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.chromium import open_browser
from tests.browser.staged import Stage, staged


@pytest.fixture
def browser() -> Iterator[Browser]:
    with open_browser() as opened:
        yield opened


@pytest.fixture
def stage(home: Path) -> Iterator[Stage]:
    """The page over a run that is played."""
    with staged(home) as served:
        yield served
