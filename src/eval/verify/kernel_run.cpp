#include "eval/verify/kernel_run.h"

#include "base/random.h"
#include "eval/verify/parameters.h"
#include "eval/verify/poison.h"
#include "ptx/decode/code.h"
#include "ptx/memory/module_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace regraph::verify {

namespace {

constexpr std::uint64_t kReversedGroups = 64;
// Beyond that the memory of blocks is not kept for a later run.
constexpr std::uint64_t kMostLeftBehind = std::uint64_t{64} << 20;

// The launches being prepared and evaluated.
class Session {
 public:
  Session(const Problem& problem, const RunSettings& settings, ptx::ModuleMemory variables)
      : problem_(problem),
        settings_(settings),
        hardware_(random_bits(settings.poison_seed, settings.invert_poison)),
        memory_(hardware_),
        variables_(std::move(variables)),
        addresses_(problem.arguments.size(), 0),
        counts_(problem.arguments.size(), 0) {}

  Status allocate(const Symbols& symbols, const Buffers& inputs) {
    run_.before.resize(problem_.arguments.size());
    run_.after.resize(problem_.arguments.size());
    run_.scratch.resize(problem_.arguments.size());
    for (std::size_t place = 0; place < problem_.arguments.size(); ++place) {
      // Which buffer has the lower address is nobody's business.
      const bool turned = (hardware_ & 1U) != 0;
      const std::size_t i = turned ? problem_.arguments.size() - 1 - place : place;
      const Argument& argument = problem_.arguments[i];
      if (!argument.has_content()) continue;
      if (argument.is_symbol) {
        if (Status status = set_symbol(argument, inputs[i], variables_); !status.ok())
          return status;
        continue;
      }
      const Result<std::int64_t> count = argument.element_count(symbols);
      if (!count.ok()) return count.error();
      counts_[i] = static_cast<std::size_t>(*count) * size_in_bytes(argument.type);
      const bool writable = argument.is_output() || argument.is_scratch;
      const Result<std::uint64_t> address =
          memory_.allocate(argument.name, counts_[i] + offset_of(i),
                           writable ? ptx::BufferAccess::read_write : ptx::BufferAccess::read_only);
      if (!address.ok()) return address.error();
      addresses_[i] = *address;
      if (problem_.check.allows_races(argument.name)) memory_.allow_races(*address);
      const std::span<std::byte> slack = memory_.view(*address).first(offset_of(i));
      fill_with_poison(slack, settings_.poison_seed, slack_stream(i), settings_.invert_poison);
      if (argument.is_input()) {
        std::copy(inputs[i].begin(), inputs[i].end(), content(i).begin());
      } else if (const std::vector<std::byte>* earlier = left_by_earlier(i)) {
        std::copy(earlier->begin(), earlier->end(), content(i).begin());
      } else {
        fill_with_poison(content(i), settings_.poison_seed, i, settings_.invert_poison);
      }
      if (argument.is_output()) run_.before[i].assign(content(i).begin(), content(i).end());
    }
    return {};
  }

  // Runs one launch after those before it; whether the next may follow. Errors: see run_kernel.
  Result<bool> run(const LoadedLaunch& one, const Symbols& symbols, bool among_several,
                   const Cancellation& cancellation) {
    const Result<ConcreteLaunch> launch = concretise(one.launch, symbols);
    if (!launch.ok()) return launch.error();
    const ptx::Program& program =
        settings_.reverse_order && one.reversed_warps ? *one.reversed_warps : one.program;
    if (!variables_.fits(program)) {
      return fail(ErrorCode::unsupported,
                  "the kernels of the launch plan do not share their module's variables");
    }
    if (Status status = pack(program, one.launch, symbols); !status.ok()) return status.error();
    run_blocks(program, *launch, cancellation);
    if (run_.fault.kind == ptx::FaultKind::none) return true;
    if (among_several) {
      if (run_.fault.message.empty()) run_.fault.message = ptx::name(run_.fault.kind);
      run_.fault.message += fmt::format(" in kernel '{}'", launch->kernel);
    }
    return false;
  }

  // What the launches left behind.
  KernelRun finish(const Buffers& inputs) {
    for (std::size_t i = 0; i < problem_.arguments.size(); ++i)
      collect(i, inputs);
    return std::move(run_);
  }

