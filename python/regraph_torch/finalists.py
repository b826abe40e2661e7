"""The fastest candidates of a predicted search, as files that can be measured."""
import json
import math
import re
import sqlite3


def finalists(run, count, even_if_slower=False):
    """Up to `count` correct candidates of one launch that are predicted to be faster than the original, or just the fastest of all if
    `even_if_slower`, the fastest first: (source, launch, steps), no two of them predicted to be the same."""
    database = sqlite3.connect(f"file:{run / 'run.db'}?mode=ro", uri=True)
    (original,) = database.execute("SELECT median_seconds FROM baseline").fetchone()
    limit = math.inf if even_if_slower else original
    rows = {node: (parent, step, parameters) for node, parent, step, parameters in
            database.execute("SELECT node, parent, step, parameters FROM measurement")}
    chosen = {}
    for node, source, plan, seconds in database.execute("SELECT node, source, plan, median_seconds FROM measurement WHERE verdict = 'correct' AND median_seconds < ? "
                                               "ORDER BY median_seconds, node", (limit,)):
        launches = json.loads(plan)
        if len(launches) != 1 or seconds in chosen:
            continue
        (text,) = database.execute("SELECT content FROM blob WHERE hash = ?", (source,)).fetchone()
        chosen[seconds] = (text, launches[0], path_to(rows, node))
        if len(chosen) == count:
            break
    return list(chosen.values())


def path_to(rows, node):
    steps = []
    while node in rows:
        node, step, parameters = rows[node]
        steps.append(" ".join([step, *(f"{key}={value}" for key, value in sorted(json.loads(parameters).items()))]))
    return steps[::-1]


def write_finalist(file, text, launch, manifest):
    """A candidate with its manifest beside it: that of the kernel, but for the launch."""
    _, *block, x, y, z, shared = launch
    line = f"launch: {{block: {block}, grid: {json.dumps([x, y, z])}, smem: {json.dumps(shared)}}}"
    file.write_text(text, encoding="utf-8")
    changed, count = re.subn(r"^launch:.*$", lambda _: line, manifest, flags=re.M)
    assert count == 1, f"{file}: the manifest has no launch on a line of its own"
    file.with_suffix(".regraph.yaml").write_text(changed, encoding="utf-8")
