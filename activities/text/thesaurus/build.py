"""Make `wordnet.txt.gz` and `antonyms.txt` from WordNet 3.1 (`data.*`, `index.sense` of its `dict` folder).

    python -m activities.text.thesaurus.build DICT_FOLDER

One line a synset: part of speech (n, v, a, r) with the number of WordNet's file (`n08`: parts of the body),
its words, each with the rank of this sense of theirs where it is not the first (`attack~3`) and with how
often it was met in that sense in WordNet's tagged texts (`attack~3=2`), the lines of its hypernyms, of its
hyponyms, and of what it is derived from or pertains to and the other way round (`renal` pertains to
`kidney`). Left out: instances (people and places by name), places, objects, animals and plants, and synsets
without a link to another word.

`antonyms.txt` has a line for each adjective with antonyms: the adjective, a tab, and its antonyms in any of
its meanings, with semicolons.
"""

import gzip
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

FILES = {"n": "data.noun", "v": "data.verb", "a": "data.adj", "r": "data.adv"}
LEFT_OUT = {"05", "15", "17", "20"}
"""WordNet's files of animals, places, natural objects and plants."""
Key = tuple[str, str]


class Synset(NamedTuple):
    file: str
    words: tuple[str, ...]
    hypernyms: tuple[Key, ...]
    related: tuple[Key, ...]


def synsets(folder: Path) -> dict[Key, Synset]:
    """Every synset that is kept, by part of speech and offset."""
    found: dict[Key, Synset] = {}
    for pos, name in FILES.items():
        for line in (folder / name).read_text(encoding="ascii").splitlines():
            if line.startswith("  "):
                continue
            parts = line.split(" | ", 1)[0].split()
            offset, lex, _, count = parts[0], parts[1], parts[2], int(parts[3], 16)
            words = tuple(w.split("(")[0].replace("_", " ").lower() for w in parts[4 : 4 + 2 * count : 2])
            rest = parts[4 + 2 * count + 1 :]
            pointers = [rest[i : i + 4] for i in range(0, len(rest) - 3, 4)]
            pointers = pointers[: int(parts[4 + 2 * count])]
            if lex in LEFT_OUT or any(p[0] == "@i" for p in pointers):
                continue
            found[pos, offset] = Synset(
                lex,
                words,
                tuple((_pos(p[2]), p[1]) for p in pointers if p[0] == "@" and pos == "n"),
                tuple((_pos(p[2]), p[1]) for p in pointers if p[0] in ("\\", "+")),
            )
    return found


def _pos(letter: str) -> str:
    return "a" if letter == "s" else letter


def ranks(folder: Path) -> dict[tuple[str, str, str], tuple[int, int]]:
    """(word, part of speech, offset) -> the rank of that sense among the word's, and how often it was met."""
    letters = {"1": "n", "2": "v", "3": "a", "4": "r", "5": "a"}
    found = {}
    for line in (folder / "index.sense").read_text(encoding="ascii").splitlines():
        key, offset, number, met = line.split()
        word, _, sense = key.partition("%")
        found[word.replace("_", " "), letters[sense[0]], offset] = (int(number), int(met))
    return found


def lines(folder: Path) -> list[str]:
    kept, rank = synsets(folder), ranks(folder)
    kept_keys = list(kept)
    place = {key: number for number, key in enumerate(kept_keys)}
    down: dict[Key, list[Key]] = defaultdict(list)
    back: dict[Key, list[Key]] = defaultdict(list)
    for key in kept_keys:
        for other in kept[key].hypernyms:
            down[other].append(key)
        for other in kept[key].related:
            back[other].append(key)

    def listed(keys: Iterable[Key]) -> str:
        return ",".join(str(place[k]) for k in dict.fromkeys(keys) if k in place)

    found = []
    for key in kept_keys:
        synset = kept[key]
        words = []
        for word in dict.fromkeys(synset.words):
            number, met = rank.get((word, *key), (1, 0))
            words.append(word + (f"~{number}" if number > 1 else "") + (f"={met}" if met else ""))
        near = listed((*synset.related, *back[key]))
        row = (key[0] + synset.file, ";".join(words), listed(synset.hypernyms), listed(down[key]), near)
        found.append("\t".join(row))
    return found


def antonyms(folder: Path) -> list[str]:
    """Each adjective of one word with its direct antonyms."""
    rows = []
    for line in (folder / FILES["a"]).read_text(encoding="ascii").splitlines():
        if not line.startswith("  "):
            parts = line.split(" | ", 1)[0].split()
            count = int(parts[3], 16)
            rows.append((parts[0], [w.split("(")[0].lower() for w in parts[4 : 4 + 2 * count : 2]], parts))
    words = {offset: named for offset, named, _ in rows}
    found: dict[str, set[str]] = defaultdict(set)
    for _, named, parts in rows:
        rest = parts[4 + 2 * len(named) + 1 :]
        for kind, offset, _, places in (rest[i : i + 4] for i in range(0, len(rest) - 3, 4)):
            if kind == "!":
                own, of_other = (int(place, 16) - 1 for place in (places[:2], places[-2:]))
                one, other = named[own], words[offset][of_other]
                if "_" not in one + other:
                    found[one].add(other)
    return [f"{word}\t{';'.join(sorted(found[word]))}" for word in sorted(found)]


def main() -> None:
    text = "\n".join(lines(Path(sys.argv[1]))) + "\n"
    target = Path(__file__).parent / "wordnet.txt.gz"
    with target.open("wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
        packed.write(text.encode("ascii"))
    opposed = "\n".join(antonyms(Path(sys.argv[1]))) + "\n"
    (target.parent / "antonyms.txt").write_text(opposed, encoding="ascii")
    sys.stdout.write(f"{text.count(chr(10))} synsets, {target.stat().st_size} bytes\n")


if __name__ == "__main__":
    main()
