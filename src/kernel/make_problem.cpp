#include "kernel/check_values.h"
#include "kernel/derived_tests.h"
#include "kernel/join_launches.h"
#include "kernel/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace regraph {

namespace {

// What a scalar of floating type gets when the manifest gives none: neither 0 nor 1, so that a
// factor that was dropped shows.
constexpr double kDefaultFloatScalar = 1.5;
// Default integer inputs: small and non-negative, so that they suit unsigned types and sums.
constexpr double kMostDefaultInteger = 15.0;

// Joins one manifest and one signature; each method handles one part and keeps the first error.
class Joiner {
 public:
  Joiner(const Manifest& manifest, const std::vector<KernelSignature>& signatures)
      : manifest_(manifest), signatures_(signatures) {
    problem_.signature = signatures.front();
  }

  Result<Problem> join(std::string source_path, std::string source) {
    problem_.source_path = std::move(source_path);
    problem_.source = std::move(source);
    problem_.check = manifest_.check;
    problem_.assume = manifest_.assume;
    problem_.flops = manifest_.flops;
    problem_.bytes = manifest_.bytes;
    for (const Status& status :
         {join_sizes(), join_parameters(), join_arguments(), join_launch()}) {
      if (!status.ok()) return status.error();
    }
    for (const Status& status :
         {join_bench(), join_tests(), join_captured(), look_at_races(), look_at_fixed()}) {
      if (!status.ok()) return status.error();
    }
    return std::move(problem_);
  }

 private:
  Error error(int line, const std::string& what,
              ErrorCode code = ErrorCode::invalid_argument) const {
    return manifest_internal::error_in(manifest_, line, what, code);
  }

  void note(std::string text) { problem_.notes.push_back(std::move(text)); }

  // Races are allowed on outputs alone.
  Status look_at_races() const {
    for (const std::string& name : problem_.check.benign_races) {
      const auto argument = std::ranges::find(problem_.arguments, name, &Argument::name);
      if (argument == problem_.arguments.end() || !argument->is_output() || !argument->has_memory())
        return error(
            0, fmt::format("check.benign_races: '{}' is no buffer that the kernel writes", name));
    }
    return {};
  }

  // Only what could vary is worth saying.
  Status look_at_fixed() const {
    for (const std::string& name : problem_.assume.fixed) {
      const auto argument = std::ranges::find(problem_.arguments, name, &Argument::name);
      const bool is_scalar = argument != problem_.arguments.end() && argument->value.has_value();
      if (is_scalar || problem_.sizes.contains(name)) continue;
      return error(0, fmt::format("assume.fixed: '{}' is no scalar and no size", name),
                   ErrorCode::not_found);
    }
    return {};
  }

  Status join_sizes() {
    problem_.sizes = manifest_.sizes;
    // A symbol that only the lists name gets its default from the first list that has it.
    for (const std::vector<Symbols>* list : {&manifest_.bench, &manifest_.tests}) {
      for (const Symbols& entry : *list) {
        problem_.sizes.insert(entry.begin(), entry.end());
      }
    }
    for (const ManifestCapture& capture : manifest_.captured)
      problem_.sizes.insert(capture.sizes.begin(), capture.sizes.end());
    for (const auto& [name, value] : problem_.sizes) {
      if (value < 0)
        return error(0, fmt::format("size {} is {}, must not be negative", name, value));
    }
    return {};
  }

  // A name that an extent could have, for an example: of an integer parameter where there is one.
  [[nodiscard]] std::string likely_extent() const {
    for (const Parameter& parameter : parameters_) {
      const bool integer =
          !parameter.is_pointer && parameter.record_bytes == 0 && !is_floating(parameter.type);
      if (integer && parameter.is_passed()) return parameter.name;
    }
    return "N";
  }

