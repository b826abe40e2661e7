#include "ptx/memory/module_memory.h"

#include "ptx/decode/code.h"
#include "ptx/decode/execution.h"
#include "ptx/decode/function_linking.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>

namespace regraph::ptx {
namespace {

template <typename Visit>
void for_each_placed(const Program::Code& code, Visit visit) {
  for (const PlacedVariable& placed : code.globals)
    visit(placed, false);
  for (const PlacedVariable& placed : code.constant_variables)
    visit(placed, true);
}

}  // namespace

// Itanium C++ ABI: a source name is its length and then itself.
std::string_view source_name(std::string_view mangled) {
  const auto after_length = [](std::string_view text) -> std::string_view {
    std::size_t digits = 0;
    std::size_t length = 0;
    while (digits < text.size() && digits < 4 && text[digits] >= '0' && text[digits] <= '9') {
      length = length * 10 + static_cast<std::size_t>(text[digits++] - '0');
    }
    if (digits == 0 || length == 0 || length > text.size() - digits) return {};
    // A second variable of the same name in a function ends with _0.
    const std::string_view rest = text.substr(digits + length);
    return rest.empty() || rest[0] == '_' ? text.substr(digits, length) : std::string_view();
  };
  std::string_view name;
  if (mangled.starts_with("_ZL")) name = after_length(mangled.substr(3));
  if (mangled.starts_with("_ZZ")) {
    for (std::size_t at = 3; at + 1 < mangled.size() && name.empty(); ++at) {
      if (mangled[at] == 'E') name = after_length(mangled.substr(at + 1));
    }
  }
  return name.empty() ? mangled : name;
}

Result<ModuleMemory> ModuleMemory::create(const Program& program) {
  return create(program.code());
}

Result<ModuleMemory> ModuleMemory::create(const Program::Code& code) {
  ModuleMemory memory;
  const std::vector<ptx::Variable>& declared = code.module->variables;
  bool enough = true;
  for_each_placed(code, [&](const PlacedVariable& placed, bool is_constant) {
    const ptx::Variable& from = declared[placed.variable];
    // calloc gives large blocks as untouched zero pages.
    auto* host = static_cast<std::byte*>(std::calloc(std::max<std::size_t>(placed.bytes, 1), 1));
    memory.variables_.push_back(Variable{
        std::string(from.name), placed.address, placed.bytes, is_constant, {host, &std::free}});
    enough = enough && host != nullptr;
    if (host != nullptr && !from.initial.empty()) {
      std::memcpy(host, from.initial.data(), from.initial.size());
    }
  });
  if (!enough) return fail(ErrorCode::resource, "not enough memory for the module's variables");
  // Addresses of other variables, once all have their place.
  std::size_t at = 0;
  for_each_placed(code, [&](const PlacedVariable& placed, bool) {
    std::byte* host = memory.variables_[at++].host.get();
    for (const AddressInitialiser& initialiser : declared[placed.variable].addresses) {
      std::uint64_t value =
          initialiser.of_function
              ? function_address(function_with_body(*code.module, initialiser.variable))
              : 0;
      for_each_placed(code, [&](const PlacedVariable& other, bool is_constant) {
        if (initialiser.of_function || other.variable != initialiser.variable) return;
        value = other.address + static_cast<std::uint64_t>(initialiser.addend);
        if (is_constant && initialiser.generic) value |= kConstantWindow;
      });
      std::memcpy(host + initialiser.offset, &value, sizeof(value));
    }
  });
  return memory;
}

Result<ModuleMemory> ModuleMemory::copy() const {
  ModuleMemory memory;
  for (const Variable& from : variables_) {
    auto* host = static_cast<std::byte*>(std::malloc(std::max<std::size_t>(from.bytes, 1)));
    if (host == nullptr) {
      return fail(ErrorCode::resource, "not enough memory for the module's variables");
    }
    memory.variables_.push_back(
        Variable{from.name, from.address, from.bytes, from.is_constant, {host, &std::free}});
    if (from.bytes > 0) std::memcpy(host, from.host.get(), from.bytes);
  }
  return memory;
}

const ModuleMemory::Variable* ModuleMemory::find(std::string_view symbol) const {
  for (const Variable& variable : variables_) {
    if (variable.name == symbol) return &variable;
  }
  for (const Variable& variable : variables_) {
    if (source_name(variable.name) == symbol) return &variable;
  }
  return nullptr;
}

Result<std::span<const std::byte>> ModuleMemory::get(std::string_view symbol) const {
  const Variable* variable = find(symbol);
  if (variable != nullptr) {
    return std::span<const std::byte>(variable->host.get(), variable->bytes);
  }
  std::string known;
  for (const Variable& one : variables_) {
    if (known.size() > 500) break;
    known += (known.empty() ? "" : ", ") + one.name;
  }
  return fail(ErrorCode::not_found, fmt::format("the PTX has no variable '{}'; it has: {}", symbol,
                                                known.empty() ? "none" : known));
}

Status ModuleMemory::set(std::string_view symbol, std::span<const std::byte> bytes,
                         std::size_t offset) {
  const Result<std::span<const std::byte>> found = get(symbol);
  if (!found.ok()) return found.error();
  if (offset > found->size() || bytes.size() > found->size() - offset) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} bytes at offset {} do not fit into '{}' of {} bytes", bytes.size(),
                            offset, symbol, found->size()));
  }
  if (!bytes.empty()) {
    std::memcpy(find(symbol)->host.get() + offset, bytes.data(), bytes.size());
  }
  return {};
}

bool ModuleMemory::fits(const Program& program) const {
  return fits(program.code());
}

bool ModuleMemory::fits(const Program::Code& code) const {
  std::size_t at = 0;
  bool same = true;
  for_each_placed(code, [&](const PlacedVariable& placed, bool is_constant) {
    const std::size_t i = at++;
    same = same && i < variables_.size() && variables_[i].address == placed.address &&
           variables_[i].bytes == placed.bytes && variables_[i].is_constant == is_constant &&
           variables_[i].name == code.module->variables[placed.variable].name;
  });
  return same && at == variables_.size();
}

}  // namespace regraph::ptx
