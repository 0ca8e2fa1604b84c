"""Every role by its name. Adding one is one file, one prompt and one line here."""

from activities.roles import (
    analyst,
    editor,
    extractor,
    gap_evaluator,
    hypothesis_generator,
    judge,
    manager,
    observer,
    planner,
    query_parser,
    reflector,
    tool_selector,
    verifier,
    writer,
)
from activities.roles.role import AnySpec
from activities.steps import Role

SPECS: dict[Role, AnySpec] = {
    spec.role: spec
    for spec in (
        query_parser.SPEC,
        planner.SPEC,
        observer.SPEC,
        gap_evaluator.SPEC,
        tool_selector.SPEC,
        judge.SPEC,
        reflector.SPEC,
        hypothesis_generator.SPEC,
        writer.SPEC,
        verifier.SPEC,
        editor.SPEC,
        extractor.SPEC,
        manager.SPEC,
        analyst.SPEC,
    )
}
