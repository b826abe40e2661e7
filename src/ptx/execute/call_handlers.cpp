// Calls of device functions, returns from them, and the end of a kernel by a trap.
#include "ptx/execute/reconvergence_stack.h"
#include "ptx/memory/block_context.h"

#include <fmt/format.h>

#include <cstring>

namespace regraph::ptx {

void unwind_calls(Warp& warp, std::uint32_t depth) {
  std::vector<CallFrame>& frames = warp.calls->frames;
  while (warp.depth > depth) {
    const CallFrame& frame = frames.back();
    warp.frame = frame.frame;
    if (!frame.saved.empty()) {
      std::memcpy(warp.registers, frame.saved.data(), frame.saved.size());
    }
    frames.pop_back();
    --warp.depth;
  }
}

namespace {

const Record* stop(const Record* r, Warp& w, FaultKind kind, std::string message) {
  w.block->set_fault(kind, std::move(message), r, w, __builtin_ctz(w.exec));
  w.status = WarpStatus::faulted;
  w.last = r;
  return nullptr;
}

std::byte* local_of(const Warp& w, int lane) {
  return w.local + static_cast<std::uint64_t>(lane) * w.block->local_bytes;
}

void copy(Warp& w, std::uint32_t mask, const std::vector<CallSite::Copy>& copies,
          std::uint64_t from, std::uint64_t to) {
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    std::byte* local = local_of(w, __builtin_ctz(rest));
    for (const CallSite::Copy& one : copies)
      std::memcpy(local + to + one.to, local + from + one.from, one.bytes);
  }
}

// Begins a frame above the caller's. Returns false after setting a fault.
bool enter(const Record* r, Warp& w, const CallSite& site) {
  std::uint64_t largest = 0;
  for (const CallSite::Target& target : site.targets)
    largest = std::max(largest, target.frame_bytes);
  if (w.depth >= kMostCallDepth ||
      w.frame + site.caller_frame_bytes + largest > w.block->local_bytes) {
    stop(r, w, FaultKind::out_of_bounds,
         fmt::format("calls nest {} deep: the stack of {} bytes a thread is full", w.depth + 1,
                     w.block->local_bytes));
    return false;
  }
  push(w, static_cast<std::uint32_t>(r + 1 - w.records), w.reconvergence, w.active);
  CallFrame frame{w.frame, w.stack_size, &site, {}};
  if (site.saves_registers) {
    frame.saved.assign(w.registers, w.registers + w.block->code->register_bytes);
  }
  w.calls->frames.push_back(std::move(frame));
  ++w.depth;
  w.frame += site.caller_frame_bytes;
  w.reconvergence = kNoBlock;
  return true;
}

const Record* call(const Record* r, Warp& w) {
  const CallSite& site = w.block->code->calls[r->site];
  const CallSite::Target& target = site.targets.front();
  if (!enter(r, w, site)) return nullptr;
  copy(w, w.exec, target.arguments, w.frame - site.caller_frame_bytes, w.frame);
  w.active = w.exec;
  return w.records + target.record;
}

// Lanes that call different functions take turns.
const Record* call_indirect(const Record* r, Warp& w) {
  const CallSite& site = w.block->code->calls[r->site];
  std::uint64_t pointers[kWarpLanes];
  std::memcpy(pointers, lanes<std::uint64_t>(w, r->a), sizeof(pointers));
  std::uint32_t unknown = w.exec;
  for (const CallSite::Target& target : site.targets) {
    for (int l = 0; l < kWarpLanes; ++l) {
      if (pointers[l] == target.address) unknown &= ~(1U << l);
    }
  }
  if (unknown != 0) {
    return stop(r, w, FaultKind::trap,
                fmt::format("an indirect call of 0x{:x}, which is no function of this type",
                            pointers[__builtin_ctz(unknown)]));
  }
  const std::uint32_t callers = w.exec;
  if (!enter(r, w, site)) return nullptr;
  for (const CallSite::Target& target : site.targets) {
    std::uint32_t mask = 0;
    for (int l = 0; l < kWarpLanes; ++l) {
      if (pointers[l] == target.address) mask |= 1U << l;
    }
    mask &= callers;
    if (mask == 0) continue;
    copy(w, mask, target.arguments, w.frame - site.caller_frame_bytes, w.frame);
    push(w, target.record, kNoBlock, mask);
  }
  return pop(w);
}

const Record* return_lanes(const Record* r, Warp& w) {
  const CallFrame& frame = w.calls->frames.back();
  // Results lie first in a frame, wherever the call went.
  copy(w, w.exec, frame.site->targets.front().results, w.frame, frame.frame);
  const std::uint32_t returned = w.exec;
  for (std::uint32_t i = frame.stack_base; i < w.stack_size; ++i)
    w.stack[i].mask &= ~returned;
  w.active &= ~returned;
  if (w.active != 0) {
    w.exec = w.active;
    return r + 1;
  }
  w.last = r;
  return pop(w);
}

template <typename T>
const Record* frame_address(const Record* r, Warp& w) {
  T* d = lanes<T>(w, r->d);
  const auto address = static_cast<T>(w.frame + static_cast<std::uint64_t>(r->immediate));
  for (int l = 0; l < kWarpLanes; ++l)
    d[l] = address;
  return r + 1;
}

template <typename T>
T local_value(const Warp& w, int lane, std::uint64_t offset) {
  T value;
  std::memcpy(&value, local_of(w, lane) + w.frame + offset, sizeof(value));
  return value;
}

// The zero-terminated text a generic address points to.
std::string device_text(const Warp& w, int lane, std::uint64_t address) {
  constexpr std::size_t kLongest = 300;
  std::string text;
  while (text.size() < kLongest) {
    const LaneAddress at = find_lane(*w.block, w, StateSpace::generic, address++, 1, lane);
    if (at.host == nullptr || *at.host == std::byte{0}) break;
    text += std::to_integer<char>(*at.host);
  }
  return text;
}

const Record* trap(const Record* r, Warp& w) {
  const int lane = __builtin_ctz(w.exec);
  if (r->flags != kAssertion) {
    return stop(r, w, FaultKind::trap,
                r->flags == kPlainTrap ? "an assertion failed" : "the kernel executed trap");
  }
  const auto text = [&](std::uint32_t offset) {
    return device_text(w, lane, local_value<std::uint64_t>(w, lane, offset));
  };
  return stop(r, w, FaultKind::trap,
              fmt::format("assertion failed: '{}' at {}:{} in {}", text(r->a), text(r->b),
                          local_value<std::uint32_t>(w, lane, r->c), text(r->e)));
}

}  // namespace

void fill_call_handlers(Handler* table) {
  put(table, Operation::call, &call);
  put(table, Operation::call_indirect, &call_indirect);
  put(table, Operation::return_lanes, &return_lanes);
  put(table, Operation::trap, &trap);
  put(table, Operation::frame_address, &frame_address<std::uint32_t>);
  table[handler_id(Operation::frame_address, LaneType::u64)] = &frame_address<std::uint64_t>;
}

}  // namespace regraph::ptx
