"""Typed answers from a server's text: the schema that is sent, and the parsing of the reply.

Read are: plain JSON, fenced JSON, JSON within prose, after reasoning text, in a tool call written as text,
wrapped in a single key, and answers cut off at the output limit as far as they are whole. What is whole and
only nearly JSON (`5\\%` in a string, a comma too many, comments, other quotation marks) is read by
`json-repair`. Nothing is guessed beyond that: what does not validate is `Unreadable`, with the validator's
words for the repair turn.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import islice
from typing import Any, TypeVar

import json_repair
import pydantic_core
from pydantic import BaseModel, ValidationError

Answer = TypeVar("Answer", bound=BaseModel)

MAX_PROBLEMS = 8
"""Validation errors that a repair turn names; the first ones usually cause the others."""
MAX_CANDIDATES = 12
MAX_STARTS = 200
"""Brackets that are tried as the beginning of an object. With `LONGEST_ANSWER` this bounds the work, so that
reading time is proportional to the length of any text."""
MAX_PARTIAL = 20
"""Candidates that are read as the beginning of an object that was cut off."""
LONGEST_ANSWER = 400_000
"""Characters that are read; what is beyond is dropped as if the answer had been cut off there."""
LONGEST_REPAIRED = 100_000
"""Characters of something nearly JSON: `json-repair` reads some 200,000 a second."""
DEEPEST_REPAIRED = 40
"""Brackets within brackets of it: the time that it takes grows with their square."""
MAX_REPAIRED = 4
"""Places where something nearly JSON is looked for."""
DEEPEST = 3
"""Wrappings (a list of one, a single key, a tool call) that are removed."""

_THINKING_TAG = re.compile(r"<(/?)(?:think|thinking|reasoning)>", re.IGNORECASE)
_FENCE = re.compile(r"```(?:[\w-]*[ \t]*\n)?")
_BRACKET = re.compile(r"[{\[]")
_KEYWORDS = {"type", "properties", "items", "required", "enum", "const", "anyOf", "$ref", "$defs"}
"""Keywords of a JSON schema that go out. Others and defaults are for the validator: strict servers refuse
them."""
BOUNDS = frozenset({"maxItems", "maxLength", "pattern"})
"""Keywords that keep a small model from generating without end; sent where the server accepts them."""
_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*(?:"|$)|[{}\[\]]', re.DOTALL)
_OBJECT = re.compile(r"[\[\s]*\{[^:{]*:")
"""Something with a key; `[1]` and `{...}` in prose are not."""
_BACKSLASH = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})|\\')
_LABEL = re.compile(r"([A-Z])[0-9]{1,4}")


class Unreadable(Exception):
    """An answer that is not what was asked for."""

    def __init__(self, problem: str, *, found_json: bool) -> None:
        super().__init__(problem)
        self.problem = problem
        """For the repair turn and for people."""
        self.found_json = found_json


def schema_of(answer: type[BaseModel], choices: Mapping[str, Sequence[str]] | None = None) -> dict[str, Any]:
    """Return the JSON schema of an answer, in the subset that strict servers accept.

    Every object is closed, every field required. `choices` names the values of a field by its path
    (`searches.source`), or of all fields of a named type by its name (`SentenceLabel`). A field with an empty
    list of values is not asked for; a type is left free. Of labels that are a letter with a number only the
    form is said: listed, two hundred of them took a tenth of a prompt, no server had a schema twice, and a
    model that names one too many was made to name a wrong one.
    """
    lean: dict[str, Any] = json.loads(_lean_schema(answer))
    for path, values in (choices or {}).items():
        _choose(lean, path.split("."), list(values))
    text = json.dumps(lean)
    unused = [name for name in lean.get("$defs", {}) if f'"#/$defs/{name}"' not in text]
    return {**lean, "$defs": {k: v for k, v in lean["$defs"].items() if k not in unused}} if unused else lean


@lru_cache(maxsize=64)
def _lean_schema(answer: type[BaseModel]) -> str:
    """JSON text, so that each caller has its own copy: making it took as long as rendering a prompt."""
    return json.dumps(_lean(answer.model_json_schema()))


def without_bounds(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the same schema for a server that refuses `maxItems`, `maxLength` and `pattern`."""
    plain: dict[str, Any] = _lean(dict(schema), frozenset())
    return plain


