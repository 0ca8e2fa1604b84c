"""What a run is expected to take, before its first paid call: pure arithmetic.

A run is the calls that its mode makes, some of which follow one another. What a call of a role takes is what
such calls took in earlier runs of the home with the same models; where there are none, what its prompt and
its answer are made of. Runs that were asked in the same way say best what a whole run takes; until there are
a few of them the plan counts as one more. How many rounds of searches a loop makes is not known before: an
estimate has its bounds.
"""

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median, median_low
from typing import get_args

from activities.contracts.evidence import Allowance, ModelChoice, Price, Usage
from activities.contracts.publish import Amount, Estimate
from activities.contracts.step import Role
from activities.roles.allowances import (
    MAX_APPRAISED,
    MAX_JUDGED,
    MAX_TABLE_ITEMS,
    MAX_WEIGHED,
    MAX_WORK_CHARS,
    MAX_WRITER_ITEMS,
    WORKS_A_TABLE_CALL,
    allowance_of,
    allowance_to_judge,
    asks_model,
    most_judged,
    works_a_batch,
)
from workflows.rules.budget import scaled, worst_cost
from workflows.types import ResearchRequest

ROUNDS = (1.0, 1.5, 3.0)
"""Rounds of searches that a loop makes: at least, expected where no run of the home says it, and at most."""
QUERIES = (1.0, 1.5, 3.0)
"""Times as many works as one search of each source brings, that a round brings: further searches find many of
the same."""
SOURCES = 3
"""Sources that are searched where none is named, as far as their works are judged."""
FEW = 3
"""Earlier runs of a kind, from which on the plan does not count any more."""

ABSTRACT_CHARS = 1_600.0
"""Characters of an abstract: some 250 words."""
CHARS_A_TOKEN = 4
"""Characters of English that a token holds, as providers count."""
PROMPT_TOKENS = 650
"""Tokens of a prompt without works: this package's have from 450 (`clarifier`) to 1,100 (`appraiser`)."""
LABEL_TOKENS = 45
"""Tokens of the line above a work and the labels of its sentences."""
ANSWER_SHARE = 0.3
"""The share of what an allowance has for answers, that an answer takes: there is room for a repair in it, and
it is a worst case."""
FIRST_WORD_SECONDS, TOKENS_A_SECOND = 1.0, 80.0
"""The pace of a hosted model, where no call of the home says how fast it is."""
LENGTH, PACE = 1.5, 3.0
"""How many times more tokens and seconds calls may take of which nothing is known, or fewer."""
OWN_SECONDS, SEARCH_SECONDS = 0.4, 4.0
"""Seconds that each call which follows another takes beside the model, for the step and what is kept of it;
seconds of the searches of a round in sources elsewhere."""

ROLES: tuple[Role, ...] = get_args(Role)
TEAMS, IN_SECTIONS = ("team", "hierarchical"), ("deep", "hierarchical")
TURNS_A_ROUND = 2
"""Turns of a team in a round of searches, the searcher's and the judge's, each after one of its manager."""
WORKS_A_CALL: Mapping[Role, int] = {
    "writer": MAX_WRITER_ITEMS,
    "verifier": MAX_WRITER_ITEMS,
    "hypothesis_generator": MAX_WRITER_ITEMS,
    "appraiser": MAX_APPRAISED,
    "extractor": WORKS_A_TABLE_CALL,
    "orderer": 1,
}
"""Works in a prompt at most."""
BESIDE: tuple[Role, ...] = ("clarifier", "extractor")
"""Go on beside other calls."""
OF_A_SECTION: tuple[Role, ...] = (
    *("judge", "orderer", "writer", "verifier", "manager"),
    *("tool_selector", "observer", "gap_evaluator", "reflector"),
)
"""Asked for each section, of all sections at the same time."""
EVEN = 0.5
"""Rounds of these that are expected where nothing is left to be found: one, or none."""
UNGUIDED: tuple[Role, ...] = ("reflector", "observer", "gap_evaluator", "tool_selector")
"""Asked in a further round as well where the judge names no search that is left."""


@dataclass(frozen=True)
class Works:
    """What there is to read, as far as it is known before."""

    most: int | None = None
    """Documents, where nothing but a folder is searched."""
    chars: float = ABSTRACT_CHARS
    """Characters of one of them, as far as it is read."""


