"""Messages to a run and its report are declared once, and every surface has each with all its fields."""

from typing import Any

import click
import pytest

from activities.settings import Settings
from client.api import Determinator
from client.cli.main import determinator
from client.failures import BadInput
from client.http.app import build_app
from client.http.tokens import TokenFile
from client.messages import MESSAGES, Verb
from client.web.running import inputs_of


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The paths of the HTTP interface."""
    client = Determinator(Settings(home=tmp_path_factory.mktemp("home")))
    described: dict[str, Any] = build_app(client, TokenFile.of_owner("of the owner")).openapi()["paths"]
    return described


@pytest.mark.parametrize("verb", MESSAGES.values(), ids=MESSAGES.keys())
def test_each_surface_has_each_message_with_its_fields(paths: dict[str, Any], verb: Verb) -> None:
    from client.mcp.research import TO_REPORT, TO_RUN, fields_of

    route = paths[f"/runs/{{run_id}}/{verb.name}"]["post"]
    assert verb.model is None or verb.model.__name__ in str(route["requestBody"])
    actions = TO_REPORT if verb.to == "report" else TO_RUN
    assert verb.fields.keys() <= fields_of(actions.values()).keys()
    if verb.group:  # else it is of another command: `plan edit`, `approve --dispute`
        command = determinator.get_command(click.Context(determinator), verb.name)
        assert command is not None
        assert verb.fields.keys() <= {option.name for option in command.params}
    if verb.on_page:
        whole, inputs = inputs_of(verb)
        assert {*filter(None, [whole]), *(str(field["name"]) for field in inputs)} == verb.fields.keys()


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("extend", {}, "nothing to add"),
        ("steer", {"text": " "}, "instruction is empty"),
        ("steer", {"add_source": "pubmde"}, "did you mean pubmed"),
        ("steer", {"texts": "adults"}, "texts: there is no such key"),
        ("answer", {}, "answers: it is missing"),
        ("pause", {"text": "a while"}, "pause takes no text"),
    ],
)
def test_a_message_that_no_run_could_take_is_refused_where_it_is_made(
    name: str, values: dict[str, object], message: str
) -> None:
    with pytest.raises(BadInput, match=message):
        MESSAGES[name].read(values)


def test_time_may_be_written_as_people_do() -> None:
    assert MESSAGES["extend"].read({"seconds": "30m"}) == MESSAGES["extend"].read({"seconds": 1800})