def _lean(node: Any, bounds: frozenset[str] = BOUNDS) -> Any:  # noqa: ANN401 - a JSON schema has no static type
    if isinstance(node, list):
        return [_lean(part, bounds) for part in node]
    if not isinstance(node, dict):
        return node
    lean = {key: node[key] for key in node if key in _KEYWORDS or key in bounds}
    for key in ("items", "anyOf"):
        if key in lean:
            lean[key] = _lean(lean[key], bounds)
    for key in ("properties", "$defs"):
        if key in lean:
            lean[key] = {name: _lean(part, bounds) for name, part in lean[key].items()}
    if lean.get("type") == "object":
        lean["required"] = list(lean.get("properties", {}))
        lean["additionalProperties"] = False
    return lean


def _choose(schema: dict[str, Any], path: Sequence[str], values: list[str]) -> None:
    node = schema
    if path[0][:1].isupper():  # a named type, which this answer may not have
        if values and path[0] in schema.get("$defs", {}):
            labels = [_LABEL.fullmatch(value) for value in values]
            letters = "".join(sorted({label[1] for label in labels if label}))
            form = {"pattern": f"^[{letters}][0-9]{{1,4}}$"} if all(labels) else {"enum": values}
            schema["$defs"][path[0]] = {"type": "string", **form}
        return
    for name in path:
        if not values and name == path[-1]:
            del node["properties"][name]
            node["required"].remove(name)
            return
        node = node["properties"][name]
        if "items" in node:
            node = node["items"]
        if "$ref" in node:
            node = schema["$defs"][node["$ref"].rsplit("/", 1)[-1]]
    node.pop("maxLength", None)
    node["enum"] = values


def read(text: str, answer: type[Answer], *, is_cut: bool = False) -> Answer:
    """Return the first thing in a text that validates.

    `is_cut`: the server stopped at the output limit, so an unfinished end is dropped.

    Raises Unreadable.
    """
    try:
        return _read(text[:LONGEST_ANSWER], answer, is_cut or len(text) > LONGEST_ANSWER)
    except RecursionError:
        raise Unreadable("it is nested too deeply", found_json=False) from None


def _read(text: str, answer: type[Answer], is_cut: bool) -> Answer:
    problem = ""
    has_json = False
    for candidate in islice(candidates(text, is_cut=is_cut), MAX_CANDIDATES):
        has_json = True
        fields = _in_shape(candidate, answer)
        if not (isinstance(fields, dict) and fields.keys() & answer.model_fields.keys()):
            problem = problem or f"none of the fields {', '.join(answer.model_fields)} was there"
            continue
        try:
            return answer.model_validate(fields)
        except ValidationError as error:
            problem = problem or _problems(error)
            if is_cut and (shorter := _without_last(fields, error)) is not None:
                try:
                    return answer.model_validate(shorter)
                except ValidationError:
                    continue
    if is_cut:
        raise Unreadable("the answer was cut off at the output limit", found_json=False)
    if not has_json:
        raise Unreadable(
            "there was no JSON in the answer" if text.strip() else "it was empty", found_json=False
        )
    raise Unreadable(problem, found_json=True)


def candidates(text: str, *, is_cut: bool = False) -> Iterator[object]:
    """Objects that may be the answer, the likeliest first."""
    seen: list[object] = []
    for source in dict.fromkeys((_speech(text, unclosed=False), _speech(text, unclosed=True), text)):
        for raw in _objects(source, is_cut):
            for candidate in (raw, *_unwrap(raw, DEEPEST)):
                parts = candidate if isinstance(candidate, list) else []  # `[1]` is a citation, no answer
                has_rows = bool(parts) and all(isinstance(part, dict | str) for part in parts)
                if (has_rows or isinstance(candidate, dict)) and candidate not in seen:
                    seen.append(candidate)
                    yield candidate


def _speech(text: str, *, unclosed: bool) -> str:
    """Return the text without its reasoning.

    What stands before a closing tag that nothing opened is reasoning; `unclosed`: what stands after an
    opening tag that nothing closes is not.
    """
    parts: list[str] = []
    opened_at = at = 0
    is_thinking = False
    for tag in _THINKING_TAG.finditer(text):
        if tag.group(1):
            if not is_thinking:
                parts.clear()
            is_thinking, at = False, tag.end()
        elif not is_thinking:
            parts.append(text[at : tag.start()])
            is_thinking, opened_at = True, tag.start()
    if not is_thinking:
        parts.append(text[at:])
    elif unclosed:
        parts.append(text[opened_at:])
    return "".join(parts)