 private:
  Status pack(const ptx::Program& program, const Launch& launch, const Symbols& symbols) {
    std::vector<std::uint64_t> pointers = addresses_;
    for (std::size_t i = 0; i < pointers.size(); ++i)
      pointers[i] += offset_of(i);
    Result<std::vector<std::byte>> block =
        pack_parameters(problem_, program, launch.arguments, symbols, pointers);
    if (!block.ok()) return block.error();
    arguments_.parameters = std::move(*block);
    return {};
  }

  void run_blocks(const ptx::Program& program, const ConcreteLaunch& launch,
                  const Cancellation& cancellation) {
    arguments_.grid = launch.grid;
    arguments_.block = launch.block;
    arguments_.dynamic_shared_bytes = static_cast<std::uint32_t>(launch.dynamic_shared_bytes);
    const std::uint64_t spent = run_.warp_instructions();
    ptx::RunOptions options;
    options.count = false;
    if (settings_.instruction_budget != 0) {
      // 0 would be no limit.
      options.instruction_budget =
          settings_.instruction_budget > spent ? settings_.instruction_budget - spent : 1;
    }
    options.threads = settings_.threads;
    options.shared_fill = settings_.shared_fill;
    options.hardware_seed = hardware_;
    options.lanes_stay_apart = settings_.reverse_order;
    options.detect_races = settings_.detect_races && !settings_.reverse_order;
    options.record_paths = settings_.record_paths && !settings_.reverse_order;
    options.left_behind = block_memory(program, launch);
    options.variables = &variables_;  // kept from launch to launch, and between groups of blocks
    if (options.instruction_budget != 0 && launch.grid.count() > options.instruction_budget) {
      // Every block executes something, so this cannot end within the budget.
      run_.fault.kind = ptx::FaultKind::instruction_budget;
      run_.fault.message = fmt::format("a grid of {} blocks", launch.grid.count());
      return;
    }
    std::vector<ptx::InstructionProfile> executed = std::move(run_.profile.instructions);
    for (std::vector<std::uint64_t>& group : groups_of_blocks(launch.grid.count())) {
      options.blocks = std::move(group);
      ptx::RunResult result = ptx::run(program, arguments_, memory_, options, cancellation);
      result.profile.thread_instructions += run_.profile.thread_instructions;
      run_.profile = std::move(result.profile);
      run_.fault = std::move(result.fault);
      if (!run_.uninitialised_read) run_.uninitialised_read = std::move(result.uninitialised_read);
      if (run_.fault.kind != ptx::FaultKind::none) break;
    }
    executed.insert(executed.end(), run_.profile.instructions.begin(),
                    run_.profile.instructions.end());
    run_.profile.instructions = std::move(executed);
  }

  // Lists of blocks to run one after another; one empty list means all blocks in order.
  std::vector<std::vector<std::uint64_t>> groups_of_blocks(std::uint64_t count) const {
    if (!settings_.reverse_order) return {{}};
    const std::uint64_t group_count = std::min(count, kReversedGroups);
    std::vector<std::vector<std::uint64_t>> groups(group_count);
    for (std::uint64_t block = 0; block < count; ++block) {
      groups[group_count - 1 - block * group_count / count].push_back(block);
    }
    return groups;
  }

  // What the earlier launch left in a buffer that is no input; null: nothing is known.
  const std::vector<std::byte>* left_by_earlier(std::size_t i) const {
    if (settings_.earlier == nullptr) return nullptr;
    const KernelRun& earlier = *settings_.earlier;
    const std::vector<std::byte>& left =
        problem_.arguments[i].is_scratch ? earlier.scratch[i] : earlier.after[i];
    return left.size() == counts_[i] ? &left : nullptr;
  }

  // Prepares the memory of this launch's blocks to be kept, and to begin as it was.
  ptx::LeftBehind* block_memory(const ptx::Program& program, const ConcreteLaunch& launch) {
    if (!settings_.keep_memory && settings_.earlier == nullptr) return nullptr;
    const std::size_t index = run_.left_behind.size();
    run_.left_behind.emplace_back();
    const std::uint64_t bytes = program.static_shared_bytes() + launch.dynamic_shared_bytes +
                                program.code().local_bytes * launch.block.count();
    if (bytes == 0 || launch.grid.count() > kMostLeftBehind / bytes) return nullptr;
    if (settings_.earlier != nullptr && index < settings_.earlier->left_behind.size()) {
      run_.left_behind.back() = settings_.earlier->left_behind[index];
    }
    return &run_.left_behind.back();
  }

  [[nodiscard]] std::size_t offset_of(std::size_t argument) const {
    return settings_.stagger && argument % 2 == 0 ? 0 : settings_.pointer_offset;
  }

