"""A batch: many questions from a file, started and followed by one process.

The folder of a batch holds a note of which run answers which question, written before the next one is
started. The same command after a kill finds the runs that go on, reads those that have ended, and starts only
what was not started. Runs are durable: they go on while nobody follows them.
"""

import asyncio
import csv
import hashlib
import io
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast, get_args, get_origin, get_type_hints

from activities.private_files import write_whole
from client.failures import BadInput, NoSuchRun, unknown
from client.runs.options import OWN, AskOptions
from client.runs.request import build_request

if TYPE_CHECKING:
    from activities.report.schema import Report
    from activities.settings import Settings
    from client.api import Determinator

TABLES = {".csv": ",", ".tsv": "\t"}
"""Endings of tables, and what separates their columns."""
KINDS = {
    name: {get_origin(kind) or kind for kind in (hint, *get_args(hint))}
    for name, hint in get_type_hints(AskOptions).items()
    if name != "graph"
}
"""Column -> types of its values; a list has its values in one cell, separated by `;`."""
MAX_QUESTIONS = 10_000
NOTE = "batch.json"
TABLE = "results.csv"
REPORTS = "reports.jsonl"


@dataclass(frozen=True, slots=True)
class Question:
    line: int
    text: str
    options: AskOptions

    @property
    def key(self) -> str:
        """What the note knows it by: the question with its options."""
        data = json.dumps([self.text, self.options], sort_keys=True, default=str)
        return hashlib.sha256(data.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Result:
    line: int
    question: str
    run_id: str
    status: str
    """`answered`, `quoted` (passages that no model has judged), `not_answered` (its report says why), or
    `failed`."""
    stop_reason: str = ""
    confidence: float | None = None
    references: int = 0
    tokens: int = 0
    cost_usd: float | None = None
    file: str = ""
    reason: str = ""


def read_questions(path: Path, common: AskOptions) -> list[Question]:
    """The questions of a file: one a line (`#` begins a comment), or a table (.csv, .tsv) with a column
    `question` and columns named as the options of `ask`. Raises BadInput with the line of what cannot be
    used."""
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} cannot be read: {getattr(error, 'strerror', None) or 'not UTF-8'}") from error
    separator = TABLES.get(path.suffix.lower())
    questions = _lines(text, common) if separator is None else _table(path, text, separator, common)
    if not questions:
        raise BadInput(f"{path} has no question")
    if len(questions) > MAX_QUESTIONS:
        raise BadInput(f"{path} has {len(questions):,} questions; a batch has at most {MAX_QUESTIONS:,}")
    return questions


def _lines(text: str, common: AskOptions) -> list[Question]:
    lines = ((number, line.strip()) for number, line in enumerate(text.splitlines(), 1))
    return [Question(number, line, common) for number, line in lines if line and not line.startswith("#")]


def _table(path: Path, text: str, separator: str, common: AskOptions) -> list[Question]:
    rows = csv.DictReader(io.StringIO(text), delimiter=separator)
    names = [name.strip() for name in rows.fieldnames or ()]
    if "question" not in names:
        raise BadInput(f"{path}:1: a table of questions needs a column `question`")
    for name in names:
        if name not in (*KINDS, "question"):
            raise BadInput(f"{path}:1: column {unknown(name, [*KINDS])}")
    questions = []
    for row in rows:
        cells = {name.strip(): (cell or "").strip() for name, cell in row.items() if name is not None}
        question = cells.pop("question", "")
        if question:
            options = cast("AskOptions", {**common, **_values(path, rows.line_num, cells)})
            questions.append(Question(rows.line_num, question, options))
    return questions


def _values(path: Path, line: int, cells: Mapping[str, str]) -> dict[str, object]:
    """The cells of a row as the values of options; an empty cell leaves what holds for all."""
    values: dict[str, object] = {}
    for name, cell in cells.items():
        if not cell:
            continue
        if Sequence in KINDS[name]:
            values[name] = tuple(part.strip() for part in cell.split(";") if part.strip())
        elif name in OWN and int in KINDS[name]:  # settings know theirs
            if not cell.isdecimal():
                raise BadInput(f"{path}:{line}: {name}: {cell!r} is not a number")
            values[name] = int(cell)
        elif cell.lower() in ("true", "false"):
            values[name] = cell.lower() == "true"
        else:
            values[name] = cell
    return values