def _objects(text: str, is_cut: bool) -> Iterator[object]:
    for piece in (text, *_fenced_texts(text)):
        try:
            yield json.loads(piece, strict=False)
        except (ValueError, RecursionError):
            if piece is not text and (start := _BRACKET.search(piece)):
                yield from _repair(piece, start.start())
    decoder = json.JSONDecoder(strict=False)
    failures = at = 0
    for bracket in _BRACKET.finditer(text):
        if bracket.start() < at:
            continue  # inside what was read already
        try:
            value, at = decoder.raw_decode(text, bracket.start())
            yield value
        except (ValueError, RecursionError):
            failures += 1
            if failures > MAX_STARTS:
                return
            if failures <= MAX_REPAIRED:
                yield from _repair(text, bracket.start())
            if is_cut and failures <= MAX_PARTIAL:
                with suppress(ValueError):
                    tail = _BACKSLASH.sub(lambda part: part[0].ljust(2, "\\"), text[bracket.start() :])
                    yield pydantic_core.from_json(tail, allow_partial=True)


def _repair(text: str, start: int) -> Iterator[object]:
    """Yield the object or list that begins here where it is whole and only nearly JSON.

    Something is then taken for what was meant. Of one that is not whole nobody knows what it lacks.
    """
    depth = deepest = 0
    for part in _STRING_OR_BRACKET.finditer(text, start, start + LONGEST_REPAIRED):
        depth += (part[0] in "{[") - (part[0] in "}]")
        deepest = max(deepest, depth)
        if depth == 0:
            span = text[start : part.end()]
            if deepest <= DEEPEST_REPAIRED and _OBJECT.match(span):
                with suppress(ValueError, RecursionError):
                    yield json_repair.loads(span, skip_json_loads=True)
            return


def _fenced_texts(text: str) -> Iterator[str]:
    fences = list(_FENCE.finditer(text))[: 2 * MAX_CANDIDATES]
    for opening, closing in zip(fences[::2], fences[1::2], strict=False):
        yield text[opening.end() : closing.start()]


def _unwrap(value: object, depth: int) -> Iterator[object]:
    """Return what is inside a tool call, a list of one, a single key, or a string."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        with suppress(ValueError, RecursionError):
            yield json.loads(value, strict=False)
    if depth and isinstance(value, list) and len(value) == 1:
        yield value[0]
        yield from _unwrap(value[0], depth - 1)
    if not isinstance(value, dict):
        return
    call = value.get("function") if isinstance(value.get("function"), dict) else value
    for key in ("arguments", "parameters", "input"):
        inner = call.get(key) if isinstance(call, dict) else None
        if isinstance(inner, str):
            try:
                inner = json.loads(inner, strict=False)
            except (ValueError, RecursionError):
                continue
        if isinstance(inner, dict):
            yield inner
    if len(value) == 1:
        inner = next(iter(value.values()))
        if isinstance(inner, dict):
            yield inner


def _in_shape(value: object, answer: type[BaseModel]) -> object:
    """Return a bare list where the answer has one required field and that is a list."""
    required = [name for name, field in answer.model_fields.items() if field.is_required()]
    return {required[0]: value} if isinstance(value, list) and len(required) == 1 else value


def _without_last(value: object, error: ValidationError) -> object | None:
    """Return the object without the last item of a list, when every problem lies in that unfinished item."""
    if not isinstance(value, dict):
        return None
    places = {tuple(detail["loc"][:2]) for detail in error.errors(include_url=False)}
    if len(places) != 1:
        return None
    field, *rest = places.pop()
    items = value.get(field) if isinstance(field, str) else None
    if not isinstance(items, list) or rest != [len(items) - 1]:
        return None
    return {**value, field: items[:-1]}


def _problems(error: ValidationError) -> str:
    errors = error.errors(include_url=False, include_input=False, include_context=False)
    lines = [f"{'.'.join(str(part) for part in e['loc']) or 'answer'}: {e['msg']}" for e in errors]
    return "; ".join(lines[:MAX_PROBLEMS])
