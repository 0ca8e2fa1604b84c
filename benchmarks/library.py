"""Cost of a folder of documents: the first index, a new process, one changed file.

    python -m benchmarks.library [--documents 3000] [--words 1300] [--keep FOLDER]

The documents are written by code from sentences of the bundled sample: text, Markdown, HTML, Word, PDF,
LaTeX and JSON lines. Each phase runs in a process of its own. Printed are its processor seconds until the
folder is open (its reading processes included) and those of a search, which the encoder takes, and the
seconds that pass for both.
"""

import argparse
import html
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import docx
import typst

from activities.documents.readers import readers
from activities.sources.library.index import Libraries
from activities.sources.library.source import SAMPLE
from activities.text.sentences import sentences

KINDS = (("txt", 30), ("md", 15), ("html", 15), ("docx", 10), ("pdf", 10), ("tex", 10), ("jsonl", 10))
"""Formats and how many of a hundred documents have them."""
QUERIES = (
    "vitamin D deficiency in children",
    "does surgery improve survival?",
    "risk of myocardial infarction",
)


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=3_000)
    parser.add_argument("--words", type=int, default=1_300)
    parser.add_argument("--keep", type=Path, help="write the documents there and leave them")
    parser.add_argument("--phase", nargs=2, type=Path, metavar=("FOLDER", "CACHE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.phase:
        phase(*options.phase)
        return
    with tempfile.TemporaryDirectory() as made:
        folder = options.keep or Path(made) / "documents"
        if not folder.exists():
            write(folder, options.documents, options.words)
        cache = Path(made) / "cache"
        print(f"{options.documents:,} documents of about {options.words:,} words")
        print("phase              open CPU s  open s  search CPU s  search s  documents")
        show("first index", folder, cache)
        show("new process", folder, cache)
        changed = min(folder.rglob("*.txt"))
        changed.write_text(f"{changed.read_text()} Colchicine was added.\n")
        show("one changed file", folder, cache)
        on_disk = sum(file.stat().st_size for file in cache.rglob("*") if file.is_file())
        print(f"index on disk      {on_disk / 1e6:.0f} MB")


def show(name: str, folder: Path, cache: Path) -> None:
    """Run a phase in a new process and print its row."""
    command = [sys.executable, "-m", "benchmarks.library", "--phase", str(folder), str(cache)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    figures = json.loads(done.stdout.splitlines()[-1])
    print(
        f"{name:<18} {figures['open_cpu']:>10.1f} {figures['open']:>7.2f}"
        f" {figures['search_cpu']:>13.1f} {figures['search']:>9.3f}"
        f" {figures['documents']:>10,}"
    )


def phase(folder: Path, cache: Path) -> None:
    """Open a folder and search it, once."""
    started = time.monotonic()
    index = Libraries(cache).open(folder)
    opened = time.monotonic()
    readers().close()
    opened_cpu = processor_seconds()
    began = time.monotonic()
    for query in QUERIES:
        found, _ = index.search(query, 10)
        assert found, query
    figures = {
        "open_cpu": opened_cpu,
        "open": opened - started,
        "search_cpu": (processor_seconds() - opened_cpu) / len(QUERIES),
        "search": (time.monotonic() - began) / len(QUERIES),
        "documents": index.count,
    }
    print(json.dumps(figures))


def processor_seconds() -> float:
    """Return those of this process so far, with those of its reading processes that have ended."""
    used = [resource.getrusage(kind) for kind in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def write(folder: Path, count: int, words: int) -> None:
    """Write the documents, the same ones each time."""
    rng = random.Random(11)
    sample = Libraries(folder / "sample").open(SAMPLE).documents
    known = [s.quote for d in sample for s in sentences(d) if len(s.quote.split()) > 4]
    titles = [d.title for d in sample]
    kinds = rng.choices([kind for kind, _ in KINDS], [share for _, share in KINDS], k=count)
    records = []
    for number, kind in enumerate(kinds):
        title = f"{rng.choice(titles)} Part {number}"
        body: list[str] = []
        length = 0
        while length < words * (0.5 + number % 11 / 10):
            body.append(rng.choice(known))
            length += len(body[-1].split())
        paragraphs = [" ".join(body[start : start + 6]) for start in range(0, len(body), 6)]
        place = folder / f"part{number % 20:02}" / f"paper-{number:05}.{kind}"
        place.parent.mkdir(parents=True, exist_ok=True)
        if kind == "jsonl":
            records.append(
                json.dumps({"title": title, "abstract": "\n".join(paragraphs), "year": 2000 + number % 25})
            )
        else:
            write_one(place, kind, title, paragraphs)
    (folder / "records.jsonl").write_text("\n".join(records))


def write_one(place: Path, kind: str, title: str, paragraphs: list[str]) -> None:
    """Write one document."""
    text = "\n\n".join(paragraphs)
    if kind == "txt":
        place.write_text(f"{title}\n\n{text}\n")
    elif kind == "md":
        place.write_text(f"# {title}\n\n{text}\n")
    elif kind == "html":
        body = "".join(f"<p>{html.escape(p)}</p>" for p in paragraphs)
        place.write_text(
            f"<html><head><title>{html.escape(title)}</title></head><body><h1>{html.escape(title)}</h1>{body}</body></html>"
        )
    elif kind == "tex":
        place.write_text(
            f"\\documentclass{{article}}\\title{{{tex(title)}}}\\begin{{document}}\\maketitle\n{tex(text)}\n\\end{{document}}"
        )
    elif kind == "docx":
        document = docx.Document()
        document.core_properties.title = title
        document.add_heading(title, 0)
        for paragraph in paragraphs:
            document.add_paragraph(paragraph)
        document.save(str(place))
    else:
        source = "".join(f"#{json.dumps(p, ensure_ascii=False)}\n\n" for p in [title, *paragraphs])
        place.write_bytes(typst.compile(source.encode()))


def tex(text: str) -> str:
    """Return the text with LaTeX's characters escaped."""
    return "".join(f"\\{c}" if c in "%&#_$" else c for c in text if c not in "\\{}^~")


if __name__ == "__main__":
    main()
