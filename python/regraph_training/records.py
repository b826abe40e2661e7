"""Rows of training data, from .jsonl or .parquet files or from a data set's folder."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Iterator
from typing import Any

from .errors import BadInput

Messages = list[dict[str, str]]
Row = dict[str, Any]


def read_jsonl(path: str | pathlib.Path) -> Iterator[Row]:
    """One object a line. Raises BadInput with file and line."""
    try:
        with open(path, encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                try:
                    row = json.loads(line)
                except ValueError as error:
                    raise BadInput(f"{path}:{number}: no JSON: {error}") from None
                if not isinstance(row, dict):
                    raise BadInput(f"{path}:{number}: expected an object a line")
                yield row
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: cannot be read: {error}") from None


def _read_parquet(path: pathlib.Path) -> Iterator[Row]:
    try:
        import pyarrow.parquet
    except ImportError:
        raise BadInput(f"{path}: reading .parquet needs pyarrow (python/requirements.txt); "
                       "or write the data set as .jsonl") from None
    try:
        yield from pyarrow.parquet.read_table(path).to_pylist()
    except (OSError, ValueError, pyarrow.ArrowException) as error:
        raise BadInput(f"{path}: cannot be read: {error}") from None


def data_files(data: str | pathlib.Path, split: str, forms: tuple[str, ...]) -> list[pathlib.Path]:
    """The files of one split: `data` itself where it is a file, else {split}*.parquet or .jsonl in the folder, in
    its subfolder of the form (sft, pc, rl), or below its data/. Empty where there are none."""
    root = pathlib.Path(data)
    if root.is_file():
        return [root] if split == "train" else []
    if not root.is_dir():
        raise BadInput(f"{data}: no such file or folder")
    folders = [root / form for form in forms] + [root / "data" / form for form in forms] + [root, root / "data"]
    for folder in folders:
        for suffix in (".parquet", ".jsonl"):
            found = sorted(path for path in folder.glob(f"{split}*{suffix}") if path.is_file())
            if found:
                return found
    return []


def read_rows(data: str | pathlib.Path, split: str, forms: tuple[str, ...]) -> list[Row]:
    """All rows of a split; empty where it has no files. Raises BadInput."""
    rows: list[Row] = []
    for path in data_files(data, split, forms):
        if path.suffix == ".jsonl":
            rows.extend(read_jsonl(path))
        elif path.suffix == ".parquet":
            rows.extend(_read_parquet(path))
        else:
            raise BadInput(f"{path}: unknown kind of file (known: .jsonl, .parquet)")
    return rows


def training_rows(data: str | pathlib.Path, forms: tuple[str, ...]) -> list[Row]:
    """The train split. Raises BadInput where it is missing or empty."""
    rows = read_rows(data, "train", forms)
    if not rows:
        raise BadInput(f"{data}: no training rows: expected a .jsonl or .parquet file, or a folder with train*.jsonl or "
                       f"train*.parquet in it or in {', '.join(form + '/' for form in forms)}")
    return rows


def check_messages(value: Any, where: str) -> Messages:
    """A conversation as plain data. Raises BadInput."""
    if not isinstance(value, list) or not value:
        raise BadInput(f"{where}: expected a list of messages")
    messages = []
    for message in value:
        if not isinstance(message, dict) or message.get("role") not in ("system", "user", "assistant") \
                or not isinstance(message.get("content"), str):
            raise BadInput(f"{where}: a message is no {{role: system | user | assistant, content: text}}: "
                           f"{str(message)[:120]}")
        messages.append({"role": message["role"], "content": message["content"]})
    return messages


def prompt_of(row: Row, where: str) -> Messages:
    """The row's prompt as messages; a text is one of the user's."""
    prompt = row.get("prompt")
    if isinstance(prompt, str):
        return [{"role": "user", "content": prompt}]
    return check_messages(prompt, f"{where}: column `prompt`")


def split_pair(row: Row, where: str) -> tuple[Messages, str]:
    """Question and answer of a row with `messages`, or with `prompt` and `completion`. Raises BadInput."""
    if "messages" in row:
        messages = check_messages(row["messages"], f"{where}: column `messages`")
        if messages[-1]["role"] != "assistant" or len(messages) < 2:
            raise BadInput(f"{where}: the last of `messages` is no answer (role assistant)")
        return messages[:-1], messages[-1]["content"]
    if "prompt" not in row or "completion" not in row:
        raise BadInput(f"{where}: a row has neither `messages` nor `prompt` and `completion` "
                       f"(columns: {', '.join(sorted(row))})")
    completion = row["completion"]
    if isinstance(completion, str):
        return prompt_of(row, where), completion
    return prompt_of(row, where), check_messages(completion, f"{where}: column `completion`")[-1]["content"]
