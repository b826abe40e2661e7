"""Problems in KernelBench's form: made into naive kernels, compared with PyTorch, searched, tabled; answers checked.

    python/regraph_bench.py kernelbench FOLDER --output OUT --device h200 [--evaluations 40] [-- OPTIONS OF regraph-search]
    python/regraph_bench.py measure OUT
    python/regraph_bench.py front FOLDER|WORDS.md --output OUT --device h200 --llm-url http://localhost:8000/v1 --llm-model MODEL
    python/regraph_bench.py check PROBLEM.py ANSWER.py

Exit codes: 0; 2 bad input; 4 nothing could be lowered; 5 PyTorch or ReGraph's programs are missing; 6 the language model never
answered; 8 a kernel or an answer does not compute what PyTorch does, or could not be judged. docs/pytorch.md has the rest.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import fnmatch
import importlib.util
import json
import os
import pathlib
import re
import sys
import time
from typing import Any

from regraph_torch import answers, chat, child, description, found, measure, memory_room, problem, tables, tools
from regraph_torch import front as first_kernels
from regraph_torch.element_types import BY_SHORT_NAME
from regraph_torch.errors import NOTHING_LOWERED, BadInput, Lacking, Refused, run_main

NEVER_ANSWERED = 6
NOT_EQUAL = 8


def need_torch() -> None:
    if importlib.util.find_spec("torch") is None:
        raise Lacking(f"PyTorch is not installed for {sys.executable}; python3 -m venv VENV && VENV/bin/pip install torch, "
                      "then start this with VENV/bin/python")


def problem_files(places: list[pathlib.Path], only: list[str]) -> list[pathlib.Path]:
    """All .py files, of folders those directly in them, ordered by the numbers in their names."""
    found: list[pathlib.Path] = []
    for place in places:
        if not place.exists():
            raise BadInput(f"{place}: there is no such file or folder")
        found += sorted(place.glob("*.py")) if place.is_dir() else [place]
    chosen = [one for one in found if not only or any(fnmatch.fnmatch(one.stem, pattern) for pattern in only)]
    if not chosen:
        raise BadInput(f"no .py file in {', '.join(map(str, places))}{' that --only takes' if found else ''}")
    stems = [one.stem for one in chosen]
    if len(set(stems)) != len(stems):
        raise BadInput("two problems have the same name; give folders one after the other")
    return sorted(chosen, key=lambda one: [(not part.isdigit(), int(part) if part.isdigit() else 0, part)
                                           for part in re.split(r"(\d+)", one.stem) if part])


def ending(options: argparse.Namespace) -> float:
    """When no further problem is begun, by time.monotonic."""
    return time.monotonic() + (options.stop_after or float("inf"))


def type_of(options: argparse.Namespace) -> str:
    """torch's name of what problems are converted to; empty where they stay as they are."""
    return BY_SHORT_NAME.get(options.dtype, "")


def left_out(count: int) -> None:
    if count:
        print(f"\n{count} problems were not begun within --stop-after")


def kernelbench(options: argparse.Namespace, further: list[str]) -> int:
    files = problem_files(options.places, options.only)
    if words := [str(one) for one in files if one.suffix in description.SUFFIXES]:
        raise BadInput(f"{words[0]} is no module; `front` makes one of a description")
    need_torch()
    programs = tools.find_programs(options.programs)
    if options.measure and options.most_elements:
        raise BadInput("--measure times PyTorch at the problem's own sizes; leave --most-elements out")
    if options.measure:
        measure.need_gpu()
    search = ["--evaluations", str(options.evaluations), "--seed", str(options.seed)]
    for name in ("device", "evaluator"):
        if getattr(options, name):
            search += [f"--{name}", getattr(options, name)]
    limits = child.Limits(options.seconds, options.memory)
    wanted = problem.Options(options.mode, options.seeds, limits, search=not options.no_search, search_options=(*search, *further),
                             most_elements=options.most_elements, dtype=type_of(options))
    options.output.mkdir(parents=True, exist_ok=True)
    settings = {"mode": options.mode, "dtype": wanted.dtype, "seeds": options.seeds, "search": wanted.search_options if wanted.search else None,
                "most_elements": options.most_elements, "measured": options.measure}
    done: dict[pathlib.Path, dict[str, Any]] = {}

    end = ending(options)

    def one_problem(path: pathlib.Path) -> dict[str, Any] | None:
        if time.monotonic() > end:
            return None
        row = problem.work(path, options.output, programs, wanted)
        if options.measure and row["stage"] in ("agrees", "searched"):
            row["pytorch"] = measure.pytorch_times(path, options.output / path.stem / "pytorch", options.mode, wanted.dtype, limits)
        return row

    rows: list[dict[str, Any]] = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        started = {pool.submit(one_problem, path): path for path in files}
        for ended in concurrent.futures.as_completed(started):
            if (row := ended.result()) is None:
                continue
            done[started[ended]] = row
            print(f"{row['problem']}: {tables.STAGES[row['stage']]}{': ' + row['reason'] if row.get('reason') else ''}", flush=True)
            rows = [done[path] for path in files if path in done]
            tables.write(rows, options.output, settings)
    left_out(len(files) - len(rows))
    print("\n" + tables.markdown(rows).split("\n", 1)[0])
    print(f"{options.output}/results.md, {options.output}/results.json")
    if not any("kernel" in row for row in rows):
        return NOTHING_LOWERED
    wrong = [row for row in rows if row["stage"] == "wrong" or (row["stage"] == "lowered" and "check" in row)]
    return NOT_EQUAL if wrong else 0