  Status join_arguments() {
    std::set<std::string> known;
    for (const Parameter& parameter : parameters_)
      known.insert(parameter.name);
    for (const auto& [name, said] : manifest_.scratch) {
      if (known.count(name) == 0)
        return error(said.line, fmt::format("no launch is passed the scratch buffer '{}'", name));
    }
    for (const auto& [name, said] : manifest_.arguments) {
      if (known.count(name) != 0) continue;
      std::string names;
      for (const std::string& one : known)
        names += (names.empty() ? "" : ", ") + one;
      return error(said.line,
                   manifest_.launches.empty()
                       ? fmt::format("kernel '{}' has no parameter '{}' (it has: {})",
                                     problem_.signature.name, name, names)
                       : fmt::format("no launch is passed '{}' (they are: {})", name, names));
    }
    for (const Parameter& parameter : parameters_) {
      ManifestArgument said;
      for (const auto& [name, argument] : manifest_.arguments) {
        if (name == parameter.name) said = argument;
      }
      Argument argument;
      argument.name = parameter.name;
      argument.type = parameter.type;
      argument.is_pointer = parameter.is_pointer;
      argument.is_symbol = parameter.is_symbol;
      argument.components = parameter.components;
      argument.record_bytes = parameter.record_bytes;
      argument.fields = parameter.fields;
      argument.inside = parameter.inside;
      argument.inside_byte = parameter.inside_byte;
      Status status;
      if (const ManifestScratch* scratch = scratch_of(parameter.name)) {
        status = join_scratch_buffer(*scratch, said, parameter, argument);
      } else if (!parameter.is_pointer && parameter.record_bytes > 0) {
        status = join_record(said, argument);
      } else {
        status = parameter.is_pointer ? join_buffer(parameter, said, argument)
                                      : join_scalar(said, argument);
      }
      if (!status.ok()) return status;
      problem_.arguments.push_back(std::move(argument));
    }
    return check_overlaps();
  }

  // What other pointers lead into is not read-only because its own parameter is.
  Status check_overlaps() {
    for (const Argument& argument : problem_.arguments) {
      if (argument.overlaps.empty()) continue;
      const auto other = std::ranges::find(problem_.arguments, argument.overlaps, &Argument::name);
      if (other == problem_.arguments.end() || !other->has_memory() || other->is_scratch) {
        return error(0, fmt::format("args.{}.overlap: '{}' is no buffer of its own", argument.name,
                                    argument.overlaps));
      }
      if (const auto bytes = argument.overlap_bytes.evaluate(problem_.sizes); !bytes.ok())
        return error(0, fmt::format("args.{}.overlap: {}", argument.name, bytes.error().message));
      if (argument.direction != Direction::in || other->direction == Direction::out)
        other->direction = Direction::inout;
      if (problem_.assume.noalias) {
        problem_.assume.noalias = false;
        note(fmt::format("'{}' and '{}' overlap, so no step may assume that buffers do not",
                         argument.name, argument.overlaps));
      }
    }
    return {};
  }

  // Whether another argument leads into the buffer of this one.
  [[nodiscard]] bool is_overlapped(const std::string& name) const {
    return std::ranges::any_of(manifest_.arguments,
                               [&](const auto& one) { return one.second.overlaps == name; });
  }

  Status join_record(const ManifestArgument& said, Argument& argument) {
    if (said.shape || said.init || said.value || !said.overlaps.empty()) {
      return error(said.line,
                   fmt::format("'{}' is a structure: it takes bytes only", argument.name));
    }
    const auto bytes = static_cast<std::size_t>(argument.record_bytes);
    if (said.record && said.record->size() != bytes) {
      return error(said.line, fmt::format("'{}' has {} bytes, {} are given", argument.name, bytes,
                                          said.record->size()));
    }
    argument.record = said.record.value_or(std::vector<std::byte>(bytes));
    if (said.record) return {};
    return error(said.line,
                 fmt::format("the content of the structure '{0}' is not known: add args: {{{0}: "
                             "{{bytes: \"...\"}}}}, {1} bytes as hexadecimal digits, or capture it "
                             "from its program",
                             argument.name, bytes));
  }

  const ManifestScratch* scratch_of(const std::string& name) const {
    for (const auto& [known, said] : manifest_.scratch) {
      if (known == name) return &said;
    }
    return nullptr;
  }

  Status join_scratch_buffer(const ManifestScratch& scratch, const ManifestArgument& said,
                             const Parameter& parameter, Argument& argument) {
    if (said.shape || said.direction || said.init || said.value) {
      return error(said.line, fmt::format("'{}' is a scratch buffer", parameter.name));
    }
    Status status = manifest_internal::join_scratch(manifest_, scratch, parameter, argument);
    if (!status.ok()) return status;
    const Result<std::int64_t> count = argument.element_count(problem_.sizes);
    if (!count.ok()) return error(scratch.line, count.error().message, count.error().code);
    return {};
  }

