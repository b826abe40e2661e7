#include "eval/gpu/timing/bench_memory.h"

#include "eval/gpu/timing/present_buffer.h"

#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstring>

namespace regraph::gpu {
namespace {

constexpr int kMostSets = 4;
constexpr int kFewestSets = 2;
// Of all sets together, from which on there are only two: what a kernel kept from one launch shows
// with any other inputs, and uploading more takes longer than timing a candidate.
constexpr double kEnoughBytes = double{1 << 30};
// Of the device's memory; the rest is for the worker that reads counters, the sweep and others.
constexpr double kMemoryShare = 0.5;
// Larger floating-point inputs repeat with this period, a prime: drawing normal numbers one by one
// takes a microsecond a dozen.
constexpr std::size_t kDrawnElements = 4194301;
// By how many elements the values of one set are rotated against those of the next.
constexpr std::size_t kRotation = 1009;

// What `argument` holds at this size.
std::vector<std::byte> draw(const Problem& problem, const Argument& argument,
                            const Symbols& symbols, std::size_t bytes, std::uint64_t seed,
                            std::size_t stream, verify::Distribution distribution) {
  std::vector<std::byte> content = present_buffer(bytes);
  if (problem.is_whole(symbols, argument)) {
    verify::fill_input(problem, argument, symbols, distribution, seed, stream, content);
    return content;
  }
  const std::size_t element = size_in_bytes(argument.type);
  const std::size_t drawn = is_floating(argument.type)
                                ? std::min(bytes, kDrawnElements * element)
                                : bytes;  // integers may be indices: as the manifest says
  verify::fill_input(problem, argument, symbols, distribution, seed, stream,
                     std::span(content).first(drawn));
  const std::size_t copies = drawn == 0 ? 0 : (bytes - drawn + drawn - 1) / drawn;
  tbb::parallel_for(std::size_t{0}, copies, [&](std::size_t copy) {
    const std::size_t at = (copy + 1) * drawn;
    std::memcpy(content.data() + at, content.data(), std::min(drawn, bytes - at));
  });
  return content;
}

std::vector<std::byte> in_double(const std::vector<std::byte>& content) {
  std::vector<std::byte> wide = present_buffer(content.size() / sizeof(float) * sizeof(double));
  const tbb::blocked_range<std::size_t> elements(0, content.size() / sizeof(float));
  tbb::parallel_for(elements, [&](const auto& range) {
    for (std::size_t e = range.begin(); e < range.end(); ++e) {
      float narrow = 0.0F;
      std::memcpy(&narrow, &content[e * sizeof(float)], sizeof(float));
      const double value = narrow;
      std::memcpy(&wide[e * sizeof(double)], &value, sizeof(double));
    }
  });
  return wide;
}

// The first byte of an argument's content in a set: floating-point numbers begin elsewhere in each.
std::size_t first_byte_in(int set, const Argument& argument, std::size_t bytes) {
  if (bytes == 0 || argument.is_symbol || !is_floating(argument.type)) return 0;
  const std::size_t shift =
      kRotation * size_in_bytes(argument.type) * static_cast<std::size_t>(argument.components);
  return static_cast<std::size_t>(set) * shift % bytes;
}

// Bytes that a thread copies at once.
constexpr std::size_t kCopyGrain = std::size_t{4} << 20;

void copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes) {
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, bytes, kCopyGrain), [&](const auto& range) {
    std::memcpy(to + range.begin(), from + range.begin(), range.size());
  });
}

}  // namespace

