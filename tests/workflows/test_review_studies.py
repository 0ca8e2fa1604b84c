"""The later stages of a review on a real server: full texts, data, risk of bias, a report, what changes."""

import asyncio
import json
import sys
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from temporalio.client import Client

from activities.contracts.evidence import Evidence
from activities.review.protocol import (
    Calibration,
    Criterion,
    ExtractionField,
    Living,
    PooledOutcome,
    Protocol,
    ReviewQuestion,
    Screener,
    SourceQuery,
)
from client.access import Access
from client.failures import BadInput
from client.reviews.review import Review
from determinator import Determinator
from tests.activities.review.test_bias import BEST
from tests.client.web.visitor import app_of, fields_in, page_with, tree_of, visitor
from tests.fake_openai import evidence_of, labels_by_work, role_of, says, sentences_of
from tests.replay import Asked, Reply
from tests.workflows.test_review import PATIENCE, POLL_SECONDS, Desk, a_desk, amend, decide

TRIALS = 6
EVENTS = (8, 12, 15, 20, 9, 14)


def a_trial(number: int) -> Evidence:
    about = "Rats" if number == TRIALS - 1 else "Adults"
    return Evidence(
        evidence_id=f"pmid:{number + 1}",
        source="library",
        title=f"Trial {number} of the drug in {about.lower()} with the disease",
        text=f"{about} with the disease were allocated by chance to the drug or placebo in trial {number}.",
        authors=(f"Doe{number}, J.",),
        year=2000 + number,
        identifiers={"pmid": str(number + 1)},
        evidence_type="article",
    )


def full_text(number: int) -> str:
    about = "Rats" if number == TRIALS - 1 else "Adults"
    filler = "The methods of the trial are described at length in its protocol and here. " * 5
    return (
        f"{a_trial(number).title}\n\n{about} with the disease were studied in two large hospitals of a town. "
        f"A central computer allocated the participants, and nobody knew their group. {filler}"
        f"Of the 200 given the drug {EVENTS[number]} died, and of the 200 given placebo {30 + number} died. "
        f"The dose of the drug was {10 + number} mg once a day in all of the participants.\n"
    )


def model(asked: Asked) -> Reply:
    """Both models include by title; the second reads another dose in trial 2, and is unsure of trial 1."""
    second = json.loads(asked.body)["model"] == "second"
    labels, texts = labels_by_work(asked), sentences_of(asked)
    by_words = {text: label for label, text in texts.items()}

    def of(part: str) -> list[str]:
        return [label for text, label in by_words.items() if part in text][:1]

    text = next(iter(evidence_of(asked).values()))
    answers: dict[str, Any] = {}
    match role_of(asked):
        case "screener":
            rows = [
                {"work": one, "verdict": "include", "criterion": "I1", "sentences": labels[one][:1]}
                for one in evidence_of(asked)
            ]
            answers = {"decisions": rows}
        case "full_text_screener":
            rats = "Rats with the disease" in text
            unsure = second and "in trial 1." in text
            answers = {
                "decision": "unsure" if unsure else "exclude" if rats else "include",
                "criterion": "E1" if rats else "",
                "reason": "rats" if rats else "adults",
                "sentences": of("were studied in two large hospitals"),
            }
        case "data_extractor":
            number = next(n for n in range(TRIALS) if f"in trial {n}." in text)
            died, dose = of(f"drug {EVENTS[number]} died"), of("once a day")
            figures = {"events": EVENTS[number], "total": 200}
            figures |= {"control_events": 30 + number, "control_total": 200}
            values = [
                {"field": f"death.{name}", "value": str(value), "sentences": died}
                for name, value in figures.items()
            ]
            shown = f"{10 + number} mg" if not (second and number == 2) else f"{10 + number} mg once a day"
            answers = {"values": [*values, {"field": "dose", "value": shown, "sentences": dose}]}
        case "bias_assessor":
            by = of("A central computer allocated")
            answers = {
                "values": [
                    {"field": number, "value": answer, "reason": "as told", "sentences": by}
                    for number, answer in BEST.items()
                    if number != "5.3"
                ]
            }
    return says(answers, usage=(1_000, 100))(asked)