  Status join_buffer(const Parameter& parameter, const ManifestArgument& said, Argument& argument) {
    const std::string& name = parameter.name;
    if (said.value) {
      return error(said.line,
                   fmt::format("'{}' is a pointer: give it a shape instead of a value", name));
    }
    if (said.record) return error(said.line, fmt::format("'{}' is no structure", name));
    argument.overlaps = said.overlaps;
    argument.is_null = said.is_null;
    if (said.is_null) {
      argument.direction = Direction::in;
      if (said.shape || said.init || !said.overlaps.empty())
        return error(said.line, fmt::format("'{}' is null, so it has no shape", name));
      return {};
    }
    argument.overlap_bytes = said.overlap_bytes.value_or(IntegerExpression(0));
    if (!said.shape && !parameter.is_symbol) {
      return error(
          said.line,
          fmt::format("the length of '{0}' is not known: add args: {{{0}: {{shape: [{1}]}}}} "
                      "with the extents of the buffer, and sizes: {{{1}: 1024}} with their values",
                      name, likely_extent()));
    }
    argument.shape = said.shape.value_or(
        std::vector<IntegerExpression>{IntegerExpression(parameter.symbol_elements)});
    if (const Result<std::int64_t> count = argument.element_count(problem_.sizes); !count.ok()) {
      return error(said.line, count.error().message + "; add it to sizes or correct the shape",
                   count.error().code);
    }
    if (parameter.is_symbol) {
      const auto count = argument.element_count(problem_.sizes);
      if (count.ok() && *count != parameter.symbol_elements) {
        return error(said.line, fmt::format("__constant__ '{}' has {} elements, its shape {}", name,
                                            parameter.symbol_elements, *count));
      }
    }
    if (said.direction) {
      if (parameter.points_to_const && *said.direction != Direction::in && !is_overlapped(name)) {
        return error(said.line, fmt::format("'{}' points to const, so its dir can only be in, "
                                            "unless another argument overlaps it",
                                            name));
      }
      argument.direction = *said.direction;
    } else {
      argument.direction = parameter.points_to_const ? Direction::in : Direction::inout;
      if (!parameter.points_to_const) {
        note(fmt::format("'{}' is not const: taken as inout (read and written)", name));
      }
    }
    return join_init(parameter, said, argument);
  }

  Status join_init(const Parameter& parameter, const ManifestArgument& said, Argument& argument) {
    const std::string& name = argument.name;
    if (said.init) {
      argument.init = *said.init;
      argument.init_is_given = true;
      if (const auto init = argument.init.at(problem_.sizes); !init.ok()) {
        return error(said.line, fmt::format("init of '{}': {}", name, init.error().message),
                     init.error().code);
      }
      if (argument.init.kind == BufferInit::Kind::constant && argument.is_input()) {
        note(fmt::format("'{}' holds {} before every launch: a faster kernel may rely on it", name,
                         argument.init.text()));
      }
    } else if (!is_floating(parameter.type)) {
      argument.init = default_integer_init(parameter.type);
      if (argument.direction != Direction::out) {
        note(fmt::format("'{}' is filled with integers {} to {}", name, argument.init.low,
                         argument.init.high));
      }
    }
    return {};
  }

  Status join_scalar(const ManifestArgument& said, Argument& argument) {
    const std::string& name = argument.name;
    if (said.record || !said.overlaps.empty())
      return error(said.line, fmt::format("'{}' is a scalar: it takes a value only", name));
    if (said.shape || said.init || said.direction.value_or(Direction::in) != Direction::in) {
      return error(said.line, fmt::format("'{}' is not a pointer: it takes a value only", name));
    }
    const bool floating = is_floating(argument.type);
    if (said.value) {
      const Result<double> number = said.value->at(problem_.sizes);
      if (!number.ok()) {
        return error(said.line,
                     fmt::format("'{}': {}; add it to sizes or correct the value", name,
                                 number.error().message),
                     number.error().code);
      }
      if (!floating && std::floor(*number) != *number)
        return error(said.line, fmt::format("'{}' is an integer, {} is not", name, *number));
      argument.value = said.value;
      return {};
    }
    if (problem_.sizes.count(name) != 0) return {};
    if (!floating) {
      return error(
          said.line,
          fmt::format("integer parameter '{0}' has no value: add sizes: {{{0}: 1024}} if it "
                      "is a problem size, or args: {{{0}: 1024}} if it is a constant",
                      name));
    }
    argument.value = kDefaultFloatScalar;
    note(fmt::format("'{}' is {}", name, kDefaultFloatScalar));
    return {};
  }

  Status join_launch() {
    if (!manifest_.launches.empty()) return join_counters();
    if (!manifest_.launch) {
      return error(0,
                   "the launch is not known: add launch: {block: [256], grid: [\"cdiv(N, bx)\"]}");
    }
    Launch launch = *manifest_.launch;
    launch.kernel = problem_.signature.name;
    problem_.launch.launches = {std::move(launch)};
    return join_counters();
  }

  Status join_parameters() {
    parameters_ = problem_.signature.parameters;
    if (manifest_.launches.empty()) return {};
    auto joined = manifest_internal::join_launches(manifest_, signatures_, problem_.sizes);
    if (!joined.ok()) return joined.error();
    problem_.launch = std::move(joined->plan);
    parameters_ = std::move(joined->parameters);
    if (problem_.launch.launch_of(problem_.signature.name) != nullptr) return {};
    return error(0, fmt::format("kernel: '{}' is not among the launches", problem_.signature.name));
  }

