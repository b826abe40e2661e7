#include "eval/verify/bench_run.h"

#include "base/random.h"
#include "eval/verify/parameters.h"
#include "eval/verify/poison.h"
#include "eval/verify/random_streams.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace regraph::verify {

namespace {

// Poison repeats after a prime number of pages.
constexpr std::size_t kPoisonBytes = 61 * 4096;
// What one launch may address; buffers are backed only where touched.
constexpr std::uint64_t kMostBufferBytes = std::uint64_t{1} << 40;
// Blocks of a whole launch whose writes are logged together.
constexpr std::uint64_t kLoggedBlocks = 256;
// Stretches that a block may read of memory that may be written, before its log is full: logging
// costs about a microsecond a request.
constexpr std::size_t kMostReads = std::size_t{1} << 16;

}  // namespace

Result<std::unique_ptr<BenchRun>> BenchRun::create(const Problem& problem, const LoadedPlan& plan,
                                                   const Symbols& symbols,
                                                   const BenchInputs& inputs,
                                                   std::uint64_t poison_seed,
                                                   std::size_t pointer_offset) {
  if (plan.empty()) return fail(ErrorCode::invalid_argument, "the launch plan has no launch");
  Result<ptx::ModuleMemory> variables = ptx::ModuleMemory::create(plan.front().program);
  if (!variables.ok()) return variables.error();
  const std::uint64_t hardware =
      inputs.data() == BenchData::timed ? 0 : random_bits(poison_seed, kHardwareStream);
  std::unique_ptr<BenchRun> run(new BenchRun(problem, plan, *std::move(variables), hardware));
  run->pointer_offset_ = pointer_offset;
  if (Status status = run->allocate(symbols, inputs, poison_seed); !status.ok()) {
    return status.error();
  }
  for (const LoadedLaunch& one : plan) {
    Result<ConcreteLaunch> launch = concretise(one.launch, symbols);
    if (!launch.ok()) return launch.error();
    if (!run->variables_.fits(one.program)) {
      return fail(ErrorCode::unsupported,
                  "the kernels of the launch plan do not share their module's variables");
    }
    Result<std::vector<std::byte>> parameters =
        pack_parameters(problem, one.program, one.launch.arguments, symbols, run->addresses_);
    if (!parameters.ok()) return parameters.error();
    ptx::LaunchArguments arguments;
    arguments.grid = launch->grid;
    arguments.block = launch->block;
    arguments.dynamic_shared_bytes = static_cast<std::uint32_t>(launch->dynamic_shared_bytes);
    arguments.parameters = std::move(*parameters);
    run->arguments_.push_back(std::move(arguments));
    run->concrete_.push_back(*std::move(launch));
  }
  return run;
}

Status BenchRun::allocate(const Symbols& symbols, const BenchInputs& inputs,
                          std::uint64_t poison_seed) {
  addresses_.resize(problem_.arguments.size());
  bytes_.resize(problem_.arguments.size());
  fills_.resize(problem_.arguments.size());
  for (std::size_t i = 0; i < problem_.arguments.size(); ++i) {
    const Argument& argument = problem_.arguments[i];
    if (!argument.has_content()) continue;
    const std::vector<std::byte>& pattern = inputs.patterns()[i];
    if (argument.is_symbol) {
      if (Status status = set_symbol(argument, pattern, variables_); !status.ok()) return status;
      continue;
    }
    const Result<std::int64_t> count = argument.element_count(symbols);
    if (!count.ok()) return count.error();
    const std::size_t size = size_in_bytes(argument.type);
    if (*count < 0 || static_cast<std::uint64_t>(*count) > kMostBufferBytes / size) {
      return fail(
          ErrorCode::invalid_argument,
          fmt::format("'{}' has {} elements, more than any device holds", argument.name, *count));
    }
    bytes_[i] = static_cast<std::uint64_t>(*count) * size;
    std::vector<std::byte>& filled = fills_[i];
    filled.resize(pattern.empty() ? kPoisonBytes : pattern.size());
    if (!pattern.empty()) {
      // The pattern begins where the content does.
      std::rotate_copy(pattern.begin(),
                       pattern.end() - static_cast<std::ptrdiff_t>(pointer_offset_), pattern.end(),
                       filled.begin());
    } else {
      fill_with_poison(filled, poison_seed, i, false);
    }
    const bool writable = argument.is_output() || argument.is_scratch;
    const Result<std::uint64_t> address = memory_.allocate_pattern(
        argument.name, bytes_[i] + pointer_offset_,
        writable ? ptx::BufferAccess::read_write : ptx::BufferAccess::read_only, filled);
    if (!address.ok()) return address.error();
    addresses_[i] = *address + pointer_offset_;
  }
  return {};
}

