#include "eval/verify/parameters.h"

#include "eval/verify/element.h"
#include "ptx/memory/module_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

namespace regraph::verify {

namespace {

constexpr std::size_t kPointerBytes = 8;

// The value of a scalar argument: given, or the size symbol of its name.
Result<double> scalar_value(const Argument& argument, const Symbols& symbols) {
  if (argument.value) return argument.value->at(symbols);
  const auto found = symbols.find(argument.name);
  if (found == symbols.end()) {
    return fail(
        ErrorCode::not_found,
        fmt::format("scalar '{}' has neither a value nor a size of its name", argument.name));
  }
  return static_cast<double>(found->second);
}

// The same where it is an integer of 64 bits: the value of an expression, or the size symbol.
Result<std::optional<std::int64_t>> exact_integer(const Argument& argument,
                                                  const Symbols& symbols) {
  if (argument.value) return argument.value->integer_at(symbols);
  const auto found = symbols.find(argument.name);
  if (found == symbols.end()) return std::optional<std::int64_t>();
  return std::optional<std::int64_t>(found->second);
}

}  // namespace

Status put_scalar(const Argument& argument, const Symbols& symbols, std::byte* target) {
  if (argument.value) {
    const Status fits = argument.value->check_fits(argument.type, symbols);
    if (!fits.ok()) {
      return Error{fits.error().code,
                   fmt::format("'{}' = {}", argument.name, fits.error().message)};
    }
  }
  // Exact for 64-bit sizes, which a double would round.
  if (argument.type == ScalarType::i64 || argument.type == ScalarType::u64) {
    const Result<std::optional<std::int64_t>> integer = exact_integer(argument, symbols);
    if (!integer.ok()) return integer.error();
    if (*integer) {
      std::memcpy(target, &**integer, sizeof(**integer));
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

namespace {

// What is passed for one parameter: an argument of the problem, or an integer worked out from
// sizes.
struct Passed {
  const Argument* argument = nullptr;  // null: an integer
  std::uint64_t address = 0;           // pointers
  IntegerExpression integer;
};

// The addresses with those of pointers into other buffers.
Result<std::vector<std::uint64_t>> all_addresses(const Problem& problem, const Symbols& symbols,
                                                 std::span<const std::uint64_t> addresses) {
  std::vector<std::uint64_t> all(addresses.begin(), addresses.end());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Argument& argument = problem.arguments[i];
    if (argument.is_null) all[i] = 0;
    if (argument.overlaps.empty()) continue;
    const auto buffer = std::ranges::find(problem.arguments, argument.overlaps, &Argument::name);
    const Result<std::int64_t> bytes = argument.overlap_bytes.evaluate(symbols);
    if (!bytes.ok()) return bytes.error();
    all[i] = addresses[static_cast<std::size_t>(buffer - problem.arguments.begin())] +
             static_cast<std::uint64_t>(*bytes);
  }
  return all;
}

// What the structure holds at these sizes, with the pointers in it.
void put_record(const Problem& problem, const Argument& argument, const Symbols& symbols,
                std::span<const std::uint64_t> addresses, std::byte* target) {
  const CapturedContent* captured = problem.captured_content(symbols, argument.name);
  const std::vector<std::byte>& content = captured != nullptr ? *captured->bytes : argument.record;
  std::memcpy(target, content.data(), content.size());
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const Argument& pointer = problem.arguments[i];
    if (pointer.inside == argument.name)
      std::memcpy(target + pointer.inside_byte, &addresses[i], sizeof addresses[i]);
  }
}

// Sizes fit integers of every width, so kernels need not agree on one.
bool is_size(const Argument& argument, const Symbols& symbols) {
  return !argument.is_pointer && argument.record.empty() && !argument.value &&
         !is_floating(argument.type) && symbols.find(argument.name) != symbols.end();
}

Result<std::vector<Passed>> passed_arguments(const Problem& problem,
                                             const std::vector<std::string>& names,
                                             const Symbols& symbols,
                                             std::span<const std::uint64_t> addresses) {
  std::vector<Passed> passed;
  if (names.empty()) {
    for (std::size_t i = 0; i < problem.arguments.size(); ++i) {
      const Argument& argument = problem.arguments[i];
      if (argument.is_passed()) passed.push_back({&argument, addresses[i], {}});
    }
    return passed;
  }
  for (const std::string& name : names) {
    const auto found =
        std::find_if(problem.arguments.begin(), problem.arguments.end(),
                     [&](const Argument& argument) { return argument.name == name; });
    if (found != problem.arguments.end() && !is_size(*found, symbols)) {
      passed.push_back(
          {&*found, addresses[static_cast<std::size_t>(found - problem.arguments.begin())], {}});
      continue;
    }
    auto expression = IntegerExpression::parse(name);
    if (!expression.ok()) return expression.error();
    passed.push_back({nullptr, 0, std::move(*expression)});
  }
  return passed;
}

// Little-endian, as on the device.
Status put_integer(const IntegerExpression& expression, const Symbols& symbols, std::size_t bytes,
                   std::byte* target) {
  const Result<std::int64_t> value = expression.evaluate(symbols);
  if (!value.ok()) return value.error();
  // Signed or not is not known here: both are taken.
  const std::int64_t limit = bytes >= sizeof(*value) ? 0 : std::int64_t{1} << (8 * bytes);
  if (limit != 0 && (*value >= limit || *value < -limit / 2)) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("'{}' is {}, more than a parameter of {} bytes holds",
                            expression.text(), *value, bytes));
  }
  std::memcpy(target, &*value, bytes);
  return {};
}

Status check_layout(const std::vector<Passed>& passed,
                    const std::vector<ptx::Program::ParameterLayout>& layout) {
  if (layout.size() != passed.size()) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("the kernel takes {} parameters, the original takes {}; the parameter "
                            "list must not change",
                            layout.size(), passed.size()));
  }
  for (std::size_t i = 0; i < layout.size(); ++i) {
    if (passed[i].argument == nullptr) {
      if (layout[i].bytes <= sizeof(std::int64_t)) continue;
      return fail(ErrorCode::invalid_argument,
                  fmt::format("parameter {} has {} bytes, but is passed the integer '{}'", i + 1,
                              layout[i].bytes, passed[i].integer.text()));
    }
    const Argument& argument = *passed[i].argument;
    const std::size_t bytes = argument.is_pointer         ? kPointerBytes
                              : argument.record_bytes > 0 ? argument.record.size()
                                                          : size_in_bytes(argument.type);
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
                                               const std::vector<std::string>& passed,
                                               const Symbols& symbols,
                                               std::span<const std::uint64_t> addresses) {
  const std::vector<ptx::Program::ParameterLayout>& layout = program.parameters();
  const auto all = all_addresses(problem, symbols, addresses);
  if (!all.ok()) return all.error();
  const auto values = passed_arguments(problem, passed, symbols, *all);
  if (!values.ok()) return values.error();
  if (Status status = check_layout(*values, layout); !status.ok()) return status.error();
  std::size_t size = 0;
  for (const auto& parameter : layout)
    size = std::max(size, parameter.offset + parameter.bytes);
  std::vector<std::byte> block(size, std::byte{0});
  for (std::size_t i = 0; i < layout.size(); ++i) {
    std::byte* const target = block.data() + layout[i].offset;
    const Passed& value = (*values)[i];
    Status status;
    if (value.argument == nullptr) {
      status = put_integer(value.integer, symbols, layout[i].bytes, target);
    } else if (value.argument->is_pointer) {
      std::memcpy(target, &value.address, sizeof(value.address));
    } else if (value.argument->record_bytes > 0) {
      put_record(problem, *value.argument, symbols, *all, target);
    } else {
      status = put_scalar(*value.argument, symbols, target);
    }
    if (!status.ok()) return status.error();
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