@dataclass(frozen=True)
class Took:
    """What an earlier run of the home took."""

    kind: str
    amount: Amount
    mode: str = ""
    """The mode that it had in the end."""
    by_role: Mapping[Role, Usage] = field(default_factory=dict)
    """Empty for a run with other models."""
    sections: int = 1
    iterations: float = 1.0
    """Iterations of each of its loops."""
    elsewhere: bool = False
    """Whether it searched more than a folder."""
    works: int = 0
    """Works that were judged; 0 where that is not known."""

    @property
    def rounds(self) -> float:
        """Rounds of searches: in each a team has two turns of its manager."""
        manager = self.by_role.get("manager")
        return max(manager.calls / TURNS_A_ROUND / self.sections if manager else self.iterations, 1.0)

    @property
    def own_seconds(self) -> float:
        """Seconds beside model calls, for each call that followed another."""
        calls = {role: float(usage.calls) for role, usage in self.by_role.items()}
        chain = in_sequence(calls, self.sections, self.rounds)
        asked = sum(count * self.by_role[role].seconds / calls[role] for role, count in chain.items())
        return max(self.amount.seconds - asked, 0.0) / max(sum(chain.values()), 1.0)


@dataclass(frozen=True)
class Server:
    """What is known of the server of the model."""

    at_once: int = 0
    """Calls that it is given at the same time, 0 for any number."""
    reads: int = 32_000
    """Tokens of a prompt and its answer."""


@dataclass(frozen=True)
class Settled:
    """What is known of a run once its plan was bought."""

    mode: str
    sections: int
    by_role: Mapping[Role, Usage]


@dataclass(frozen=True)
class Call:
    """What a call of a role takes."""

    tokens: Allowance
    seconds: float


def kind_of(request: ResearchRequest, choices: Mapping[str, ModelChoice]) -> str:
    """What makes two runs alike: mode, models, effort, sources and limits, as a digest."""
    asked = (
        request.mode,
        request.graph.model_dump_json() if request.graph else "",
        request.profile,
        sorted((role, one.model_dump_json()) for role, one in choices.items()),
        sorted(request.sources),
        request.library or "",
        request.limits.model_dump_json(exclude={"max_cost_microusd", "max_seconds"}),
        bool(request.columns or request.analyse),
    )
    return hashlib.sha256(repr(asked).encode()).hexdigest()[:12]


def estimate(
    request: ResearchRequest,
    choices: Mapping[str, ModelChoice],
    prices: Mapping[str, Price | None],
    earlier: Sequence[Took],
    *,
    works: Works | None = None,
    server: Server | None = None,
    settled: Settled | None = None,
) -> Estimate:
    """What a run of this request is expected to take. `choices`: the model of each role, with `default`;
    `prices` by model."""
    asked = _Asked(request, choices, prices, earlier, works or Works(), server or Server(), settled)
    least, likely, most = (_Plan(asked, course) for course in asked.courses())
    kind = kind_of(request, choices)
    alike = [one.amount for one in earlier if one.kind == kind and (not settled or one.mode == settled.mode)]
    few = len(alike) < FEW
    expected = _each(median, [*alike, likely.amount()] if few else alike)
    return Estimate(
        kind=kind,
        basis="earlier" if alike else "plan",
        runs=len(alike),
        **expected.model_dump(),
        in_sequence=likely.steps,
        least=_each(min, [*alike, expected, least.amount()] if few else alike),
        most=_each(max, [*alike, expected, most.amount()] if few else alike),
    )


def _each(how: Callable[[Sequence[float]], float], amounts: Sequence[Amount]) -> Amount:
    """One amount of several, number by number; the cost only where it is known of each. The middle of two
    times is the shorter one: the start of a worker, or others on the machine, only add."""
    costs = [one.cost_microusd for one in amounts if one.cost_microusd is not None]
    return Amount(
        calls=round(how([one.calls for one in amounts])),
        tokens=round(how([one.tokens for one in amounts])),
        cost_microusd=round(how(costs)) if len(costs) == len(amounts) else None,
        seconds=(median_low if how is median else how)([one.seconds for one in amounts]),
    )


def in_sequence(calls: Mapping[Role, float], beside: float, rounds: float) -> dict[Role, float]:
    """How many calls of each role follow one another, where `beside` sections go on at the same time."""
    chain = {role: count / (beside if role in OF_A_SECTION else 1) for role, count in calls.items()}
    if "judge" in chain:
        chain["judge"] = rounds  # the works of a round are judged at the same time
    return {role: count for role, count in chain.items() if role not in BESIDE}


