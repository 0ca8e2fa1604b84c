"""A systematic review as a workflow that lasts for months: its story, its messages and what it holds."""
