"""The `check.py` of a bundle: the text of `check_bundle` with the rules it shares with the quote check."""

from functools import cache
from importlib.resources import files

_IMPORT = "from activities.verification.normal_form import normalise, occurs\n"


@cache
def check_script() -> bytes:
    """One file that needs nothing but Python."""
    program = (files("client.reports") / "check_bundle.py").read_text("utf-8")
    rules = (files("activities.verification") / "normal_form.py").read_text("utf-8")
    before, found, after = program.partition(_IMPORT)
    assert found, "check_bundle imports the rules by another line"
    imports, _, body = rules.partition("import unicodedata\n")
    assert '"""' in imports, "the rules import more than `unicodedata`"
    return f"{before.rstrip()}\nimport unicodedata\n{body.rstrip()}\n{after}".encode()