PROTOCOL = Protocol(
    title="The drug in adults with the disease: a systematic review",
    question=ReviewQuestion(population="adults", intervention="the drug", comparator="placebo"),
    criteria=(
        Criterion(id="I1", text="adults with the disease"),
        Criterion(id="E1", text="animals", kind="exclude"),
    ),
    records=("a.ris",),
    screeners=(
        Screener(name="m1", kind="model", model="first"),
        Screener(name="m2", kind="model", model="second"),
    ),
    stopping="read_all",
    calibration=Calibration(records=0),
    extraction=(ExtractionField(id="dose", label="Dose"),),
    outcomes=(PooledOutcome(id="death", label="death", measure="RR"),),
    bias="rob2",
)


SEARCHED = PROTOCOL.replace(records=(), sources=(SourceQuery(source="library", query="the drug"),))


@pytest.fixture
async def desk(temporal_client: Client, tmp_path: Path) -> AsyncIterator[Desk]:
    async with a_desk(temporal_client, tmp_path) as desk:
        desk.server.script(model)
        yield desk


async def begun(desk: Desk, protocol: Protocol = PROTOCOL, **more: Any) -> Review:
    """A review of the trials that waits for their full texts."""
    return await desk.begin(protocol, "full_texts", works=list(map(a_trial, range(TRIALS))), **more)


async def texts_provided(review: Review, folder: Path, numbers: range = range(TRIALS)) -> None:
    write_texts(folder, numbers)
    await review.provide(folder, by="Ada")


def write_texts(folder: Path, numbers: range) -> None:
    folder.mkdir(exist_ok=True)
    for number in numbers:
        (folder / f"pmid-{number + 1}.txt").write_text(full_text(number))


async def reported(desk: Desk, folder: Path, protocol: Protocol = PROTOCOL, trials: int = TRIALS) -> Review:
    """A review whose report waits, with the full texts of these trials."""
    review = await begun(desk, protocol)
    await texts_provided(review, folder, range(trials))
    await decided(desk, review)
    return review


async def decided(desk: Desk, review: Review) -> None:
    """A person decides all that waits after the full texts, until the report waits."""
    async with asyncio.timeout(PATIENCE):
        while (progress := await review.progress()).gate != "report":
            if progress.gate == "decisions":
                await decide(review, 1, True, by="Ada", full_texts=True)
            elif progress.gate == "extraction":
                for task in await review.tasks():
                    await review.decide_field(task.record, task.fields[0].id, "first", by="Ada")
            elif progress.gate == "bias":
                for row in await review.tasks():
                    await review.assess(row.record, {"5.3": "N"}, by="Ada", outcome=row.outcome)
            await asyncio.sleep(POLL_SECONDS)


async def test_a_review_goes_from_full_texts_to_a_pooled_conclusion(desk: Desk, tmp_path: Path) -> None:
    review = await begun(desk)
    assert [task.kind for task in await review.tasks()] == ["text"] * TRIALS
    await texts_provided(review, tmp_path / "texts", range(1, TRIALS))
    assert [text.record for text in await review.tasks()] == [0]
    await review.approve(by="Ada")  # the last one cannot be had
    progress = await desk.until(review, lambda progress: progress.gate == "decisions")
    assert "full texts" in progress.text
    (conflict,) = await review.tasks()
    assert {decision.by: decision.verdict for decision in conflict.decisions} == {
        "m1": "include",
        "m2": "unsure",
    }
    await decide(review, 1, True, by="Ada", full_texts=True)
    await desk.until(review, lambda progress: progress.gate == "extraction")
    (row,) = await review.tasks()
    assert (row.record, row.kind, [field.id for field in row.fields]) == (2, "field", ["dose"])
    assert [value and value.text for value in row.values] == ["12 mg", "12 mg once a day"]
    with pytest.raises(BadInput, match="word for word"):
        await review.decide_field(2, "dose", "13 mg", by="Ada", quote="words that do not stand in the text")
    await review.decide_field(2, "dose", "second", by="Ada", reason="as printed")
    await desk.until(review, lambda progress: progress.gate == "bias")
    waiting = await review.tasks()
    assert [(task.record, task.kind) for task in waiting] == [(n, "bias") for n in (1, 2, 3, 4)]
    with pytest.raises(BadInput, match=r"answer 5\.3 first"):
        await review.assess(1, by="Ada", outcome="death")
    for task in waiting[:3]:
        await review.assess(task.record, {"5.3": "N"}, by="Ada", outcome=task.outcome)
    await review.assess(4, by="Ada", outcome="death", not_a_trial=True)
    await desk.until(review, lambda progress: progress.gate == "report")
    published = await review.published()
    flow = published.report.flow
    assert flow.faults() == ()
    assert (flow.sought, flow.not_retrieved, flow.assessed, flow.included) == (6, 1, 5, 4)
    assert flow.excluded_because == {"E1": 1}
    findings = published.findings
    assert findings is not None
    (synthesis,) = findings.syntheses
    assert synthesis.pool is not None
    assert len(synthesis.pool.rows) == 4
    assert (synthesis.conclusion.direction, synthesis.conclusion.starts) == ("lower", "high")
    kinds = {study.evidence_id: study.evidence_type for study in findings.studies}
    assert kinds["pmid:2"] == "randomized_trial"  # the record does not say it, and a person does
    assert [bias.overall for bias in findings.bias] == ["low"] * 3
    assert findings.not_assessed == ("pmid:5",)
    assert findings.excluded[0].support[0].quote in full_text(5)
    text = (await review.report("md")).decode()
    for part in ("Doe1 2001", "12 mg once a day", "Pooled risk ratio", "PRISMA 2020 checklist", "animals"):
        assert part in text, part
    assert "Ada" not in text
    files = await review.export(tmp_path / "out")
    assert "extraction.csv" in {path.name for path in files}
    assert {tool.stage for tool in published.state.tools.values()} == {
        "titles",
        "full_texts",
        "extraction",
        "bias",
    }


