// What has to be computed: the kernel's arguments, sizes, checks and what the user permits.
#pragma once

#include "kernel/buffer_init.h"
#include "kernel/expression.h"
#include "kernel/launch_plan.h"
#include "kernel/scalar_type.h"
#include "kernel/scalar_value.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace regraph {

// A scalar, a pointer, or an array of scalars inside of a structure.
struct Field {
  std::string name;                   // "origin.x" inside of structures
  std::int64_t byte = 0;              // from the structure's begin
  ScalarType type = ScalarType::f32;  // of what a pointer points to
  std::int64_t components = 1;        // scalars: of the field, or of what a pointer points to
  bool is_pointer = false;
  bool points_to_const = false;
  bool operator==(const Field&) const = default;
};

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
  // A structure with this layout: the parameter itself, or an element of the buffer, which counts
  // as so many components of type u8 then. 0: none.
  std::int64_t record_bytes = 0;
  std::vector<Field> fields = {};
  // A pointer in the structure that parameter `inside` is: a buffer like others, but not passed.
  std::string inside = {};
  std::int64_t inside_byte = 0;

  // Whether it is one of the function's parameters.
  [[nodiscard]] bool is_passed() const { return !is_symbol && inside.empty(); }
};

struct KernelSignature {
  std::string name;
  // Of the function in order, then pointers inside of structures, then symbols.
  std::vector<Parameter> parameters;
};

enum class Direction : std::uint8_t { in, out, inout };

struct Argument {
  std::string name;
  ScalarType type = ScalarType::f32;
  bool is_pointer = false;  // symbols too
  bool is_symbol = false;   // a __constant__ variable of this name
  Direction direction = Direction::in;
  std::int64_t components = 1;           // scalars in one element: 4 for float4
  std::vector<IntegerExpression> shape;  // in elements, outermost first; empty for scalars
  BufferInit init;
  // The manifest says what the buffer holds; else `init` is a guess, and tests also take others.
  bool init_is_given = false;
  std::optional<ScalarValue> value;  // scalars that are not size symbols
  // A buffer of the harness that launches hand data on with: neither input nor output.
  bool is_scratch = false;
  std::int64_t record_bytes = 0;  // structures: as in Parameter
  std::vector<Field> fields;
  std::vector<std::byte> record;  // what a structure by value holds, pointers aside
  std::string inside;             // a pointer in that structure, at inside_byte
  std::int64_t inside_byte = 0;
  // A pointer into the buffer of that argument, so many bytes from its begin: it has no memory of
  // its own. Empty: it has.
  std::string overlaps;
  IntegerExpression overlap_bytes = 0;
  bool is_null = false;  // a pointer that is passed as null

  // Whether it is one of the kernel's parameters.
  [[nodiscard]] bool is_passed() const { return !is_symbol && inside.empty(); }
  // Whether it has contents of its own.
  [[nodiscard]] bool has_content() const { return is_pointer && overlaps.empty() && !is_null; }
  // Whether it has memory that a launch is given the address of.
  [[nodiscard]] bool has_memory() const { return has_content() && !is_symbol; }
  // Whether what the kernels leave in it is a result.
  [[nodiscard]] bool is_output() const {
    return has_content() && !is_scratch && direction != Direction::in;
  }
  // Whether it is filled with values before the first launch; other buffers hold poison then.
  [[nodiscard]] bool is_input() const {
    return has_content() && !is_scratch && direction != Direction::out;
  }

  // Scalars in the buffer for `symbols` (product of the shape and `components`), 1 for scalars.
  [[nodiscard]] Result<std::int64_t> element_count(const Symbols& symbols) const;
};

// By which power of its symbols a shape's number of elements grows: 1 for n, 2 for M * N and n * n.
[[nodiscard]] std::size_t shape_growth(const std::vector<IntegerExpression>& shape);

struct CheckPolicy {
  std::optional<double> relative_tolerance;  // none: chosen by type and reduction length
  int seeds = 5;                             // input distributions per size, at least 5
  // Outputs that may be raced on, because the user says that it does no harm: what is left in them
  // has to lie between what the original leaves in one order of its threads and in another.
  std::vector<std::string> benign_races = {};

  [[nodiscard]] bool allows_races(const std::string& argument) const;
};

// Less than single precision that the user puts up with.
enum class Precision : std::uint8_t {
  keep,    // none
  tf32x3,  // products of sums of two tf32 numbers, which lose up to three of 24 bits
  any,
};

// As manifests have it: "keep", "tf32x3", "any".
[[nodiscard]] const char* name_of(Precision precision);

// The user's licence to the steps: what is not granted here no step may use.
struct Assumptions {
  bool noalias = true;      // buffers do not overlap
  int align = 16;           // bytes every buffer is aligned to
  bool reassociate = true;  // floating-point sums may be reordered
  bool fast_math = false;
  Precision precision = Precision::keep;
  // Inputs hold no NaN, infinities or denormal numbers, and the sign of a zero means nothing.
  bool finite = false;
  // Scalars and sizes that always have the values that the manifest gives: tests take no others.
  std::vector<std::string> fixed = {};

  [[nodiscard]] bool is_fixed(const std::string& name) const;
  [[nodiscard]] bool lets_precision_go() const { return precision == Precision::any; }
};

// One launch of a program as it was: at these sizes the kernel is judged on these contents, too.
struct CapturedCase {
  Symbols symbols;  // complete
  std::map<std::string, CapturedContent> contents;
};

struct Problem {
  std::string source_path;
  std::string source;               // CUDA C++ text as the user gave it
  KernelSignature signature;        // of the kernel to optimise
  std::vector<Argument> arguments;  // in signature order; of several kernels joined by name
  Symbols sizes;                    // default values of the size symbols
  LaunchPlan launch;                // of the original
  std::vector<Symbols> tests;       // complete symbol tables, small
  // Nobody gave them: those that the original cannot take are left out.
  bool tests_are_derived = false;
  std::vector<Symbols> bench;  // complete symbol tables, the sizes to be fast on
  CheckPolicy check;
  Assumptions assume;
  std::optional<IntegerExpression> flops;  // per launch at given sizes
  std::optional<IntegerExpression> bytes;  // compulsory memory traffic
  // Its sizes are those of a program's launches: the original need not have a result at others.
  bool is_captured = false;
  std::vector<CapturedCase> captured;  // those of which contents were kept
  std::vector<std::string> notes;      // what was assumed because nothing said it
  // "w = 5, at all sizes": what tests hold fixed, and why; known once the original was checked.
  std::vector<std::string> held_fixed;

  // Null when nothing was captured at these sizes. Valid as long as the problem.
  [[nodiscard]] const CapturedCase* captured_at(const Symbols& symbols) const;
  // The bytes captured of an argument at these sizes, or else those of its file, which may be more
  // than the buffer takes; null where there are none.
  [[nodiscard]] const CapturedContent* captured_content(const Symbols& symbols,
                                                        const std::string& argument) const;
  // "'y' holds zeros before every launch", of each input that the user says it of: nothing was
  // tested with others.
  [[nodiscard]] std::vector<std::string> constant_contents() const;
  // Whether an input is filled from a file of the user's.
  [[nodiscard]] bool has_files() const;
  // Whether what some input holds at these sizes is data of the user's: messages do not repeat it.
  [[nodiscard]] bool has_given_data(const Symbols& symbols) const;
  // Whether the content of an input is one whole at these sizes, so that no pattern stands for it.
  [[nodiscard]] bool is_whole(const Symbols& symbols, const Argument& argument) const;
};

}  // namespace regraph
