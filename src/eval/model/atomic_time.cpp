#include "eval/model/atomic_time.h"

#include <algorithm>
#include <cmath>

namespace regraph {
namespace {

// Rounds of the compare-and-swap loop and their bank passes, in clocks of an SM; bench/h200/
// atomics.txt, shared float column. The loop's rounds are as many as lanes want one word; the
// exchanges of lanes that meet in a bank queue, and beyond about four they also fail and repeat.
constexpr double kFloatRoundClocks = 3.7;
constexpr double kFloatBankClocks = 3.0;
constexpr double kFloatQueueClocks = 9.5;
constexpr double kFloatQueueBegin = 23.0;

// As between other resources of the memory side (timing_model.h).
constexpr double kNorm = 4.0;

}  // namespace

double global_atomic_seconds(const ptx::AtomicTraffic& traffic, const DeviceSpec& device) {
  if (traffic.lanes <= 0.0) return 0.0;
  const double passes = traffic.hottest_full_passes * device.atomic_full_pass_seconds +
                        traffic.hottest_partial_passes * device.atomic_partial_pass_seconds;
  const double meeting =
      std::max(passes, traffic.hottest_floating_passes * device.atomic_floating_pass_seconds);
  const double spread =
      (traffic.sector_operations - traffic.returning_sector_operations) /
          device.atomic_sectors_per_second +
      traffic.returning_sector_operations / device.atomic_returning_sectors_per_second;
  const double operands = traffic.payload_bytes / device.atomic_bytes_per_second;
  return std::pow(std::pow(meeting + spread, kNorm) + std::pow(operands, kNorm), 1.0 / kNorm);
}

double scattered_atomic_seconds(double lone_sectors, const DeviceSpec& device) {
  constexpr double kBytesBothWays = 64.0;
  const double by_bandwidth = kBytesBothWays / device.dram_bytes_per_second;
  const double alone = 1.0 / device.atomic_dram_sectors_per_second;
  return lone_sectors * std::max(0.0, alone - by_bandwidth);
}

double shared_atomic_clocks(const ptx::InstructionProfile& instruction) {
  if (instruction.requests == 0) return 0.0;
  const auto bank_lanes = static_cast<double>(instruction.bank_lanes);
  if (instruction.atomic_floating) {
    const double requests = static_cast<double>(instruction.requests);
    const double banks = std::max(kFloatBankClocks * bank_lanes,
                                  kFloatQueueClocks * bank_lanes - kFloatQueueBegin * requests);
    return kFloatRoundClocks * static_cast<double>(instruction.word_lanes) + banks;
  }
  if (instruction.atomic_increments && !instruction.atomic_returns)
    return static_cast<double>(instruction.wavefronts);
  return bank_lanes;
}

}  // namespace regraph
