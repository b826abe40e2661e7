#!/usr/bin/env python3
"""regraph-mcp with a fleet: a server and a worker on this machine evaluate what an agent asks for, with the answers that there are without.

    tests/agent/mcp_fleet_test.py --program build/release/bin/regraph-mcp

Ends with 77 where there is no nats-server.
"""
import argparse
import contextlib
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time

from mcp_client_test import FAST_LAUNCH, FAST_SOFTMAX, SOFTMAX, SOFTMAX_MANIFEST, WRONG_SOFTMAX, Client

# Three candidates, the original, and what the search adds.
FEWEST_JOBS = 6
MODEL = ("--device", "h200", "--evaluator", "model", "--jobs", "2")


@contextlib.contextmanager
def running(command, log):
    process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(60)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def answers(program, folder, *options):
    """What an agent is told of three candidates and a search, without what differs from run to run."""
    client = Client(program, *MODEL, *options, workspace=folder)
    try:
        problem = client.data("open_problem", source=SOFTMAX, manifest=SOFTMAX_MANIFEST)["problem"]
        wrong = client.data("verify", problem=problem, source=WRONG_SOFTMAX, launch=FAST_LAUNCH)
        score = client.data("score", problem=problem, source=FAST_SOFTMAX, launch=FAST_LAUNCH)
        found = client.data("search", problem=problem, evaluations=6, seed=1)
        client.end()
    finally:
        client.kill()
    return {"wrong": wrong["verdict"], "score": score, "steps": found["steps"], "speedup": found["speedup"], "source": found["source"]}


def workers(programs, server):
    status = subprocess.run([programs / "regraph-worker", "status", "--json", "--server", server], capture_output=True, text=True, check=True)
    return json.loads(status.stdout)["workers"]


def jobs_done(programs, server, enough):
    """By the worker that is there, who tells of itself every five seconds."""
    done = 0
    for _ in range(30):
        done = sum(one["worker"]["done"] for one in workers(programs, server))
        if done >= enough:
            break
        time.sleep(0.5)
    return done


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, required=True)
    options = parser.parse_args()
    if shutil.which("nats-server") is None:
        print("skipped: there is no nats-server (Debian: nats-server)")
        return 77
    programs = options.program.parent
    with tempfile.TemporaryDirectory(prefix="regraph-mcp-fleet-") as name, open(pathlib.Path(name) / "log", "ab") as log:
        folder = pathlib.Path(name)
        os.environ["REGRAPH_CACHE_DIR"] = str(folder / "cache")
        alone = answers(options.program, folder / "alone")
        server = f"nats://127.0.0.1:{free_port()}"
        nobody = subprocess.run([options.program, *MODEL, "--fleet", server, "--workspace", folder / "nobody"], stdin=subprocess.DEVNULL,
                                capture_output=True, text=True, check=False, timeout=60)
        assert nobody.returncode == 2 and server in nobody.stderr, nobody
        with running(["nats-server", "-js", "-sd", folder / "store", "-a", "127.0.0.1", "-p", server.rpartition(":")[2]], log):
            time.sleep(1)
            with running([programs / "regraph-worker", "--server", server, "--places", "2"], log):
                for _ in range(100):
                    if workers(programs, server):
                        break
                    time.sleep(0.1)
                together = answers(options.program, folder / "together", "--fleet", server)
                done = jobs_done(programs, server, FEWEST_JOBS)
        assert together == alone, (together, alone)
        print(f"the worker did {done} jobs")
        assert done >= FEWEST_JOBS, done
    return 0


if __name__ == "__main__":
    sys.exit(main())