def measure_found(options: argparse.Namespace, further: list[str]) -> int:
    """What a search by prediction found, at the problems' own sizes, beside PyTorch."""
    try:
        content = json.loads((options.output / "results.json").read_text(encoding="utf-8"))
        rows = content["problems"]
    except (OSError, ValueError, KeyError) as error:
        raise BadInput(f"{options.output} is no folder that kernelbench wrote: {error}") from error
    programs = tools.find_programs(options.programs)
    on_gpu = options.evaluator != "model"
    room = memory_room.free_here() / memory_room.HOST_TIMES
    if on_gpu:
        need_torch()
        room = min(room, measure.need_gpu() / memory_room.GPU_TIMES)
    score = ["--evaluator", options.evaluator, *(["--device", options.device] if options.device else []), *further]
    wanted = found.Options(options.finalists, options.seconds, tuple(score))
    chosen = [row for row in rows if row["stage"] in ("agrees", "searched") and "search" in row
              and (not options.only or any(fnmatch.fnmatch(row["problem"], pattern) for pattern in options.only))
              and (options.again or "seconds" not in row.get("measured", {}))]
    if not chosen:
        raise BadInput(f"{options.output}: nothing there was searched and has yet to be measured")

    end = ending(options)

    def one_problem(row: dict[str, Any]) -> None:
        if time.monotonic() > end:
            return
        row["measured"] = found.judge(programs, options.output / row["problem"], wanted)
        if not on_gpu:
            return
        source = options.problems / f"{row['problem']}.py" if options.problems else pathlib.Path(row["file"])
        if not source.is_file():
            row["pytorch"] = {"trouble": f"{source}: there is no such file; say --problems FOLDER"}
            return
        row["pytorch"] = measure.pytorch_times(source, options.output / row["problem"] / "pytorch", content["settings"]["mode"],
                                               content["settings"].get("dtype", ""), child.Limits(options.seconds))

    needs = [memory_room.FIXED_BYTES + memory_room.bytes_of(found.manifest(options.output / row["problem"])) for row in chosen]
    for row in memory_room.side_by_side(chosen, needs, memory_room.USED_AT_MOST * room, options.jobs, one_problem):
        if "measured" not in row:
            continue
        tables.write(rows, options.output, content["settings"])
        print(tables.measured_line(row), flush=True)
    left_out(sum("measured" not in row for row in chosen))
    print("\n" + tables.markdown(rows).split("\n", 1)[0])
    print(f"{options.output}/results.md, {options.output}/results.json")
    return 0 if all("seconds" in row.get("measured", {}) for row in chosen) else NOT_EQUAL


def server_of(options: argparse.Namespace) -> chat.Server:
    url, model = options.llm_url or os.environ.get("OPENAI_BASE_URL", ""), options.llm_model or os.environ.get("OPENAI_MODEL", "")
    if not url or not model:
        raise BadInput("who is asked? --llm-url http://HOST:PORT/v1 --llm-model NAME, or OPENAI_BASE_URL and OPENAI_MODEL")
    try:
        key = options.llm_key_file.read_text(encoding="utf-8").strip() if options.llm_key_file else os.environ.get("OPENAI_API_KEY", "")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"--llm-key-file: {error}") from error
    return chat.Server(url, model, key, options.llm_timeout, options.llm_temperature, options.llm_max_tokens)


