"""`--effort` reaches every model of the request, and is refused where there is none."""

from pathlib import Path

import pytest

from activities.settings import Settings
from client.failures import BadInput
from client.runs.options import AskOptions
from client.runs.request import build_request, models


def test_the_effort_goes_with_the_model_that_was_named(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    request = build_request(settings, "Does metformin help?", AskOptions(model="tiny", effort="small"))
    assert request.models["default"].model == "tiny"
    assert request.models["default"].effort == "small"


def test_the_effort_goes_with_the_models_of_the_settings(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, model="big", roles={"judge": "tiny"})
    chosen = models(settings, AskOptions(effort="large"))
    assert {role: (choice.model, choice.effort) for role, choice in chosen.items()} == {
        "default": ("big", "large"),
        "judge": ("tiny", "large"),
    }
    assert models(settings, AskOptions()) == {}, "the worker's own models were overruled"


def test_an_effort_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="`model`"):
        models(Settings(home=tmp_path), AskOptions(effort="small"))
