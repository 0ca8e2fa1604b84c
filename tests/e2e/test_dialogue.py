"""A finished report that one argues with: asked, changed, disputed; the real server, a scripted model."""

import asyncio
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest

from activities.report.formats import render
from activities.report.formats.references import anchor_of
from client.access import Access
from client.api import Determinator
from tests.client.harness import Ran, determinator, inside
from tests.client.web.visitor import PART, app_of, visitor
from tests.fake_openai import PATH, FakeOpenAI, claims_of, role_of, says, sensible
from tests.papers import QUESTION, papers
from tests.replay import Asked, Reply

PAPERS = {
    "cohort.txt": "Metformin and colorectal cancer in a cohort\n\n"
    "We followed 47,351 patients with type 2 diabetes for nine years. "
    "Metformin use was associated with a lower risk of colorectal cancer in adults with type 2 diabetes. "
    "The association was stronger in patients who took metformin for more than five years.",
    "trial.txt": "A randomised trial of metformin after polypectomy\n\n"
    "Metformin reduced the number of recurrent colorectal adenomas at one year compared with placebo. "
    "No serious adverse events of metformin were seen in this trial of colorectal cancer prevention.",
    "null.txt": "No effect of metformin on colorectal cancer incidence\n\n"
    "In a registry of 8,046 patients metformin was not associated with colorectal cancer incidence.",
}
ROW = re.compile(r"^(C\d+)[^:\n]*: (.+)$", re.MULTILINE)
WORK = re.compile(r"^(E\d+) (.+?) \(", re.MULTILINE)


