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
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import median, median_low

from activities.contracts.evidence import Allowance, ModelChoice, Price, Usage
from activities.contracts.publish import Amount, Estimate
from activities.contracts.step import Role
from activities.roles.allowances import (
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
READS_WORKS: tuple[Role, ...] = ("writer", "verifier", "appraiser", "extractor")
"""Roles whose prompts have works in them, beside the judge's."""
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
    works: Works = Works(),
    server: Server = Server(),
    settled: Settled | None = None,
) -> Estimate:
    """What a run of this request is expected to take. `choices`: the model of each role, with `default`;
    `prices` by model."""
    plan = _Plan(request, choices, prices, earlier, works, server, settled)
    least, likely, most = (replace(plan, way=way).amount() for way in (LEAST, LIKELY, MOST))
    kind = kind_of(request, choices)
    alike = [one.amount for one in earlier if one.kind == kind and (not settled or one.mode == settled.mode)]
    few = len(alike) < FEW
    expected = _each(median, [*alike, likely] if few else alike)
    return Estimate(
        kind=kind,
        basis="earlier" if alike else "plan",
        runs=len(alike),
        **expected.model_dump(),
        in_sequence=sum(plan.chain.values()),
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
class _Plan:
    """The calls that a run makes if it goes one way, and what each takes."""

    request: ResearchRequest
    choices: Mapping[str, ModelChoice]
    prices: Mapping[str, Price | None]
    earlier: Sequence[Took]
    works: Works
    server: Server
    settled: Settled | None
    way: int = LIKELY

    def amount(self) -> Amount:
        """What the run takes."""
        limits, takes = self.request.limits, {role: self._call(role) for role in self.calls}
        prices = {role: self.prices.get(self._choice(role).model) for role in self.calls}
        tokens = sum(takes[role][0].tokens * n for role, n in self.calls.items())
        cost = sum(worst_cost(takes[role][0], prices[role]) * n for role, n in self.calls.items())
        seconds = sum(takes[role][1] * n for role, n in self.chain.items())
        if at_once := self.server.at_once:
            seconds = max(seconds, sum(takes[role][1] * n for role, n in self.calls.items()) / at_once)
        seconds += OWN_SECONDS * sum(self.chain.values())
        if self.request.sources != ("library",):
            seconds += SEARCH_SECONDS * self._rounds
        return Amount(
            calls=math.ceil(sum(self.calls.values())),
            tokens=round(min(tokens, limits.max_tokens or tokens)),
            cost_microusd=None if None in prices.values() else round(cost),
            seconds=min(seconds, limits.max_seconds or seconds),
        )

    @cached_property
    def calls(self) -> dict[Role, float]:
        """The paid calls of the run by role."""
        sections, more, is_most = self._sections, self._rounds - 1, self.way == MOST
        calls: dict[Role, float] = {
            "clarifier": self.request.clarify != "off",
            "query_parser": 1,
            "judge": sections * (self._batches + more),
            "orderer": sections * MAX_WEIGHED,
            "writer": sections + is_most,  # second wordings
            "verifier": sections + is_most,
            "appraiser": 1,
        }
        if self._mode in TEAMS:
            rounds = sections * self._rounds
            calls |= {"manager": TURNS_A_ROUND * rounds, "tool_selector": rounds}
        elif is_most and self._mode != "simple":
            # asked in a further round where the judge names no search that is left
            unguided: tuple[Role, ...] = ("reflector", "observer", "gap_evaluator", "tool_selector")
            calls |= dict.fromkeys(unguided, sections * min(more, 1.0))
        if sections > 1:
            calls |= {"planner": 1, "editor": 1}
        if self.request.columns or self.request.analyse:
            calls["extractor"] = math.ceil(min(self._judged, MAX_TABLE_ITEMS) / WORKS_A_TABLE_CALL)
        return {role: n for role, n in calls.items() if n and asks_model(role, self._choice(role))}

    @cached_property
    def chain(self) -> dict[Role, float]:
        """How many calls of each role follow one another."""
        beside = min(self._sections, self.request.limits.max_parallel_sections)
        chain = {role: n / (1 if role in OF_A_RUN else beside) for role, n in self.calls.items()}
        if "judge" in chain:  # the works of a round are judged at the same time
            chain["judge"] = self._rounds * self._sections / beside
        chain.pop("extractor", None)  # goes on beside other calls
        if self.request.clarify != "ask":  # else a person answers before the parser is asked
            chain.pop("clarifier", None)
        return chain

    def _call(self, role: Role) -> tuple[Allowance, float]:
        """Tokens and seconds of a call of the role, as they were so far; else as a prompt, the works in it
        and an answer are expected to take, at the pace of all calls so far."""
        took = [*(one.by_role for one in self.earlier), self.settled.by_role if self.settled else {}]
        known = sum((one.get(role, Usage()) for one in took), Usage())
        every = sum((usage for one in took for usage in one.values()), Usage())
        if (calls := known.calls) and known.seconds:
            tokens = Allowance(
                input_tokens=known.input_tokens // calls, output_tokens=known.output_tokens // calls
            )
            return tokens, known.seconds / calls
        works = min(self._judged, MAX_WRITER_ITEMS) if role in READS_WORKS else 0
        if role == "judge":
            works = self._judged // self._batches
        a_work = min(self.works.chars, MAX_WORK_CHARS) / CHARS_A_TOKEN + LABEL_TOKENS
        answer = math.ceil(allowance_of(role, self._choice(role)).output_tokens * ANSWER_SHARE)
        tokens = Allowance(input_tokens=PROMPT_TOKENS + round(works * a_work), output_tokens=answer)
        pace = FIRST_WORD_SECONDS + answer / TOKENS_A_SECOND
        if every.seconds:
            return tokens, every.seconds / every.calls
        return scaled(tokens, int(tokens.tokens * LENGTH ** (self.way - 1))), pace * PACE ** (self.way - 1)

    @property
    def _mode(self) -> str:
        if self.settled:
            return self.settled.mode
        return "iterative" if self.request.mode == "auto" else self.request.mode

    def _choice(self, role: Role) -> ModelChoice:
        return self.choices.get(role) or self.choices["default"]

    @cached_property
    def _rounds(self) -> float:
        """Rounds of searches of each loop: as in earlier runs, within the limits."""
        is_team = self._mode in TEAMS
        made = [one.rounds for one in self.earlier if one.by_role and (one.mode in TEAMS) == is_team]
        rounds = (ROUNDS[LEAST], median([*made, ROUNDS[LIKELY]]), max([*made, ROUNDS[MOST]]))[self.way]
        return min(rounds, max(self.request.limits.max_iterations / (TURNS_A_ROUND if is_team else 1), 1.0))

    @cached_property
    def _sections(self) -> int:
        """How many sections a planner makes: as many as it may, as far as earlier ones did."""
        if not (self.request.graph.has_sections if self.request.graph else self._mode in IN_SECTIONS):
            return 1
        if self.settled:
            return self.settled.sections
        most = self.request.limits.max_sections
        before = [min(one.sections, most) for one in self.earlier if one.by_role and one.mode in IN_SECTIONS]
        return (min(2, most), round(median(before or [most])), most)[self.way]

    @property
    def _judged(self) -> int:
        """Works that a judge reads of the first round of searches."""
        sources = len(self.request.sources) or SOURCES
        found = math.ceil(ROUNDS[self.way] * self.request.limits.results_per_search * sources)
        return min(found, most_judged(self._choice("judge")), self.works.most or found)

    @cached_property
    def _batches(self) -> int:
        """Calls in which it reads them."""
        judge, judged = self._choice("judge"), self._judged
        whole = allowance_to_judge([int(self.works.chars)] * judged, judge)
        in_one = judged <= MAX_JUDGED and whole.tokens <= self.server.reads
        return 1 if in_one else math.ceil(judged / works_a_batch(judge))
