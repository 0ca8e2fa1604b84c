"""Every regular expression of the product, strings that are hard for it, and whether its work grows in
proportion to their length.

Those that modules hold are read from the modules, constants in calls from the source. None is built when a
function is called (`builders`).
"""

import ast
import importlib
import re
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from re import _constants as ops  # type: ignore[attr-defined]  # has no public name
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

ROOT = Path(__file__).parent.parent
PACKAGES = ("activities", "workflows", "worker", "client")
CALLS = ("compile", "search", "match", "fullmatch", "findall", "finditer", "sub", "subn", "split")
IMPORT = "import re\n"
"""Without this line a module makes no expression, and need not be parsed."""
SHORT = (16, 20, 24, 28)
"""Lengths at which work that doubles with each character is noticed before it lasts for ever."""
LONG = (500, 1_000, 2_000, 4_000, 8_000, 16_000)
FLOOR = 0.002
"""Seconds below which a time is not compared: proportional work of these lengths takes less."""
GROWTH = 3.0
"""A string twice as long costs twice as much; beyond this factor, twice in a row, the work is out of
proportion."""
REPEATS = 3
COMMON: tuple[str, ...] = (
    *(" ", "\n", "\t", ".", "-", ",", "a", "A", "1", "_", "(", ")", "[", "]", "{", "<", "&", '"'),
    *("/", ":"),
)
COMMON += ("a ", "a.", "1,", "1.", "()", "[]", "((", " \n", "a-", "A.", "<a", "é", "a1", "., ")
REPEATED = (" ", "a", "1", "-", "[[", "((", "a ")
"""What a few strings repeat."""
FEW = 10
"""Characters at the beginning of a string that are repeated where a few strings are tried."""
ENDS = ("", "!", "\x00", "\n")


@dataclass(frozen=True)
class Expression:
    pattern: re.Pattern[str]
    methods: frozenset[str]
    """How it is applied: `match`, `fullmatch`, or `finditer` for all that try each place of a text."""


def expressions() -> dict[str, Expression]:
    """Every expression by its place: those that modules hold, and constants in calls."""
    found: dict[str, Expression] = {}
    files = sorted(file for package in PACKAGES for file in (ROOT / package).rglob("*.py"))
    sources = {file: file.read_text() for file in files}
    for path, source in sources.items():
        place = path.relative_to(ROOT).as_posix()
        with suppress(ImportError):
            name = place.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            module = importlib.import_module(name)
            held = [
                (key, value, one) for key, value in vars(module).items() for one in enumerate(_held(value))
            ]
            users = [text for text in sources.values() if held and f"from {name} import" in text]
            for key, value, (number, pattern) in held:
                whole = pattern is value
                used = _methods(key, "\n".join((source, *users))) if whole else frozenset({"finditer"})
                found[f"{place} {key} {number}"] = Expression(pattern, used)
        for node in _nodes(source):
            if called := _called(node):
                found[f"{place}:{getattr(node, 'lineno', 0)}"] = called
    unique: dict[tuple[object, ...], str] = {}
    for place, one in found.items():
        unique.setdefault((one.pattern.pattern, one.pattern.flags, one.methods), place)
    return {place: found[place] for place in unique.values()}


def builders(sources: Mapping[Path, str]) -> set[str]:
    """The functions with an expression that is no constant: `activities/made_up.py within`."""
    found: set[str] = set()
    for path, source in sources.items():
        nodes = _nodes(source)
        if not any(map(_is_dynamic, nodes)):
            continue
        for function in nodes:
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                dynamic = (node for node in ast.walk(function) if _is_dynamic(node))
                if next(dynamic, None) is not None:
                    found.add(f"{path.relative_to(ROOT).as_posix()} {function.name}")
    return found


@cache
def _nodes(source: str) -> tuple[ast.AST, ...]:
    """Of a module that may make expressions."""
    return tuple(ast.walk(ast.parse(source))) if IMPORT in source else ()


