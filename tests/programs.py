"""Programs of the system that a test runs, and what skips it where they are missing."""

import shutil

import pytest


def needs(program: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"{program} is not installed")
