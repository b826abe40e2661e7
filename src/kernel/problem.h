// What has to be computed: the kernel's arguments, sizes, checks and what the user permits.
#pragma once

#include "kernel/expression.h"
#include "kernel/launch_plan.h"
#include "kernel/scalar_type.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace regraph {

// One parameter of a __global__ function as the front end saw it.
struct Parameter {
  std::string name;
  ScalarType type = ScalarType::f32;  // element type for pointers
  bool is_pointer = false;
  bool points_to_const = false;
  // Scalars in one element of the buffer: 4 for float4*, 64 for float (*)[64].
  std::int64_t components = 1;
  int line = 0;  // 1-based, in the source
  // A __constant__ variable that the host fills: an input like a buffer, but not passed. Its number
  // of elements is fixed.
  bool is_symbol = false;
  std::int64_t symbol_elements = 0;
};

struct KernelSignature {
  std::string name;
  std::vector<Parameter> parameters;  // of the function in order, then symbols
};

enum class Direction : std::uint8_t { in, out, inout };

// How a buffer is filled before a launch.
struct BufferInit {
  enum class Kind : std::uint8_t { normal, uniform, integers, iota };
  Kind kind = Kind::normal;
  double low = 0.0;  // uniform(low, high); integers: low..high inclusive
  double high = 1.0;
  bool operator==(const BufferInit&) const = default;
};

struct Argument {
  std::string name;
  ScalarType type = ScalarType::f32;
  bool is_pointer = false;  // symbols too
  bool is_symbol = false;   // a __constant__ variable of this name
  Direction direction = Direction::in;
  std::int64_t components = 1;           // scalars in one element: 4 for float4
  std::vector<IntegerExpression> shape;  // in elements, outermost first; empty for scalars
  BufferInit init;
  std::optional<double> value;  // scalars that are not size symbols
  // A buffer of the harness that launches hand data on with: neither input nor output.
  bool is_scratch = false;

  // Whether what the kernels leave in it is a result.
  [[nodiscard]] bool is_output() const {
    return is_pointer && !is_scratch && direction != Direction::in;
  }
  // Whether it is filled with values before the first launch; other buffers hold poison then.
  [[nodiscard]] bool is_input() const {
    return is_pointer && !is_scratch && direction != Direction::out;
  }

  // Scalars in the buffer for `symbols` (product of the shape and `components`), 1 for scalars.
  [[nodiscard]] Result<std::int64_t> element_count(const Symbols& symbols) const;
};

// By which power of its symbols a shape's number of elements grows: 1 for n, 2 for M * N and n * n.
[[nodiscard]] std::size_t shape_growth(const std::vector<IntegerExpression>& shape);

struct CheckPolicy {
  std::optional<double> relative_tolerance;  // none: chosen by type and reduction length
  int seeds = 5;                             // input distributions per size, at least 5
};

// The user's licence to the steps: what is not granted here no step may use.
struct Assumptions {
  bool noalias = true;      // buffers do not overlap
  int align = 16;           // bytes every buffer is aligned to
  bool reassociate = true;  // floating-point sums may be reordered
  bool fast_math = false;
  bool keep_precision = true;
};

struct Problem {
  std::string source_path;
  std::string source;               // CUDA C++ text as the user gave it
  KernelSignature signature;        // of the kernel to optimise
  std::vector<Argument> arguments;  // in signature order; of several kernels joined by name
  Symbols sizes;                    // default values of the size symbols
  LaunchPlan launch;                // of the original
  std::vector<Symbols> tests;       // complete symbol tables, small
  std::vector<Symbols> bench;       // complete symbol tables, the sizes to be fast on
  CheckPolicy check;
  Assumptions assume;
  std::optional<IntegerExpression> flops;  // per launch at given sizes
  std::optional<IntegerExpression> bytes;  // compulsory memory traffic
  std::vector<std::string> notes;          // what was assumed because nothing said it
};

}  // namespace regraph