def asked_since(desk: Desk, number: int) -> Counter[str]:
    """The roles that were asked since so many calls."""
    return Counter(map(role_of, desk.server.asked[number:]))


async def test_what_is_amended_or_overruled_is_read_again_and_nothing_else(
    desk: Desk, tmp_path: Path
) -> None:
    review = await reported(desk, tmp_path / "texts")
    before = (await review.published()).findings
    calls = len(desk.server.bodies)
    town = ExtractionField(id="town", label="Where it was done")
    await amend(review, PROTOCOL.replace(extraction=(*PROTOCOL.extraction, town)))
    await desk.until(review, lambda progress: progress.version == 2 and progress.gate != "report")
    await decided(desk, review)
    # both extractors, each of the five studies, and the new field alone
    assert asked_since(desk, calls) == {"data_extractor": 2 * (TRIALS - 1)}
    bodies = [request.body.decode() for request in desk.server.asked[calls:]]
    assert all("town: Where it was done" in body and "dose: Dose" not in body for body in bodies)
    after = (await review.published()).findings
    assert before is not None
    assert after is not None
    assert after.bias == before.bias
    assert [row.values for row in after.rows] == [row.values for row in before.rows]
    assert len(after.fields) == len(before.fields) + 1
    assert (await review.published()).report.notice == ""  # no conclusion changed
    # another outcome that is not pooled asks nobody
    calls = len(desk.server.bodies)
    protocol = (await review.view()).protocol
    outcomes = (protocol.outcomes[0].replace(pool=False),)
    await amend(review, protocol.replace(outcomes=outcomes))
    await desk.until(
        review, lambda progress: progress.version == 3 and progress.gate == "report" and progress.reports == 3
    )
    await review.overrule(3, "exclude", reason="twice published", by="Ada", criterion="I1", full_texts=True)
    await desk.until(review, lambda progress: progress.reports == 4)
    findings = (await review.published()).findings
    assert findings is not None
    assert [study.record for study in findings.studies] == [0, 1, 2, 4]
    assert any(text.reason == "twice published" for text in findings.excluded)
    assert asked_since(desk, calls) == {}
    # the one on rats is taken in after all: it alone is extracted by both, and its risk of bias is proposed
    await review.overrule(5, "include", reason="rats count", by="Ada", full_texts=True)
    await desk.until(review, lambda progress: progress.gate in ("extraction", "bias"))
    await decided(desk, review)
    assert asked_since(desk, calls) == {"data_extractor": 2, "bias_assessor": 1}


