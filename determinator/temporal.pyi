from workflows.temporal import *  # noqa: F403 - the module under its public name
