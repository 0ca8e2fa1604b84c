"""The activity that checks a graph before its run begins: the check needs a library that workflow code does
not import, and the built-in graphs are files."""

from temporalio import activity

from workflows.graph.definition import GraphCheck, GraphDefinition


@activity.defn(name="check_graph")
async def check_graph(definition: GraphDefinition | None) -> GraphCheck:
    """What is wrong with a definition, or the built-in graph where the request has none."""
    from workflows.graph.library import DEFAULT, builtin, not_installed
    from workflows.graph.validation import problems

    if definition is None:
        return GraphCheck(definition=builtin(DEFAULT))
    found = problems(definition) or not_installed(definition)
    return GraphCheck(problems=tuple(map(str, found)))