Result<BenchMemory> BenchMemory::create(GpuProcess& process, const Problem& problem,
                                        const Symbols& symbols, std::uint64_t seed,
                                        const Cancellation& stop, Contents contents) {
  BenchMemory memory(process, problem, symbols);
  if (const Status status = memory.measure(); !status.ok()) return status.error();
  double one_set = 0.0;  // inputs once, what is written once a side
  for (std::size_t i = 0; i < problem.arguments.size(); ++i) {
    const Argument& argument = problem.arguments[i];
    const auto bytes = static_cast<double>(memory.bytes_[i]);
    one_set += (argument.is_input() ? bytes : 0.0) +
               (argument.is_output() || argument.is_scratch ? 2.0 * bytes : 0.0);
  }
  const double room = kMemoryShare * static_cast<double>(process.device().total_bytes);
  const int fewest = contents.timed ? kFewestSets : 1;
  if (fewest * one_set > room) {
    return fail(ErrorCode::resource,
                fmt::format("the bench size needs {:.3g} GiB for {} input sets, and the GPU has "
                            "room for {:.3g}; give smaller 'bench' sizes in the manifest",
                            fewest * one_set / (1 << 30), fewest, room / (1 << 30)));
  }
  const int sets =
      contents.timed
          ? std::clamp(static_cast<int>(std::min(room, kEnoughBytes) / std::max(one_set, 1.0)),
                       kFewestSets, kMostSets)
          : 1;

  verify::Buffers inputs(problem.arguments.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Problem& drawn = contents.in_single != nullptr ? *contents.in_single : problem;
    const Argument& argument = drawn.arguments[i];
    if (!argument.is_input()) continue;
    const Result<std::int64_t> count = argument.element_count(symbols);
    if (!count.ok()) return count.error();
    inputs[i] = draw(drawn, argument, symbols,
                     static_cast<std::size_t>(*count) * size_in_bytes(argument.type), seed, i,
                     contents.distribution);
    if (argument.type != problem.arguments[i].type) inputs[i] = in_double(inputs[i]);
    if (stop.requested()) return fail(ErrorCode::cancelled, "cancelled");
  }
  for (int set = 0; set < sets; ++set) {
    if (const Status status = memory.add_set(inputs, stop); !status.ok()) return status.error();
  }
  memory.symbol_contents_.resize(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (problem.arguments[i].is_symbol) memory.symbol_contents_[i] = std::move(inputs[i]);
  }
  return memory;
}

Status BenchMemory::measure() {
  for (const Argument& argument : problem_->arguments) {
    bytes_.push_back(0);
    if (!argument.has_memory()) continue;
    const Result<std::int64_t> count = argument.element_count(symbols_);
    if (!count.ok()) return count.error();
    bytes_.back() = static_cast<std::uint64_t>(*count) * size_in_bytes(argument.type);
    const auto bytes = static_cast<double>(bytes_.back());
    if (argument.is_input()) input_bytes_ += bytes;
    if (argument.is_output()) output_bytes_ += bytes;
  }
  return {};
}

Result<BenchMemory::Buffer> BenchMemory::allocate(std::span<const std::byte> content,
                                                  std::size_t first, std::uint64_t bytes,
                                                  const Cancellation& stop) {
  if (const Status status = process_->shared().grow(std::max<std::size_t>(content.size(), 1));
      !status.ok()) {
    return status.error();
  }
  make_present(process_->shared().bytes().first(content.size()));
  std::byte* const shared = process_->shared().bytes().data();
  copy_bytes(shared, content.data() + first, content.size() - first);
  copy_bytes(shared + (content.size() - first), content.data(), first);
  BufferRequest request;
  request.bytes = bytes;
  request.content = {0, content.size()};
  Result<AllocateResponse, Failure> response = process_->allocate({{request}}, stop);
  if (!response.ok()) {
    if (stop.requested()) return fail(ErrorCode::cancelled, "cancelled");
    return fail(ErrorCode::resource, response.error().message);
  }
  if (response->buffers.size() != 1 || response->addresses.size() != 1) {
    return fail(ErrorCode::io, "the GPU worker: not as many buffers as were asked for");
  }
  return Buffer{response->buffers[0], response->addresses[0], bytes};
}

