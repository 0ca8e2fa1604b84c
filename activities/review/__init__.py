"""The decisions of a systematic review: protocol, screening, order, stopping, counts; no Temporal."""
