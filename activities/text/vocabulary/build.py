"""Make `irregular.txt` from the SPECIALIST Lexicon's table of lemmas in the package `lemminflect`.

    python -m activities.text.vocabulary.build LEMMA_LU_CSV_GZ

Kept are forms of words that WordNet has, that belong to one word only, and that the stemmer does not give the
stem of their word; not those of words that say little (`WEAK`), beside which they may say more: older people.
"""

import gzip
import sys
from collections import defaultdict
from pathlib import Path

from activities.text import thesaurus
from activities.text.tokens import WEAK, snowball

HEAD = """# Irregular forms of English words, each with its word: what Snowball does not reduce to it.
# From the SPECIALIST Lexicon (U.S. National Library of Medicine) as packed in lemminflect 0.2.3 (MIT), by
# `python -m activities.text.vocabulary.build`; one form and its word a line.
"""


def forms(table: Path) -> list[tuple[str, str]]:
    """Each irregular form with its word."""
    words: dict[str, set[str]] = defaultdict(set)
    with gzip.open(table, "rt", encoding="utf-8") as file:
        for line in file:
            form, _, of = line.strip().split(",")
            words[form].update(of.split("/"))
    single = {form: next(iter(of)) for form, of in words.items() if len(of) == 1}
    return sorted(
        (form, word)
        for form, word in single.items()
        if len(form) > 2
        and all(text.isascii() and text.isalpha() and text.islower() for text in (form, word))
        and snowball(form) != snowball(word)
        and word not in WEAK
        and thesaurus.senses(word)
    )


def main() -> None:
    found = forms(Path(sys.argv[1]))
    text = HEAD + "".join(f"{form} {word}\n" for form, word in found)
    Path(__file__).with_name("irregular.txt").write_text(text, encoding="utf-8")
    sys.stdout.write(f"{len(found)} forms\n")


if __name__ == "__main__":
    main()
