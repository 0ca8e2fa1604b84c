"""Systematic reviews for clients: starting them, what people decide, and what they export."""
