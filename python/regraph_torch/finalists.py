"""The fastest candidates of a predicted search, as files that can be measured."""
import json
import math
import re
import sqlite3


def finalists(run, count, even_if_slower=False):
    """Up to `count` correct candidates that are predicted to be faster than the original, or just the fastest of all if
    `even_if_slower`, the fastest first: (source, launches, steps), no two of them predicted to be the same."""
    database = sqlite3.connect(f"file:{run / 'run.db'}?mode=ro", uri=True)
    (original,) = database.execute("SELECT median_seconds FROM baseline").fetchone()
    limit = math.inf if even_if_slower else original
    rows = {node: (parent, step, parameters) for node, parent, step, parameters in
            database.execute("SELECT node, parent, step, parameters FROM measurement")}
    chosen = {}
    for node, source, plan, seconds in database.execute("SELECT node, source, plan, median_seconds FROM measurement WHERE verdict = 'correct' AND median_seconds < ? "
                                               "ORDER BY median_seconds, node", (limit,)):
        launches = json.loads(plan)
        if seconds in chosen:
            continue
        (text,) = database.execute("SELECT content FROM blob WHERE hash = ?", (source,)).fetchone()
        chosen[seconds] = (text, launches, path_to(rows, node))
        if len(chosen) == count:
            break
    return list(chosen.values())


def predictions(run, count):
    """What was predicted of the original ("naive") and of what `finalists` returns ("found0", ...), in seconds."""
    database = sqlite3.connect(f"file:{run / 'run.db'}?mode=ro", uri=True)
    (original,) = database.execute("SELECT median_seconds FROM baseline").fetchone()
    times = database.execute("SELECT DISTINCT median_seconds FROM measurement WHERE verdict = 'correct' AND median_seconds < ? "
                             "ORDER BY median_seconds LIMIT ?", (original, count))
    return {"naive": original} | {f"found{i}": seconds for i, (seconds,) in enumerate(times)}


def path_to(rows, node):
    steps = []
    while node in rows:
        node, step, parameters = rows[node]
        steps.append(" ".join([step, *(f"{key}={value}" for key, value in sorted(json.loads(parameters).items()))]))
    return steps[::-1]


def write_finalist(file, text, launches, manifest):
    """A candidate with its manifest beside it: that of the kernel, but for the launches. False where the manifest has no place for them:
    a kernel that is launched once and a candidate that needs several."""
    if len(launches) == 1 and re.search(r"^launch:", manifest, flags=re.M):
        _, block, grid, shared, _ = launch_text(launches[0])
        lines = f"launch: {{block: {block}, grid: {grid}, smem: {shared}}}"
        changed, count = re.subn(r"^launch:.*$", lambda _: lines, manifest, flags=re.M)
    else:
        lines = "launches:\n" + "\n".join(
            f"  - {{kernel: {kernel}, block: {block}, grid: {grid}, smem: {shared}{arguments}}}"
            for kernel, block, grid, shared, arguments in map(launch_text, launches))
        changed, count = re.subn(r"^launches:\n(?:  - .*\n)+", lambda _: lines + "\n", manifest, flags=re.M)
    if count != 1:
        return False
    file.write_text(text, encoding="utf-8")
    file.with_suffix(".regraph.yaml").write_text(changed, encoding="utf-8")
    return True


def launch_text(launch):
    """Kernel, block, grid, shared memory and ", args: [...]" of a launch in a search's plan."""
    kernel, *block, x, y, z, shared = launch[:8]
    arguments = f", args: {json.dumps(launch[8])}" if len(launch) > 8 and launch[8] else ""
    return kernel, block, json.dumps([x, y, z]), json.dumps(shared), arguments
