// The classical way to interpret PTX, as a yardstick: one thread at a time, a switch over the same
// bytecode, no counters, no bounds checks. Knows only what the benchmark's kernels need.
#pragma once

#include "ptx/decode/code.h"
#include "ptx/decode/execution.h"
#include "ptx/interpreter.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

namespace regraph::ptx {

class ScalarInterpreter {
 public:
  ScalarInterpreter(const Program& program, const LaunchArguments& arguments, DeviceMemory& memory)
      : code_(program.code()), arguments_(arguments), memory_(memory) {}

  // Runs the whole grid. Returns thread instructions, or 0 when an operation is not known.
  std::uint64_t run() {
    const std::uint64_t threads = arguments_.block.count();
    registers_.assign(threads, std::vector<std::uint64_t>(code_.register_bytes / 4));
    shared_.assign(code_.dynamic_shared_address, std::byte{0});
    for (std::uint64_t block = 0; block < arguments_.grid.count(); ++block) {
      resume_.assign(threads, 0);
      for (std::uint64_t thread = 0; thread < threads; ++thread)
        prepare(block, thread);
      for (bool any = true; any;) {
        any = false;
        for (std::uint64_t thread = 0; thread < threads; ++thread) {
          if (resume_[thread] == kDone) continue;
          resume_[thread] = run_thread(registers_[thread].data(), resume_[thread]);
          if (unknown_) return 0;
          any = any || resume_[thread] != kDone;
        }
      }
    }
    return executed_;
  }

 private:
  static constexpr std::uint32_t kDone = ~0U;

  void prepare(std::uint64_t block, std::uint64_t thread) {
    std::uint64_t* r = registers_[thread].data();
    for (const ConstantSlot& slot : code_.constants)
      r[slot.offset / 4] = slot.bits;
    for (const ParameterSlot& slot : code_.parameter_slots) {
      std::memcpy(&r[slot.offset / 4], arguments_.parameters.data() + slot.parameter_offset,
                  slot.bytes);
    }
    const Dim3& b = arguments_.block;
    const Dim3& g = arguments_.grid;
    for (const SpecialSlot& slot : code_.specials) {
      using S = SpecialRegister;
      std::uint64_t value = 0;
      switch (slot.which) {
        case S::tid_x:
          value = thread % b.x;
          break;
        case S::tid_y:
          value = thread / b.x % b.y;
          break;
        case S::ntid_x:
          value = b.x;
          break;
        case S::ntid_y:
          value = b.y;
          break;
        case S::ctaid_x:
          value = block % g.x;
          break;
        case S::ctaid_y:
          value = block / g.x % g.y;
          break;
        default:
          break;
      }
      r[slot.offset / 4] = value;
    }
  }

  std::byte* host(StateSpace space, std::uint64_t address) {
    if (space == StateSpace::shared) return shared_.data() + address;
    if (address < begin_ || address >= end_) {
      for (const DeviceMemory::Region& region : memory_.regions()) {
        if (address < region.begin || address >= region.end) continue;
        begin_ = region.begin;
        end_ = region.end;
        host_ = region.host;
      }
    }
    return host_ + (address - begin_);
  }

  static float f(std::uint64_t bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  }
  static std::uint64_t u(float value) { return std::bit_cast<std::uint32_t>(value); }

  bool access(const Record& record, std::uint64_t* r) {
    const std::uint32_t id = record.handler_id - kArithmeticHandlers;
    const int elements = 1 << (id % 3);
    const auto type = static_cast<MemoryType>(id / 3 % kMemoryTypes);
    const bool store = id / 3 / kMemoryTypes >= 2;
    if (type != MemoryType::b32) return false;
    std::byte* at = host(code_.sites[record.site].space,
                         r[record.a / 4] + static_cast<std::uint64_t>(record.immediate));
    const std::uint32_t slots[4] = {record.d, record.b, record.c, record.e};
    for (int i = 0; i < elements; ++i) {
      if (store) {
        std::memcpy(at + 4 * i, &r[slots[i] / 4], 4);
      } else {
        std::uint32_t value = 0;
        std::memcpy(&value, at + 4 * i, 4);
        r[slots[i] / 4] = value;
      }
    }
    return true;
  }

  static bool compare(Operation operation, std::int64_t a, std::int64_t b) {
    switch (operation) {
      case Operation::equal:
        return a == b;
      case Operation::not_equal:
        return a != b;
      case Operation::less:
        return a < b;
      case Operation::less_equal:
        return a <= b;
      case Operation::greater:
        return a > b;
      default:
        return a >= b;
    }
  }

