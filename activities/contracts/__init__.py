"""The types that cross a boundary, by stage of a run.

Nothing here performs I/O, reads a clock or draws a random number: workflow code imports them as
passed-through modules.
"""
