#include "eval/verify/kernel_run.h"

#include "base/random.h"
#include "eval/verify/element.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

namespace regraph::verify {

namespace {

constexpr std::size_t kPointerBytes = 8;

void fill_with_poison(std::span<std::byte> buffer, std::uint64_t stream,
                      const RunSettings& settings) {
  const std::uint64_t flip = settings.invert_poison ? ~std::uint64_t{0} : 0;
  for (std::size_t offset = 0; offset < buffer.size(); offset += sizeof(std::uint64_t)) {
    const std::uint64_t word = random_bits(settings.poison_seed, stream, offset) ^ flip;
    std::memcpy(buffer.data() + offset, &word, std::min(sizeof(word), buffer.size() - offset));
  }
}

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

Status check_layout(const Problem& problem,
                    const std::vector<ptx::Program::ParameterLayout>& layout) {
  if (layout.size() != problem.arguments.size()) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("the kernel takes {} parameters, the original takes {}; the parameter "
                            "list must not change",
                            layout.size(), problem.arguments.size()));
  }
  for (std::size_t i = 0; i < layout.size(); ++i) {
    const Argument& argument = problem.arguments[i];
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

// The launch being prepared and evaluated.
class Session {
 public:
  Session(const Problem& problem, const RunSettings& settings)
      : problem_(problem),
        settings_(settings),
        addresses_(problem.arguments.size(), 0),
        counts_(problem.arguments.size(), 0) {}

  Status allocate(const Symbols& symbols, const Buffers& inputs) {
    run_.before.resize(problem_.arguments.size());
    run_.after.resize(problem_.arguments.size());
    for (std::size_t i = 0; i < problem_.arguments.size(); ++i) {
      const Argument& argument = problem_.arguments[i];
      if (!argument.is_pointer) continue;
      const Result<std::int64_t> count = argument.element_count(symbols);
      if (!count.ok()) return count.error();
      counts_[i] = static_cast<std::size_t>(*count) * size_in_bytes(argument.type);
      const bool writable = argument.direction != Direction::in;
      const Result<std::uint64_t> address =
          memory_.allocate(argument.name, counts_[i] + settings_.pointer_offset,
                           writable ? ptx::BufferAccess::read_write : ptx::BufferAccess::read_only);
      if (!address.ok()) return address.error();
      addresses_[i] = *address;
      const std::span<std::byte> slack = memory_.view(*address).first(settings_.pointer_offset);
      fill_with_poison(slack, slack_stream(i), settings_);
      if (argument.direction == Direction::out) {
        fill_with_poison(content(i), i, settings_);
      } else {
        std::copy(inputs[i].begin(), inputs[i].end(), content(i).begin());
      }
      if (writable) run_.before[i].assign(content(i).begin(), content(i).end());
    }
    return {};
  }

  Status pack(const ptx::Program& program, const Symbols& symbols) {
    const std::vector<ptx::Program::ParameterLayout>& layout = program.parameters();
    if (Status status = check_layout(problem_, layout); !status.ok()) return status;
    std::size_t size = 0;
    for (const auto& parameter : layout)
      size = std::max(size, parameter.offset + parameter.bytes);
    arguments_.parameters.assign(size, std::byte{0});
    for (std::size_t i = 0; i < layout.size(); ++i) {
      std::byte* const target = arguments_.parameters.data() + layout[i].offset;
      if (problem_.arguments[i].is_pointer) {
        const std::uint64_t pointer = addresses_[i] + settings_.pointer_offset;
        std::memcpy(target, &pointer, sizeof(pointer));
      } else if (Status status = put_scalar(problem_.arguments[i], symbols, target); !status.ok()) {
        return status;
      }
    }
    return {};
  }

  KernelRun run(const ptx::Program& program, const ConcreteLaunch& launch, const Buffers& inputs,
                const Cancellation& cancellation) {
    arguments_.grid = launch.grid;
    arguments_.block = launch.block;
    arguments_.dynamic_shared_bytes = static_cast<std::uint32_t>(launch.dynamic_shared_bytes);
    ptx::RunOptions options;
    options.count = false;
    options.instruction_budget = settings_.instruction_budget;
    options.threads = settings_.threads;
    if (settings_.reverse_blocks) {
      options.blocks.resize(launch.grid.count());
      std::iota(options.blocks.rbegin(), options.blocks.rend(), std::uint64_t{0});
    }
    ptx::RunResult result = ptx::run(program, arguments_, memory_, options, cancellation);
    run_.fault = std::move(result.fault);
    run_.profile = std::move(result.profile);
    for (std::size_t i = 0; i < problem_.arguments.size(); ++i)
      collect(i, inputs);
    return std::move(run_);
  }

 private:
  static std::uint64_t slack_stream(std::size_t argument) { return 1000000 + argument; }

  std::span<std::byte> content(std::size_t i) {
    return memory_.view(addresses_[i]).subspan(settings_.pointer_offset, counts_[i]);
  }

  void collect(std::size_t i, const Buffers& inputs) {
    const Argument& argument = problem_.arguments[i];
    if (!argument.is_pointer) return;
    const std::span<std::byte> now = content(i);
    if (argument.direction != Direction::in) {
      run_.after[i].assign(now.begin(), now.end());
    } else if (!std::equal(now.begin(), now.end(), inputs[i].begin(), inputs[i].end())) {
      run_.damaged = fmt::format("the input '{}' was overwritten", argument.name);
    }
    std::vector<std::byte> slack(settings_.pointer_offset);
    fill_with_poison(slack, slack_stream(i), settings_);
    if (!std::equal(slack.begin(), slack.end(), memory_.view(addresses_[i]).begin())) {
      run_.damaged = fmt::format("memory before the start of '{}' was written", argument.name);
    }
  }

  const Problem& problem_;
  const RunSettings& settings_;
  ptx::DeviceMemory memory_;
  ptx::LaunchArguments arguments_;
  std::vector<std::uint64_t> addresses_;
  std::vector<std::size_t> counts_;  // bytes
  KernelRun run_;
};

}  // namespace

std::uint64_t KernelRun::warp_instructions() const {
  std::uint64_t total = 0;
  for (const ptx::InstructionProfile& instruction : profile.instructions) {
    total += instruction.warp_executions;
  }
  return total;
}

Result<KernelRun> run_kernel(const Problem& problem, const ptx::Program& program,
                             const Launch& launch, const Symbols& symbols, const Buffers& inputs,
                             const RunSettings& settings, const Cancellation& cancellation) {
  const Result<ConcreteLaunch> concrete = concretise(launch, symbols);
  if (!concrete.ok()) return concrete.error();
  Session session(problem, settings);
  if (Status status = session.allocate(symbols, inputs); !status.ok()) return status.error();
  if (Status status = session.pack(program, symbols); !status.ok()) return status.error();
  return session.run(program, *concrete, inputs, cancellation);
}

}  // namespace regraph::verify
