"""Asks a chat server that speaks OpenAI's protocol for one answer. The key goes into the request's header and nowhere else."""

from __future__ import annotations

import dataclasses
import json
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import Any

RETRIED = {408, 429, 500, 502, 503, 504}
TRIES = 4
LONGEST_ANSWER_BYTES = 4 << 20


class NoAnswer(Exception):
    """The server did not answer, and will not: why."""


@dataclasses.dataclass(frozen=True)
class Server:
    """`url` ends in /v1, as in OPENAI_BASE_URL; what follows is added."""
    url: str
    model: str
    key: str = ""
    timeout: float = 120.0
    temperature: float | None = None
    max_tokens: int = 0
    pause: float = 1.0  # before the first try again


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A key must not follow where a server points."""

    def redirect_request(self, *_: Any) -> None:
        return None


def complete(server: Server, messages: list[dict[str, str]], seed: int) -> str:
    """The answer's text. NoAnswer: after some tries, or at once where another try would not help."""
    parts = urllib.parse.urlsplit(server.url)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise NoAnswer(f"the server's address {server.url!r} is none: expected http://HOST:PORT/v1")
    body: dict[str, Any] = {"model": server.model, "messages": messages, "seed": seed}
    if server.temperature is not None:
        body["temperature"] = server.temperature
    if server.max_tokens:
        body["max_tokens"] = server.max_tokens
    address = server.url.rstrip("/") + ("" if server.url.rstrip("/").endswith("/chat/completions") else "/chat/completions")
    headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {server.key}"} if server.key else {})}
    opener = urllib.request.build_opener(_NoRedirects)
    trouble = ""
    for attempt in range(TRIES):
        if attempt:
            time.sleep(server.pause * 2 ** (attempt - 1))
        request = urllib.request.Request(address, json.dumps(body).encode(), headers, method="POST")
        try:
            with opener.open(request, timeout=server.timeout) as reply:
                return _text(reply.read(LONGEST_ANSWER_BYTES))
        except urllib.error.HTTPError as error:
            said = _scrubbed(error.read(2000).decode("utf-8", "replace"), server.key)
            trouble = f"{error.code}: {said}"
            refused = [name for name in ("seed", "temperature", "max_tokens") if error.code == 400 and name in body and name in said]
            if refused:
                del body[refused[0]]
            elif error.code not in RETRIED:
                break
        except (OSError, ValueError) as error:
            trouble = _scrubbed(str(error), server.key)
    raise NoAnswer(f"{parts.netloc} does not answer: {' '.join(trouble.split())[:300]}")


def _text(data: bytes) -> str:
    """ValueError: no answer in it, or one that was cut off by the limit of tokens."""
    content = json.loads(data)
    try:
        choice = content["choices"][0]
        text = choice["message"]["content"]
    except (KeyError, IndexError, TypeError) as error:
        raise ValueError("an answer without a choice") from error
    if not isinstance(text, str):
        raise ValueError("an answer without text")
    # Half an answer is one that cannot be read: its block does not end.
    return text.encode("utf-8", "replace").decode("utf-8")


def _scrubbed(text: str, key: str) -> str:
    return text.replace(key, "***") if key else text
