#include "capture/device/injected_program.h"

#include "kernel/captured_data.h"

#include <cstring>
#include <span>
#include <utility>

namespace regraph::capture {
namespace {

constexpr int kInvalidValue = 1;  // cudaErrorInvalidValue
constexpr std::uint32_t kMostPointers = 4096;
constexpr std::size_t kMostTroubles = 32;

// Takes a struct from the front of a request.
template <typename Structure>
bool take_struct(std::string_view& from, Structure& into) {
  if (from.size() < sizeof into) return false;
  std::memcpy(&into, from.data(), sizeof into);
  from.remove_prefix(sizeof into);
  return true;
}

template <typename Structure>
bool take_structs(std::string_view& from, std::size_t count, std::vector<Structure>& into) {
  if (from.size() / sizeof(Structure) < count) return false;
  into.resize(count);
  if (count > 0) std::memcpy(into.data(), from.data(), count * sizeof(Structure));
  from.remove_prefix(count * sizeof(Structure));
  return true;
}

bool take_text(std::string_view& from, std::size_t bytes, std::string& into) {
  if (from.size() < bytes) return false;
  into.assign(from.substr(0, bytes));
  from.remove_prefix(bytes);
  return true;
}

template <typename Structure>
void append_struct(const Structure& structure, std::string& to) {
  to.append(reinterpret_cast<const char*>(&structure), sizeof structure);
}

DeviceAnswer refused() {
  return {kInvalidValue, {}, -1};
}

}  // namespace

InjectedProgram::InjectedProgram(ProgramKernels kernels, LaunchObserver& observer)
    : observer_(observer) {
  for (ProgramKernel& kernel : kernels.kernels)
    kernels_[kernel.image.symbol] = std::move(kernel);
}

DeviceAnswer InjectedProgram::answer(RequestKind kind, std::string_view request,
                                     const Cancellation& /*cancellation*/) {
  switch (kind) {
    case RequestKind::hello:
      return {};
    case RequestKind::seen_kernel:
      return describe_kernel(request);
    case RequestKind::seen_launch:
      return launch(request);
    case RequestKind::seen_content:
    case RequestKind::seen_variable:
      return content(kind, request);
    case RequestKind::seen_all:
      return all(request);
    case RequestKind::seen_time:
      return time(request);
    case RequestKind::seen_trouble:
      if (troubles_.size() < kMostTroubles) troubles_.emplace(request);
      return {};
    default:
      return refused();
  }
}

DeviceAnswer InjectedProgram::describe_kernel(std::string_view symbol) const {
  DeviceAnswer answer;
  const auto found = kernels_.find(std::string(symbol));
  SeenKernel known;
  if (found == kernels_.end()) {
    append_struct(known, answer.payload);
    return answer;
  }
  const ProgramKernel& kernel = found->second;
  known.is_known = 1;
  known.slots = static_cast<std::uint32_t>(kernel.image.parameters.size());
  append_struct(known, answer.payload);
  for (const ParameterSlot& slot : kernel.image.parameters)
    append_struct(KernelAnswer::Slot{slot.offset, slot.bytes}, answer.payload);
  for (const std::string& name : kernel.image.variables)
    answer.payload.append(name.c_str(), name.size() + 1);
  return answer;
}

void InjectedProgram::count(const std::string& symbol, std::uint64_t launches) {
  if (launches == 0) return;
  launches_[symbol] += launches;
  observer_.count_launches(symbol, launches);
}

DeviceAnswer InjectedProgram::launch(std::string_view request) {
  Pending pending;
  SeenLaunch& one = pending.launch;
  const bool whole = take_struct(request, one) && one.pointers <= kMostPointers &&
                     one.slots <= kMostParameters &&
                     take_structs(request, one.pointers, pending.pointers) &&
                     take_text(request, one.symbol_bytes, pending.symbol) &&
                     take_text(request, one.parameter_bytes, pending.parameters) &&
                     take_structs(request, one.slots, pending.slots) && request.empty();
  if (!whole) return refused();
  for (const KernelAnswer::Slot& slot : pending.slots) {
    if (std::uint64_t{slot.offset} + slot.bytes > pending.parameters.size()) return refused();
  }
  for (const SeenPointer& pointer : pending.pointers) {
    const bool inside =
        pointer.parameter < pending.slots.size() && pointer.offset <= pointer.bytes &&
        std::uint64_t{pointer.byte} + sizeof pointer.base <= pending.slots[pointer.parameter].bytes;
    if (!inside) return refused();
  }
  count(pending.symbol, one.not_shown);
  ++launches_[pending.symbol];
  const ObservedLaunch seen = observed(pending);
  SeenAnswer answer;
  answer.wants_contents = observer_.wants_contents(seen) ? 1 : 0;
  if (answer.wants_contents == 0) {
    observer_.before_launch(seen);
    observer_.after_launch(seen, 0);
  }
  answer.quiet_threads = observer_.quiet_threads(pending.symbol);
  DeviceAnswer back;
  append_struct(answer, back.payload);
  if (answer.wants_contents != 0) pending_[one.process] = std::move(pending);
  return back;
}

DeviceAnswer InjectedProgram::content(RequestKind kind, std::string_view request) {
  SeenContent piece;
  if (!take_struct(request, piece)) return refused();
  const auto found = pending_.find(piece.process);
  if (found == pending_.end()) return refused();
  Pending& pending = found->second;
  auto& contents = piece.is_variable != 0 ? pending.variables : pending.allocations;
  Content& content = contents[piece.base];
  if (content.bytes.empty()) {
    std::uint64_t held = 0;
    for (const auto* all : {&pending.variables, &pending.allocations}) {
      for (const auto& [base, other] : *all)
        held += other.bytes.size();
    }
    if (piece.total > kMostCapturedBytes || held > kMostPending - piece.total) return refused();
    content.bytes.resize(piece.total);
  }
  if (kind == RequestKind::seen_variable) {
    content.name = request;
    return {};
  }
  // In order: what is missing in the middle is never taken for zeros.
  const bool fits = piece.total == content.bytes.size() && piece.offset == content.received &&
                    request.size() <= content.bytes.size() - content.received;
  if (!fits) return refused();
  if (!request.empty())
    std::memcpy(content.bytes.data() + piece.offset, request.data(), request.size());
  content.received += request.size();
  return {};
}

DeviceAnswer InjectedProgram::all(std::string_view request) {
  Hello hello;
  if (!take_struct(request, hello)) return refused();
  const auto found = pending_.find(hello.process);
  if (found == pending_.end()) return refused();
  const ObservedLaunch seen = observed(found->second);
  observer_.before_launch(seen);
  observer_.after_launch(seen, 0);
  DeviceAnswer back;
  SeenAnswer answer;
  answer.quiet_threads = observer_.quiet_threads(found->second.symbol);
  append_struct(answer, back.payload);
  pending_.erase(found);
  return back;
}

DeviceAnswer InjectedProgram::time(std::string_view request) {
  SeenTime time;
  if (!take_struct(request, time)) return refused();
  const std::string symbol(request);
  count(symbol, time.not_shown);
  if (time.seconds > 0.0) observer_.add_seconds(symbol, time.seconds);
  return {};
}

ObservedLaunch InjectedProgram::observed(const Pending& pending) {
  const SeenLaunch& launch = pending.launch;
  const auto dim = [](const std::uint32_t(&axes)[3]) { return Dim3{axes[0], axes[1], axes[2]}; };
  ObservedLaunch one{pending.symbol,
                     dim(launch.grid),
                     dim(launch.block),
                     launch.dynamic_shared_bytes,
                     std::as_bytes(std::span(pending.parameters)),
                     pending.slots,
                     {},
                     {},
                     false};
  for (const SeenPointer& pointer : pending.pointers) {
    std::span<const std::byte> content;
    const auto held = pending.allocations.find(pointer.base);
    if (held != pending.allocations.end() && held->second.bytes.size() == pointer.bytes &&
        held->second.received == pointer.bytes) {
      content = held->second.bytes;
    }
    const std::uint64_t number =
        numbers_.try_emplace(pointer.base, numbers_.size() + 1).first->second;
    one.pointers.push_back(
        {pointer.parameter, pointer.byte, number, pointer.offset, pointer.bytes, content});
  }
  for (const auto& [base, variable] : pending.variables) {
    if (variable.received == variable.bytes.size())
      one.variables.push_back({variable.name, variable.bytes});
  }
  return one;
}

}  // namespace regraph::capture