  Status join_counters() {
    for (const auto& counter : {manifest_.flops, manifest_.bytes}) {
      if (!counter) continue;
      if (const Result<std::int64_t> value = counter->evaluate(problem_.sizes); !value.ok()) {
        return error(0, fmt::format("counters: {}: {}", counter->text(), value.error().message));
      }
    }
    return {};
  }

  // Returns `partial` completed from the default sizes.
  Symbols complete(const Symbols& partial) const {
    Symbols symbols = partial;
    symbols.insert(problem_.sizes.begin(), problem_.sizes.end());
    return symbols;
  }

  // Whether the problem can be set up at these sizes.
  Status feasible(const Symbols& symbols) const {
    for (const Argument& argument : problem_.arguments) {
      if (const auto count = argument.element_count(symbols); !count.ok()) return count.error();
      if (Status values = check_values(argument, symbols); !values.ok()) return values;
    }
    for (const Launch& launch : problem_.launch.launches) {
      if (const auto concrete = concretise(launch, symbols); !concrete.ok())
        return concrete.error();
    }
    return {};
  }

  Status join_bench() {
    for (const Symbols& entry : manifest_.bench)
      problem_.bench.push_back(complete(entry));
    if (problem_.bench.empty()) problem_.bench.push_back(problem_.sizes);
    for (const Symbols& symbols : problem_.bench) {
      if (const Status status = feasible(symbols); !status.ok()) {
        return error(0, "bench: " + status.error().message);
      }
    }
    return {};
  }

  Status join_tests() {
    for (const Symbols& entry : manifest_.tests) {
      problem_.tests.push_back(complete(entry));
      if (const Status status = feasible(problem_.tests.back()); !status.ok()) {
        return error(0, "tests: " + status.error().message);
      }
    }
    if (problem_.tests.empty()) {
      problem_.tests_are_derived = true;
      derive_tests();
    }
    return {};
  }

  Status join_captured() {
    problem_.is_captured = manifest_.is_captured;
    for (const ManifestCapture& capture : manifest_.captured) {
      CapturedCase one = {complete(capture.sizes), capture.contents};
      for (const auto& [name, content] : one.contents) {
        const auto argument = std::ranges::find(problem_.arguments, name, &Argument::name);
        if (argument == problem_.arguments.end()) {
          return error(capture.line, fmt::format("captured: there is no argument '{}'", name),
                       ErrorCode::not_found);
        }
      }
      if (const Status status = feasible(one.symbols); !status.ok())
        return error(capture.line, "captured: " + status.error().message);
      if (problem_.captured_at(one.symbols) != nullptr)
        return error(capture.line, "captured: there are two entries with the same sizes");
      if (capture.is_test && std::ranges::count(problem_.tests, one.symbols) == 0)
        problem_.tests.push_back(one.symbols);
      problem_.captured.push_back(std::move(one));
    }
    return {};
  }

  bool is_captured(const Symbols& symbols) const {
    return std::ranges::any_of(manifest_.captured, [&](const ManifestCapture& capture) {
      return complete(capture.sizes) == symbols;
    });
  }

  void derive_tests() {
    for (Symbols& symbols : derived_test_sizes(problem_)) {
      // A test, or too large for one, as the capture says.
      if (is_captured(symbols) || (manifest_.is_captured && symbols == problem_.sizes)) continue;
      if (feasible(symbols).ok()) problem_.tests.push_back(std::move(symbols));
    }
    if (problem_.tests.empty() && !manifest_.is_captured) problem_.tests.push_back(problem_.sizes);
    const std::string text = sizes_text(problem_.tests);
    if (!text.empty()) note("tests run at the sizes " + text);
  }

  const Manifest& manifest_;
  const std::vector<KernelSignature>& signatures_;
  std::vector<Parameter> parameters_;  // of all launched kernels
  Problem problem_;
};

}  // namespace

BufferInit default_integer_init(ScalarType type) {
  return {BufferInit::Kind::integers, 0.0, type == ScalarType::boolean ? 1.0 : kMostDefaultInteger};
}

Result<Problem> make_problem(const Manifest& manifest, const KernelSignature& signature,
                             std::string source_path, std::string source) {
  return make_problem_of_launches(manifest, {signature}, std::move(source_path), std::move(source));
}

Result<Problem> make_problem_of_launches(const Manifest& manifest,
                                         const std::vector<KernelSignature>& signatures,
                                         std::string source_path, std::string source) {
  if (signatures.empty()) return fail(ErrorCode::invalid_argument, "there is no kernel");
  return Joiner(manifest, signatures).join(std::move(source_path), std::move(source));
}

}  // namespace regraph