  // Until a barrier or the end; returns where to go on.
  std::uint32_t run_thread(std::uint64_t* r, std::uint32_t at) {
    while (true) {
      const Record& record = code_.records[at];
      if (record.handler_id >= kArithmeticHandlers) {
        unknown_ = unknown_ || !access(record, r);
        if (unknown_) return kDone;
        ++at;
        continue;
      }
      const auto operation = static_cast<Operation>(record.handler_id / kLaneTypes);
      const auto type = static_cast<LaneType>(record.handler_id % kLaneTypes);
      const bool real = type == LaneType::f32;
      const bool wide = type == LaneType::u64 || type == LaneType::s64;
      const std::uint64_t a = r[record.a / 4];
      const std::uint64_t b = r[record.b / 4];
      const std::uint64_t c = r[record.c / 4];
      std::uint64_t& d = r[record.d / 4];
      const auto integer = [&](std::uint64_t value) { return wide ? value : value & 0xffffffffU; };
      const auto is_signed = [&](std::uint64_t value) {
        if (wide) return static_cast<std::int64_t>(value);
        return type == LaneType::s32 ? std::int64_t{static_cast<std::int32_t>(value)}
                                     : static_cast<std::int64_t>(value & 0xffffffffU);
      };
      switch (operation) {
        case Operation::block_head:
          executed_ += static_cast<std::uint64_t>(record.immediate);
          break;
        case Operation::branch:
          at = record.target;
          continue;
        case Operation::branch_if:
          if (((a & 1) != 0) != (record.flags == kNegated)) {
            at = record.target;
            continue;
          }
          break;
        case Operation::exit_lanes:
          return kDone;
        case Operation::barrier:
          return at + 1;
        case Operation::nothing:
          break;
        case Operation::move:
          d = a;
          break;
        case Operation::add:
          d = real ? u(f(a) + f(b)) : integer(a + b);
          break;
        case Operation::sub:
          d = real ? u(f(a) - f(b)) : integer(a - b);
          break;
        case Operation::mul:
          d = real ? u(f(a) * f(b)) : integer(a * b);
          break;
        case Operation::multiply_add:
          d = integer(a * b + c);
          break;
        case Operation::fused_multiply_add:
          d = u(std::fma(f(a), f(b), f(c)));
          break;
        case Operation::mul_wide:
          d = static_cast<std::uint64_t>(is_signed(a) * is_signed(b));
          break;
        case Operation::multiply_add_wide:
          d = static_cast<std::uint64_t>(is_signed(a) * is_signed(b)) + c;
          break;
        case Operation::from_s32:
          d = integer(static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(a)}));
          break;
        case Operation::from_u32:
        case Operation::from_u64:
        case Operation::from_s64:
          d = integer(a);
          break;
        case Operation::bit_and:
          d = a & b;
          break;
        case Operation::bit_or:
          d = a | b;
          break;
        case Operation::bit_xor:
          d = a ^ b;
          break;
        case Operation::shift_left:
          d = integer(a << (b & 63));
          break;
        case Operation::shift_right:
          d = integer(static_cast<std::uint64_t>(is_signed(a) >> (b & 63)));
          break;
        case Operation::select:
          d = ((c & 1) != 0) != (record.flags == kNegated) ? a : b;
          break;
        case Operation::predicate_and:
          d = a & b;
          break;
        case Operation::predicate_or:
          d = a | b;
          break;
        case Operation::predicate_not:
          d = ~a;
          break;
        case Operation::predicate_move:
          d = a;
          break;
        case Operation::equal:
        case Operation::not_equal:
        case Operation::less:
        case Operation::less_equal:
        case Operation::greater:
        case Operation::greater_equal:
          d = compare(operation, is_signed(a), is_signed(b)) ? 1 : 0;
          break;
        default:
          unknown_ = true;
          return kDone;
      }
      ++at;
    }
  }

  const Program::Code& code_;
  const LaunchArguments& arguments_;
  DeviceMemory& memory_;
  std::vector<std::vector<std::uint64_t>> registers_;
  std::vector<std::uint32_t> resume_;
  std::vector<std::byte> shared_;
  std::uint64_t begin_ = 1;
  std::uint64_t end_ = 0;
  std::byte* host_ = nullptr;
  std::uint64_t executed_ = 0;
  bool unknown_ = false;
};

}  // namespace regraph::ptx
