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

LEAST, LIKELY, MOST = 0, 1, 2
"""How a run may go."""
ROUNDS = (1.0, 1.5, 3.0)
"""Rounds of searches that a loop makes where no run of the home says it. A round brings so many times as many
works as one search of each source: further searches find many of the same."""
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
OF_A_RUN: tuple[Role, ...] = ("clarifier", "query_parser", "planner", "appraiser", "editor", "extractor")
"""Asked once; the others for each section, of all sections at the same time."""


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
    works: int = 0
    """Works that were judged; 0 where that is not known."""

    @property
    def rounds(self) -> float:
        """Rounds of searches: in each a team has two turns of its manager."""
        manager = self.by_role.get("manager")
        return max(manager.calls / TURNS_A_ROUND / self.sections if manager else self.iterations, 1.0)


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
    plan = _Plan(asked, LIKELY)
    least, likely, most = _Plan(asked, LEAST).amount(), plan.amount(), _Plan(asked, MOST).amount()
    kind = kind_of(request, choices)
    alike = [one.amount for one in earlier if one.kind == kind and (not settled or one.mode == settled.mode)]
    few = len(alike) < FEW
    expected = _each(median, [*alike, likely] if few else alike)
    return Estimate(
        kind=kind,
        basis="earlier" if alike else "plan",
        runs=len(alike),
        **expected.model_dump(),
        in_sequence=plan.steps,
        least=_each(min, [*alike, expected, least] if few else alike),
        most=_each(max, [*alike, expected, most] if few else alike),
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

    def rounds(self, way: int) -> float:
        """Rounds of searches of each loop: as in earlier runs, within the limits."""
        is_team = self.mode in TEAMS
        made = [one.rounds for one in self.earlier if one.by_role and (one.mode in TEAMS) == is_team]
        rounds = (ROUNDS[LEAST], median([*made, ROUNDS[LIKELY]]), max([*made, ROUNDS[MOST]]))[way]
        return min(rounds, max(self.request.limits.max_iterations / (TURNS_A_ROUND if is_team else 1), 1.0))

    def sections(self, way: int) -> int:
        """How many sections a planner makes: as many as it may, as far as earlier ones did."""
        if not (self.request.graph.has_sections if self.request.graph else self.mode in IN_SECTIONS):
            return 1
        if self.settled:
            return self.settled.sections
        most = self.request.limits.max_sections
        before = [min(one.sections, most) for one in self.earlier if one.by_role and one.mode in IN_SECTIONS]
        return (min(2, most), round(median(before or [most])), most)[way]


class _Plan:
    """The calls that a run makes in one way, and what each takes."""

    def __init__(self, asked: _Asked, way: int) -> None:
        self.asked, self.way, self.request, self.used = asked, way, asked.request, asked.used()
        self.rounds, sections, judge = asked.rounds(way), asked.sections(way), asked.choice("judge")
        sources = len(self.request.sources) or SOURCES
        found = math.ceil(ROUNDS[way] * self.request.limits.results_per_search * sources)
        self.judged = min(found, most_judged(judge), asked.works.most or found)
        """Works of a first round."""
        self.has_all = asked.works.most is not None and found >= asked.works.most
        """Whether the first round finds all that there is: a further one has nothing to judge."""
        whole = allowance_to_judge([int(asked.works.chars)] * self.judged, judge)
        in_one = self.judged <= MAX_JUDGED and whole.tokens <= asked.server.reads
        self.batches = 1 if in_one else math.ceil(self.judged / works_a_batch(judge))
        self.calls = self._calls(sections)
        beside = min(sections, self.request.limits.max_parallel_sections)
        self.chain = {role: n / (1 if role in OF_A_RUN else beside) for role, n in self.calls.items()}
        """How many calls of each role follow one another."""
        if "judge" in self.chain:  # the works of a round are judged at the same time
            self.chain["judge"] = self.rounds * sections / beside
        self.chain.pop("extractor", None)  # goes on beside other calls
        if self.request.clarify != "ask":  # else a person answers before the parser is asked
            self.chain.pop("clarifier", None)
        self.steps = sum(self.chain.values())

    def amount(self) -> Amount:
        """What the run takes."""
        limits, takes = self.request.limits, {role: self._call(role) for role in self.calls}
        prices = {role: self.asked.prices.get(self.asked.choice(role).model) for role in self.calls}
        tokens = sum(takes[role][0].tokens * n for role, n in self.calls.items())
        cost = sum(worst_cost(takes[role][0], prices[role]) * n for role, n in self.calls.items())
        seconds = sum(takes[role][1] * n for role, n in self.chain.items())
        if at_once := self.asked.server.at_once:
            seconds = max(seconds, sum(takes[role][1] * n for role, n in self.calls.items()) / at_once)
        seconds += OWN_SECONDS * self.steps
        if self.request.sources != ("library",):
            seconds += SEARCH_SECONDS * self.rounds
        return Amount(
            calls=math.ceil(sum(self.calls.values())),
            tokens=round(min(tokens, limits.max_tokens or tokens)),
            cost_microusd=None if None in prices.values() else round(cost),
            seconds=min(seconds, limits.max_seconds or seconds),
        )

    def _calls(self, sections: int) -> dict[Role, float]:
        """The paid calls of the run by role."""
        request, mode, more, is_most = self.request, self.asked.mode, self.rounds - 1, self.way == MOST
        calls: dict[Role, float] = {
            "clarifier": request.clarify != "off",
            "query_parser": 1,
            "judge": sections * (self.batches + more * (not self.has_all)),
            "orderer": sections * MAX_WEIGHED,
            "writer": sections + is_most,  # second wordings
            "verifier": sections + is_most,
            "appraiser": 1,
        }
        if mode in TEAMS:
            rounds = sections * self.rounds
            calls |= {"manager": TURNS_A_ROUND * rounds, "tool_selector": rounds}
        elif (is_most or self.has_all) and mode != "simple":
            # asked in a further round where the judge names no search that is left: in one, or in none
            unguided: tuple[Role, ...] = ("reflector", "observer", "gap_evaluator", "tool_selector")
            calls |= dict.fromkeys(unguided, sections * min(more, 1.0 if is_most else 0.5))
        if sections > 1:
            calls |= {"planner": 1, "editor": 1}
        if request.columns or request.analyse:
            calls["extractor"] = math.ceil(min(self.judged, MAX_TABLE_ITEMS) / WORKS_A_TABLE_CALL)
        return {role: n for role, n in calls.items() if n and asks_model(role, self.asked.choice(role))}

    def _call(self, role: Role) -> tuple[Allowance, float]:
        """Tokens and seconds of a call of the role, as they were so far; else as expected, by how far calls
        of other roles took what was expected of them."""
        (tokens, seconds), used = self._expected(role), self.used.get(role)
        if used is not None:
            read = used.input_tokens / used.calls
            more = max(read - PROMPT_TOKENS, 0.0) * (self._share_of_works(role) - 1.0)
            took = Allowance(input_tokens=round(read + more), output_tokens=used.output_tokens // used.calls)
            return took, used.seconds / used.calls or seconds
        length, pace = LENGTH ** (self.way - 1), PACE ** (self.way - 1)
        if others := [(one, *self._expected(name)) for name, one in self.used.items()]:
            length = sum(one.tokens for one, *_ in others) / sum(e.tokens * one.calls for one, e, _ in others)
            pace = sum(one.seconds for one, *_ in others) / sum(e * one.calls for one, _, e in others) or 1.0
        return scaled(tokens, int(tokens.tokens * length)), seconds * pace

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

    def _expected(self, role: Role) -> tuple[Allowance, float]:
        """What a call is made of: a prompt, the works in it, and an answer."""
        allowance, most = allowance_of(role, self.asked.choice(role)), WORKS_A_CALL.get(role, 0)
        works: float = min(self.judged, most)
        if role == "judge":
            works, most = self.judged / self.batches, works_a_batch(self.asked.choice(role))
        a_work = min(self.asked.works.chars, MAX_WORK_CHARS) / CHARS_A_TOKEN + LABEL_TOKENS
        full = works / most if role in ("judge", "appraiser", "extractor") else 1.0
        answer = math.ceil(allowance.output_tokens * ANSWER_SHARE * full)
        tokens = Allowance(input_tokens=PROMPT_TOKENS + round(works * a_work), output_tokens=answer)
        return tokens, FIRST_WORD_SECONDS + answer / TOKENS_A_SECOND
