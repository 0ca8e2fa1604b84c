"""Options of a question, beside the settings in force: each option once.

Python takes `AskOptions`. Programs of others and the page take `SharedOptions`, whose bounds are checked
before anything else. Of an option that is a setting, bounds, help and flag are those of the setting; of any
other, they stand here. `client.cli.options` makes the flags.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, cast, get_type_hints

from pydantic import ConfigDict, Field, with_config
from pydantic.fields import FieldInfo
from typing_extensions import TypedDict  # pydantic reads that of `typing` from Python 3.12 on

from activities.configuration.declaration import Key, declared, option
from activities.contracts.evidence import ApprovalGate, Clarify, Effort, Length
from activities.settings import Settings
from workflows.modes import CHOICES
from workflows.types import QUESTION_CHARS

KEYS = declared(Settings.model_fields)


def setting(name: str) -> Any:  # noqa: ANN401 - as pydantic's `Field`
    """Return the help and the bounds of the setting that an option goes over."""
    field = Field(description=KEYS[name].help)
    field.metadata += [part for part in Settings.model_fields[name].metadata if not isinstance(part, Key)]
    return field


QuestionText = Annotated[str, Field(min_length=3, max_length=QUESTION_CHARS)]
Name = Annotated[str, Field(max_length=200)]
Names = Annotated[Sequence[Name], Field(max_length=50)]
SOURCES = option(
    "Search only these, and the library if one is given; none: those of the profile.", flag="--source"
)
Duration = float | str
"""Seconds, or text such as `30m`."""
Phase = Literal["1", "2", "3", "4"]
YEARS = Field(ge=1500, le=2100)


@with_config(ConfigDict(extra="forbid"))
class SharedOptions(TypedDict, total=False):
    """Options of a question.

    The names are those of `determinator ask`; null stands for the setting of this server.
    """

    mode: (
        Annotated[
            str,
            Field(
                max_length=200,
                json_schema_extra={"enum": [*CHOICES]},
                description="auto chooses; deep plans sections; team and hierarchical have managers",
            ),
        ]
        | None
    )
    profile: Annotated[
        str | None,
        Field(
            pattern=r"^[a-z][a-z0-9_]*$",
            max_length=100,
            description="auto, drug_repurposing, biomedical, general ...",
        ),
    ]
    sources: Annotated[Names | None, SOURCES]
    library: Annotated[
        Annotated[
            str, Field(max_length=1000, description="A folder of documents, below one the operator allows")
        ]
        | None,
        option("Search your own documents in this folder, and nothing else unless you name it."),
    ]
    columns: Annotated[Names | None, Field(description="What to extract from each work, for a table")]
    length: Annotated[Length | None, setting("length")]
    language: Annotated[Annotated[str, Field(max_length=35)] | None, setting("language")]
    since: Annotated[int | None, option("Only works of this year or later."), YEARS]
    until: Annotated[int | None, option("Only works of this year or earlier."), YEARS]
    types: Annotated[
        Names | None,
        option(
            "Only these types, where the source knows them: review,rct,meta-analysis,guideline ...",
            flag="--type",
        ),
    ]
    free_full_text: Annotated[bool | None, option("Only works that are free to read, where it is known.")]
    model: Annotated[Name | None, Field(description="One that the server is configured with")]
    max_iterations: Annotated[int | None, setting("max_iterations")]
    max_sections: Annotated[int | None, setting("max_sections")]
    max_tokens: Annotated[int | None, setting("max_tokens")]
    max_cost: Annotated[float | None, setting("max_cost")]
    max_time: Annotated[Duration | None, setting("max_time")]
    approve: Annotated[
        Sequence[ApprovalGate] | None, Field(description="Gates at which the run waits for a person")
    ]
    approval_timeout: Annotated[Duration | None, setting("approval_timeout")]


class AskOptions(SharedOptions, total=False):
    """Options of a question.

    The names are those of `Settings`, where most are explained, and of the flags of `ask`; None stands
    for the setting. A profile may be a file, too.
    """

    graph: Annotated[
        str | None, option("The graph of steps to walk: a built-in one or a TOML file (mode graph).")
    ]
    also_web: bool | None
    phases: Annotated[
        Sequence[Phase] | None,
        option(
            "Only trials of these phases, registered and published, where the source knows them: 1,2,3,4.",
            flag="--phase",
        ),
    ]
    analyse: Annotated[bool | None, option("Pool the effects that the works report; a forest plot.")]
    effects: Annotated[
        str | None,
        option("Effects of your own to pool as well: study, outcome, measure, estimate, low, high ..."),
    ]
    """A CSV file; it implies `analyse`."""
    expect: Annotated[
        Literal["lower", "higher", "different"] | None,
        option("Where the effect is expected: below, above or merely off no effect (default)."),
    ]
    fallback: Sequence[str] | None
    effort: Effort | None
    wait_for_model: bool | None
    judge_threshold: float | None
    parallel_sections: int | None
    max_gaps: int | None
    searches_per_gap: int | None
    results_per_search: int | None
    full_texts: int | None
    search_timeout: Duration | None
    max_section_tokens: int | None
    max_section_cost: float | None
    max_section_time: Duration | None
    clarify: Clarify | None
    approval_default: Literal["approve", "reject"] | None


def non_empty(options: Mapping[str, object]) -> AskOptions:
    """Return the options that say something: not None, empty or an unset flag; 0 says zero."""
    chosen_options = {
        n: v for n, v in options.items() if v is not None and v is not False and v not in ((), [], "")
    }
    return cast("AskOptions", chosen_options)


FIELDS = {
    name: FieldInfo.from_annotated_attribute(hint, None)
    for name, hint in get_type_hints(AskOptions, include_extras=True).items()
}
OWN = declared(FIELDS)
"""The options that are no settings."""
