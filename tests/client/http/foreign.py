"""LiteLLM against the HTTP interface: `foreign.py URL TOKEN`."""

import json
import sys

import litellm  # type: ignore[import-not-found]  # installed where this runs

base, key = sys.argv[1:]
to = {"model": "openai/determinator/simple", "api_base": base, "api_key": key}
question = "Does metformin lower the risk of colorectal cancer, asked through LiteLLM?"
messages = [{"role": "user", "content": question}]
whole = litellm.completion(messages=messages, **to)
chunks = [*litellm.completion(messages=messages, stream=True, **to)]
response = litellm.responses(input=question, **to)
sys.stdout.write(
    json.dumps(
        {
            "chat": whole.choices[0].message.content,
            "stream": "".join(chunk.choices[0].delta.content or "" for chunk in chunks),
            "response": response.output[-1].content[0].text,
            "status": response.status,
        }
    )
)