def check(settings: "Settings", questions: Sequence[Question], path: Path) -> None:
    """Raises BadInput for the first question that cannot be asked, before any is started."""
    for question in questions:
        try:
            build_request(settings, question.text, question.options)
        except BadInput as error:
            raise BadInput(f"{path}:{question.line}: {error}") from error


class Batch:
    """Asks the questions, at most `at_once` at the same time. `folder` gets the note, the table and the
    reports."""

    def __init__(
        self,
        client: "Determinator",
        folder: Path,
        *,
        at_once: int,
        say: Callable[[str], None],
        start_only: bool = False,
    ) -> None:
        self._client = client
        self._folder = folder
        self._turns = asyncio.Semaphore(at_once)
        self._starting = asyncio.Lock()
        self._say = say
        self._start_only = start_only
        self._note: dict[str, str] = {}
        self._reports: dict[int, Report] = {}
        self._ended = 0

    async def run(self, questions: Sequence[Question]) -> list[Result]:
        """The results, in the order of the questions. Raises BadInput for a folder that cannot be used,
        NoConnection."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with suppress(FileNotFoundError):
                self._note = json.loads((self._folder / NOTE).read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise BadInput(f"{self._folder} cannot be used for a batch: {error}") from error
        if self._note:
            self._say(f"{len(self._note)} of {len(questions)} were started before")
        tasks = [asyncio.create_task(self._answer(question, len(questions))) for question in questions]
        try:
            results = list(await asyncio.gather(*tasks))
        finally:
            for task in tasks:
                task.cancel()
        if not self._start_only:
            self._export(results)
        return results

    async def _answer(self, question: Question, total: int) -> Result:
        async with self._turns:
            run_id = self._note.get(question.key, "")
            if not (run_id and await self._is_known(run_id)):
                run_id = await self._start(question)
            if self._start_only:
                return Result(question.line, question.text, run_id, "started")
            result = await self._result(question, run_id)
            self._ended += 1
            self._say(f"{self._ended}/{total} {result.status}: {question.text[:80]}")
            return result

    async def _is_known(self, run_id: str) -> bool:
        """Whether this home has a run that was noted: the folder may have been made with another one."""
        try:
            await self._client.run(run_id)
        except NoSuchRun:  # the server has forgotten it; the evidence store has not
            try:
                await self._client.finished(run_id, whole=False)
            except NoSuchRun:
                self._say(f"{run_id} is not in this home; its question is asked anew")
                return False
        return True

    async def _start(self, question: Question) -> str:
        async with self._starting:
            run = await self._client.ask(question.text, **question.options)
            self._note[question.key] = run.id
            write_whole(self._folder / NOTE, json.dumps(self._note, indent=1).encode())
            return run.id

    async def _result(self, question: Question, run_id: str) -> Result:
        from activities.report.formats import render
        from activities.report.formats.prose import model_fault

        try:
            try:
                report: Report = await (await self._client.run(run_id)).report()
            except NoSuchRun:  # the server has forgotten it; the evidence store has not
                report = (await self._client.finished(run_id, whole=False)).report
        except NoSuchRun as error:  # or one without a report
            return Result(question.line, question.text, run_id, "failed", reason=str(error))
        form = self._client.settings.output_format
        data = await asyncio.to_thread(render, report, form)
        name = f"{run_id}.{form}"
        write_whole(self._folder / name, data)
        self._reports[question.line] = report
        method = report.methodology
        status = "answered" if report.written_by == "model" else "quoted"
        fault = model_fault(report)
        return Result(
            line=question.line,
            question=question.text,
            run_id=run_id,
            status="failed" if fault else status if report.references else "not_answered",
            stop_reason=report.stop_reason,
            confidence=report.confidence,
            references=len(report.references),
            tokens=method.tokens,
            cost_usd=method.cost_usd,
            file=name,
            reason=fault,
        )

    def _export(self, results: Sequence[Result]) -> None:
        from activities.report.formats import render
        from activities.report.formats.text import spreadsheet_cell

        table = io.StringIO()
        writer = csv.DictWriter(table, fieldnames=list(asdict(results[0])))
        writer.writeheader()
        for result in results:
            row = asdict(result).items()
            writer.writerow({n: spreadsheet_cell(v) if isinstance(v, str) else v for n, v in row})
        write_whole(self._folder / TABLE, table.getvalue().encode())
        reports = (self._reports[result.line] for result in results if result.line in self._reports)
        lines = [json.dumps(json.loads(render(report, "json")), ensure_ascii=False) for report in reports]
        write_whole(self._folder / REPORTS, "".join(f"{line}\n" for line in lines).encode())
