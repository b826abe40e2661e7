"""Run directories as searches leave them, made up: measured, hostile, and with thousands of states."""
import json
import random
import sqlite3

HOSTILE = "</script><script>window.taken=1</script><!--<img src=x onerror='window.taken=1'>\u2028&amp;\u2029]]>"
VERDICTS = ("correct",) * 7 + ("wrong_result", "compile_error", "out_of_bounds")


def time_of(seconds, occupancy=0.5):
    return {"seconds": seconds, "interval": [0.98 * seconds, 1.03 * seconds], "samples": 40, "bottleneck": "DRAM bandwidth",
            "caveats": [], "facts": {"occupancy": occupancy, "dram_utilization": 0.4, "registers_per_thread": 32.0}}


def launch_of(threads):
    return {"block": [threads, 1, 1], "grid": ["cdiv(n, bx)", "1", "1"], "dynamic_shared_bytes": "0", "launches": 1,
            "bench": {"grid": [4096, 1, 1], "dynamic_shared_bytes": 0}}


def measured_result(kernel="scale"):
    """A result with all that a measured one may have."""
    steps = [("cross_thread_reduction", {"rows_per_block": "1", "threads_per_row": "128"}, 2.0), ("block_size", {"x": "128"}, 2.0)]
    best = time_of(0.25e-3, 0.75)
    best.update(path="out/best.cu", manifest="out/best.regraph.yaml",
                steps=[{"step": step, "parameters": parameters, "gain": gain} for step, parameters, gain in steps],
                assumptions=["buffers do not overlap"], launch={"original": launch_of(256), "best": launch_of(128)},
                roofline_seconds=8e8 / 4.2e12, resources={"registers_per_thread": 40, "spill_store_bytes": 0, "spill_load_bytes": 0,
                                                    "static_shared_bytes": 0, "stack_bytes": 0})
    pair = {"original_seconds": 1e-3, "best_seconds": 0.25e-3, "samples": 40, "speedup": 4.0, "interval": [3.9, 4.1]}
    return {
        "schema": "regraph-result/1", "status": "improved", "kernel": kernel, "source": f"{kernel}.cu", "device": "h200",
        "architecture": "sm_90", "evaluator": "gpu", "method": "measured", "verified": True, "verification": "against the original on 3 sizes",
        "work": {"bytes": 800_000_000, "flops": 4_000_000_000}, "ceilings": {"bytes_per_second": 4.2e12, "flops_per_second": 6.2e13},
        "patch": {"path": "out/best.patch", "folder": "src", "files": ["scale.cu"], "why_not": "",
                  "launches": [{"file": "scale.cu", "line": 12, "before": "n / 256, 256", "after": "n / 128, 128"}], "notes": []},
        "check": {"command": "make && ./test", "ran": True, "same": True, "trouble": "", "baseline_exit_code": 0, "patched_exit_code": 0,
                  "baseline_seconds": 1.0, "patched_seconds": 1.1, "on_gpu": True, "launches": None, "notes": []},
        "measurement": {"gpu": "NVIDIA H200", "devices": 1, "driver_version": 13000, "timed": 9, "pruned": 2, "faults": 0, "workers": 1,
                        "noise": 0.004, "clock_hertz": 1.98e9, "profiled": 3, "no_counters": "",
                        "final": {"processes": 5, "cold": {"speedup": 4.0, "interval": [3.9, 4.1]}, "hot": {"speedup": 4.1, "interval": [4.0, 4.2]},
                                  "benches": [{"sizes": {"n": 1048576}, "cold": pair, "hot": pair}]},
                        "disturbances": [], "sanitizer": {"tools": ["memcheck", "racecheck"], "findings": [], "notes": []}},
        "baseline": time_of(1e-3), "best": best, "speedup": 4.0, "speedup_interval": [3.9, 4.1], "search": "mcgs", "learns": False,
        "evaluations": 4, "verdicts": {"correct": 4}, "expansions": 4, "transpositions": 0, "machine_code_merges": 0, "stopped": "budget",
        "search_seconds": 12.5, "workers": {"jobs": 4, "busy": 3.1}, "seed": 7, "notes": []}


