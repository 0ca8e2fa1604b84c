"""Typed answers out of whatever a server sends: the schema that goes out, the reading of what comes back.

Read are: plain JSON, fenced JSON, JSON within prose, after reasoning text, in a tool call written as text,
wrapped in a single key, and answers cut off at the output limit as far as they are whole. Nothing is guessed
beyond that: what does not validate is `Unreadable`, with the validator's words for the repair turn.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, TypeVar

import pydantic_core
from pydantic import BaseModel, ValidationError

Answer = TypeVar("Answer", bound=BaseModel)

MOST_PROBLEMS = 8
"""Validation errors a repair turn is told of; the first ones usually cause the others."""
MOST_CANDIDATES = 12

_THINKING = re.compile(r"<(think|thinking|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_THINKING_END = re.compile(r"^.*</(?:think|thinking|reasoning)>", re.DOTALL | re.IGNORECASE)
_THINKING_OPEN = re.compile(r"<(?:think|thinking|reasoning)>.*$", re.DOTALL | re.IGNORECASE)
_FENCED = re.compile(r"```[\w-]*\s*\n?(.*?)```", re.DOTALL)
_KEPT = {"type", "properties", "items", "required", "enum", "const", "anyOf", "$ref", "$defs"}
"""What of a JSON schema goes out. Bounds and defaults are for the validator: strict servers refuse them."""


class Unreadable(Exception):
    """An answer that is not what was asked for."""

    def __init__(self, problem: str, *, found_json: bool) -> None:
        super().__init__(problem)
        self.problem = problem
        """For the repair turn and for people."""
        self.found_json = found_json
        """Whether there was an object to repair at all."""


def schema_of(answer: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of an answer, in the subset that strict servers take: every object closed, every field
    required."""
    lean: dict[str, Any] = _lean(answer.model_json_schema())
    return lean


def _lean(node: Any) -> Any:  # noqa: ANN401 - a JSON schema has no static type
    if isinstance(node, list):
        return [_lean(part) for part in node]
    if not isinstance(node, dict):
        return node
    lean = {key: node[key] for key in node if key in _KEPT}
    for key in ("items", "anyOf"):
        if key in lean:
            lean[key] = _lean(lean[key])
    for key in ("properties", "$defs"):
        if key in lean:
            lean[key] = {name: _lean(part) for name, part in lean[key].items()}
    if lean.get("type") == "object":
        lean["required"] = list(lean.get("properties", {}))
        lean["additionalProperties"] = False
    return lean


def read(text: str, answer: type[Answer], *, cut: bool = False) -> Answer:
    """The first thing in a text that validates. `cut`: the server stopped at the output limit, so an
    unfinished end is dropped.

    Raises Unreadable.
    """
    problem = ""
    found = False
    for number, candidate in enumerate(candidates(text, cut=cut)):
        if number >= MOST_CANDIDATES:
            break
        found = True
        shaped = _shaped(candidate, answer)
        if not (isinstance(shaped, dict) and shaped.keys() & answer.model_fields.keys()):
            problem = problem or f"none of the fields {', '.join(answer.model_fields)} was there"
            continue
        try:
            return answer.model_validate(shaped)
        except ValidationError as error:
            problem = problem or _problems(error)
            if cut and (shorter := _without_last(shaped, error)) is not None:
                try:
                    return answer.model_validate(shorter)
                except ValidationError:
                    continue
    if cut:
        raise Unreadable("the answer was cut off at the output limit", found_json=False)
    if not found:
        raise Unreadable(
            "there was no JSON in the answer" if text.strip() else "it was empty", found_json=False
        )
    raise Unreadable(problem, found_json=True)


def candidates(text: str, *, cut: bool = False) -> Iterator[object]:
    """Objects that may be the answer, the likeliest first."""
    seen: list[object] = []
    for source in dict.fromkeys((_THINKING_OPEN.sub("", _spoken(text)), _spoken(text), text)):
        for raw in _objects(source, cut):
            for candidate in (raw, *_unwrapped(raw)):
                if _may_answer(candidate) and candidate not in seen:
                    seen.append(candidate)
                    yield candidate


def _may_answer(value: object) -> bool:
    """An object, or a list of objects or texts: `[1]` is a citation, not an answer."""
    return isinstance(value, dict) or (
        isinstance(value, list) and bool(value) and all(isinstance(part, dict | str) for part in value)
    )


def _spoken(text: str) -> str:
    """The text without its reasoning."""
    return _THINKING_END.sub("", _THINKING.sub("", text))


def _objects(text: str, cut: bool) -> Iterator[object]:
    for piece in (text, *_FENCED.findall(text)):
        try:
            yield json.loads(piece, strict=False)
        except ValueError:
            continue
    decoder = json.JSONDecoder(strict=False)
    at = 0
    while (start := _start(text, at)) >= 0:
        try:
            value, at = decoder.raw_decode(text, start)
            yield value
        except (ValueError, RecursionError):
            at = start + 1
            if cut:
                try:
                    yield pydantic_core.from_json(text[start:], allow_partial=True)
                except ValueError:
                    continue


def _start(text: str, at: int) -> int:
    found = [place for place in (text.find("{", at), text.find("[", at)) if place >= 0]
    return min(found, default=-1)


def _unwrapped(value: object) -> Iterator[object]:
    """What is inside a tool call, a list of one, or a single key."""
    if isinstance(value, list) and len(value) == 1:
        yield value[0]
        yield from _unwrapped(value[0])
    if not isinstance(value, dict):
        return
    call = value.get("function") if isinstance(value.get("function"), dict) else value
    for key in ("arguments", "parameters", "input"):
        inner = call.get(key) if isinstance(call, dict) else None
        if isinstance(inner, str):
            try:
                inner = json.loads(inner, strict=False)
            except ValueError:
                continue
        if isinstance(inner, dict):
            yield inner
    if len(value) == 1:
        inner = next(iter(value.values()))
        if isinstance(inner, dict):
            yield inner


def _shaped(value: object, answer: type[BaseModel]) -> object:
    """A bare list where the answer has one required field and that is a list."""
    required = [name for name, field in answer.model_fields.items() if field.is_required()]
    return {required[0]: value} if isinstance(value, list) and len(required) == 1 else value


def _without_last(value: object, error: ValidationError) -> object | None:
    """The object without the last item of a list, when every problem lies in that unfinished item."""
    if not isinstance(value, dict):
        return None
    places = {tuple(detail["loc"][:2]) for detail in error.errors(include_url=False)}
    if len(places) != 1:
        return None
    field, *rest = places.pop()
    held = value.get(field) if isinstance(field, str) else None
    if not isinstance(held, list) or rest != [len(held) - 1]:
        return None
    return {**value, field: held[:-1]}


def _problems(error: ValidationError) -> str:
    found = error.errors(include_url=False, include_input=False, include_context=False)
    lines = [f"{'.'.join(str(part) for part in e['loc']) or 'answer'}: {e['msg']}" for e in found]
    return "; ".join(lines[:MOST_PROBLEMS])
