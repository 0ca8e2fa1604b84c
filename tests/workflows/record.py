"""Records the histories that `test_replay` replays: `python -m tests.workflows.record SCENE ...`.

Until the first release a scene is recorded again when a step of its workflow changes; `all` records each.
After it, histories that are there stand for the runs that are under way when a worker is upgraded.
"""

import asyncio
import sys
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from tests.workflows import scenes_of_loops, scenes_of_modes, scenes_of_sections
from tests.workflows.conftest import Stage, a_stage
from tests.workflows.test_replay import HISTORIES

SCENES: tuple[Callable[[Stage], Awaitable[None]], ...] = (
    *(scenes_of_loops.iterative, scenes_of_loops.analysed, scenes_of_loops.many_works),
    *(scenes_of_loops.without_a_model, scenes_of_loops.steered, scenes_of_loops.long_log),
    *(scenes_of_loops.cancelled, scenes_of_loops.model_down, scenes_of_loops.worker_lost),
    *(scenes_of_loops.every_source, scenes_of_loops.rewound, scenes_of_loops.rate_gate),
    *(scenes_of_loops.refreshed, scenes_of_loops.revised, scenes_of_loops.clarified),
    *(scenes_of_loops.ordered, scenes_of_modes.auto, scenes_of_modes.simple, scenes_of_modes.team),
    *(scenes_of_modes.hierarchical, scenes_of_modes.graph, scenes_of_modes.graph_own),
    *(scenes_of_sections.edited_plan, scenes_of_sections.parent_cancelled, scenes_of_sections.candidates),
    *(scenes_of_sections.leases, scenes_of_sections.continuing, scenes_of_sections.rejected),
    *(scenes_of_sections.section_failed, scenes_of_sections.effects_beside),
    scenes_of_sections.followed_up,
)


async def main(names: Sequence[str]) -> None:
    """Record the named scenes; with no name, list them."""
    scenes = {scene.__name__: scene for scene in SCENES}
    names = list(scenes) if list(names) == ["all"] else names
    if not names or not set(names) <= set(scenes):
        sys.exit(f"usage: python -m tests.workflows.record SCENE ...\nscenes: {', '.join(scenes)}")
    HISTORIES.mkdir(exist_ok=True)
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            async with a_stage(Path(folder)) as stage:
                await scenes[name](stage)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
