"""The commands of `determinator review` on full texts, extracted fields and the risk of bias."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from activities.plural import counted
from client.cli.common import Filled, by_option, json_option, on_client, print_json, print_text, say
from client.failures import BadInput
from client.terminal import plain

if TYPE_CHECKING:
    from activities.review.studies import Answer, Value
    from client.api import Determinator

review_argument = click.argument("name", metavar="REVIEW", default="last")
changed_argument = click.argument("name", metavar="REVIEW")
record_argument = click.argument("record", type=click.IntRange(min=0))
person_option = click.option("--by", type=Filled(), required=True, metavar="NAME", help="Who decides.")


def add_to(review: click.Group) -> None:
    """Give the group its commands on studies."""
    for command in (missing, provide, differences, field, extract, bias, assess):
        review.add_command(command)


@click.command()
@review_argument
@json_option
@on_client
async def missing(client: "Determinator", name: str, as_json: bool) -> None:
    """List the records whose full text is awaited."""
    from client.reviews.studies import missing_texts

    rows = await missing_texts(await client.review(name))
    if as_json:
        print_json([{"record": number, "id": ref.evidence_id, "title": ref.title} for number, ref in rows])
        return
    for number, ref in rows:
        print_text(plain(f"{number}  {ref.evidence_id}  {ref.title}"))
    if not rows:
        say("no full text is awaited")


@click.command()
@changed_argument
@click.argument("path", type=click.Path(path_type=Path), required=False)
@click.option("--record", type=click.IntRange(min=0), metavar="N", help="The file is the text of this one.")
@click.option("--none", is_flag=True, help="With --record: its full text cannot be retrieved.")
@by_option
@on_client
async def provide(
    client: "Determinator", name: str, path: Path | None, record: int | None, none: bool, by: str | None
) -> None:
    """Provide full texts from a folder, or from one file. Files are matched by name (`pmid-123.pdf`, a DOI
    with - for /), by the identifiers in them, or by their title."""
    from client.reviews.studies import provide as provide_from
    from client.runs.start import user_name

    target, who = await client.review(name), by or user_name() or "somebody"
    if none and record is not None:
        await target.provide(record, None, by=who)
        print_text(f"record {record}: not retrieved")
        return
    if path is None:
        raise BadInput("name a folder or a file, or --record N --none")
    made = await provide_from(target, path, by=who, record=record)
    print_text(f"{counted(len(made.texts), 'full text')} provided")
    for file in made.unmatched:
        say(plain(f"{file} is the text of no awaited record, or of several: name it with --record"))
    for line in made.unread:
        say(plain(line))


@click.command()
@review_argument
@json_option
@on_client
async def differences(client: "Determinator", name: str, as_json: bool) -> None:
    """Show the fields on which two extractors differ, side by side."""
    from client.reviews.studies import open_fields

    rows = await open_fields(await client.review(name))
    if as_json:
        print_json(
            [
                {"record": one.record, "title": one.title, **one.difference.model_dump(mode="json")}
                for one in rows
            ]
        )
        return
    for one in rows:
        print_text(plain(f"{one.record}  {one.title}"))
        indented(2, f"{one.field.id}: {one.field.label}")
        indented(4, f"first:  {_shown(one.difference.first)}")
        indented(4, f"second: {_shown(one.difference.second)}")
    if not rows:
        say("no field waits for a decision")


def indented(blanks: int, text: str) -> None:
    print_text(" " * blanks + plain(text))


def _shown(value: "Value | None") -> str:
    if value is None:
        return "not stated"
    quote = f'  "{value.support[0].quote}"' if value.support else ""
    return f"{value.text}{quote}"


@click.command()
@changed_argument
@record_argument
@click.argument("field_id", metavar="FIELD", type=Filled())
@click.argument("value", type=Filled())
@person_option
@click.option("--quote", default="", metavar="TEXT", help="Words of the full text that state the value.")
@click.option("--reason", default="", metavar="TEXT")
@on_client
async def field(
    client: "Determinator",
    name: str,
    record: int,
    field_id: str,
    value: str,
    by: str,
    quote: str,
    reason: str,
) -> None:
    """Decide on an extracted field: VALUE is first, second, absent, or the value itself."""
    from client.reviews.studies import decide_field

    await decide_field(await client.review(name), record, field_id, value, by=by, quote=quote, reason=reason)
    print_text(f"record {record}, {field_id}: {value}")


@click.command()
@changed_argument
@record_argument
@click.argument("values", nargs=-1, required=True, metavar="FIELD=VALUE...")
@person_option
@on_client
async def extract(client: "Determinator", name: str, record: int, values: tuple[str, ...], by: str) -> None:
    """Give the data of a study, as the person who is one of the two extractors."""
    from client.reviews.studies import extract as extract_from

    pairs = dict(_pair(value) for value in values)
    await extract_from(await client.review(name), record, pairs, by=by)
    print_text(f"record {record}: {counted(len(pairs), 'field')}")


def _pair(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign or not value.strip():
        raise BadInput(f"{text} is no FIELD=VALUE")
    return name.strip(), value.strip()


@click.command()
@review_argument
@json_option
@on_client
async def bias(client: "Determinator", name: str, as_json: bool) -> None:
    """Show the results whose risk of bias waits for a person, with the answers that a model proposes."""
    from activities.review.bias import ANSWER_NAMES, QUESTIONS, open_questions
    from client.reviews.studies import open_bias

    rows = await open_bias(await client.review(name))
    if as_json:
        print_json(
            [
                {"record": one.record, "title": one.title, **one.proposal.model_dump(mode="json")}
                for one in rows
            ]
        )
        return
    for one in rows:
        print_text(plain(f"{one.record}  {one.title}{f': {one.outcome}' if one.outcome else ''}"))
        for row in one.proposal.answers:
            indented(2, f"{row.question} {QUESTIONS[row.question]} {ANSWER_NAMES[row.answer]}")
            for support in row.support:
                print_text(plain(f'      "{support.quote}"'))
            if row.reason and not row.support:
                indented(6, f"{row.reason}")
        left = open_questions({row.question: row.answer for row in one.proposal.answers})
        for number in left:
            indented(2, f"{number} {QUESTIONS[number]} open")
    if not rows:
        say("no risk of bias waits for a decision")


@click.command()
@changed_argument
@record_argument
@click.argument("answers", nargs=-1, metavar="QUESTION=ANSWER...")
@person_option
@click.option("--outcome", default="", metavar="TEXT", help="Which outcome; needed where there are several.")
@click.option("--several", is_flag=True, help="Some concerns in several domains add up to a high risk.")
@click.option("--reason", default="", metavar="TEXT", help="Why they do.")
@click.option("--not-a-trial", is_flag=True, help="The study is no randomised trial: no tool is applied.")
@on_client
async def assess(
    client: "Determinator",
    name: str,
    record: int,
    answers: tuple[str, ...],
    by: str,
    outcome: str,
    several: bool,
    reason: str,
    not_a_trial: bool,
) -> None:
    """Decide on the risk of bias of a result by RoB 2: `1.1=Y 1.2=PN`. What is not answered stands as it was
    proposed."""
    from activities.review.bias import DOMAINS, JUDGEMENT_NAMES
    from client.reviews.studies import assess as assess_from

    target = await client.review(name)
    labels = [one.label for one in (await target.view()).protocol.outcomes]
    if not outcome and len(labels) == 1:
        outcome = labels[0]
    given: dict[str, Answer] = {}
    for number, answer in map(_pair, answers):
        given[number] = answer.upper()  # type: ignore[assignment]  # checked against the question's answers
    made = await assess_from(
        target, record, outcome, given, by=by, several=several, reason=reason, not_a_trial=not_a_trial
    )
    if made is None:
        print_text(f"record {record}: no tool is applied")
        return
    for domain in DOMAINS:
        print_text(f"{domain.title}: {JUDGEMENT_NAMES[made.domain(domain)]}")
    print_text(f"Overall: {JUDGEMENT_NAMES[made.overall]}")