async def test_what_is_included_while_data_wait_is_read_before_anybody_is_asked_for_more(
    desk: Desk, tmp_path: Path
) -> None:
    """Nobody but the models may give its data, so that it would wait for ever."""
    review = await begun(desk)
    await texts_provided(review, tmp_path / "texts")
    await desk.until(review, lambda progress: progress.gate == "decisions")
    await decide(review, 1, True, by="Ada", full_texts=True)
    await desk.until(review, lambda progress: progress.gate == "extraction")
    calls = len(desk.server.bodies)
    await review.overrule(5, "include", reason="rats count", by="Ada", full_texts=True)
    await decided(desk, review)
    assert asked_since(desk, calls) == {"data_extractor": 2, "bias_assessor": 6}
    assert (await review.published()).report.flow.included == 6


async def test_a_full_text_that_is_replaced_or_comes_late_is_read_anew(desk: Desk, tmp_path: Path) -> None:
    review = await begun(desk)
    write_texts(tmp_path / "texts", range(4))
    preface = "Rodents sleep by day and eat by night, in all seasons. " * 130
    (tmp_path / "wrong.txt").write_text(f"The habits of rodents\n\n{preface}{full_text(5)}")
    lines = await review.provide(tmp_path / "wrong.txt", record=2, by="Ada")
    assert "wrong.txt has neither the title nor an identifier of the record: is it its text?" in lines
    (tmp_path / "texts" / "pmid-3.txt").unlink()
    await review.provide(tmp_path / "texts", by="Ada")
    await review.approve(by="Ada")  # 4 and 5 are not retrieved
    await decided(desk, review)
    flow = (await review.published()).report.flow
    assert (flow.not_retrieved, flow.excluded_because, flow.included) == (2, {"E1": 1}, 3)
    with pytest.raises(BadInput, match="not sought"):
        await review.provide(tmp_path / "wrong.txt", record=6, by="Ada")
    calls = len(desk.server.bodies)
    write_texts(tmp_path / "right", range(2, 3))
    await review.provide(tmp_path / "right" / "pmid-3.txt", record=2, by="Ada")
    write_texts(tmp_path / "late", range(4, 5))
    assert await review.provide(tmp_path / "late", by="Ada") == ["1 full text provided"]
    await desk.until(review, lambda progress: progress.gate == "extraction")
    await decided(desk, review)
    flow = (await review.published()).report.flow
    assert (flow.not_retrieved, flow.excluded_because, flow.included, flow.faults()) == (1, {}, 5, ())
    assert asked_since(desk, calls) == {"full_text_screener": 4, "data_extractor": 4, "bias_assessor": 2}
    # what a person decided on the data of the text before is void, what rests on another text stands
    calls, decisions = len(desk.server.bodies), await review.decisions()
    await asyncio.sleep(1.1)  # the time of a decision is in seconds
    await review.provide(tmp_path / "right" / "pmid-3.txt", record=2, by="Ada")
    progress = await desk.until(review, lambda progress: progress.gate == "extraction")
    assert progress.text == "extractors differ on 1 field"
    assert len(await review.decisions()) > len(decisions)
    await decided(desk, review)
    assert (await review.published()).report.flow.included == 5


async def test_a_retracted_work_goes_to_a_person_who_is_told(desk: Desk, tmp_path: Path) -> None:
    works = [a_trial(0).replace(standing="retracted"), a_trial(3)]
    review = await desk.begin(PROTOCOL, "full_texts", works=works)
    assert [task.warning for task in await review.tasks()] == ["RETRACTED", ""]
    write_texts(tmp_path / "texts", range(TRIALS))
    await review.provide(tmp_path / "texts", by="Ada")
    await desk.until(review, lambda progress: progress.gate == "decisions")
    (task,) = await review.tasks()
    assert (task.record, task.kind, task.warning) == (0, "conflict", "RETRACTED")
    assert {row.reason for row in task.decisions} == {"the work was retracted, and no model reads it"}
    tools = (await review.view()).tools.values()
    calls = {row.screener: row.calls for row in tools if row.stage == "full_texts"}
    assert calls == {"m1": 1, "m2": 1}


