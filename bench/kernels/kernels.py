"""What the scripts of this folder know of the kernels in it."""
import dataclasses
import pathlib
import re

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parent.parent
STYLES = ("student", "library", "generated", "textbook")


@dataclasses.dataclass(frozen=True)
class Kernel:
    """A naive kernel: one style of one family."""
    family: str
    style: str

    @property
    def name(self):
        return f"{self.family}/{self.style}"

    @property
    def source(self):
        return FOLDER / self.family / f"{self.style}.cu"

    @property
    def manifest(self):
        return self.source.with_suffix(".regraph.yaml")

    @property
    def fast(self):
        return FOLDER / self.family / "fast.cu"


def families():
    return sorted(path.name for path in FOLDER.iterdir() if (path / "fast.cu").exists())


def kernels(names=()):
    """All naive kernels, or those of the families, styles (`:student`) and kernels (`sgemm/student`) that are named, in the order of the names."""
    known = [Kernel(family, style) for family in families() for style in STYLES if (FOLDER / family / f"{style}.cu").exists()]
    unknown = [name for name in names if not any(matches(one, name) for one in known)]
    if unknown:
        raise SystemExit(f"no kernel of bench/kernels is called {', '.join(unknown)}")
    if not names:
        return known
    first = {one: min((i for i, name in enumerate(names) if matches(one, name)), default=None) for one in known}
    return sorted((one for one in known if first[one] is not None), key=first.get)


def matches(kernel, name):
    return name in (kernel.family, kernel.name, f":{kernel.style}")


def bench_sizes(manifest):
    """The list of maps under `bench:`, which these manifests write one a line."""
    block = re.search(r"^bench:\n((?:  - \{.*\}\n)+)", manifest, flags=re.M).group(1)
    return [{name: int(value) for name, value in re.findall(r"(\w+): (\d+)", line)} for line in block.splitlines()]


def at_size(manifest, size):
    """The manifest with this as its only bench size."""
    entry = "{" + ", ".join(f"{name}: {value}" for name, value in size.items()) + "}"
    text = re.sub(r"^bench:\n(?:  - \{.*\}\n)+", f"bench:\n  - {entry}\n", manifest, flags=re.M)
    return re.sub(r"^sizes:.*$", f"sizes: {entry}", text, flags=re.M)


def size_text(size):
    return ",".join(f"{name}={value}" for name, value in sorted(size.items()))
