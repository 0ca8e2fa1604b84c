"""Dated events and amounts of works: what follows from them by arithmetic and by order of time."""
