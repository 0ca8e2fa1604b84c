"""How well each model reads is counted in the home, and a reader that misses errors is replaced."""

from collections.abc import Callable
from pathlib import Path

import pytest

from activities.contracts.evidence import ModelChoice, Vigilance
from activities.roles import readers
from client.cli.runs import lines_of_readers
from tests.activities.roles.conftest import Case
from tests.fake_openai import claims_of, says, sensible
from tests.replay import Asked, Reply

OTHER = ModelChoice(backend="openai", model="other")


def yes_to_all(asked: Asked) -> Reply:
    rows = [{"claim": label, "supported": "yes", "sentences": ["S1"]} for label in claims_of(asked)]
    return says({"verdicts": rows})(asked)


def test_calls_add_up_by_model_and_a_repeated_one_counts_once(tmp_path: Path) -> None:
    one = Vigilance(planted=4, noticed=3, true=4, refused=1)
    for model, prompt in (("a", "1"), ("a", "1"), ("a", "2"), ("b", "1")):
        readers.record(tmp_path, model, prompt, one)
    readers.record(tmp_path, "c", "1", Vigilance())
    path = tmp_path / readers.FILE
    path.write_text(f"{path.read_text()}no JSON\n")
    assert readers.totals(tmp_path) == {"a": one + one, "b": one}
    assert path.stat().st_mode & 0o077 == 0
    assert lines_of_readers(readers.totals(tmp_path))[0] == (
        "second reader a, all runs: found 6 of 8 planted errors (missed 25%, 95% interval 7% to 59%), "
        "refused 2 of 8 true sentences"
    )
    (line,) = lines_of_readers({"a": Vigilance(planted=15, noticed=15)})
    assert "(missed 0%, 95% interval 0% to 20%)" in line


def test_a_home_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file")
    readers.record(tmp_path, "a", "1", Vigilance(planted=1))
    assert readers.totals(tmp_path) == {}


@pytest.mark.parametrize("second", [sensible, yes_to_all])
async def test_a_reader_that_misses_planted_errors_is_replaced_by_the_next_model(
    case: Case, second: Callable[[Asked], Reply]
) -> None:
    def by_model(asked: Asked) -> Reply:
        return (second if asked.json()["model"] == "other" else yes_to_all)(asked)

    case.server.script(by_model)
    charged = await case.thinker.think("verifier", case.step("verifier", fallbacks=(OTHER,)))
    assert charged.output.vigilance.is_believed is (second is sensible)
    assert charged.usage.calls == 2
    assert sum(one.planted for one in readers.totals(case.settings.home).values()) > 0
