#include "eval/verify/parameters.h"

#include "eval/verify/element.h"
#include "ptx/module_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace regraph::verify {

namespace {

constexpr std::size_t kPointerBytes = 8;

// The value of a scalar argument: given, or the size symbol of its name.
Result<double> scalar_value(const Argument& argument, const Symbols& symbols) {
  if (argument.value) return *argument.value;
  const auto found = symbols.find(argument.name);
  if (found == symbols.end()) {
    return fail(
        ErrorCode::not_found,
        fmt::format("scalar '{}' has neither a value nor a size of its name", argument.name));
  }
  return static_cast<double>(found->second);
}

Status put_scalar(const Argument& argument, const Symbols& symbols, std::byte* target) {
  // Exact for 64-bit sizes, which a double would round.
  if (!argument.value && (argument.type == ScalarType::i64 || argument.type == ScalarType::u64)) {
    if (const auto found = symbols.find(argument.name); found != symbols.end()) {
      std::memcpy(target, &found->second, sizeof(found->second));
      return {};
    }
  }
  const Result<double> value = scalar_value(argument, symbols);
  if (!value.ok()) return value.error();
  store_element(argument.type, *value, target);
  if (!is_floating(argument.type) && load_element(argument.type, target) != *value) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("'{}' = {} does not fit its type {}", argument.name, *value,
                            cuda_name(argument.type)));
  }
  return {};
}

// Arguments that are passed to the kernel, in order.
std::vector<std::size_t> passed_arguments(const Problem& problem) {
  std::vector<std::size_t> passed;
  for (std::size_t i = 0; i < problem.arguments.size(); ++i) {
    if (!problem.arguments[i].is_symbol) passed.push_back(i);
  }
  return passed;
}

Status check_layout(const Problem& problem, const std::vector<std::size_t>& passed,
                    const std::vector<ptx::Program::ParameterLayout>& layout) {
  if (layout.size() != passed.size()) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("the kernel takes {} parameters, the original takes {}; the parameter "
                            "list must not change",
                            layout.size(), passed.size()));
  }
  for (std::size_t i = 0; i < layout.size(); ++i) {
    const Argument& argument = problem.arguments[passed[i]];
    const std::size_t bytes = argument.is_pointer ? kPointerBytes : size_in_bytes(argument.type);
    if (layout[i].bytes != bytes) {
      return fail(
          ErrorCode::invalid_argument,
          fmt::format("parameter {} ('{}') has {} bytes, expected {}; the parameter list must "
                      "not change",
                      i + 1, argument.name, layout[i].bytes, bytes));
    }
  }
  return {};
}

}  // namespace

Result<std::vector<std::byte>> pack_parameters(const Problem& problem, const ptx::Program& program,
                                               const Symbols& symbols,
                                               std::span<const std::uint64_t> addresses) {
  const std::vector<ptx::Program::ParameterLayout>& layout = program.parameters();
  const std::vector<std::size_t> passed = passed_arguments(problem);
  if (Status status = check_layout(problem, passed, layout); !status.ok()) return status.error();
  std::size_t size = 0;
  for (const auto& parameter : layout)
    size = std::max(size, parameter.offset + parameter.bytes);
  std::vector<std::byte> block(size, std::byte{0});
  for (std::size_t i = 0; i < layout.size(); ++i) {
    std::byte* const target = block.data() + layout[i].offset;
    const Argument& argument = problem.arguments[passed[i]];
    if (argument.is_pointer) {
      std::memcpy(target, &addresses[passed[i]], sizeof(addresses[passed[i]]));
    } else if (Status status = put_scalar(argument, symbols, target); !status.ok()) {
      return status.error();
    }
  }
  return block;
}

bool has_symbols(const Problem& problem) {
  return std::any_of(problem.arguments.begin(), problem.arguments.end(),
                     [](const Argument& argument) { return argument.is_symbol; });
}

Status set_symbol(const Argument& argument, std::span<const std::byte> content,
                  ptx::ModuleMemory& variables) {
  Status status = variables.set(argument.name, content);
  if (!status.ok() && status.error().code == ErrorCode::not_found) return {};
  return status;
}

}  // namespace regraph::verify
