#include "eval/gpu/protocol/gpu_run.h"

#include "eval/verify/poison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <cuda.h>

namespace regraph::gpu {
namespace {

constexpr std::uint32_t kBestAlignment = 256;
// Contents start at multiples of that in the shared memory.
constexpr std::uint64_t kStretchAlignment = 256;

std::uint64_t round_up(std::uint64_t value) {
  return (value + kStretchAlignment - 1) / kStretchAlignment * kStretchAlignment;
}

// One run: where each argument's buffer is, here and there.
class Session {
 public:
  Session(const GpuRunner& runner, const verify::RunSettings& settings)
      : runner_(runner), settings_(settings), slots_(runner.problem.arguments.size()) {}

  Result<verify::KernelRun> run(const Symbols& symbols, const verify::Buffers& inputs) {
    if (Status status = lay_out(symbols); !status.ok()) return status.error();
    Result<void, Failure> set =
        set_symbols(runner_.process, runner_.loaded, runner_.problem, inputs, runner_.stop);
    if (!set.ok()) return trouble(set.error());
    write_contents(inputs);
    Result<AllocateResponse, Failure> allocated = runner_.process.allocate(request_, runner_.stop);
    if (!allocated.ok()) return trouble(allocated.error());
    if (allocated->addresses.size() != request_.buffers.size() ||
        allocated->buffers.size() != request_.buffers.size()) {
      return fail(ErrorCode::io, "the GPU worker: not as many buffers as were asked for");
    }
    Result<verify::KernelRun> result = launch(symbols, *allocated);
    if (runner_.process.alive()) {
      (void)runner_.process.free({allocated->buffers, {}}, runner_.stop);
    }
    return result;
  }

 private:
  struct Slot {
    bool used = false;
    std::size_t request = 0;  // place among the buffers asked for
    Stretch content;
  };

  Error trouble(const Failure& failure) const {
    if (runner_.stop.requested()) return fail(ErrorCode::cancelled, "cancelled");
    return fail(ErrorCode::resource, failure.message);
  }

  Status lay_out(const Symbols& symbols) {
    std::uint64_t end = 0;
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      const Argument& argument = runner_.problem.arguments[i];
      if (!argument.has_memory()) continue;
      const Result<std::int64_t> count = argument.element_count(symbols);
      if (!count.ok()) return count.error();
      const std::uint64_t bytes = static_cast<std::uint64_t>(*count) * size_in_bytes(argument.type);
      slots_[i] = {true, request_.buffers.size(), {end, bytes}};
      BufferRequest buffer;
      buffer.bytes = bytes;
      buffer.placement = !runner_.guarded                ? Placement::exact
                         : settings_.pointer_offset == 0 ? Placement::at_start
                                                         : Placement::at_end;
      // Not better aligned than the offset says.
      buffer.alignment = settings_.pointer_offset == 0
                             ? kBestAlignment
                             : static_cast<std::uint32_t>(settings_.pointer_offset);
      buffer.read_only = !argument.is_output() && !argument.is_scratch;
      buffer.content = slots_[i].content;
      request_.buffers.push_back(buffer);
      end = round_up(end + bytes);
    }
    return runner_.process.shared().grow(std::max<std::uint64_t>(end, 1));
  }

  std::span<std::byte> stretch(std::size_t i) {
    const Stretch& content = slots_[i].content;
    return runner_.process.shared().bytes().subspan(content.offset, content.bytes);
  }

  void write_contents(const verify::Buffers& inputs) {
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      if (!slots_[i].used) continue;
      const Argument& argument = runner_.problem.arguments[i];
      if (argument.is_input()) {
        std::copy(inputs[i].begin(), inputs[i].end(), stretch(i).begin());
      } else if (const std::vector<std::byte>* earlier = left_by_earlier(i)) {
        std::copy(earlier->begin(), earlier->end(), stretch(i).begin());
      } else {
        verify::fill_with_poison(stretch(i), settings_.poison_seed, i, settings_.invert_poison);
      }
      if (argument.is_output()) {
        run_.before.resize(slots_.size());
        run_.before[i].assign(stretch(i).begin(), stretch(i).end());
      }
    }
    run_.before.resize(slots_.size());
    run_.after.resize(slots_.size());
    run_.scratch.resize(slots_.size());
  }