async def test_a_later_search_screens_and_reads_only_what_is_new(desk: Desk, tmp_path: Path) -> None:
    desk.found = [a_trial(number) for number in range(2)]
    review = await reported(desk, tmp_path / "texts", SEARCHED.replace(living=Living(every_days=30)), 2)
    await review.approve(by="Ada")
    await desk.until(review, lambda progress: bool(progress.next_search))
    calls = len(desk.server.bodies)
    desk.found = [a_trial(number) for number in (0, 1, 2, 4)]
    await review.resume()  # in the place of thirty days
    await desk.until(review, lambda progress: progress.gate == "full_texts")
    assert [text.record for text in await review.tasks()] == [2, 3]
    write_texts(tmp_path / "more", range(2, 3))
    write_texts(tmp_path / "more", range(4, 5))
    await review.provide(tmp_path / "more", by="Ada")
    await decided(desk, review)
    # one call of each model for both titles, then each full text by both
    assert asked_since(desk, calls) == {
        "screener": 2,
        "full_text_screener": 4,
        "data_extractor": 4,
        "bias_assessor": 2,
    }
    published = await review.published()
    assert published.findings is not None
    assert [study.evidence_id for study in published.findings.studies] == [f"pmid:{n}" for n in (1, 2, 3, 5)]
    assert [(row.records, row.new) for row in published.state.searches] == [(2, 2), (4, 2)]
    assert desk.ages == {0}, "an answer that is kept from the day before is none"
    assert published.report.flow.faults() == ()
    # a search that finds nothing new changes nothing, and the approved report stands
    await review.approve(by="Ada")
    await desk.until(review, lambda progress: progress.phase == "waiting")
    calls = len(desk.server.bodies)
    await review.resume()
    async with asyncio.timeout(PATIENCE):
        while len((await review.view()).searches) < 3:  # noqa: ASYNC110 - of another process
            await asyncio.sleep(POLL_SECONDS)
    await desk.until(review, lambda progress: progress.phase == "waiting")
    assert (asked_since(desk, calls), (await review.progress()).reports) == ({}, 2)
    # a decision that comes while it searches reaches the report
    phases = list[str]()

    async def overruled() -> None:
        phases.append((await review.progress()).phase)
        await review.overrule(0, "exclude", reason="not adults", by="Ada", criterion="I1")

    desk.meanwhile = overruled
    await review.resume()
    await desk.until(review, lambda progress: progress.gate == "report")
    assert phases == ["searching"]
    flow = (await review.published()).report.flow
    assert (flow.excluded, flow.included, flow.faults()) == (1, 3, ())


async def test_a_source_that_is_down_is_waited_for(desk: Desk) -> None:
    """An outage is no answer, and a resume that comes while the source is asked has it asked again."""
    desk.found, desk.outage = [a_trial(0)], "the network is away"
    review = await desk.start(SEARCHED)
    asked = list[str]()

    async def resumed() -> None:
        asked.append("search")
        if len(asked) == 1:
            await review.resume()

    desk.meanwhile = resumed
    await review.approve(by="Ada")
    progress = await desk.until(review, lambda progress: progress.gate == "model" and len(asked) == 2)
    assert progress.phase == "waiting for library"
    assert "library does not answer (the network is away); asked again at" in progress.text
    assert not (await review.view()).searches
    desk.outage = ""
    await review.resume()
    await desk.until(review, lambda progress: progress.gate == "full_texts")
    assert [(row.status, row.new) for row in (await review.view()).searches] == [("ok", 1)]
    assert len(asked) == 3, "it is asked once more for each"


def client_of(desk: Desk, review: Review) -> Determinator:
    """A client whose only review is this one."""

    async def found(_: str) -> Review:
        return review

    return cast(Determinator, SimpleNamespace(settings=desk.settings, review=found))


