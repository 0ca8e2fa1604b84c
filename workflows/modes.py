"""The workflow type of each mode. Imports nothing, so that a command of the client can start fast."""

WORKFLOW_OF_MODE = {
    "auto": "AutoResearch",
    "iterative": "IterativeResearch",
    "deep": "DeepResearch",
}
