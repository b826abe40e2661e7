"""Compiles one Triton kernel to PTX. Started by regraph-compile-worker in its sandbox:

    python -I compile_kernel.py JOB.json KERNEL.py OUTPUT.ptx

The job says what a launcher would derive from its arguments: kernel, architecture ("sm_90"), signature ([name, type]
in order), constants ({name: value}), divisible ({name: 16}), options ({"num_warps": 4, ...}). Neither GPU nor driver
nor ptxas is needed. The PTX comes without debug lines and without the two pointers of Triton's own where they are
unused; its first line says how many bytes of shared memory a launch gives. Exit status 1: the source is at fault, and
what standard error says is for its author.
"""
import importlib.util
import json
import pathlib
import re
import sys
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from module_rules import NotAllowed, check_module  # noqa: E402

PTX_VERSION = 84  # that ptxas of CUDA 12.4 and later reads; Triton would ask its own ptxas
HIDDEN_PARAMETERS = 2  # scratch in global memory, and the profiler's


class Refused(Exception):
    """The source is at fault."""


def load_function(path: pathlib.Path, kernel: str):
    """The jit function `kernel` of the module."""
    try:
        check_module(path.read_text())
    except NotAllowed as error:
        raise Refused(f"{path.name}:{error.line}: {error.message}") from None
    except SyntaxError as error:
        raise Refused(f"{path.name}:{error.lineno}: {error.msg}") from None
    spec = importlib.util.spec_from_file_location("kernel_module", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["kernel_module"] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # whatever the source does
        raise Refused(f"{path.name}: {type(error).__name__}: {error}") from None
    function = getattr(module, kernel, None)
    if function is None:
        raise Refused(f"{path.name}: there is no kernel '{kernel}'")
    return function


def compile_to_ptx(function, job: dict, path: pathlib.Path):
    """PTX text and what Triton knows of it."""
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    from triton.compiler.compiler import make_backend
    from triton._C.libtriton import ir

    names = list(function.arg_names)
    signature, constants = {}, {}
    types = dict(job["signature"])
    for name in names:
        if name in job["constants"]:
            signature[name] = "constexpr"
            constants[name] = constant(job["constants"][name])
        elif name in types:
            signature[name] = types[name]
        else:
            raise Refused(f"{path.name}: the header says neither a type nor a value for '{name}'")
    for name in [*types, *job["constants"]]:
        if name not in names:
            raise Refused(f"{path.name}: '{job['kernel']}' has no parameter '{name}'")
    # Positions count all parameters.
    attributes = {(names.index(name),): [["tt.divisibility", value]] for name, value in job["divisible"].items()
                  if name in types}
    number = int(re.fullmatch(r"sm_(\d+)[af]?", job["architecture"])[1])
    target = GPUTarget("cuda", number, 32)
    backend = make_backend(target)
    source = ASTSource(fn=function, signature=signature, constexprs=constants, attrs=attributes)
    options = backend.parse_options({"ptx_version": PTX_VERSION, **job["options"], **source.parse_options()})
    metadata = {"target": target, **options.__dict__}
    stages: dict = {}
    backend.add_stages(stages, options, source.language)
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    try:
        code = source.make_ir(target, options, backend.get_codegen_implementation(options), backend.get_module_map(),
                              context)
        for extension in ("ttir", "ttgir", "llir", "ptx"):
            code = stages[extension](code, metadata)
    except Exception as error:  # Triton raises many kinds
        raise Refused(f"{path.name}: {readable(error)}") from None
    return code, metadata


def constant(value):
    """A constant of the job; "tl.float16" is a type."""
    if not isinstance(value, str) or not value.startswith("tl."):
        return value
    import triton.language
    found = getattr(triton.language, value[len("tl."):], None)
    return found if isinstance(found, triton.language.dtype) else value


def readable(error: Exception) -> str:
    """Triton's message with its cause, without paths of this machine."""
    parts = []
    while error is not None and len(parts) < 3:
        parts.append(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__)
        error = error.__cause__
    return re.sub(r"(/[\w.+-]+)+/([\w.+-]+)", r"\2", "\n".join(parts))[:4000]


def plain(ptx: str) -> str:
    """Without debug lines and sections, which name files of this machine."""
    lines, depth, skipping = [], 0, False
    for line in ptx.splitlines():
        word = line.strip()
        if skipping or word.startswith(".section"):
            depth += line.count("{") - line.count("}")
            skipping = depth > 0 or (word.startswith(".section") and "{" not in line)
            continue
        if word.startswith((".loc", ".file", "//", "$L__tmp", "$L__func_begin", "$L__func_end")):
            continue
        line = line.split("//")[0].rstrip()
        if line:
            lines.append(line)
    return "\n".join(lines).replace(", debug", "") + "\n"


def without_hidden_parameters(ptx: str, passed: int) -> str:
    """The two pointers that a launcher of Triton's adds are left out. Raises Refused where one is used."""
    match = re.search(r"(\.entry\s+(\w+)\()(.*?)(\n\))", ptx, re.S)
    if match is None:
        raise Refused("Triton's PTX has no entry that can be read")
    parameters = [one.strip() for one in match[3].split(",\n") if one.strip()]
    hidden = parameters[passed:]
    if len(hidden) != HIDDEN_PARAMETERS:
        raise Refused(f"this version of Triton passes {len(hidden)} parameters of its own, {HIDDEN_PARAMETERS} are known")
    rest = ptx[match.end():]
    for one in hidden:
        name = one.split()[-1]
        if re.search(rf"\b{name}\b", rest):
            raise Refused("the kernel uses scratch memory of Triton's launcher, which is not supported")
    kept = ",\n".join("\t" + one for one in parameters[:passed])
    return ptx[:match.start()] + match[1] + "\n" + kept + match[4] + rest


def main(job_file: str, source_file: str, output: str) -> int:
    warnings.simplefilter("ignore")
    job = json.loads(pathlib.Path(job_file).read_text())
    path = pathlib.Path(source_file)
    try:
        ptx, metadata = compile_to_ptx(load_function(path, job["kernel"]), job, path)
        if metadata.get("global_scratch_size") or metadata.get("profile_scratch_size"):
            raise Refused("the kernel needs scratch memory of Triton's launcher, which is not supported")
        if metadata.get("tensordesc_meta"):
            raise Refused("tensor descriptors are not supported: their tables are the launcher's")
        ptx = without_hidden_parameters(plain(ptx), len(job["signature"]))
    except Refused as error:
        print(error, file=sys.stderr)
        return 1
    first = f"// triton shared={int(metadata['shared'])} warps={int(metadata['num_warps'])} name={metadata['name']}\n"
    pathlib.Path(output).write_text(first + ptx)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