async def test_full_texts_are_given_and_fields_and_risk_of_bias_decided_on_the_page(
    desk: Desk, tmp_path: Path
) -> None:
    review = await begun(desk)
    at = f"/review/{review.id}"
    async with visitor(app_of(Access(client_of(desk, review), is_shared=False)), "local") as http:
        page = await page_with(http, f"{at}?by=Ada", f"//form[@action='{at}/texts']")
        assert "pmid:2: Trial 1 of the drug" in page.xpath("string(//main)")
        texts = {f"pmid-{number + 1}.txt": full_text(number) for number in range(1, 3)}
        texts |= {"../..": "Of none.", "a/other.txt": "Of none."}
        files = [("files", (name, text.encode())) for name, text in texts.items()]
        answer = await http.post(f"{at}/texts", data={"by": "Ada"}, files=files)
        assert "other.txt is the text of no awaited record" in answer.text
        assert "2 full texts provided" in answer.text, "no name leads out of the folder"
        await review.approve(by="Ada")
        await desk.until(review, lambda progress: progress.gate == "decisions")
        page = await page_with(http, f"{at}?by=Ada", f"//form[@action='{at}/decide']")
        assert "two large hospitals" in page.xpath("string(//article)")  # the full text, on which they differ
        assert "m2: unsure" in page.xpath("string(//article)")
        fields = {**fields_in(page.xpath(f"//form[@action='{at}/decide']")[0]), "verdict": "exclude"}
        assert (await http.post(f"{at}/decide", data=fields)).status_code == 400  # it names no criterion
        sent = await http.post(f"{at}/decide", data={**fields, "verdict": "include"})
        assert (sent.status_code, ".full_texts" in sent.headers["location"]) == (303, True)
        again = tree_of((await http.get(f"{at}?by=Ada&at=1&stage=full_texts")).text)
        assert "two large hospitals" in again.xpath("string(//article)"), "the record before is its full text"
        assert fields_in(again.xpath(f"//form[@action='{at}/decide']")[0])["full_texts"] == ["true"]
        await desk.until(review, lambda progress: progress.gate == "extraction")
        page = await page_with(http, f"{at}?by=Ada", f"//form[@action='{at}/field']")
        (form,) = page.xpath(f"//form[@action='{at}/field']")
        assert "12 mg once a day" in form.xpath("string()")
        fields = {**fields_in(form), "value": "12 mg", "quote": "not in the text at all"}
        assert (await http.post(f"{at}/field", data=fields)).status_code == 400
        assert (await http.post(f"{at}/field", data={**fields, "quote": ""})).status_code == 303
        await desk.until(review, lambda progress: progress.gate == "bias")
        assess = f"//form[@action='{at}/assess']"
        page = await page_with(http, f"{at}?by=Ada", assess)
        assert "A central computer allocated" in page.xpath("string(//article)")
        first = fields_in(page.xpath(assess)[0])
        assert first["answers/1.1"] == [BEST["1.1"]]  # as the model proposes
        assert (await http.post(f"{at}/assess", data=first)).status_code == 400
        assert (await http.post(f"{at}/assess", data={**first, "answers/5.3": "N"})).status_code == 303
        second = fields_in((await page_with(http, f"{at}?by=Ada", assess)).xpath(assess)[0])
        assert second["record"] != first["record"]
        assert (await http.post(f"{at}/assess", data={**second, "not_a_trial": "yes"})).status_code == 303
        assert (await http.post(f"{at}/assess", data={**second, "by": ""})).status_code == 400
    await desk.until(review, lambda progress: progress.gate == "report")
    findings = (await review.published()).findings
    assert findings is not None
    assert [bias.overall for bias in findings.bias] == ["low"]
    assert {row.text("dose") for row in findings.rows} == {"11 mg", "12 mg"}