  // What the earlier launch left in a buffer that is no input; null: nothing is known.
  const std::vector<std::byte>* left_by_earlier(std::size_t i) const {
    if (settings_.earlier == nullptr) return nullptr;
    const verify::Buffers& left = runner_.problem.arguments[i].is_scratch
                                      ? settings_.earlier->scratch
                                      : settings_.earlier->after;
    return left[i].size() == slots_[i].content.bytes ? &left[i] : nullptr;
  }

  Result<verify::KernelRun> launch(const Symbols& symbols, AllocateResponse& allocated) {
    std::vector<std::uint64_t> addresses(slots_.size(), 0);
    RunRequest request;
    request.timeout_seconds = runner_.timeout_seconds;
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      if (!slots_[i].used) continue;
      addresses[i] = allocated.addresses[slots_[i].request];
      const Argument& argument = runner_.problem.arguments[i];
      if (argument.is_output() || (argument.is_scratch && settings_.keep_memory)) {
        request.reads.push_back({allocated.buffers[slots_[i].request], slots_[i].content.offset});
      }
    }
    Result<std::vector<LaunchMessage>> launches =
        launches_of(runner_.loaded, runner_.plan, runner_.problem, symbols, addresses);
    if (!launches.ok()) return launches.error();
    request.launches = std::move(*launches);
    Result<RunResponse, Failure> ran = runner_.process.run(request, runner_.stop);
    if (!ran.ok()) {
      if (runner_.stop.requested()) return fail(ErrorCode::cancelled, "cancelled");
      run_.fault.kind = fault_kind(ran.error());
      if (run_.fault.kind == ptx::FaultKind::none)
        return fail(ErrorCode::resource, ran.error().message);
      run_.fault.message = "on the GPU: " + ran.error().message;
      return std::move(run_);
    }
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      if (!slots_[i].used) continue;
      const Argument& argument = runner_.problem.arguments[i];
      if (argument.is_output()) run_.after[i].assign(stretch(i).begin(), stretch(i).end());
      if (argument.is_scratch && settings_.keep_memory)
        run_.scratch[i].assign(stretch(i).begin(), stretch(i).end());
      const int name = allocated.buffers[slots_[i].request];
      if (std::find(ran->damaged.begin(), ran->damaged.end(), name) != ran->damaged.end()) {
        run_.fault.kind = ptx::FaultKind::out_of_bounds;
        run_.fault.message =
            fmt::format("on the GPU: memory beside '{}' was written", argument.name);
      }
    }
    return std::move(run_);
  }

  const GpuRunner& runner_;
  const verify::RunSettings& settings_;
  std::vector<Slot> slots_;
  AllocateRequest request_;
  verify::KernelRun run_;
};

}  // namespace

ptx::FaultKind fault_kind(const Failure& failure) {
  if (failure.timeout) return ptx::FaultKind::instruction_budget;
  switch (failure.cuda) {
    case CUDA_ERROR_ILLEGAL_ADDRESS:
      return ptx::FaultKind::out_of_bounds;
    case CUDA_ERROR_MISALIGNED_ADDRESS:
      return ptx::FaultKind::misaligned;
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_TENSOR_MEMORY_LEAK:
      return ptx::FaultKind::trap;
    case CUDA_ERROR_INVALID_VALUE:
    case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES:
    case CUDA_ERROR_INVALID_IMAGE:
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_NOT_FOUND:
      return ptx::FaultKind::bad_launch;
    default:
      return ptx::FaultKind::none;
  }
}

Result<verify::KernelRun> run_on_gpu(const GpuRunner& runner, const Symbols& symbols,
                                     const verify::Buffers& inputs,
                                     const verify::RunSettings& settings) {
  return Session(runner, settings).run(symbols, inputs);
}

}  // namespace regraph::gpu
