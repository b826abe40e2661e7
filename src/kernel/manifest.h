// The problem manifest: a YAML sidecar (kernel.regraph.yaml) that says what the source cannot.
// Every key is optional. Documented for users in docs/manifest.md.
#pragma once

#include "base/result.h"
#include "kernel/problem.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace regraph {

// What a manifest may say about one argument; an unset field was not said.
struct ManifestArgument {
  std::optional<Direction> direction;
  std::optional<std::vector<IntegerExpression>> shape;
  std::optional<BufferInit> init;
  std::optional<ScalarValue> value;
  std::optional<std::vector<std::byte>> record;  // of a structure by value
  std::string overlaps;                          // as in Argument
  std::optional<IntegerExpression> overlap_bytes;
  bool is_null = false;
  int line = 0;
};

// One entry of `captured`.
struct ManifestCapture {
  Symbols sizes;  // may be partial
  std::map<std::string, CapturedContent> contents;
  bool is_test = false;  // whether `tests` get this size, if they have not got it
  int line = 0;
};

// One entry of `launches`.
struct ManifestLaunch {
  Launch launch;  // with no `arguments` where the manifest gives none
  int line = 0;
};

// A buffer between launches.
struct ManifestScratch {
  std::string type;  // of an element, in CUDA C++; empty: what the kernels' parameters say
  std::vector<IntegerExpression> shape;
  int line = 0;
};

struct Manifest {
  std::string path;  // for messages
  std::optional<std::string> kernel;
  // Macros to define in front of the source. A replacement that is an expression of bx, by, bz and
  // sizes gets its value, so that macro and launch agree.
  std::vector<std::pair<std::string, std::string>> defines;
  Symbols sizes;
  std::vector<std::pair<std::string, ManifestArgument>> arguments;
  std::optional<Launch> launch;
  std::vector<ManifestLaunch> launches;  // instead of `launch`: several, in order
  std::vector<std::pair<std::string, ManifestScratch>> scratch;
  std::vector<Symbols> tests;  // each may be partial: missing symbols come from `sizes`
  std::vector<Symbols> bench;
  bool is_captured = false;  // `captured` was given, if only as an empty list
  std::vector<ManifestCapture> captured;
  CheckPolicy check;
  Assumptions assume;
  std::optional<IntegerExpression> flops;
  std::optional<IntegerExpression> bytes;
};

// Reads YAML. Unknown keys, wrong types and broken expressions are errors with "path:line: ...".
[[nodiscard]] Result<Manifest> parse_manifest(std::string_view yaml, std::string path);
[[nodiscard]] Result<Manifest> read_manifest(const std::string& path);

// Gives blocks that are expressions of sizes their values at the first bench size, after sizes have
// changed; parse_manifest has done so. Errors: a size that is not given, an impossible block.
[[nodiscard]] Status resolve_blocks(Manifest& manifest);

// Joins manifest and signature into a complete problem; what neither says gets a documented default
// and a note. Errors name the argument, e.g. a pointer without a shape, an unknown symbol.
[[nodiscard]] Result<Problem> make_problem(const Manifest& manifest,
                                           const KernelSignature& signature,
                                           std::string source_path, std::string source);

// What a buffer of integers is filled with where the manifest does not say it.
[[nodiscard]] BufferInit default_integer_init(ScalarType type);

// The same for a manifest with `launches`: `signatures` are those of the launched kernels, the one
// to optimise first. Arguments are joined by name; an argument is const where all kernels take it
// so. Errors besides: types that disagree, a launch whose arguments do not fit its kernel.
[[nodiscard]] Result<Problem> make_problem_of_launches(
    const Manifest& manifest, const std::vector<KernelSignature>& signatures,
    std::string source_path, std::string source);

// Writes the manifest of `problem` with launch plan `plan` as YAML that parse_manifest reads back
// to the same problem.
[[nodiscard]] std::string write_manifest(const Problem& problem, const LaunchPlan& plan);

}  // namespace regraph
