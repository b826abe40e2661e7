"""What a run was made of: hashes of files and rows, versions of packages, the machine."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import pathlib
import platform
import subprocess
from collections.abc import Iterable
from typing import Any

PACKAGES = ("torch", "transformers", "tokenizers", "trl", "datasets", "peft", "accelerate", "safetensors", "pyarrow")


def hash_of_file(path: pathlib.Path) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def hash_of_rows(rows: Iterable[Any]) -> str:
    """Of the content and its order, not of the file's form."""
    digest = hashlib.sha256()
    for row in rows:
        digest.update(json.dumps(row, sort_keys=True, default=str).encode("utf-8", "surrogatepass"))
        digest.update(b"\n")
    return digest.hexdigest()


def hash_of_folder(folder: pathlib.Path, names: Iterable[str]) -> str:
    """Of the named files that are there, names and contents."""
    digest = hashlib.sha256()
    for name in sorted(names):
        if (folder / name).is_file():
            digest.update(f"{name} {hash_of_file(folder / name)}\n".encode())
    return digest.hexdigest()


def versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            pass
    return found


def commit() -> str:
    """The repository's commit, with "+" where files differ from it; empty where it is no clone."""
    def git(*arguments: str) -> str:
        return subprocess.run(["git", "-C", str(pathlib.Path(__file__).parent), *arguments], capture_output=True,
                              text=True, timeout=20, check=True).stdout.strip()

    try:
        return git("rev-parse", "HEAD") + ("+" if git("status", "--porcelain", "-uno") else "")
    except (OSError, subprocess.SubprocessError):
        return ""


def machine() -> dict[str, Any]:
    found: dict[str, Any] = {"system": platform.platform(), "cores": os.cpu_count()}
    try:
        import torch
        if torch.cuda.is_available():
            found["gpu"] = torch.cuda.get_device_name(0)
    except ImportError:
        pass
    return found
