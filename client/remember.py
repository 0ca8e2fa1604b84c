"""What a person was asked once: kept in their own configuration file."""

import json
import re
import tomllib

from activities.private_files import private_home, write_whole
from activities.settings import user_config_path

_SECTION = re.compile(r"^\[model\][ \t]*(?:#.*)?\n?", re.MULTILINE)


def remember_model(name: str) -> str:
    """Write the model's name into the user's own configuration file; one line on how that went."""
    path = user_config_path()
    line = f"name = {json.dumps(name)}\n"
    try:
        text = path.read_text("utf-8") if path.exists() else ""
        section = _SECTION.search(text)
        if section:
            changed = f"{text[: section.start()]}[model]\n{line}{text[section.end() :]}"
        else:
            changed = f"{text}{'' if not text or text.endswith(chr(10)) else chr(10)}[model]\n{line}"
        tomllib.loads(changed)
        private_home(path.parent)
        write_whole(path, changed.encode())
    except (OSError, ValueError) as error:
        return f"it is not kept for later questions: {path} cannot be changed ({error})"
    return f"kept in {path}; change it there, or with --model"