  static std::uint64_t slack_stream(std::size_t argument) { return 1000000 + argument; }

  std::span<std::byte> content(std::size_t i) {
    return memory_.view(addresses_[i]).subspan(offset_of(i), counts_[i]);
  }

  void collect(std::size_t i, const Buffers& inputs) {
    const Argument& argument = problem_.arguments[i];
    if (!argument.has_memory()) return;
    const std::span<std::byte> now = content(i);
    if (argument.is_scratch && settings_.keep_memory) {
      run_.scratch[i].assign(now.begin(), now.end());
    }
    if (argument.is_output()) {
      run_.after[i].assign(now.begin(), now.end());
    } else if (argument.is_input() &&
               !std::equal(now.begin(), now.end(), inputs[i].begin(), inputs[i].end())) {
      run_.damaged = fmt::format("the input '{}' was overwritten", argument.name);
    }
    std::vector<std::byte> slack(offset_of(i));
    fill_with_poison(slack, settings_.poison_seed, slack_stream(i), settings_.invert_poison);
    if (!std::equal(slack.begin(), slack.end(), memory_.view(addresses_[i]).begin())) {
      run_.damaged = fmt::format("memory before the start of '{}' was written", argument.name);
    }
  }

  const Problem& problem_;
  const RunSettings& settings_;
  std::uint64_t hardware_;  // what it leaves open differs between runs
  ptx::DeviceMemory memory_;
  ptx::ModuleMemory variables_;
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

std::size_t loose_alignment(const Problem& problem) {
  constexpr int kAllocationAlignment = 256;
  if (problem.assume.align >= kAllocationAlignment) return 0;
  auto offset = static_cast<std::size_t>(std::max(problem.assume.align, 1));
  for (const Argument& argument : problem.arguments) {
    if (!argument.is_pointer) continue;
    // Vector types are aligned to their size, up to 16 bytes.
    constexpr std::size_t kLargestAlignment = 16;
    const std::size_t element =
        size_in_bytes(argument.type) * static_cast<std::size_t>(argument.components);
    offset = std::max(offset, std::bit_floor(std::min(element, kLargestAlignment)));
  }
  return offset;
}

bool divides_floats(const std::string& ptx) {
  for (std::size_t at = ptx.find("div."); at != std::string::npos; at = ptx.find("div.", at + 1)) {
    const std::string opcode =
        ptx.substr(at, std::min(ptx.find_first_of(" \t", at), ptx.size()) - at);
    if (opcode.find(".f") != std::string::npos) return true;
  }
  return false;
}

Result<KernelRun> run_kernel(const Problem& problem, const LoadedPlan& plan, const Symbols& symbols,
                             const Buffers& inputs, const RunSettings& settings,
                             const Cancellation& cancellation) {
  if (plan.empty()) return fail(ErrorCode::invalid_argument, "the launch plan has no launch");
  Result<ptx::ModuleMemory> variables = ptx::ModuleMemory::create(plan.front().program);
  if (!variables.ok()) return variables.error();
  Session session(problem, settings, *std::move(variables));
  if (Status status = session.allocate(symbols, inputs); !status.ok()) return status.error();
  for (const LoadedLaunch& launch : plan) {
    const Result<bool> goes_on = session.run(launch, symbols, plan.size() > 1, cancellation);
    if (!goes_on.ok()) return goes_on.error();
    if (!*goes_on) break;
  }
  return session.finish(inputs);
}

Result<bool> depends_on_shared_fill(const Problem& problem, const LoadedPlan& plan,
                                    const Symbols& symbols, const Buffers& inputs,
                                    RunSettings settings, const KernelRun& run,
                                    const Cancellation& cancellation) {
  // As floats and as integers far beyond, and far below, everything else: neither a sum nor an
  // extreme hides both.
  constexpr std::uint8_t kFills[] = {0x7b, 0xfb};
  settings.detect_races = false;
  for (const std::uint8_t fill : kFills) {
    settings.shared_fill = fill;
    const Result<KernelRun> other =
        run_kernel(problem, plan, symbols, inputs, settings, cancellation);
    if (!other.ok()) return other.error();
    if (other->fault.kind == ptx::FaultKind::cancelled) {
      return fail(ErrorCode::cancelled, "cancelled");
    }
    if (other->fault.kind != run.fault.kind || other->after != run.after) return true;
  }
  return false;
}

}  // namespace regraph::verify
