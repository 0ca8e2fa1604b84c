"""Every role by its name. Adding one is one file, one prompt and one line here."""

from activities.contracts.step import Role, StepContext
from activities.own_step_activity import OwnStepInput
from activities.roles import (
    analyst,
    appraiser,
    clarifier,
    editor,
    extractor,
    gap_evaluator,
    hypothesis_generator,
    judge,
    manager,
    observer,
    orderer,
    own,
    planner,
    query_parser,
    reflector,
    reviser,
    tool_selector,
    verifier,
    writer,
)
from activities.roles.role import AnySpec

SPECS: dict[Role, AnySpec] = {
    spec.role: spec
    for spec in (
        clarifier.SPEC,
        query_parser.SPEC,
        planner.SPEC,
        observer.SPEC,
        gap_evaluator.SPEC,
        tool_selector.SPEC,
        judge.SPEC,
        reflector.SPEC,
        hypothesis_generator.SPEC,
        writer.SPEC,
        orderer.SPEC,
        verifier.SPEC,
        editor.SPEC,
        extractor.SPEC,
        appraiser.SPEC,
        reviser.SPEC,
        manager.SPEC,
        analyst.SPEC,
    )
}


def spec_of(role: Role, step: StepContext) -> AnySpec:
    """The role of a step: a built-in one, or that of an installed package which the step names. Raises
    KeyError."""
    return own.own_spec(step.name) if isinstance(step, OwnStepInput) else SPECS[role]