ptx::RunOptions BenchRun::options_for(std::uint64_t budget) {
  ptx::RunOptions options;
  options.count = false;
  options.record_paths = true;
  options.instruction_budget = budget;
  options.variables = &variables_;
  options.hardware_seed = hardware_;
  options.threads = 1;
  return options;
}

template <typename Visit>
void BenchRun::for_each_range(const ptx::AddressLog& log, const Visit& visit) const {
  std::uint32_t argument = 0;
  const auto holds = [&](std::uint32_t i, std::uint64_t address) {
    return bytes_[i] > 0 && address >= addresses_[i] && address < addresses_[i] + bytes_[i];
  };
  for (const ptx::AddressLog::Range& range : log.ranges) {
    if (!holds(argument, range.begin)) {
      for (argument = 0; argument + 1 < bytes_.size() && !holds(argument, range.begin);
           ++argument) {
      }
      if (!holds(argument, range.begin)) continue;  // a variable of the module
    }
    if (!problem_.arguments[argument].is_output()) continue;
    const std::uint64_t size = size_in_bytes(problem_.arguments[argument].type);
    const std::uint64_t last = std::min(range.end, addresses_[argument] + bytes_[argument]);
    visit(ElementRange{argument, (range.begin - addresses_[argument]) / size,
                       (last - addresses_[argument] + size - 1) / size});
  }
}

BlockRecord BenchRun::run_block(std::size_t launch, std::uint64_t block, std::uint64_t budget,
                                const Cancellation& cancellation) {
  return trace_block(launch, block, budget, false, cancellation).record;
}

BlockTrace BenchRun::trace_block(std::size_t launch, std::uint64_t block, std::uint64_t budget,
                                 bool log_reads, const Cancellation& cancellation) {
  BlockTrace trace;
  trace.reads.most_ranges = kMostReads;
  ptx::RunOptions options = options_for(budget);
  options.blocks = {block};
  options.writes = &trace.writes;
  if (log_reads) options.reads = &trace.reads;
  ptx::RunResult result =
      ptx::run(plan_[launch].program, arguments_[launch], memory_, options, cancellation);
  BlockRecord& record = trace.record;
  record.block = block;
  record.fault = std::move(result.fault);
  if (record.fault.kind != ptx::FaultKind::none) return trace;
  for (const ptx::InstructionProfile& one : result.profile.instructions)
    record.warp_instructions += one.warp_executions;
  record.paths.add(result.profile, first_instruction(launch));
  record.profile = std::move(result.profile);
  record.written = elements(trace.writes);
  record.all_writes_known = !trace.writes.full;
  return trace;
}

ptx::RunResult BenchRun::run_launch(std::size_t launch, std::uint64_t budget, int threads,
                                    const Cancellation& cancellation) {
  ptx::RunOptions options = options_for(budget);
  options.threads = threads;
  return ptx::run(plan_[launch].program, arguments_[launch], memory_, options, cancellation);
}