@dataclass(frozen=True)
class _Course:
    """How a run may go."""

    rounds: float
    queries: float
    sections: int
    length: float = 1.0
    """Times as many tokens as a call is expected to take of which nothing is known."""
    pace: float = 1.0
    """The same of seconds."""
    is_most: bool = False
    """Whether it has second wordings, and a round for which the judge named no search."""


@dataclass(frozen=True)
class _Asked:
    """What is known before."""

    request: ResearchRequest
    choices: Mapping[str, ModelChoice]
    prices: Mapping[str, Price | None]
    earlier: Sequence[Took]
    works: Works
    server: Server
    settled: Settled | None

    @property
    def mode(self) -> str:
        if self.settled:
            return self.settled.mode
        return "iterative" if self.request.mode == "auto" else self.request.mode

    def choice(self, role: Role) -> ModelChoice:
        return self.choices.get(role) or self.choices["default"]

    def used(self) -> dict[Role, Usage]:
        """What calls of each role took."""
        took = [*(one.by_role for one in self.earlier), self.settled.by_role if self.settled else {}]
        every = {role: sum((one.get(role, Usage()) for one in took), Usage()) for role in get_args(Role)}
        return {role: usage for role, usage in every.items() if usage.calls}

    def courses(self) -> tuple[_Course, _Course, _Course]:
        """How the run goes at least, as is expected, and at most."""
        limits, is_team = self.request.limits, self.mode in TEAMS
        allowed = max(limits.max_iterations / (TURNS_A_ROUND if is_team else 1), 1.0)
        made = [one.rounds for one in self.earlier if one.by_role and (one.mode in TEAMS) == is_team]
        least, likely, most = (
            min(rounds, allowed)
            for rounds in (ROUNDS[0], median([*made, ROUNDS[1]]), max([*made, ROUNDS[2]]))
        )
        few = some = many = 1
        if self.request.graph.has_sections if self.request.graph else self.mode in IN_SECTIONS:
            few, some, many = self._sections()
        length, pace = (1.0, 1.0) if self.used() else (LENGTH, PACE)
        return (
            _Course(least, QUERIES[0], few, 1 / length, 1 / pace),
            _Course(likely, QUERIES[1], some),
            _Course(most, QUERIES[2], many, length, pace, is_most=True),
        )

    def _sections(self) -> tuple[int, int, int]:
        """How many sections a planner makes: as many as it may, as far as earlier ones did."""
        if self.settled:
            return (self.settled.sections,) * 3
        most = self.request.limits.max_sections
        before = [min(one.sections, most) for one in self.earlier if one.by_role and one.mode in IN_SECTIONS]
        return min(2, most), round(median(before or [most])), most


