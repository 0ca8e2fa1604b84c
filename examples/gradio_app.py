"""A chat of Gradio over the Python client: each step of a run is a message that folds, its report the answer.

pip install determinator 'gradio>=6,<7'
python examples/gradio_app.py        prints the address
"""

from collections.abc import AsyncIterator
from typing import Any

from determinator import BadInput, Determinator, RunReport

MODES = ("auto", "simple", "iterative", "deep")
Message = dict[str, Any]
"""A message as `gradio.ChatInterface` takes it."""


def said(text: str) -> Message:
    return {"role": "assistant", "content": text}


def folding(steps: dict[str, list[str]], *, done: bool) -> list[Message]:
    """A message for each step, which a person may open; the last one is under way."""
    last = next(reversed(steps), "")
    return [
        {
            **said("\n".join(f"- {line}" for line in lines)),
            "metadata": {"title": name, "status": "done" if done or name != last else "pending"},
        }
        for name, lines in steps.items()
    ]


def text_of(report: RunReport) -> str:
    """The report in Markdown, with the works that it cites."""
    works = [f"{one.number}. {one.title} ({one.evidence_id})" for one in report.references]
    sections = [f"## {section.title}\n\n{section.markdown}" for section in report.sections]
    return "\n\n".join([f"# {report.title}", report.executive_summary, *sections, "\n".join(works)])


async def answer(question: str, history: list[Message], mode: str = "auto") -> AsyncIterator[list[Message]]:
    """The steps of a run while it goes on, then its report."""
    steps: dict[str, list[str]] = {}
    async with Determinator() as client:
        try:
            run = await client.ask(question, mode=mode)
        except BadInput as error:
            yield [said(f"**{error}**")]
            return
        async for event in run.events():
            if event.type != "streaming":
                name = event.section or event.type.partition("_")[0]
                steps.setdefault(name, []).append(event.message)
                yield folding(steps, done=False)
        yield [*folding(steps, done=True), said(text_of(await run.report()))]


def main() -> None:
    """Serve the chat on this machine."""
    import gradio as gr

    choice = gr.Dropdown([*MODES], value="auto", label="Mode")
    gr.ChatInterface(answer, title="Determinator", additional_inputs=[choice]).launch()


if __name__ == "__main__":
    main()