def front(options: argparse.Namespace) -> int:
    files = problem_files(options.places, options.only)
    server = server_of(options)
    need_torch()
    programs = tools.find_programs(options.programs)
    wanted = first_kernels.Options(options.language, options.answers, options.repairs, options.device, options.jobs, options.seed)
    traced = problem.Options(options.mode, options.seeds, child.Limits(options.seconds, options.memory), dtype=type_of(options))
    rows: dict[str, Any] = {}
    verdicts: list[str] = []

    def tell(one: first_kernels.Attempt) -> None:
        verdicts.append(one.verdict)
        said = f"{one.seconds * 1e6:.4g} us predicted" if one.seconds else one.message.splitlines()[0] if one.message else ""
        print(f"  answer {one.number}{f', repair {one.round}' if one.round else ''}: {one.verdict}{': ' + said if said else ''}", flush=True)

    readings = description.Options(options.readings, max(options.repairs, 1), options.seed)
    for path in files:
        print(f"{path.stem}:", flush=True)
        try:
            module = path
            if path.suffix in description.SUFFIXES:
                module = description.module_of(path, options.output / f"{path.stem}.description", server, traced, readings)
                print(f"  {module}: how the description was read, {readings.readings} times; see that it is what you mean", flush=True)
            row = rows[path.stem] = first_kernels.work(module, options.output, programs, server, traced, wanted, tell)
        except Refused as error:
            row = rows[path.stem] = {"best": None, "reason": str(error)}
        except chat.NoAnswer as error:
            verdicts.append("no_answer")
            row = rows[path.stem] = {"best": None, "reason": str(error)}
        except (OSError, UnicodeDecodeError, SyntaxError) as error:
            row = rows[path.stem] = {"best": None, "reason": f"it cannot be read: {error}"}
        print(f"  {row['best']}: an input of regraph-search" if row["best"] else f"  none: {row['reason'].splitlines()[0]}", flush=True)
        options.output.mkdir(parents=True, exist_ok=True)
        (options.output / "front.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    if verdicts and set(verdicts) == {"no_answer"}:
        return NEVER_ANSWERED
    return 0 if all(row["best"] for row in rows.values()) else NOT_EQUAL


def check(options: argparse.Namespace) -> int:
    for path in (options.problem, options.answer):
        if not path.is_file():
            raise BadInput(f"{path}: there is no such file")
    need_torch()
    verdict = answers.judge(options.problem, options.answer, options.output, options.mode, options.seeds,
                            child.Limits(options.seconds, options.memory), options.gpu, type_of(options))
    print(json.dumps(verdict, indent=1) if options.json else answers.text(verdict))
    return 0 if verdict["equal"] else NOT_EQUAL


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="regraph_bench.py", description=__doc__.split("\n", 1)[0],
                                     formatter_class=argparse.RawDescriptionHelpFormatter, epilog=__doc__.split("\n", 1)[1])
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("kernelbench", help="lower, compare and search the problems of a folder")
    one.add_argument("places", nargs="+", type=pathlib.Path, metavar="FOLDER", help="folders with problems, or files")
    one.add_argument("--output", type=pathlib.Path, default=pathlib.Path("regraph-kernelbench"),
                     help="where everything is kept (default: %(default)s)")
    one.add_argument("--programs", type=pathlib.Path, help="folder with regraph-run and regraph-search (default: installed ones, PATH)")
    one.add_argument("--only", action="append", default=[], metavar="PATTERN", help="problems with such names, e.g. '1?_*'; repeatable")
    one.add_argument("--device", default="", help="for regraph-search")
    one.add_argument("--evaluator", default="", help="for regraph-search")
    one.add_argument("--evaluations", type=int, default=40, help="for regraph-search (default: %(default)s)")
    one.add_argument("--seed", type=int, default=1, help="for regraph-search (default: %(default)s)")
    one.add_argument("--no-search", action="store_true", help="lower and compare with PyTorch, no more")
    one.add_argument("--most-elements", type=int, default=0, metavar="N",
                     help="search at sizes halved until no buffer has more elements; 0 (default): the problem's own. With buffers that "
                          "fit into the GPU's L2 (1048576; not 67108864) kernels bound by memory look as fast as they can be")
    one.add_argument("--jobs", type=int, default=1, help="problems worked on side by side (default: %(default)s)")
    one.add_argument("--stop-after", type=float, default=0, metavar="SECONDS", help="begin no further problem then; what was done is kept")
    one.add_argument("--measure", action="store_true", help="with a GPU: time PyTorch, too, and table fast_p")
    two = commands.add_parser("check", help="is ModelNew of ANSWER.py the Model of PROBLEM.py?")
    two.add_argument("problem", type=pathlib.Path, metavar="PROBLEM.py")
    two.add_argument("answer", type=pathlib.Path, metavar="ANSWER.py")
    two.add_argument("--output", type=pathlib.Path, help="keeps inputs and results there (default: a temporary folder)")
    two.add_argument("--gpu", action="store_true", help="run both on the GPU, at the problem's own shapes, too")
    two.add_argument("--json", action="store_true")
    three = commands.add_parser("front", help="first kernels of a folder's problems, written by a language model and checked")
    three.add_argument("places", nargs="+", type=pathlib.Path, metavar="FOLDER",
                       help="folders with problems, or files; a file .md or .txt is a description in words")
    three.add_argument("--output", type=pathlib.Path, default=pathlib.Path("regraph-front"), help="where everything is kept (default: %(default)s)")
    three.add_argument("--programs", type=pathlib.Path, help="folder with regraph-run and regraph-search (default: installed ones, PATH)")
    three.add_argument("--only", action="append", default=[], metavar="PATTERN", help="problems with such names; repeatable")
    three.add_argument("--language", choices=("cuda", "triton"), default="cuda", help="of the kernels (default: %(default)s)")
    three.add_argument("--answers", type=int, default=4, help="that are asked for (default: %(default)s)")
    three.add_argument("--repairs", type=int, default=1, help="times that one that fails is sent back (default: %(default)s)")
    three.add_argument("--readings", type=int, default=2, help="of a description, which have to compute the same (default: %(default)s)")
    three.add_argument("--device", default="h200", help="that times are predicted for (default: %(default)s)")
    three.add_argument("--jobs", type=int, default=1, help="answers asked for and judged side by side (default: %(default)s)")
    three.add_argument("--seed", type=int, default=1)
    three.add_argument("--llm-url", default="", help="the server's address with /v1 (default: OPENAI_BASE_URL)")
    three.add_argument("--llm-model", default="", help="(default: OPENAI_MODEL)")
    three.add_argument("--llm-key-file", type=pathlib.Path, help="file with the key (default: OPENAI_API_KEY)")
    three.add_argument("--llm-timeout", type=float, default=120.0, help="seconds a request (default: %(default)s)")
    three.add_argument("--llm-temperature", type=float, help="(default: the server's)")
    three.add_argument("--llm-max-tokens", type=int, default=0, help="of an answer (default: the server's)")
    four = commands.add_parser("measure", help="measure what kernelbench found by prediction, beside PyTorch, on the GPU that is here")
    four.add_argument("output", type=pathlib.Path, metavar="OUT", help="the folder that kernelbench wrote")
    four.add_argument("--problems", type=pathlib.Path, metavar="FOLDER", help="where the problems are now (default: where they were)")
    four.add_argument("--programs", type=pathlib.Path, help="folder with regraph-score (default: installed ones, PATH)")
    four.add_argument("--only", action="append", default=[], metavar="PATTERN", help="problems with such names; repeatable")
    four.add_argument("--finalists", type=int, default=3, help="candidates of a problem: the answer and the next best (default: %(default)s)")
    four.add_argument("--evaluator", choices=("gpu-only", "gpu", "model"), default="gpu-only",
                      help="model: predict at the problems' own sizes, without PyTorch (default: %(default)s)")
    four.add_argument("--device", default="", help="for regraph-score (default: the GPU that is here)")
    four.add_argument("--jobs", type=int, default=1, help="problems worked on side by side as far as memory goes; the GPU is one's alone while it is timed (default: %(default)s)")
    four.add_argument("--seconds", type=int, default=600, help="a problem may take (default: %(default)s)")
    four.add_argument("--stop-after", type=float, default=0, metavar="SECONDS",
                      help="begin no further problem then; another run goes on with those that are left")
    four.add_argument("--again", action="store_true", help="also what is measured already")
    for parser_of, mode, seeds in ((one, "eval", 3), (two, "train", 3), (three, "eval", 2)):
        parser_of.add_argument("--mode", choices=("eval", "train"), default=mode,
                               help="of the modules: eval uses running statistics, train (KernelBench's own) those of the batch "
                                    "(default: %(default)s)")
        parser_of.add_argument("--dtype", choices=tuple(BY_SHORT_NAME),
                               help="convert modules and floating-point inputs to it; integers stay (default: as they are written)")
        parser_of.add_argument("--seeds", type=int, default=seeds, help="inputs at each shape (default: %(default)s)")
        parser_of.add_argument("--seconds", type=int, default=180, help="a process with a problem's source may take (default: %(default)s)")
        parser_of.add_argument("--memory", type=float, default=8.0, metavar="GIB", help="that it may have (default: %(default)s)")
    return parser


def main() -> int:
    words = sys.argv[1:]
    further: list[str] = []
    if "--" in words:
        further = words[words.index("--") + 1:]
        words = words[:words.index("--")]
    options = arguments().parse_args(words)
    if options.command == "kernelbench":
        return kernelbench(options, further)
    if options.command == "measure":
        return measure_found(options, further)
    return front(options) if options.command == "front" else check(options)


if __name__ == "__main__":
    sys.exit(run_main(main))
