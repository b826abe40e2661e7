#!/usr/bin/env python3
"""Writes the rows of a data set once more as Parquet, beside its JSON lines.

    regraph_parquet.py FOLDER

Every column gets its type from this file, not from the rows: a first chunk that happens to hold
nothing would fix a wrong one. Needs pyarrow. Exit codes: 0 done, 2 something is missing or wrong.
"""

import json
import pathlib
import sys

REAL_COLUMNS = ("seconds_slow", "seconds_slow_low", "seconds_slow_high", "seconds_fast",
                "seconds_fast_low", "seconds_fast_high", "speedup", "speedup_low", "speedup_high")
INTEGER_COLUMNS = ("stage", "settings")
MESSAGE_COLUMNS = ("messages", "prompt", "completion", "chosen", "rejected")


def column_type(arrow, name: str):
    """The type of a column, by its name; texts where nothing else is said."""
    if name in REAL_COLUMNS:
        return arrow.float64()
    if name in INTEGER_COLUMNS:
        return arrow.int64()
    if name == "label":
        return arrow.bool_()
    if name in MESSAGE_COLUMNS:
        return arrow.list_(arrow.struct([("role", arrow.string()), ("content", arrow.string())]))
    if name == "reward_model":
        return arrow.struct([("style", arrow.string()), ("ground_truth", arrow.string())])
    if name == "extra_info":
        return arrow.struct([("split", arrow.string()), ("index", arrow.int64())])
    return arrow.string()


def write_parquet(path: pathlib.Path) -> None:
    """Writes FILE.parquet of FILE.jsonl."""
    import pyarrow
    import pyarrow.parquet

    with path.open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    if not rows:
        return
    schema = pyarrow.schema([(name, column_type(pyarrow, name)) for name in rows[0]])
    table = pyarrow.Table.from_pylist(rows, schema=schema)
    pyarrow.parquet.write_table(table, path.with_suffix(".parquet"), compression="zstd")


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        print("pyarrow is not installed", file=sys.stderr)
        return 2
    files = sorted(pathlib.Path(arguments[0]).glob("data/*/*.jsonl"))
    if not files:
        print(f"{arguments[0]}: no rows (data/FORM/SPLIT-00000.jsonl) in it", file=sys.stderr)
        return 2
    for path in files:
        write_parquet(path)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
