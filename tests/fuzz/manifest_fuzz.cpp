// Feeds damaged manifests, T1 files and CUDA sources to their readers. A manifest that is accepted
// must survive being written and read again; a source that is cut must be cut to something that is
// cut to itself.
#include "fuzz/mutate.h"
#include "kernel/front_matter.h"
#include "kernel/manifest.h"
#include "kernel/tuning_schema.h"
#include "source/extract.h"
#include "source/host_launch.h"

#include <string>

namespace {

using namespace regraph;  // NOLINT: a program of its own

constexpr std::string_view kWords[] = {
    "{n: 3}",      "cdiv(n, bx)",  "9223372036854775807",
    "-1",          "int(0,3)",     "*a",
    "&a ",         "!!int",        "1e999",
    ".nan",        "[[[",          "? ",
    "grid: [n]",   "#define A(",   "template <typename",
    "<<<",         ">>>",          "__global__ ",
    "#if 1\n",     "#else\n",      "#endif\n",
    "R\"(",        "/*@regraph",   "*/",
    "namespace {", "extern \"C\"", "\"Size\": ",
    "\xff\xfe",    "\\\n",         "operator",
};

constexpr std::string_view kManifest = R"yaml(kernel: scale
defines: {TILE: bx}
sizes: {n: 4096, m: 17}
args:
  in: {dir: in, shape: [n, m], init: "uniform(-1,1)"
}
  out: {dir: out, shape: [n * m]}
  a: 1.5
launch: {block: [32, 8], grid: ["cdiv(n, bx)", "max(m, 1)"], smem: 4 * bx}
tests: [{n: 7, m: 3}, {n: 64}]
bench: [{n: 4096}]
check: {tolerance: 1e-4, seeds: 6}
assume: {noalias: true, align: 16, fast_math: false}
counters: {flops: n*m, bytes: 8*n*m}
)yaml";

constexpr std::string_view kLaunches = R"yaml(kernel: scale
sizes: {n: 4096}
args: {x: {shape: [n]}, y: {dir: out, shape: [n]}, a: 2}
scratch: {between: {type: float, shape: [n]}}
launches:
  - {kernel: scale, block: 64, grid: ["cdiv(n, bx)"], smem: n, args: [x, between, a]}
  - {kernel: scale, block: [32, 2], grid: [n, 2], args: [between, y, a]}
)yaml";

constexpr std::string_view kValues = R"yaml(sizes: {n: 4096, m: 17}
args:
  in: {shape: [n], init: "constant(-3.5)"}
  out: {dir: inout, shape: [n + 1], init: zeros}
  a: n / 2 - m
  offsets: {shape: [m + 1], init: csr_offsets(n)}
  columns: {shape: [n], init: "csr_columns(max(m, 3))"}
  order: {shape: [m], init: permutation}
  index: {shape: [n], init: "int(0, m - 1)"}
  weights: {shape: [n], init: {file: w.bin, hash: "00112233445566778899aabbccddeeff"}}
  more: {shape: [n], init: w.npy}
  count: {value: "cdiv(n, m)"}
launch: {block: ["min(m, 64)", 2], grid: ["cdiv(n, bx)"]}
tests: [{n: 64, m: 3}]
)yaml";

constexpr std::string_view kSchema = R"json({"ConfigurationSpace": {"TuningParameters": [
  {"Name": "bx", "Values": "[32, 64]"}]},
 "KernelSpecification": {"Language": "CUDA", "KernelName": "scale", "KernelFile": "s.cu",
  "CompilerOptions": ["-DA=1"], "GlobalSize": {"X": "4096"}, "LocalSize": {"X": "bx * 2"},
  "Arguments": [{"Type": "float", "Size": 4096, "AccessType": "ReadOnly", "FillType": "Random"},
   {"Type": "float", "Size": "4096", "FillType": "Constant", "FillValue": 0},
   {"Type": "float", "MemoryType": "Scalar", "FillValue": 2.5}]}}
)json";

