#include "capture/problem/winner_launches.h"

#include "capture/problem/kernel_source.h"
#include "capture/problem/launch_numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace regraph::capture {

Result<WinnerLaunches> WinnerLaunches::create(const CapturedKernel& kernel, const Problem& problem,
                                              const regraph::Launch& launch, const std::string& ptx,
                                              const std::string& entry) {
  auto program = ptx::Program::load(ptx, entry);
  if (!program.ok()) return program.error();
  auto variables = ptx::ModuleMemory::create(*program);
  if (!variables.ok()) return variables.error();
  auto place = place_in(kernel, problem);
  if (!place.ok()) return place.error();
  return WinnerLaunches(std::move(*place), problem, launch, std::move(*program),
                        std::move(*variables));
}

Result<WinnerLaunches::Place> WinnerLaunches::place_in(const CapturedKernel& kernel,
                                                       const Problem& problem) {
  if (kernel.stages.empty()) return Place{kernel.symbol, 0, kernel.slots};
  for (std::size_t stage = 0; stage < kernel.stages.size(); ++stage) {
    const std::string& symbol = kernel.stages[stage].symbol;
    const std::string qualified = qualified_name_of(symbol);
    if (plain_name_of(symbol) == problem.signature.name ||
        qualified.substr(0, qualified.find('<')) == problem.signature.name)
      return Place{symbol, stage, slots_of(kernel, symbol)};
  }
  return fail(ErrorCode::unsupported,
              fmt::format("'{}' is none of the captured kernels", problem.signature.name));
}

std::optional<Substitute> WinnerLaunches::substitute(const ObservedLaunch& launch) {
  if (launch.symbol != place_.symbol) return std::nullopt;
  auto arguments = arguments_of(launch);
  if (!arguments.ok()) {
    if (kept_++ == 0) why_kept_ = arguments.error().message;
    return std::nullopt;
  }
  // What the host put into constant memory.
  for (const ObservedVariable& variable : launch.variables) {
    for (const ptx::ModuleMemory::Variable& own : variables_.variables()) {
      const bool same = ptx::source_name(own.name) == ptx::source_name(variable.name) &&
                        own.bytes == variable.content.size();
      if (same) std::ranges::copy(variable.content, own.host.get());
    }
  }
  ++replaced_;
  return Substitute{&program_, std::move(*arguments), &variables_};
}

Result<ptx::LaunchArguments> WinnerLaunches::arguments_of(const ObservedLaunch& launch) const {
  const regraph::Launch* original = problem_->launch.launch_of(problem_->signature.name);
  if (original == nullptr || !(original->block == launch.block))
    return fail(ErrorCode::unsupported, "it has another block");
  auto symbols = symbols_of(launch, *original);
  if (!symbols.ok()) return symbols.error();
  // Launches of another grid than the original's expressions give are of another kind.
  const auto as_original = concretise(*original, *symbols);
  if (!as_original.ok() || !(as_original->grid == launch.grid))
    return fail(ErrorCode::unsupported, "its grid is not the problem's");
  const auto concrete = concretise(launch_, *symbols);
  if (!concrete.ok()) return concrete.error();
  ptx::LaunchArguments arguments;
  arguments.grid = concrete->grid;
  arguments.block = concrete->block;
  arguments.dynamic_shared_bytes = static_cast<std::uint32_t>(concrete->dynamic_shared_bytes);
  arguments.parameters.assign(launch.parameters.begin(), launch.parameters.end());
  return arguments;
}

Result<Symbols> WinnerLaunches::symbols_of(const ObservedLaunch& launch,
                                           const regraph::Launch& original) const {
  std::set<std::string> needed;
  for (const regraph::Launch* one : {&original, &launch_}) {
    for (const IntegerExpression& extent : one->grid)
      needed.merge(extent.symbols());
    needed.merge(one->dynamic_shared_bytes.symbols());
  }
  Symbols symbols;
  for (const auto& [name, value] : problem_->sizes) {
    if (!needed.contains(name)) continue;
    const auto found = symbol_of(name, launch);
    if (!found.ok()) return found.error();
    symbols[name] = *found;
  }
  return symbols;
}

Result<std::int64_t> WinnerLaunches::symbol_of(const std::string& name,
                                               const ObservedLaunch& launch) const {
  const regraph::Launch& original = *problem_->launch.launch_of(problem_->signature.name);
  std::size_t place = 0;
  for (const Parameter& parameter : problem_->signature.parameters) {
    // What the parameter is called among the problem's arguments.
    const std::string& passed = parameter.is_passed() && place < original.arguments.size()
                                    ? original.arguments[place]
                                    : parameter.name;
    const bool integer = !parameter.is_pointer && parameter.record_bytes == 0;
    if (parameter.is_passed() && integer && passed == name && place < place_.slots.size())
      return integer_at(launch.parameters, place_.slots[place].offset, parameter.type);
    if (parameter.is_pointer && !parameter.is_symbol && name == length_symbol(passed)) {
      const std::size_t holder = place_of(problem_->signature, parameter);
      for (const ObservedPointer& pointer : launch.pointers) {
        if (pointer.parameter != holder || pointer.byte != parameter.inside_byte) continue;
        const auto element =
            parameter.components * static_cast<std::int64_t>(size_in_bytes(parameter.type));
        return static_cast<std::int64_t>(pointer.bytes - pointer.offset) / element;
      }
    }
    place += parameter.is_passed() ? 1 : 0;
  }
  const std::uint32_t grid[] = {launch.grid.x, launch.grid.y, launch.grid.z};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (name == grid_symbol(axis, place_.stage)) return grid[axis];
  }
  if (name == shared_symbol(place_.stage)) return launch.dynamic_shared_bytes;
  return fail(ErrorCode::unsupported, fmt::format("nothing in a launch says what '{}' is", name));
}

}  // namespace regraph::capture
