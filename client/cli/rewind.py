"""`determinator rewind`: reset a run to the beginning of an iteration."""

import click

from client.cli.common import (
    address_option,
    json_option,
    load_settings,
    print_json,
    print_text,
    run_argument,
    run_async,
    say,
)


@click.command()
@run_argument
@click.option(
    "--to-iteration",
    "iteration",
    type=click.IntRange(1),
    required=True,
    metavar="N",
    help="The iteration to begin again; `determinator inspect` shows them.",
)
@click.option(
    "--section",
    metavar="ID",
    help="Only this section of a deep run, such as s2, while it runs; the others go on.",
)
@json_option
@address_option
def rewind(run: str, iteration: int, section: str | None, as_json: bool, address: str | None) -> None:
    """Reset a run to the beginning of an iteration; it continues from there under the same id. A run that has
    ended may be rewound, too.

    Everything after it is discarded: searches, judgements, and people's decisions. Model answers that were
    paid for stay in the store and are not bought again when the same is asked. The report files that
    the run left are renamed and kept.

    A run with sections (deep, hierarchical) has its iterations in them. With --section, one that runs goes
    back alone; without, the run goes back to before its sections began: iteration 1.
    """
    settings = load_settings()

    async def body() -> tuple[str, str, list[str]]:
        from client.connect import connect_to_run
        from client.reports.report_files import set_aside
        from client.runs import rewinding

        connection, run_id = await connect_to_run(settings, address, run, worker=False, say=say)
        if section:
            execution = await rewinding.rewind_section(connection.client, run_id, section, iteration)
            return run_id, execution, []
        execution = await rewinding.rewind(connection.client, run_id, iteration)
        kept = set_aside(settings, run_id)
        # it runs now: see that a worker serves it
        await connect_to_run(settings, address, run_id, say=say)
        return run_id, execution, [str(path) for path in kept]

    run_id, execution, kept = run_async(body)
    if as_json:
        print_json(
            {
                "run_id": run_id,
                "section": section or "",
                "iteration": iteration,
                "execution": execution,
                "set_aside": kept,
            }
        )
        return
    for path in kept:
        print_text(f"the earlier report is now {path}")
    what = f"section {section} of {run_id}" if section else run_id
    print_text(f"{what} goes on at iteration {iteration}; follow it with `determinator watch {run_id}`")
