// The memories of a bench run: a second one like it, and what blocks carry from one to the other.
#include "eval/verify/bench_run.h"

#include <algorithm>
#include <utility>

namespace regraph::verify {

namespace {

// Module variables that are worth copying.
constexpr std::size_t kMostVariableBytes = std::size_t{16} << 20;

}  // namespace

// From the address to the end of its buffer or variable; empty where nothing is.
std::span<std::byte> BenchRun::host_from(std::uint64_t address) const {
  for (const ptx::DeviceMemory::Region& one : memory_.regions()) {
    if (address >= one.begin && address < one.end) {
      return {one.host + (address - one.begin), one.end - address};
    }
  }
  for (const ptx::ModuleMemory::Variable& one : variables_.variables()) {
    if (!one.is_constant && address >= one.address && address < one.address + one.bytes) {
      return {one.host.get() + (address - one.address), one.address + one.bytes - address};
    }
  }
  return {};
}

// Calls visit(address, bytes) for all that the log names; a range of it may go on from one variable
// to the next.
template <typename Visit>
void BenchRun::for_each_stretch(const ptx::AddressLog& log, const Visit& visit) const {
  for (const ptx::AddressLog::Range& range : log.ranges) {
    for (std::uint64_t at = range.begin; at < range.end;) {
      std::span<std::byte> here = host_from(at);
      if (here.empty()) break;
      here = here.first(std::min<std::size_t>(here.size(), range.end - at));
      visit(at, here);
      at += here.size();
    }
  }
}

ptx::RunResult BenchRun::run_logged(std::size_t launch, std::uint64_t budget,
                                    const Cancellation& cancellation) {
  ptx::RunOptions options = options_for(budget);
  options.writes = &logged_;
  return ptx::run(plan_[launch].program, arguments_[launch], memory_, options, cancellation);
}

Result<std::unique_ptr<BenchRun>> BenchRun::beside() const {
  std::size_t variable_bytes = 0;
  for (const ptx::ModuleMemory::Variable& one : variables_.variables())
    variable_bytes += one.bytes;
  if (logged_.full || variable_bytes > kMostVariableBytes) {
    return fail(ErrorCode::resource, "too much to copy");
  }
  Result<ptx::ModuleMemory> variables = variables_.copy();
  if (!variables.ok()) return variables.error();
  std::unique_ptr<BenchRun> run(new BenchRun(problem_, plan_, *std::move(variables), hardware_));
  run->concrete_ = concrete_;
  run->arguments_ = arguments_;
  run->pointer_offset_ = pointer_offset_;
  run->addresses_ = addresses_;
  run->bytes_ = bytes_;
  run->fills_ = fills_;
  Result<ptx::DeviceMemory> memory = memory_.twin();
  if (!memory.ok()) return memory.error();
  run->memory_ = *std::move(memory);
  for_each_stretch(logged_, [&](std::uint64_t address, std::span<const std::byte> here) {
    std::copy(here.begin(), here.end(), run->host_from(address).begin());
  });
  return run;
}

std::vector<std::byte> BenchRun::values(const ptx::AddressLog& log) const {
  std::vector<std::byte> values;
  for_each_stretch(log, [&](std::uint64_t, std::span<const std::byte> here) {
    values.insert(values.end(), here.begin(), here.end());
  });
  return values;
}

void BenchRun::write(const ptx::AddressLog& log, std::span<const std::byte> values) {
  for_each_stretch(log, [&](std::uint64_t, std::span<std::byte> here) {
    std::copy_n(values.begin(), here.size(), here.begin());
    values = values.subspan(here.size());
  });
}

}  // namespace regraph::verify
