"""Messages to a run are declared once, and every surface has each with all its fields."""

from pathlib import Path

import click
import pytest

from activities.settings import Settings
from client.api import Determinator
from client.cli.main import determinator
from client.failures import BadInput
from client.http.app import build_app
from client.http.tokens import TokenFile
from client.mcp.research import fields_of_messages
from client.messages import MESSAGES, Edit, Extend, Steer

POSITIONAL = {"text", "answers", "names"}
"""Fields that are arguments of a command, or have an option by another name."""


def test_each_surface_has_each_message_with_its_fields(home: Path) -> None:
    paths = build_app(Determinator(Settings()), TokenFile.of_owner("of the owner")).openapi()["paths"]
    arguments = fields_of_messages().keys()
    for kind in MESSAGES.values():
        fields = kind.model_fields.keys()
        route = paths[f"/runs/{{run_id}}/{kind.name}"]["post"]
        assert kind.__name__ in str(route["requestBody"]), kind
        assert fields <= arguments, kind
        if kind is not Edit:  # it is `plan edit`, of a file
            command = determinator.get_command(click.Context(determinator), kind.name)
            assert command is not None
            assert fields <= {option.name for option in command.params} | POSITIONAL, kind


def test_a_message_that_says_nothing_is_refused_where_it_is_made() -> None:
    with pytest.raises(BadInput, match="nothing to add"):
        Extend()
    with pytest.raises(BadInput, match="instruction is empty"):
        Steer(text=" ")
    with pytest.raises(BadInput, match="did you mean pubmed"):
        Steer(add_source="pubmde")
    assert Extend.model_validate({"seconds": "30m"}).seconds == 1800
