"""What was asked and answered about a report on the page."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

from activities.settings import Settings
from client.web.frame import Frame
from client.web.home import Home
from client.web.reading import MAX_TURNS, Talking


def talking(home: Path) -> Talking:
    """As a process of the page has it that was just started."""
    frame = SimpleNamespace(settings=Settings(home=home))
    return Talking(cast(Frame, frame), cast(Home, None))


def test_a_conversation_survives_the_process_and_is_its_users_own(home: Path) -> None:
    talking(home).keep("ada", "ask-1", "<p>first</p>")
    talking(home).keep("ada", "ask-1", "<p>\u00fcber</p>")
    assert talking(home).conversation("ada", "ask-1") == ["<p>first</p>", "<p>\u00fcber</p>"]
    assert talking(home).conversation("bob", "ask-1") == []
    for number in range(MAX_TURNS):
        talking(home).keep("ada", "ask-1", str(number))
    assert talking(home).conversation("ada", "ask-1") == [str(number) for number in range(MAX_TURNS)]
    (file,) = (home / "state" / "talks").iterdir()
    assert file.stat().st_mode & 0o077 == 0
    file.write_text("[")
    assert talking(home).conversation("ada", "ask-1") == []
