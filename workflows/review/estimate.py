"""What screening would take, said before it starts."""

import math

from activities.plural import counted
from workflows.review.types import ReviewState

CALL_TOKENS = 1_500
"""Tokens of a call without records."""
RECORD_TOKENS = 450
"""Tokens of a title and an abstract with the labels of its sentences."""
DECISION_TOKENS = 45


def estimated(state: ReviewState, records: int, records_a_call: int) -> str:
    """Return records, calls and their price by the models' prices.

    Records of a search are counted before copies are merged, so that it is rather too much.
    """
    models = [state.models[one.name] for one in state.protocol.models]
    if not models:
        return f"{counted(records, 'record')} for two people; no model is asked"
    calls = math.ceil(records / records_a_call)
    into = calls * CALL_TOKENS + records * RECORD_TOKENS
    out = records * DECISION_TOKENS
    dollars = 0.0
    priced = True
    for model in models:
        price = state.prices.get(model.model)
        priced = priced and price is not None
        if price is not None:
            dollars += (into * price.input_per_million + out * price.output_per_million) / 1e6
    cost = f"about ${dollars:,.2f}" if priced else "of unknown price"
    tokens = round((into + out) * len(models) / 1000)
    text = f"{counted(records, 'record')}, {counted(calls * len(models), 'call')} of models, "
    return text + f"{tokens:,} thousand tokens, {cost}, where all are read"