def _is_dynamic(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr=called), args=[first, *_]):
            return called in CALLS and not isinstance(first, ast.Constant)
    return False


def _methods(name: str, source: str) -> frozenset[str]:
    """How an expression of a module is applied; where that cannot be seen, at each place."""
    source = "\n".join(line for line in source.split("\n") if name in line)
    uses = re.findall(rf"\b{name}\b(\.\w+)?", source)
    named = {use.removeprefix(".") for use in uses} - {"pattern", "groups"}
    plain = sum(use == "" for use in uses) - len(re.findall(rf"^{name}\b", source, re.MULTILINE))
    plain -= len(re.findall(rf"^(?:from|    )[^=()]*\b{name}\b,?$", source, re.MULTILINE))
    if plain > 0 or not named - {""}:
        return frozenset({"finditer"})
    return frozenset(use if use in ("match", "fullmatch") else "finditer" for use in named - {""})


def _held(value: object, depth: int = 2) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern):
        if isinstance(value.pattern, str):
            yield value
    elif depth and isinstance(value, dict):
        for one in (*value.keys(), *value.values()):
            yield from _held(one, depth - 1)
    elif depth and isinstance(value, list | tuple | set | frozenset):
        for one in value:
            yield from _held(one, depth - 1)


def _called(node: ast.AST) -> Expression | None:
    match node:
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id="re"), attr=called),
            args=[ast.Constant(value=str() as text), *_],
        ) if called in CALLS:
            flags = [ast.unparse(one) for one in (*node.args[1:], *(k.value for k in node.keywords))]
            names = {name for text in flags for name in re.findall(r"\bre\.([A-Z]+)\b", text)}
            combined = re.NOFLAG
            for name in names:
                combined |= re.RegexFlag[name]
            method = called if called in ("match", "fullmatch") else "finditer"
            # what is compiled here and held by the module is found there
            return (
                None if called == "compile" else Expression(re.compile(text, combined), frozenset({method}))
            )
    return None


def probes(pattern: re.Pattern[str], *, few: bool = False) -> Iterator[tuple[str, str, str]]:
    """(prefix, repeated, end) of strings that are hard for an expression: what it may match with one of its
    characters again and again, and runs of every class of character. `few` are of one string that it may
    match, and of the characters that expressions of the product repeat."""
    seen: set[tuple[str, str, str]] = set()
    if few:
        sample = _samples(pattern)[0]
        seen = {(sample[:place], character, "\x00") for place, character in enumerate(sample[:FEW])}
        yield from sorted(seen | {("", repeated, "\x00") for repeated in REPEATED})
        return
    for sample in _samples(pattern):
        for place, character in enumerate(sample[:60]):
            for repeated in dict.fromkeys((character, sample[place : place + 2])):
                for end in ("", "\x00"):
                    seen.add((sample[:place], repeated, end))
    seen |= {("", repeated, end) for repeated in COMMON for end in ENDS}
    yield from sorted(seen)


def _samples(pattern: re.Pattern[str]) -> list[str]:
    tree = parser.parse(pattern.pattern, pattern.flags)
    return list(dict.fromkeys(_sample(tree, {}, choice) for choice in range(4)))


def _sample(tree: Iterable[Any], groups: dict[int, str], choice: int) -> str:
    """A string that an expression may match; `choice` says which of its alternatives."""
    parts: list[str] = []
    for op, value in tree:
        if op is ops.LITERAL:
            parts.append(chr(value))
        elif op is ops.NOT_LITERAL:
            parts.append("a" if value != ord("a") else "b")
        elif op is ops.ANY:
            parts.append("a")
        elif op is ops.IN:
            parts.append(_one_of(value, choice))
        elif op is ops.BRANCH:
            parts.append(_sample(value[1][choice % len(value[1])], groups, choice))
        elif op is ops.SUBPATTERN:
            groups[value[0]] = _sample(value[-1], groups, choice)
            parts.append(groups[value[0]])
        elif op is ops.ATOMIC_GROUP:
            parts.append(_sample(value, groups, choice))
        elif op in (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT):
            low, high, inside = value
            parts.append(_sample(inside, groups, choice) * min(max(low, 1), 12 if high else 0))
        elif op is ops.GROUPREF:
            parts.append(groups.get(value, ""))
    return "".join(parts)