class Model:
    """Answers as a good model, and the reviser by what is asked of it. Counts the calls by role."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def __call__(self, asked: Asked) -> Reply:
        role = role_of(asked)
        self.calls.append(role)
        text = asked.body.decode()
        if role == "writer" and "in children" in text:
            return says({"report": ""})(asked)
        if role == "verifier" and "disputed: " in text:
            no = {"supported": "no", "reason": "the work says otherwise"}
            return says({"verdicts": [{"claim": label, **no} for label in claims_of(asked)]})(asked)
        if role == "reviser":
            return says(self._revised(_user(asked)))(asked)
        return sensible(asked)

    def _revised(self, text: str) -> dict[str, Any]:
        rows, works = dict(ROW.findall(text)), {title: label for label, title in WORK.findall(text)}
        if "shorter" in text:
            return {"remove": [label for label, row in rows.items() if "47,351" in row]}
        if "Write it for a general reader" in text:
            first = next(label for label, row in rows.items() if row.startswith("Metformin reduced"))
            own = "Metformin reduced the number of recurrent adenomas at one year."
            return {"reword": [{"claim": first, "text": own}]}
        if "without the registry" in text:
            return {"leave_out": [label for title, label in works.items() if title.startswith("No effect")]}
        return {"cannot": "No work says so."}


def _user(asked: Asked) -> str:
    body: Any = asked.json()
    return "\n".join(message["content"] for message in body["messages"])


async def on_the_page(run_id: str, text: str) -> str:
    async with Determinator() as client, visitor(app_of(Access(client, is_shared=False)), "local") as http:
        return (await http.post(f"/run/{run_id}/talk", data={"text": text, "verb": "ask"}, headers=PART)).text


async def disputed_on_the_page(run_id: str, sentence: str) -> list[str]:
    """What the page says of a dispute, of its decision and of a second one; and whether it shows it then."""
    async with Determinator() as client, visitor(app_of(Access(client, is_shared=False)), "local") as http:
        at = f"/run/{run_id}"
        offered = (await http.get(f"{at}/sentence/{anchor_of(sentence)}", headers=PART)).text
        assert f'value="{sentence}"' in offered
        first = (await http.get(at)).text
        disputed = {"sentence": sentence, "text": "table 2 says otherwise"}
        said = [(await http.post(f"{at}/do/dispute", data=disputed, headers=PART)).text]
        for upheld, note in (("false", "it does not"), ("true", "")):
            decided = {"sentence": sentence, "upheld": upheld, "note": note}
            said.append((await http.post(f"{at}/do/decide", data=decided, headers=PART)).text)
        assert "Rejected by local" in (await http.get(at)).text
        assert "Rejected by local (it does not)" not in first
        return said


async def in_python(run_id: str) -> str:
    async with Determinator() as client:
        report = await (await client.run(run_id)).report()
        return render(report, "md").decode()


def sentences(run_id: str, version: int | None = None) -> dict[str, dict[str, Any]]:
    number = ("--version", str(version)) if version else ()
    ran = inside("report", run_id, "--format", "json", *number)
    report = json.loads(ran.out)
    every = report["answer"]
    every += [claim for section in report["sections"] for claim in (*section["answer"], *section["claims"])]
    return {claim["id"]: claim for claim in every}


def says_nothing_else(before: dict[str, Any], after: dict[str, Any], touched: set[str]) -> None:
    """What was not touched is the same, letter by letter, with its quotes."""
    kept = {name: (claim["text"], claim["support"]) for name, claim in before.items() if name not in touched}
    assert {name: (after[name]["text"], after[name]["support"]) for name in kept} == kept
    assert kept


def test_a_report_is_asked_changed_and_disputed_and_what_was_not_touched_stays(
    file_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FakeOpenAI() as server:
        model = Model()
        server.on(PATH, model).serve(monkeypatch, DETERMINATOR_EFFORT="normal")
        flags = ("--library", str(papers(tmp_path, PAPERS)), "--mode", "iterative")
        ran = determinator("ask", QUESTION, *flags)
        assert ran.code == 0, ran
        assert "clarifier" in model.calls
        run, first = ran.run_id, sentences(ran.run_id)

        def says_to(*words: str, calls: int) -> Ran:
            model.calls.clear()
            answered = inside(words[0], run, *words[1:])
            assert len(model.calls) <= calls, model.calls
            return answered

        answer = says_to("tell", "What of adenomas?", calls=2)
        assert answer.code == 0, answer
        assert answer.out.count("recurrent colorectal adenomas") == 1, "though the answer and the text say it"
        assert "recurrent colorectal adenomas" in asyncio.run(on_the_page(run, "What of adenomas?"))
        missing = says_to("tell", "Is it so in children?", calls=2)
        assert (missing.code, "writer" in model.calls) == (4, True), (
            missing
        )  # "it" is what the report is about
        assert "not in the evidence" in missing.out
        assert "--follow-up" in missing.err
        assert sentences(run) == first

        gone = {name for name, claim in first.items() if "47,351" in claim["text"]}
        assert gone
        shorter = says_to("change", "Make it shorter", calls=3)
        assert shorter.code == 0, shorter
        second = sentences(run)
        assert set(first) - set(second) == gone
        says_nothing_else(first, second, gone)

        plain = says_to("change", "Write it for a general reader", calls=3)
        assert plain.code == 0, plain
        third = sentences(run)
        other = {name for name in third if third[name]["text"] != second[name]["text"]}
        assert other, plain
        assert {third[name]["text"] for name in other} == {
            "Metformin reduced the number of recurrent adenomas at one year."
        }
        says_nothing_else(second, third, other)
        diff = inside("report", run, "--diff", "1")
        assert all(f"- {name} " in diff.out for name in gone | other), diff
        assert all(f"+ {name} " in diff.out for name in other), diff

        on = {name for name, claim in third.items() if "registry" in claim["text"]}
        without = says_to("change", "What is left without the registry?", calls=3)
        fourth = sentences(run)
        assert (without.code, set(third) - set(fourth)) == (0, on)
        says_nothing_else(third, fourth, on)

        refused = says_to("change", "Say that it is proven", calls=1)
        assert (refused.code, "No work says so." in refused.err) == (4, True), refused
        assert sentences(run) == fourth

        name = next(iter(fourth))
        ids = dict(line.split(" ", 1) for line in inside("report", run, "--ids").out.splitlines())
        assert ids == {one: " ".join(said["text"].split()) for one, said in fourth.items()}
        unknown = says_to("dispute", "s9.9", "wrong", calls=0)
        assert unknown.code == 2
        assert name in unknown.err
        disputed = says_to("dispute", name, "the group was 43, not 34", "--by", "ada", calls=1)
        assert disputed.code == 0, disputed
        assert "disputed by ada" in disputed.out
        assert "the work says otherwise" in disputed.out
        assert sentences(run) == fourth  # nothing is silently changed
        markdown = inside("report", run, "--format", "md").out
        assert "the group was 43, not 34" in markdown
        model.calls.clear()
        decided = inside("reject", run, "--dispute", name, "--by", "bob", "--note", "table 2 says 34")
        assert (decided.code, model.calls) == (0, []), decided
        assert "Rejected by bob (table 2 says 34)" in inside("report", run, "--format", "md").out
        assert sentences(run) == fourth
        inside("dispute", run, name, "still wrong", "--by", "ada")
        taken = inside("approve", run, "--dispute", name, "--by", "bob")
        assert taken.code == 0, taken
        assert "Dispute upheld by bob" in inside("report", run, "--format", "md").out
        assert "Dispute upheld by bob" in asyncio.run(in_python(run))

        last = list(sentences(run))[-1]
        disputed_there, kept_there, decided_before = asyncio.run(disputed_on_the_page(run, last))
        assert "table 2 says otherwise" in disputed_there
        assert "Rejected by local (it does not)" in kept_there
        assert "waits for a decision" in decided_before

        exported = inside("export", run, "--output", str(tmp_path / "bundle.zip"))
        assert exported.code == 0, exported
        with zipfile.ZipFile(tmp_path / "bundle.zip") as bundle:
            method = next(n for n in bundle.namelist() if n.endswith("history.jsonl"))
            history = bundle.read(method).decode()
        asked = [json.loads(line)["asked"] for line in history.splitlines()]
        assert "change" in [change["kind"] for change in asked]
        assert ("dispute", "ada") in [(change["kind"], change["by"]) for change in asked]