async def test_a_person_may_be_one_of_the_extractors(desk: Desk, tmp_path: Path) -> None:
    people = (PROTOCOL.screeners[0], Screener(name="Bob"))
    protocol = PROTOCOL.replace(screeners=people, bias="none")
    review = await desk.begin(protocol, works=list(map(a_trial, range(2))))
    for number in range(2):
        await decide(review, number, True, by="Bob")
    await desk.until(review, lambda progress: progress.gate == "full_texts")
    await texts_provided(review, tmp_path / "texts", range(2))
    await desk.until(review, lambda progress: progress.gate == "decisions")
    waiting = await review.tasks("Bob")
    assert [(task.record, task.kind, task.stage) for task in waiting] == [
        (0, "screen", "full_texts"),
        (1, "screen", "full_texts"),
    ]
    for number in range(2):
        await decide(review, number, True, by="Bob", full_texts=True)
    progress = await desk.until(review, lambda progress: progress.gate == "extraction")
    assert "people extract the data of 2 studies" in progress.text
    with pytest.raises(BadInput, match="no extractor"):
        await review.extract(0, {"dose": "10 mg"}, by="Cyd")
    with pytest.raises(BadInput, match="one number"):
        await review.extract(0, {"death.events": "some"}, by="Bob")
    assert progress.awaited == {"Bob": 2}
    assert await review.tasks("Cyd") == []
    at, extract = f"/review/{review.id}", f"//form[@action='/review/{review.id}/extract']"
    async with visitor(app_of(Access(client_of(desk, review), is_shared=False)), "local") as http:
        for number in range(2):
            page = await page_with(http, f"{at}?by=Bob", extract)
            assert full_text(number).splitlines()[2] in page.xpath("string(//article)"), "its text is beside"
            sent = fields_in(page.xpath(extract)[0])
            assert sent["record"] == [str(number)]
            figures = {"events": EVENTS[number], "total": 200, "control_events": 30 + number}
            figures["control_total"] = 200
            sent |= {f"values/death.{name}": [str(value)] for name, value in figures.items()}
            dose = f"The dose of the drug was {10 + number} mg once a day in all of the participants."
            sent |= {"values/dose": [f"{10 + number} mg"], "quotes/dose": [dose]}
            elsewhere = {**sent, "quotes/dose": "nowhere in the text, ever"}
            wrong = await http.post(f"{at}/extract", data=elsewhere)
            assert (wrong.status_code, "the quote of dose does not stand" in wrong.text) == (400, True)
            wrong = await http.post(f"{at}/extract", data={**sent, "quotes/death.mean": "x"})
            assert (wrong.status_code, "has a quote and no value" in wrong.text) == (400, True)
            done = await http.post(f"{at}/extract", data=sent)
            assert (done.status_code, f"before={number}.extract" in done.headers["location"]) == (303, True)
            again = tree_of((await http.get(f"{at}?by=Bob&at={number}&kind=extract&stage=full_texts")).text)
            assert fields_in(again.xpath(extract)[0])["quotes/dose"] == [dose], "what was sent can be changed"
    await desk.until(review, lambda progress: progress.gate == "report")
    findings = (await review.published()).findings
    assert findings is not None
    assert [row.text("dose") for row in findings.rows] == ["10 mg", "11 mg"]


async def test_a_living_review_tells_which_conclusion_changed_and_nothing_else(
    temporal_client: Client, tmp_path: Path
) -> None:
    living = PROTOCOL.replace(bias="none", extraction=(), living=Living(every_days=30))
    mail = tmp_path / "mail.txt"
    copy = f"{sys.executable} -c 'import sys; open(sys.argv[1], \"a\").write(sys.stdin.read())' {mail}"
    async with a_desk(temporal_client, tmp_path, review_command=copy) as desk:
        desk.server.script(model)
        review = await reported(desk, tmp_path / "texts", living)
        await review.overrule(0, "exclude", reason="twice", by="Ada", criterion="I1", full_texts=True)
        await desk.until(review, lambda progress: progress.reports == 2 and progress.gate == "report")
        await review.approve(by="Ada")
        await desk.until(review, lambda progress: bool(progress.next_search))
        assert not mail.exists()  # no report was out before
        await review.overrule(1, "exclude", reason="twice", by="Ada", criterion="I1", full_texts=True)
        await desk.until(review, lambda progress: progress.reports == 3 and progress.gate == "report")
        await review.approve(by="Ada")
        assert not mail.exists()  # the figures moved, and the sentence is the same
        for number in (2, 4):
            await review.overrule(number, "exclude", reason="x", by="Ada", criterion="I1", full_texts=True)
        await desk.until(review, lambda progress: mail.exists())
        told = mail.read_text()
        assert "before: The drug" in told
        assert "0.61 (0.36 to 1.02), one study" in told
        assert (tmp_path / "reports" / f"{review.id}.rss").exists()


async def test_a_review_that_is_ended_reports_what_there_is(desk: Desk, tmp_path: Path) -> None:
    review = await begun(desk)
    assert (await review.progress()).text.startswith("6 full texts missing;")
    await texts_provided(review, tmp_path / "texts", range(2))
    assert (await review.progress()).text.startswith("4 full texts missing;"), "it is counted as it is now"
    await review.finish()
    await desk.until(review, lambda progress: progress.gate == "report")
    flow = (await review.published()).report.flow
    assert (flow.sought, flow.awaited, flow.undecided, flow.faults()) == (6, 4, 2, ())