def _one_of(items: Any, choice: int) -> str:
    if items[0][0] is ops.NEGATE:
        return next(c for c in "a1 .-\x00é" if not re.match(_class_of(items[1:]), c))
    op, value = items[choice % len(items)]
    if op is ops.RANGE:
        return chr(value[0])
    return _CATEGORIES.get(value, "a") if op is ops.CATEGORY else chr(value)


def _class_of(items: Any) -> str:
    text = ""
    for op, value in items:
        if op is ops.LITERAL:
            text += re.escape(chr(value))
        elif op is ops.RANGE:
            text += f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}"
        elif op is ops.CATEGORY:
            text += _ESCAPES.get(value, "")
    return f"[{text}]"


_CATEGORIES = {
    ops.CATEGORY_DIGIT: "1",
    ops.CATEGORY_SPACE: " ",
    ops.CATEGORY_WORD: "a",
    ops.CATEGORY_NOT_DIGIT: "a",
    ops.CATEGORY_NOT_SPACE: "a",
    ops.CATEGORY_NOT_WORD: " ",
}
_ESCAPES = {
    ops.CATEGORY_DIGIT: r"\d",
    ops.CATEGORY_SPACE: r"\s",
    ops.CATEGORY_WORD: r"\w",
    ops.CATEGORY_NOT_DIGIT: r"\D",
    ops.CATEGORY_NOT_SPACE: r"\S",
    ops.CATEGORY_NOT_WORD: r"\W",
}


def seconds(apply: Callable[[str], object], text: str, repeats: int) -> float:
    """The least processor time in which an expression is applied to a text."""
    best = float("inf")
    for _ in range(repeats):
        began = time.process_time()
        apply(text)
        best = min(best, time.process_time() - began)
    return best


def growth(apply: Callable[[str], object], prefix: str, repeated: str, end: str) -> list[float]:
    """The times that show that the work is not in proportion to the length; empty where it is."""
    for length in SHORT:
        took = seconds(apply, prefix + repeated * length + end, 1)
        if took > 20 * FLOOR:
            return [took]
    longest = seconds(apply, prefix + repeated * LONG[2] + end, 1)
    if longest < FLOOR:
        return []
    if longest > 50 * FLOOR:
        return [longest]
    times = [seconds(apply, prefix + repeated * length + end, REPEATS) for length in LONG[:3]]
    for length in LONG[3:]:
        if times[-1] > FLOOR and times[-1] > GROWTH * times[-2] and times[-2] > GROWTH * times[-3]:
            return times
        times.append(seconds(apply, prefix + repeated * length + end, REPEATS))
    ratios = [after / before for before, after in zip(times[-4:], times[-3:], strict=False) if before > FLOOR]
    return times if len(ratios) > 1 and min(ratios) > GROWTH else []


def _apply(method: Callable[[str], Any], text: str) -> None:
    """Find every match, or try the one at the beginning."""
    matches = method(text)
    if matches is not None and not isinstance(matches, re.Match):
        deque(matches, maxlen=0)


def slow(held: dict[str, Expression], *, few: bool) -> Iterator[list[object]]:
    """The place, the expression, the method, the string's kind and the times of each whose work is out of
    proportion."""
    for place, one in held.items():
        for method in sorted(one.methods):
            apply = partial(_apply, getattr(one.pattern, method))
            tried = ((probe, growth(apply, *probe)) for probe in probes(one.pattern, few=few))
            for probe, times in (found for found in tried if found[1]):
                yield [place, one.pattern.pattern, method, probe, times]
                break
