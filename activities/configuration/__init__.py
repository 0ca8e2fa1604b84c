"""The configuration file `determinator.toml`: its sections and keys, and the settings they stand for."""
