"""A generated program over the effects of an analysis: run twice, since its numbers must come of them.

The second run reads effects whose numbers are all shifted. A program that returns the same numbers again did
not compute them, and has no result.
"""

from collections.abc import Sequence

from activities.analysis.sandbox import run_program
from activities.contracts.effects import RATIOS, Arms, Effect, GeneratedAnalysis, Program

SHIFT = 1.5
"""Factor of ratios and summand of differences in the second run."""
NOT_COMPUTED = "it returns the same numbers for other effects"


def run_generated(program: Program, effects: Sequence[Effect]) -> GeneratedAnalysis:
    """What the program returns. Raises NotInstalled without bubblewrap."""
    bare = [effect.replace(quote="") for effect in effects]
    done = run_program(program.code, bare).replace(method=program.method)
    if done.failed or done.estimate is None:
        return done
    other = run_program(program.code, [shifted(effect) for effect in bare])
    same = not other.failed and numbers(other) == numbers(done)
    return done.replace(failed=NOT_COMPUTED) if same else done


def numbers(done: GeneratedAnalysis) -> tuple[float | None, float | None, float | None]:
    """What a program returned but for the value of no effect."""
    return (done.estimate, done.low, done.high)


def shifted(effect: Effect) -> Effect:
    """The effect with other numbers that are as possible as its own."""

    def moved(value: float | None) -> float | None:
        if value is None:
            return None
        return value * SHIFT if effect.measure in RATIOS else value + SHIFT

    arms = effect.arms
    return effect.replace(
        estimate=moved(effect.estimate),
        low=moved(effect.low),
        high=moved(effect.high),
        n=effect.n * 2 if effect.n else None,
        arms=arms and Arms(**arms.model_dump() | {"total": arms.total * 2}),
    )