ptx::RunResult BenchRun::run_launch(std::size_t launch, std::uint64_t budget, int threads,
                                    std::vector<std::vector<std::uint8_t>>& written,
                                    const Cancellation& cancellation) {
  const bool asked =
      std::any_of(written.begin(), written.end(), [](const auto& marks) { return !marks.empty(); });
  if (!asked) return run_launch(launch, budget, threads, cancellation);
  ptx::RunOptions options = options_for(budget);
  const ptx::Program& program = plan_[launch].program;
  ptx::AddressLog log;
  options.writes = &log;
  const std::uint64_t grid = concrete_[launch].grid.count();
  ptx::RunResult total;
  for (std::uint64_t begin = 0; begin < grid; begin += kLoggedBlocks) {
    options.blocks.clear();
    for (std::uint64_t b = begin; b < std::min(grid, begin + kLoggedBlocks); ++b)
      options.blocks.push_back(b);
    log.clear();
    ptx::RunResult part = ptx::run(program, arguments_[launch], memory_, options, cancellation);
    for (std::size_t i = 0; i < total.profile.instructions.size(); ++i) {
      ptx::InstructionProfile& one = part.profile.instructions[i];
      const ptx::InstructionProfile& so_far = total.profile.instructions[i];
      one.warp_executions += so_far.warp_executions;
      one.thread_executions += so_far.thread_executions;
      one.bulk_bytes += so_far.bulk_bytes;
      one.condition_was_false |= so_far.condition_was_false;
      one.condition_was_true |= so_far.condition_was_true;
      one.result_was_false |= so_far.result_was_false;
      one.result_was_true |= so_far.result_was_true;
    }
    part.profile.thread_instructions += total.profile.thread_instructions;
    total = std::move(part);
    if (!total.ok()) return total;
    if (log.full) {
      total.fault.kind = ptx::FaultKind::unsupported;
      total.fault.message = "more scattered writes than can be written down";
      return total;
    }
    for_each_range(log, [&](const ElementRange& range) {
      std::vector<std::uint8_t>& marks = written[range.argument];
      if (marks.empty()) return;
      std::fill(marks.begin() + static_cast<std::ptrdiff_t>(range.begin),
                marks.begin() + static_cast<std::ptrdiff_t>(range.end), 1);
    });
    std::uint64_t spent = 0;
    for (const ptx::InstructionProfile& one : total.profile.instructions)
      spent += one.warp_executions;
    if (budget != 0 && spent >= budget && begin + kLoggedBlocks < grid) {
      total.fault.kind = ptx::FaultKind::instruction_budget;
      return total;
    }
  }
  return total;
}

std::vector<ElementRange> BenchRun::elements(const ptx::AddressLog& log) const {
  std::vector<ElementRange> ranges;
  ranges.reserve(log.ranges.size());
  for_each_range(log, [&](const ElementRange& range) { ranges.push_back(range); });
  join(ranges);
  return ranges;
}

std::size_t BenchRun::first_instruction(std::size_t launch) const {
  std::size_t first = 0;
  for (std::size_t i = 0; i < launch; ++i)
    first += plan_[i].program.instruction_count();
  return first;
}

std::span<const std::byte> BenchRun::content(std::size_t argument) const {
  return memory_.view(addresses_[argument] - pointer_offset_)
      .subspan(pointer_offset_, static_cast<std::size_t>(bytes_[argument]));
}

std::vector<std::byte> BenchRun::before(std::size_t argument) const {
  std::vector<std::byte> bytes(static_cast<std::size_t>(bytes_[argument]));
  const std::vector<std::byte>& pattern = fills_[argument];
  std::size_t from = pointer_offset_;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t step = std::min(bytes.size() - at, pattern.size() - from);
    std::copy_n(pattern.begin() + static_cast<std::ptrdiff_t>(from), step,
                bytes.begin() + static_cast<std::ptrdiff_t>(at));
    at += step;
    from = 0;
  }
  return bytes;
}

std::uint64_t BenchRun::writable_bytes() const {
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < bytes_.size(); ++i) {
    const Argument& argument = problem_.arguments[i];
    if (argument.is_output() || argument.is_scratch) total += bytes_[i];
  }
  return total;
}

}  // namespace regraph::verify
