#include "ptx/caches/block_tracer.h"

#include <fmt/format.h>

namespace regraph::ptx {
namespace {

RunOptions tracing_options() {
  RunOptions options;
  options.count = false;
  options.exited_threads_arrive = true;
  return options;
}

}  // namespace

BlockTracer::BlockTracer(const SlicedLaunch& launch)
    : launch_(launch), runner_(launch.slice, launch.arguments, launch.memory, tracing_options()) {
  runner_.set_sink(&trace_);
}

Result<void, TraceFailure> BlockTracer::run(std::uint64_t block) {
  const std::size_t first = trace_.requests().size();
  runner_.run(block, launch_.instructions_per_block, launch_.cancellation);
  const Fault& fault = runner_.fault();
  if (fault.kind == FaultKind::none) {
    trace_.sort_by_quantum(first);
    return {};
  }
  TraceFailure failure;
  // Blocks that were sampled run again in their wave: what depends on atomics they already did,
  // such as a place in an output, may run out.
  const bool is_access = fault.kind == FaultKind::out_of_bounds ||
                         fault.kind == FaultKind::misaligned ||
                         fault.kind == FaultKind::write_to_read_only;
  if (is_access && !launch_.runs_atomics) failure.kernel_fault = fault;
  // Else the slice, which has only what addresses depend on, is no help: a wait for memory that
  // nobody writes in it never ends.
  failure.error.code = ErrorCode::unsupported;
  if (fault.kind == FaultKind::cancelled) {
    failure.error.code = ErrorCode::cancelled;
  } else if (fault.kind == FaultKind::instruction_budget && !launch_.runs_atomics) {
    failure.error.code = ErrorCode::resource;
  } else if (is_access && !launch_.runs_atomics) {
    failure.error.code = ErrorCode::invalid_argument;
  }
  failure.error.message = fmt::format("{} (PTX line {}, block {},{},{})", fault.message,
                                      fault.ptx_line, fault.block.x, fault.block.y, fault.block.z);
  return failure;
}

}  // namespace regraph::ptx
