// The module-scope variables of a program (__device__, __constant__, tables): set from the host
// before a launch, kept from one launch to the next, read back after it.
//
//   auto variables = ModuleMemory::create(program);  // initialised as the PTX says, the rest zero
//   variables->set("weights", bytes);                // as cudaMemcpyToSymbol does
//   options.variables = &*variables;
//   run(first, arguments, memory, options, cancellation);
//   run(second, ...);                                // another entry of the PTX sees the stores
#pragma once

#include "base/result.h"
#include "ptx/interpreter.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace regraph::ptx {

// The name a variable has in the source: without the mangling of static variables at global scope
// ("_ZL1w") and inside functions ("_ZZ1kPKfE4tile"); others as they are.
[[nodiscard]] std::string_view source_name(std::string_view mangled);

class ModuleMemory {
 public:
  // Memory for all of Program::symbols(), with initial values and addresses filled in. Large
  // variables cost host memory only where they are touched. Error: resource.
  [[nodiscard]] static Result<ModuleMemory> create(const Program& program);

  // Another with the values of this one. Error: resource.
  [[nodiscard]] Result<ModuleMemory> copy() const;

  // Copies `bytes` to the variable, `offset` bytes into it; `__constant__` variables too. `symbol`
  // is a name as in Program::symbols(), or the plain name of a variable that the source declares
  // static at global scope ("w" for "_ZL1w"). Errors: not_found (the message lists what there is),
  // invalid_argument when it does not fit.
  [[nodiscard]] Status set(std::string_view symbol, std::span<const std::byte> bytes,
                           std::size_t offset = 0);
  // The variable's bytes as they are now; valid as long as this object. Error: not_found.
  [[nodiscard]] Result<std::span<const std::byte>> get(std::string_view symbol) const;

  // Whether `program` was made of the same PTX, or of one that declares the same variables in the
  // same order: what may be run with this memory. Entries of one module may.
  [[nodiscard]] bool fits(const Program& program) const;

  // For the interpreter: where a variable lies on the device and on the host.
  struct Variable {
    std::string name;
    std::uint64_t address = 0;  // in its space
    std::size_t bytes = 0;
    bool is_constant = false;
    std::unique_ptr<std::byte[], void (*)(void*)> host;
  };
  [[nodiscard]] std::span<const Variable> variables() const { return variables_; }
  // As create, from decoded code.
  [[nodiscard]] static Result<ModuleMemory> create(const Program::Code& code);
  [[nodiscard]] bool fits(const Program::Code& code) const;

 private:
  ModuleMemory() = default;
  [[nodiscard]] const Variable* find(std::string_view symbol) const;

  std::vector<Variable> variables_;
};

}  // namespace regraph::ptx