def write_database(path, kernel, states, source):
    """A run.db with the columns that the page reads; the first state is the original."""
    connection = sqlite3.connect(path)
    judged = "verdict, message, median_seconds, low_seconds, high_seconds, samples, method, registers_per_thread, bottleneck"
    connection.executescript(
        "PRAGMA application_id = 0x52477266;"
        "CREATE TABLE run (id, tool_version, kernel, source_path, device, source, manifest);"
        f"CREATE TABLE baseline (id, {judged});"
        f"CREATE TABLE measurement (ticket, node, parent, step, parameters, plan, assumptions, identity, source, {judged});"
        "CREATE TABLE expansion (ticket, parent, step, parameters, refusal, identity);"
        "CREATE TABLE progress (id, stopped); CREATE TABLE blob (hash, content); CREATE INDEX of_blob ON blob(hash);")
    connection.execute("INSERT INTO run VALUES (1, '0.1.0', ?, ?, 'h200', 's0', 'm')", (kernel, kernel + ".cu"))
    connection.execute("INSERT INTO progress VALUES (1, 'budget')")
    for state in states:
        seconds = state["seconds"]
        row = (state["verdict"], state["message"], seconds, 0.98 * seconds, 1.03 * seconds, 40, "measured", 32, "DRAM bandwidth")
        connection.execute("INSERT INTO blob VALUES (?, ?)", (f"s{state['id']}", source(state)))
        if state["id"] == 0:
            connection.execute(f"INSERT INTO baseline VALUES (1{', ?' * len(row)})", row)
            continue
        connection.execute(
            f"INSERT INTO measurement VALUES (?, ?, ?, ?, ?, '[[\"k\",128,1,1,\"n\",\"1\",\"1\",\"0\"]]', '[]', ?, ?{', ?' * len(row)})",
            (state["id"], state["id"], state["parent"], state["step"], json.dumps(state["parameters"]), f"i{state['id']}", f"s{state['id']}", *row))
        connection.execute("INSERT INTO expansion VALUES (?, ?, 'smem_pad', '{}', 'refused', '')", (state["id"], state["parent"]))
    connection.commit()
    connection.close()


def source_of(state):
    lines = [f"  value = value * {line}.0f + in[i];" for line in range(60)]
    if state["id"]:
        lines[state["id"] % 60] = f"  value = fmaf(value, {state['id']}.0f, in[i]);"
    return "__global__ void scale(const float* in, float* out, int n) {\n" + "\n".join(lines) + "\n}\n"


def write_run(folder, result, states, source=source_of):
    folder.mkdir(parents=True)
    (folder / "result.json").write_text(json.dumps(result), encoding="utf-8")
    (folder / "best.cu").write_text(source(states[-1]), encoding="utf-8")
    write_database(folder / "run.db", result["kernel"], states, source)


def some_states(count):
    """The two steps of measured_result first, then a tree as a search might grow it; the same at every call."""
    draw = random.Random(1)
    states = [{"id": 0, "parent": None, "step": "", "parameters": {}, "seconds": 1e-3, "verdict": "correct", "message": ""}]
    for step, parameters in (("cross_thread_reduction", {"rows_per_block": "1", "threads_per_row": "128"}), ("block_size", {"x": "128"})):
        states.append({"id": len(states), "parent": len(states) - 1, "step": step, "parameters": parameters,
                       "seconds": states[-1]["seconds"] / 2, "verdict": "correct", "message": ""})
    while len(states) < count:
        parent = states[int(len(states) * draw.random() ** 1.3)]
        if parent["verdict"] != "correct":
            continue
        verdict = draw.choice(VERDICTS)
        step, parameters = draw.choice([("thread_coarsen", {"factor": "2"}), ("loop_unroll", {"factor": "4"}), ("smem_tile", {})])
        states.append({"id": len(states), "parent": parent["id"], "step": step, "parameters": parameters, "verdict": verdict,
                       "seconds": max(0.26e-3, parent["seconds"] * draw.uniform(0.7, 1.2)), "message": "" if verdict == "correct" else "why"})
    return states


def measured(folder):
    write_run(folder, measured_result(), some_states(40))


def large(folder, count=10_000):
    write_run(folder, measured_result(), some_states(count))


def hostile(folder):
    """Whatever of a run is text tries to become part of the page."""
    def soil(value):
        if isinstance(value, str):
            return value + HOSTILE
        if isinstance(value, list):
            return [soil(one) for one in value]
        return {key: soil(one) for key, one in value.items()} if isinstance(value, dict) else value

    result = measured_result()
    kept = {key: result[key] for key in ("schema", "status", "method", "device")}
    result = soil(result) | kept
    result["best"]["steps"] = [{"step": "block_size" + HOSTILE, "parameters": {HOSTILE: HOSTILE}, "gain": 4.0}]
    states = some_states(12)
    for state in states[1:]:
        state.update(step=state["step"] + HOSTILE, message=HOSTILE, parameters={HOSTILE: HOSTILE})
    write_run(folder, result, states, lambda state: source_of(state) + HOSTILE + "\n")