constexpr std::string_view kSource = R"cuda(/*@regraph
sizes: {n: 10}
*/
#include <cstdio>
#define N 4
#define CALL(x) f(x)
using namespace std;
struct S { int a; } s;
namespace q {
template <typename T, int B = N>
__global__ void __launch_bounds__(64) scale(const T* in, T* out, T a) { out[0] = CALL(in[B]) * a; }
}
__device__ float f(float x) { return x + 1; }
int main() {
  const int n = 1 << 20;
#ifdef X
  if (n) {
#else
  {
#endif
    dim3 grid((n + 63) / 64), block(64, 1);
    q::scale<float><<<grid, block, N * sizeof(float)>>>(p, p, 1.0f);
  }
}
)cuda";

const KernelSignature kSignature = {
    "scale",
    {{.name = "in", .type = ScalarType::f32, .is_pointer = true, .points_to_const = true},
     {.name = "out", .type = ScalarType::f32, .is_pointer = true},
     {.name = "a", .type = ScalarType::f32}}};

// Of the manifest that says most of values.
const KernelSignature kSparse = {
    "scale",
    {{.name = "in", .type = ScalarType::f32, .is_pointer = true, .points_to_const = true},
     {.name = "out", .type = ScalarType::f32, .is_pointer = true},
     {.name = "offsets", .type = ScalarType::i32, .is_pointer = true, .points_to_const = true},
     {.name = "columns", .type = ScalarType::u32, .is_pointer = true, .points_to_const = true},
     {.name = "order", .type = ScalarType::i64, .is_pointer = true, .points_to_const = true},
     {.name = "index", .type = ScalarType::u8, .is_pointer = true, .points_to_const = true},
     {.name = "weights", .type = ScalarType::f64, .is_pointer = true, .points_to_const = true},
     {.name = "more", .type = ScalarType::f32, .is_pointer = true, .points_to_const = true},
     {.name = "a", .type = ScalarType::f32},
     {.name = "count", .type = ScalarType::i32}}};

void try_manifest(std::string text, const KernelSignature& signature, fuzz::Random& random,
                  const fuzz::Rounds& rounds) {
  fuzz::damage(text, random, kWords);
  const Result<Manifest> manifest = parse_manifest(text, "fuzz.yaml");
  if (!manifest) return;
  const Result<Problem> problem = make_problem(*manifest, signature, "k.cu", "");
  if (!problem) return;
  const std::string written = write_manifest(*problem, problem->launch);
  const Result<Manifest> again = parse_manifest(written, "again.yaml");
  if (!again) rounds.fail("what was written cannot be read: " + again.error().message);
  const Result<Problem> same = make_problem(*again, signature, "k.cu", "");
  if (!same) rounds.fail("what was written is no problem: " + same.error().message);
  if (write_manifest(*same, same->launch) != written) rounds.fail("written twice, different texts");
}

void try_schema(std::string text, fuzz::Random& random) {
  fuzz::damage(text, random, kWords);
  const Result<TuningSchema> schema = parse_tuning_schema(text, "t1.json");
  if (schema) (void)bind_arguments(*schema, kSignature).ok();
}

void try_source(std::string text, fuzz::Random& random, const fuzz::Rounds& rounds) {
  fuzz::damage(text, random, kWords);
  if (const auto front_matter = find_front_matter(text)) {
    (void)parse_manifest(front_matter->yaml, "k.cu").ok();
    blank_front_matter(*front_matter, text);
  }
  (void)source::find_host_launch(text, kSignature);
  source::ExtractionRequest request;
  request.file_name = "k.cu";
  const auto code = source::extract_device_code(text, request);
  if (!code) return;
  if (code->kernels.empty()) rounds.fail("a source without kernel was accepted");
  (void)source::extract_device_code(source::without_line_directives(code->text), request).ok();
}

}  // namespace

int main(int argc, char** argv) {
  fuzz::Rounds rounds(fuzz::settings(argc, argv));
  return rounds.run([&](fuzz::Random& random) {
    switch (random() % 3) {
      case 0:
        if (random() % 2 == 0) return try_manifest(std::string(kValues), kSparse, random, rounds);
        return try_manifest(std::string(random() % 2 == 0 ? kManifest : kLaunches), kSignature,
                            random, rounds);
      case 1:
        return try_schema(std::string(kSchema), random);
      default:
        return try_source(std::string(kSource), random, rounds);
    }
  });
}
