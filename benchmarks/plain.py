"""The row `plain` of a benchmark: the same model is shown the same works in one call, without the product."""

import os
from typing import TypeVar

from openai import OpenAI
from pydantic import BaseModel, ValidationError

Answer = TypeVar("Answer", bound=BaseModel)
NO_KEY = "none"
"""What a server that asks for no key is sent."""


def client_of(base_url: str | None) -> OpenAI:
    """A client of a model server; a model that thinks long is waited for."""
    key = os.environ.get("OPENAI_API_KEY", NO_KEY)
    return OpenAI(base_url=base_url or None, api_key=key, timeout=7200, max_retries=0)


def ask(client: OpenAI, model: str, prompt: str, kind: type[Answer]) -> Answer | None:
    """The answer of one call as JSON; None where it is not in the form that was asked for."""
    messages = [{"role": "user", "content": f"{prompt}\n\nAnswer with JSON by this schema: {_schema(kind)}"}]
    reply = client.chat.completions.create(model=model, messages=messages)  # type: ignore[arg-type] # one message
    text = reply.choices[0].message.content or ""
    try:
        return kind.model_validate_json(text[text.find("{") : text.rfind("}") + 1])
    except ValidationError:
        return None


def works_text(works: list[tuple[str, str]]) -> str:
    """Works as they are shown: a label, the title and the text of each."""
    return "\n\n".join(f"[{n}] {title}\n{text}" for n, (title, text) in enumerate(works, 1))


def _schema(kind: type[BaseModel]) -> str:
    fields = {name: field.annotation for name, field in kind.model_fields.items()}
    return str({name: str(annotation).replace("typing.", "") for name, annotation in fields.items()})
