"""The language of a text, by a trained identifier (`py3langid`)."""

from functools import lru_cache

MAX_READ = 2_000
"""Characters of a text that are read."""


@lru_cache(maxsize=4_096)
def language_of(text: str) -> str:
    """The two letters of ISO 639-1 of the language that a text is most likely in; empty without letters."""
    if not any(map(str.isalpha, text[:MAX_READ])):
        return ""
    import py3langid  # its model is read once, in half a second

    return str(py3langid.classify(text[:MAX_READ])[0])
