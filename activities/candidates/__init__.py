"""Look-ups of a drug put forward for repurposing.

Which source answers which field, how their records are read, and how what they say is joined. Knows nothing
of Temporal.
"""