class _Plan:
    """The calls that a run makes, and what each takes."""

    def __init__(self, asked: _Asked, course: _Course) -> None:
        self.asked, self.course, self.request, self.used = asked, course, asked.request, asked.used()
        judge, sources = asked.choice("judge"), len(self.request.sources) or SOURCES
        found = math.ceil(course.queries * self.request.limits.results_per_search * sources)
        self.judged = min(found, most_judged(judge), asked.works.most or found)
        """Works of a first round."""
        self.has_all = asked.works.most is not None and found >= asked.works.most
        """Whether the first round finds all that there is: a further one has nothing to judge."""
        whole = allowance_to_judge([int(asked.works.chars)] * self.judged, judge)
        in_one = self.judged <= MAX_JUDGED and whole.tokens <= asked.server.reads
        self.batches = 1 if in_one else math.ceil(self.judged / works_a_batch(judge))
        self.calls = self._calls()
        beside = min(course.sections, self.request.limits.max_parallel_sections)
        self.chain = in_sequence(self.calls, beside, course.rounds * course.sections / beside)
        if self.request.clarify == "ask" and "clarifier" in self.calls:
            self.chain["clarifier"] = 1.0  # else it is asked beside the parser
        self.steps = sum(self.chain.values())

    def amount(self) -> Amount:
        """What the run takes."""
        limits, takes = self.request.limits, {role: self._call(role) for role in self.calls}
        prices = {role: self.asked.prices.get(self.asked.choice(role).model) for role in self.calls}
        tokens = sum(takes[role].tokens.tokens * count for role, count in self.calls.items())
        cost = sum(worst_cost(takes[role].tokens, prices[role]) * n for role, n in self.calls.items())
        seconds = sum(takes[role].seconds * count for role, count in self.chain.items())
        if at_once := self.asked.server.at_once:
            busy = sum(takes[role].seconds * count for role, count in self.calls.items())
            seconds = max(seconds, busy / at_once)
        seconds += self._own_seconds()
        return Amount(
            calls=math.ceil(sum(self.calls.values())),
            tokens=round(min(tokens, limits.max_tokens or tokens)),
            cost_microusd=None if None in prices.values() else round(cost),
            seconds=min(seconds, limits.max_seconds or seconds),
        )

    def _calls(self) -> dict[Role, float]:
        """The paid calls of the run by role."""
        request, sections, more = self.request, self.course.sections, self.course.rounds - 1
        calls: dict[Role, float] = {
            "clarifier": request.clarify != "off",
            "query_parser": 1,
            "judge": sections * (self.batches + more * (not self.has_all)),
            "orderer": sections * MAX_WEIGHED,
            "writer": sections + self.course.is_most,
            "verifier": sections + self.course.is_most,
            "appraiser": 1,
        }
        if self.asked.mode in TEAMS:
            rounds = sections * self.course.rounds
            calls |= {"manager": TURNS_A_ROUND * rounds, "tool_selector": rounds}
        elif (self.course.is_most or self.has_all) and self.asked.mode != "simple":
            asked = min(more, 1.0 if self.course.is_most else EVEN)
            calls |= dict.fromkeys(UNGUIDED, sections * asked)
        if sections > 1:
            calls |= {"planner": 1, "editor": 1}
        if request.columns or request.analyse:
            calls["extractor"] = math.ceil(min(self.judged, MAX_TABLE_ITEMS) / WORKS_A_TABLE_CALL)
        return {role: n for role, n in calls.items() if n and asks_model(role, self.asked.choice(role))}

    def _own_seconds(self) -> float:
        """Seconds of the run beside its model calls."""
        elsewhere = self.request.sources != ("library",)
        alike = [one.own_seconds for one in self.asked.earlier if one.by_role and one.elsewhere == elsewhere]
        searches = SEARCH_SECONDS * self.course.rounds if elsewhere and not alike else 0.0
        return median_low([*alike, OWN_SECONDS]) * self.steps + searches

    def _call(self, role: Role) -> Call:
        """What a call of the role took so far; else what is expected, by how far calls of other roles took
        what was expected of them."""
        expected, used = self._expected(role), self.used.get(role)
        if used is not None:
            read, share = used.input_tokens / used.calls, self._share_of_works(role)
            tokens = Allowance(
                input_tokens=round(read + max(read - PROMPT_TOKENS, 0.0) * (share - 1.0)),
                output_tokens=used.output_tokens // used.calls,
            )
            return Call(tokens, used.seconds / used.calls or expected.seconds)
        others = [(one, self._expected(name)) for name, one in self.used.items()]
        length, pace = self.course.length, self.course.pace
        if others:
            should = sum(call.tokens.tokens * one.calls for one, call in others)
            length = sum(one.tokens for one, _ in others) / should
        if took := sum(one.seconds for one, _ in others):
            pace = took / sum(call.seconds * one.calls for one, call in others)
        tokens = scaled(expected.tokens, int(expected.tokens.tokens * length))
        return Call(tokens, expected.seconds * pace)

    def _share_of_works(self, role: Role) -> float:
        """How many times as many works a prompt of the role has as in the earlier runs."""
        most = min(WORKS_A_CALL.get(role, 0), most_judged(self.asked.choice("judge")))
        before = [
            (min(one.works, most), one.by_role[role].calls)
            for one in self.asked.earlier
            if one.works and role in one.by_role
        ]
        shown = sum(works * calls for works, calls in before)
        return min(self.judged, most) * sum(calls for _, calls in before) / shown if shown else 1.0

    def _expected(self, role: Role) -> Call:
        """What a call is made of: a prompt, the works in it, and an answer."""
        allowance, most = allowance_of(role, self.asked.choice(role)), WORKS_A_CALL.get(role, 0)
        works: float = min(self.judged, most)
        if role == "judge":
            works, most = self.judged / self.batches, works_a_batch(self.asked.choice(role))
        a_work = min(self.asked.works.chars, MAX_WORK_CHARS) / CHARS_A_TOKEN + LABEL_TOKENS
        read = PROMPT_TOKENS + round(works * a_work)
        full = works / most if role in ("judge", "appraiser", "extractor") else 1.0
        answer = math.ceil(allowance.output_tokens * ANSWER_SHARE * full)
        seconds = FIRST_WORD_SECONDS + answer / TOKENS_A_SECOND
        return Call(Allowance(input_tokens=read, output_tokens=answer), seconds)
