"""The client: command line, Python, MCP and page. Programs import `determinator`, the file beside it."""