Status BenchMemory::add_set(const verify::Buffers& inputs, const Cancellation& stop) {
  InputSet set;
  set.inputs.resize(bytes_.size());
  for (auto& side : set.writable)
    side.resize(bytes_.size());
  for (std::size_t i = 0; i < bytes_.size(); ++i) {
    const Argument& argument = problem_->arguments[i];
    if (!argument.has_memory()) continue;
    if (argument.is_input()) {
      const std::size_t first =
          first_byte_in(static_cast<int>(sets_.size()), argument, inputs[i].size());
      auto buffer = allocate(inputs[i], first, bytes_[i], stop);
      if (!buffer.ok()) return buffer.error();
      set.inputs[i] = *buffer;
    }
    if (!argument.is_output() && !argument.is_scratch) continue;
    for (auto& side : set.writable) {
      auto buffer = allocate({}, 0, bytes_[i], stop);
      if (!buffer.ok()) return buffer.error();
      side[i] = *buffer;
    }
  }
  sets_.push_back(std::move(set));
  return {};
}

Result<TimedPlan> BenchMemory::plan_of(const GpuPlan& loaded, const verify::LoadedPlan& plan,
                                       int set, RaceSide side) const {
  const InputSet& memory = sets_[static_cast<std::size_t>(set)];
  const std::vector<Buffer>& writable = memory.writable[static_cast<std::size_t>(side)];
  TimedPlan timed;
  std::vector<std::uint64_t> addresses(bytes_.size(), 0);
  for (std::size_t i = 0; i < bytes_.size(); ++i) {
    const Argument& argument = problem_->arguments[i];
    if (!argument.has_memory()) continue;
    const bool written = argument.is_output() || argument.is_scratch;
    addresses[i] = (written ? writable[i] : memory.inputs[i]).address;
    if (!written) continue;
    if (argument.is_input()) {
      timed.restores.push_back({writable[i].name, memory.inputs[i].name});
    } else {
      timed.poisons.push_back(writable[i].name);
    }
  }
  auto launches = launches_of(loaded, plan, *problem_, symbols_, addresses);
  if (!launches.ok()) return launches.error();
  timed.launches = std::move(*launches);
  return timed;
}

Result<void, Failure> BenchMemory::set_symbols_of(const GpuPlan& loaded, const Cancellation& stop) {
  return set_symbols(*process_, loaded, *problem_, symbol_contents_, stop);
}

Result<void, Failure> BenchMemory::release(const Cancellation& stop) {
  FreeRequest request;
  const auto add = [&](const std::vector<Buffer>& buffers) {
    for (const Buffer& buffer : buffers)
      if (buffer.address != 0) request.buffers.push_back(buffer.name);
  };
  for (const InputSet& set : sets_) {
    add(set.inputs);
    for (const auto& side : set.writable)
      add(side);
  }
  sets_.clear();
  return process_->free(request, stop);
}

Result<verify::Buffers, Failure> BenchMemory::outputs(int set, RaceSide side,
                                                      const Cancellation& stop) {
  const std::vector<Buffer>& writable =
      sets_[static_cast<std::size_t>(set)].writable[static_cast<std::size_t>(side)];
  verify::Buffers outputs(bytes_.size());
  for (std::size_t i = 0; i < bytes_.size(); ++i) {
    if (!problem_->arguments[i].is_output()) continue;
    if (const Status status = process_->shared().grow(bytes_[i]); !status.ok()) {
      return Failure{0, false, false, status.error().message};
    }
    make_present(process_->shared().bytes().first(bytes_[i]));
    RunRequest request;
    request.reads = {{writable[i].name, 0}};
    Result<RunResponse, Failure> read = process_->run(request, stop);
    if (!read.ok()) return read.error();
    const std::span<std::byte> bytes = process_->shared().bytes().first(bytes_[i]);
    outputs[i] = present_buffer(bytes.size());
    copy_bytes(outputs[i].data(), bytes.data(), bytes.size());
  }
  return outputs;
}

}  // namespace regraph::gpu
