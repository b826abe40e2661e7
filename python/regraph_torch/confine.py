"""What a child process gives up before it runs source that nobody trusts. Standard library alone."""

from __future__ import annotations

import ctypes
import os
import resource
from collections.abc import Sequence

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
# Everything that changes the file system: writing, removing, making, truncating (ABI 3).
WRITES = sum(1 << bit for bit in (1, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14))
CONNECT_AND_BIND = 3
NEW_USER, NEW_NET = 0x10000000, 0x40000000
NO_NEW_PRIVILEGES = 38


class _Ruleset(ctypes.Structure):
    _fields_ = [("fs", ctypes.c_uint64), ("net", ctypes.c_uint64)]


class _PathRule(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("access", ctypes.c_uint64), ("parent", ctypes.c_int32)]


KINDS = ("network", "files")


def confine(folder: str, memory_bytes: int, seconds: int, devices: bool = False, wanted: Sequence[str] = KINDS) -> list[str]:
    """Limits this process for good: it writes below `folder` alone, and has no network. Returns what could be had of that.
    To be called before there are threads.
    With `devices` it may write to /dev, and its memory is not limited (a GPU's driver maps far more than there is)."""
    limits = {resource.RLIMIT_CPU: 4 * seconds, resource.RLIMIT_CORE: 0, resource.RLIMIT_FSIZE: 2 << 30}
    if not devices:
        limits[resource.RLIMIT_DATA] = memory_bytes
    for name, value in limits.items():
        hard = resource.getrlimit(name)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(name, (value, value))
    libc = ctypes.CDLL(None, use_errno=True)
    had = []
    if "network" in wanted and libc.unshare(NEW_USER | NEW_NET) == 0:
        had.append("network")
    if "files" in wanted and _no_writes(libc, [folder, "/dev/null", "/dev/shm", *(["/dev"] if devices else [])]):
        had.append("files")
    return had


def _no_writes(libc: ctypes.CDLL, allowed: list[str]) -> bool:
    libc.syscall.restype = ctypes.c_long
    if libc.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), 1) < 3:  # the ABI's version
        return False
    rules = _Ruleset(WRITES, 0)
    ruleset = libc.syscall(CREATE_RULESET, ctypes.byref(rules), ctypes.c_size_t(8), 0)
    if ruleset < 0:
        return False
    for path in allowed:
        if not os.path.exists(path):
            continue
        parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
        of_files = (1 << 1) | (1 << 14)
        rule = _PathRule(WRITES if os.path.isdir(path) else of_files, parent)
        libc.syscall(ADD_RULE, ctypes.c_int(ruleset), 1, ctypes.byref(rule), 0)
        os.close(parent)
    done = libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0) == 0 and libc.syscall(RESTRICT_SELF, ctypes.c_int(ruleset), 0) == 0
    os.close(ruleset)
    return done
