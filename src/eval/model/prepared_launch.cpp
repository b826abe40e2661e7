#include "eval/model/prepared_launch.h"

#include "eval/verify/bench_inputs.h"
#include "eval/verify/parameters.h"

#include <string>
#include <utility>
#include <vector>

namespace regraph {
namespace {

// What one launch may address. Buffers are backed only where touched, but addresses must exist.
constexpr std::uint64_t kMostBufferBytes = std::uint64_t{1} << 40;

// Allocates and fills the buffers; returns one address an argument, 0 for scalars.
Result<std::vector<std::uint64_t>> make_buffers(const Problem& problem, const Symbols& symbols,
                                                ptx::DeviceMemory& memory,
                                                ptx::ModuleMemory& variables) {
  std::vector<std::uint64_t> addresses(problem.arguments.size(), 0);
  const verify::BenchInputs inputs(problem, symbols, 0, verify::BenchData::timed);
  for (std::size_t index = 0; index < problem.arguments.size(); ++index) {
    const Argument& argument = problem.arguments[index];
    if (!argument.has_content()) continue;
    auto count = argument.element_count(symbols);
    if (!count) return count.error();
    const std::size_t size = size_in_bytes(argument.type);
    if (*count < 0 || static_cast<std::uint64_t>(*count) > kMostBufferBytes / size) {
      return fail(ErrorCode::invalid_argument, "at the benchmark size '" + argument.name +
                                                   "' has " + std::to_string(*count) +
                                                   " elements, more than any device holds");
    }
    const auto bytes = static_cast<std::size_t>(*count) * size;
    const std::vector<std::byte>& pattern = inputs.patterns()[index];
    if (argument.is_symbol) {
      if (Status status = verify::set_symbol(argument, pattern, variables); !status)
        return status.error();
      continue;
    }
    auto address =
        memory.allocate_pattern(argument.name, bytes,
                                argument.direction == Direction::in ? ptx::BufferAccess::read_only
                                                                    : ptx::BufferAccess::read_write,
                                pattern);
    if (!address) return address.error();
    addresses[index] = *address;
  }
  return addresses;
}

}  // namespace

Result<PreparedLaunch> prepare_launch(const Problem& problem, const ptx::Program& program,
                                      const ConcreteLaunch& launch, const Symbols& symbols) {
  ptx::DeviceMemory memory;
  auto variables = ptx::ModuleMemory::create(program);
  if (!variables) return variables.error();
  auto addresses = make_buffers(problem, symbols, memory, *variables);
  if (!addresses) return addresses.error();
  auto parameters =
      verify::pack_parameters(problem, program, launch.arguments, symbols, *addresses);
  if (!parameters) return parameters.error();
  ptx::LaunchArguments arguments;
  arguments.grid = launch.grid;
  arguments.block = launch.block;
  arguments.dynamic_shared_bytes = static_cast<std::uint32_t>(launch.dynamic_shared_bytes);
  arguments.parameters = std::move(*parameters);
  return PreparedLaunch{std::move(memory), std::move(*variables), std::move(arguments)};
}

}  // namespace regraph
