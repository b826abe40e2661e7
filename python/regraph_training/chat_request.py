"""What a request to /v1/chat/completions may say, read strictly: a field that nothing heeds is refused by name."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

MOST_ANSWERS = 64

# Fields that change nothing here with these values; clients send them as a matter of course.
_HARMLESS: dict[str, tuple[Any, ...]] = {
    "stream": (False, None), "top_p": (1, None), "frequency_penalty": (0, None), "presence_penalty": (0, None),
    "logprobs": (False, None), "stop": (None, []), "response_format": (None, {"type": "text"}), "tools": (None, [])}
_FREE = ("user", "metadata", "store")  # say something about the caller alone
_READ = ("model", "messages", "n", "temperature", "max_tokens", "max_completion_tokens", "seed")


class Refused(Exception):
    """status: the HTTP code; message says what to change; parameter: the field."""

    def __init__(self, status: int, message: str, parameter: str | None = None):
        super().__init__(message)
        self.status, self.message, self.parameter = status, message, parameter


@dataclass(frozen=True)
class ChatRequest:
    messages: list[dict[str, str]]
    answers: int
    temperature: float
    max_tokens: int | None
    seed: int | None


def _number(body: dict[str, Any], name: str, low: float, high: float, otherwise: Any, whole: bool) -> Any:
    value = body.get(name)
    if value is None:
        return otherwise
    kinds = (int,) if whole else (int, float)
    if isinstance(value, bool) or not isinstance(value, kinds) or not low <= value <= high:
        raise Refused(400, f"'{name}': expected {'a whole number' if whole else 'a number'} from {low} to {high}, found "
                           f"{json.dumps(value)}", name)
    return value


def read_request(data: bytes, model: str) -> ChatRequest:
    """Raises Refused."""
    try:
        body = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise Refused(400, f"the request is no JSON: {error}") from None
    if not isinstance(body, dict):
        raise Refused(400, "the request is no JSON object")
    for name, value in body.items():
        if name in _HARMLESS:
            if not any(value == allowed and isinstance(value, bool) == isinstance(allowed, bool)
                       for allowed in _HARMLESS[name]):
                raise Refused(400, f"'{name}' is not supported: leave it out", name)
        elif name not in _READ and name not in _FREE:
            raise Refused(400, f"Unknown parameter: '{name}'", name)
    if body.get("model") not in (None, model):
        raise Refused(404, f"The model '{body['model']}' does not exist; this server has '{model}'", "model")
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise Refused(400, "'messages': expected a list of messages", "messages")
    read = []
    for message in messages:
        role = message.get("role") if isinstance(message, dict) else None
        content = message.get("content") if isinstance(message, dict) else None
        if isinstance(content, list):  # the form of parts, text alone
            if not all(isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("text"), str)
                       for part in content):
                raise Refused(400, "'messages': only parts of type text are read", "messages")
            content = "".join(part["text"] for part in content)
        if role not in ("system", "user", "assistant") or not isinstance(content, str):
            raise Refused(400, "'messages': a message needs a role (system, user, assistant) and a text as content",
                          "messages")
        read.append({"role": role, "content": content})
    if body.get("max_tokens") is not None and body.get("max_completion_tokens") is not None:
        raise Refused(400, "'max_tokens' and 'max_completion_tokens' are the same: send one", "max_tokens")
    limit = _number(body, "max_tokens", 1, 1 << 20, None, True)
    return ChatRequest(read, _number(body, "n", 1, MOST_ANSWERS, 1, True),
                       float(_number(body, "temperature", 0, 10, 1.0, False)),
                       limit or _number(body, "max_completion_tokens", 1, 1 << 20, None, True),
                       _number(body, "seed", -(1 << 63), (1 << 63) - 1, None, True))
