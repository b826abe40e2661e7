// A Triton kernel as text that can be compiled without a launcher. In front of the module stands
//
//   # regraph-triton:
//   #   kernel: softmax
//   #   signature: {x_ptr: "*fp32", y_ptr: "*fp32", columns: i32}
//   #   constants: {BLOCK: 1024}
//   #   grid: [rows, 1, 1]            # of sizes and constants
//   #   num_warps: 4
//   #   num_stages: 3
//   #   num_ctas: 2                   # blocks that share a program, where not 1
//   #   divisible: [x_ptr, y_ptr]     # by 16: Triton's launcher would find it out
//   #   arguments: {stride: columns}  # what is passed for an integer, where that is no size's name
//   #   choices: {BLOCK: [512, 2048]} # values that are worth trying
#pragma once

#include "base/result.h"
#include "kernel/launch_plan.h"
#include "kernel/problem.h"

#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace regraph::triton {

// Threads of a warp on every device of NVIDIA's.
inline constexpr int kWarpThreads = 32;
// What triton.compile takes where nothing is said (CUDAOptions of Triton 3.9).
inline constexpr int kDefaultWarps = 4;
inline constexpr int kDefaultStages = 3;
// Of a cluster, on every device that has clusters (CUDA C++ Programming Guide, Thread Block
// Clusters).
inline constexpr int kMostCtas = 8;
// What a launcher looks at arguments for.
inline constexpr int kDivisor = 16;

// A parameter that is passed; constants are none.
struct TypedParameter {
  std::string name;
  ScalarType type = ScalarType::f32;  // of what a pointer points to
  bool is_pointer = false;
  bool operator==(const TypedParameter&) const = default;
};

struct KernelText {
  std::string kernel;  // name of the function
  std::vector<TypedParameter> parameters;
  // tl.constexpr parameters: "1024", "0.5", "true", "\"tf32\"", as JSON writes them.
  std::map<std::string, std::string> constants;
  std::array<std::string, 3> grid = {"1", "1", "1"};  // expressions of sizes and constants
  int warps = kDefaultWarps;
  int stages = kDefaultStages;
  int ctas = 1;                        // blocks of a cluster that share a program, a power of two
  std::vector<std::string> divisible;  // names of parameters, sorted
  std::map<std::string, std::string> arguments;  // integers' names, expressions of sizes
  // Values of constants, num_warps, num_stages and num_ctas that somebody thought worth trying.
  std::map<std::string, std::vector<std::string>> choices;
  bool contracts = true;  // products and sums may become fused ones
  std::string module;     // Python, without the comment

  // The whole text; parse(text()) gives the same.
  [[nodiscard]] std::string text() const;
  // As the front end of CUDA C++ would say it: pointers, then scalars, as they are passed.
  [[nodiscard]] KernelSignature signature() const;
  // How a candidate of this text is launched with so many bytes of shared memory. Errors: a grid
  // that is no expression of sizes and constants, more than 1024 threads.
  [[nodiscard]] Result<LaunchPlan> launch(std::int64_t shared_bytes) const;
  // For compile_kernel.py, as JSON: see there.
  [[nodiscard]] std::string job(std::string_view architecture) const;
  bool operator==(const KernelText&) const = default;
};

// Whether a text begins with the comment.
[[nodiscard]] bool has_header(std::string_view text);

// Reads a text with its comment. Errors: parse, with the line; not_found without the comment.
[[nodiscard]] Result<KernelText> parse_kernel_text(std::string_view text);
// The same where the comment need not say everything: what it leaves out, each constant by itself,
// is as in `base`; that may have no kernel.
[[nodiscard]] Result<KernelText> parse_kernel_text(std::string_view text, const KernelText& base);

// What the text's comment says something of: "kernel", "grid". Empty without a comment, or for one
// that is no YAML.
[[nodiscard]] std::set<std::string> header_keys(std::string_view text);

// "*fp16" or "i32". Errors: parse, a type that is not known.
[[nodiscard]] Result<TypedParameter> parse_type(std::string_view name, std::string_view type);
[[nodiscard]] std::string type_name(const TypedParameter& parameter);

// What the first line of compile_kernel.py's PTX says of a launch; 0 where nothing does.
[[nodiscard]] std::int64_t shared_bytes_of(std::string_view ptx);

}  // namespace regraph::triton
