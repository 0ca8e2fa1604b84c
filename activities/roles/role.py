"""A role: the prompt it sends, the answer it asks for, and which parts of that answer are accepted.

A role is pure: it reads no file but its prompt and calls nothing. `render` shows the model what it needs,
`accept` filters its answer: only items the model was shown, sources that are enabled and numbers within
bounds remain.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib import import_module, resources
from typing import Any, Generic, TypeVar, get_args

from pydantic import BaseModel

from activities.contracts.evidence import Evidence, EvidenceRef, Statement
from activities.contracts.step import TITLES, Role, StepContext
from activities.text.sentences import Sentence
from activities.verification.controls import Control

Step = TypeVar("Step", bound=StepContext)
Answer = TypeVar("Answer", bound=BaseModel)
Output = TypeVar("Output", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Prompt:
    """The texts that are sent, and what their labels stand for."""

    system: str
    """The stable part: role, rules, shape of the answer, the profile's guidance."""
    user: str
    version: str
    works: dict[str, Evidence] = field(default_factory=dict)
    """Label (`E1`) -> item."""
    sentences: dict[str, Sentence] = field(default_factory=dict)
    """Label (`S1`) -> sentence, where the answer is to choose among sentences."""
    claims: dict[str, str] = field(default_factory=dict)
    """Label (`C1`) -> id of a claim or a sentence, where the answer is to name them."""
    controls: dict[str, Control] = field(default_factory=dict)
    """Label (`C4`) -> control sentence among those that a second reader is asked about."""
    question: str = ""
    """What the answer is to."""
    choices: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Field of the answer by its path (`searches.source`), or named type of fields (`SentenceLabel`) -> the
    values it may have."""
    works_room: int = 0
    """Tokens that the works were given."""
    notes: tuple[Statement | str, ...] = ()
    answer: type[BaseModel] | None = None
    """The answer where another one than the role's is asked for."""


@dataclass(frozen=True, slots=True)
class Accepted(Generic[Output]):
    """The accepted output, and what the report must state about the rest."""

    output: Output
    notes: tuple[Statement | str, ...] = ()


@dataclass(frozen=True)
class RoleSpec(Generic[Step, Answer, Output]):
    """One role.

    Of the three back ends a model does all of them but one, the small model that one (`orderer`), and
    `fallback` is what code does where no model serves the role (`activities.roles.allowances.asks_model`).
    """

    role: Role
    answer: type[Answer]
    """What the model must produce: small and flat."""
    render: Callable[[Step, Sequence[Evidence], int], Prompt]
    """(step, documents, limit in tokens) -> the prompt."""
    accept: Callable[[Step, Prompt, Answer], Accepted[Output]]
    fallback: Callable[[Step, Sequence[Evidence]], Output]
    """The answer where no model serves the role."""
    reads: bool = False
    """Whether it reads the bodies of the step's works."""
    idle: Callable[[Step, Sequence[Evidence]], bool] | None = None
    """Whether there is nothing to ask a model, where that is not said by the works alone."""

    @property
    def title(self) -> str:
        return TITLES[self.role]

    def refs(self, step: Step) -> tuple[EvidenceRef, ...]:
        """Return the works whose bodies the role reads."""
        works: tuple[EvidenceRef, ...] = getattr(step, "evidence", ()) if self.reads else ()
        return works

    def is_idle(self, step: Step, documents: Sequence[Evidence]) -> bool:
        """Tell whether `fallback` answers since there is nothing to ask a model.

        That is so by default where no work is left to be read.
        """
        if self.idle is not None:
            return self.idle(step, documents)
        return self.reads and are_retracted(documents)


def are_retracted(documents: Sequence[Evidence]) -> bool:
    """Tell whether no work is left to be read: retracted ones are not shown."""
    return all(document.standing == "retracted" for document in documents)


AnySpec = RoleSpec[Any, Any, Any]
ROLES: tuple[Role, ...] = tuple(role for role in get_args(Role) if role != "own_role")
"""The built-in roles. One more is a name in `Role`, a prompt, and a spec of its name in a file here."""
FILES: dict[Role, str] = {
    "clarifier": "question",
    "query_parser": "question",
    "planner": "question",
    "observer": "rounds",
    "gap_evaluator": "rounds",
    "reflector": "rounds",
    "bias_assessor": "data_extractor",
    "full_text_screener": "screener",
}
"""Files of roles that share one."""


def spec_of(role: Role) -> AnySpec:
    """Return a built-in role, imported when it is asked for."""
    spec: AnySpec = getattr(import_module(f"activities.roles.{FILES.get(role, role)}"), role.upper())
    return spec


@dataclass(frozen=True, slots=True)
class PromptFile:
    text: str
    version: str
    """`role@` and the first eight hex digits of the SHA-256 of the text as it is sent."""


EVIDENCE_RULES = "evidence_rules"
"""The text that every reader of works is sent."""


@cache
def prompt_text(name: str) -> str:
    """Return a text of the folder of prompts; empty where it is not there."""
    file = resources.files(__package__) / "prompts" / f"{name}.md"
    return file.read_text("utf-8").strip() if file.is_file() else ""


@lru_cache(maxsize=256)
def prompt_file(role: Role, own_text: str = "", *, evidence: bool) -> PromptFile:
    """Return the stable text of a role, or the one in its place, with the rules on evidence for readers."""
    parts = [own_text.strip() or prompt_text(role), *([prompt_text(EVIDENCE_RULES)] if evidence else [])]
    text = "\n\n".join(parts)
    return PromptFile(text, f"{role}@{hashlib.sha256(text.encode()).hexdigest()[:8]}")
