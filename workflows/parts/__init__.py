"""Parts of a run: what a profile, an option or an extra asks for and a run can do without; see `rows`."""
