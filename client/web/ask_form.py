"""The form that asks a question. It holds no key: models are those that the settings in force name."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import get_args

import gradio as gr
from pydantic import TypeAdapter

from activities.contracts.evidence import Length
from activities.profiles.loader import profile_names
from activities.settings import Settings
from activities.sources.names import source_names
from client.access import models_of
from client.failures import BadInput
from client.runs.options import SharedOptions
from client.web.guard import QUESTION_FILE
from workflows.modes import MODES

EXAMPLES = (
    "Can metformin lower the risk of colorectal cancer?",
    "Which approved drugs could be repurposed for glioblastoma?",
    "What is known about survival in lung cancer?",
)
"""They fill the box and do not run by themselves."""
WITHOUT_MODEL = "without a model"
IN_FORCE = "as configured"
LIMITS = {
    "max_tokens": ("Tokens", 0),
    "max_cost": ("US dollars", None),
    "minutes": ("Minutes", None),
    "max_iterations": ("Rounds", 0),
    "max_sections": ("Sections", 0),
}
"""Field -> its label, and its decimals where they are not free."""
FILE_INPUT = (
    '<label for="question-file">Or a picture, a scan or a recording of the question. It is read into the '
    'box, where you can change it; nothing runs by itself.</label><br><input id="question-file" type="file" '
    'accept="image/png,image/jpeg,image/tiff,application/pdf,audio/wav,audio/mpeg,audio/mp4">'
)
READ_FILE = """async (question) => {
  const file = document.querySelector("#question-file").files[0];
  if (!file) return [question, "Choose a file first."];
  const answer = await fetch("ROUTE", {method: "POST", body: file});
  const body = await answer.text();
  let said = {detail: body};
  try { said = JSON.parse(body); } catch { }
  if (!answer.ok) return [question, String(said.detail).replace(/[\\[\\]()<>`*_#]/g, "\\\\$&")];
  return [(question + " " + said.text).trim(), "Check what was read before you ask."];
}""".replace("ROUTE", QUESTION_FILE)
"""Sends the file to this page's own route and puts the answer into the box."""


OPTIONS = TypeAdapter(SharedOptions)


@dataclass(frozen=True, slots=True)
class AskForm:
    fields: Mapping[str, gr.components.Component]
    button: gr.Button
    message: gr.Markdown


def ask_form(settings: Settings, *, shared: bool) -> AskForm:
    """Build the form. On a page of several users no folder of the machine can be named."""
    fields: dict[str, gr.components.Component] = {}
    fields["question"] = question = gr.Textbox(
        label="Question", lines=3, max_lines=8, placeholder="What do you want to know?", elem_id="question"
    )
    with gr.Row(equal_height=True):
        gr.HTML(FILE_INPUT)
        read = gr.Button("Read it into the box", size="sm", scale=0, min_width=180, elem_id="read-file")
    heard = gr.Markdown(elem_id="heard")
    read.click(None, [question], [question, heard], js=READ_FILE)
    gr.Examples([[text] for text in EXAMPLES], inputs=[question], run_on_click=False, label="Examples")
    models = [IN_FORCE, *models_of(settings), WITHOUT_MODEL]
    with gr.Row():
        fields["mode"] = gr.Dropdown(["auto", *MODES], value="auto", label="Mode")
        fields["profile"] = gr.Dropdown(["auto", *profile_names()], value="auto", label="Profile")
        fields["model"] = gr.Dropdown(models, value=IN_FORCE, label="Model")
    with gr.Row():
        fields["sources"] = gr.Dropdown(
            source_names(), multiselect=True, label="Sources (none: what the profile prefers)"
        )
        fields["library"] = gr.Textbox(label="Folder of your documents", visible=not shared)
    with gr.Accordion("Limits, columns and gates", open=False):
        gr.Markdown("0 stands for what is configured.")
        with gr.Row():  # an empty field is shown and arrives as 0
            for name, (label, precision) in LIMITS.items():
                fields[name] = gr.Number(label=label, minimum=0, precision=precision, value=None)
        fields["length"] = gr.Dropdown(
            [*get_args(Length)], value=settings.length, label="Length of the report"
        )
        fields["columns"] = gr.Textbox(
            label="Columns of the table", placeholder="population, dose, outcome, effect"
        )
        fields["approve"] = gr.CheckboxGroup(
            ["plan", "candidates", "report"], label="Wait for my approval of"
        )
    button = gr.Button("Ask", variant="primary", elem_id="ask")
    return AskForm(fields, button, gr.Markdown(elem_id="ask-message"))


def options_of(fields: Mapping[str, object], *, shared: bool, offered: list[str]) -> SharedOptions:
    """What the form asks beside the question; what is empty, or 0, stands for the setting. A browser may send
    anything. Raises BadInput for what the page does not offer, ValidationError."""
    given = {name: value.strip() if isinstance(value, str) else value for name, value in fields.items()}
    given = {name: value for name, value in given.items() if value and name != "question"}
    model = given.pop("model", IN_FORCE)
    if model not in (IN_FORCE, WITHOUT_MODEL, *offered):
        raise BadInput(f"the model {str(model)[:100]!r} is not offered here")
    if shared and "library" in given:
        raise BadInput("a page of several users reads no folder of its machine")
    if model != IN_FORCE:
        given["model"] = "extractive" if model == WITHOUT_MODEL else model
    if minutes := given.pop("minutes", None):
        given["max_time"] = f"{minutes}m"
    if columns := given.pop("columns", None):
        given["columns"] = [name.strip() for name in str(columns).split(",") if name.strip()]
    return OPTIONS.validate_python(given)
