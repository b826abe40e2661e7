// How long atomics take, from where they meet. The rules and the numbers behind them were found
// with bench/h200/atomics.cu; docs/simulator.md compares them with its table.
#pragma once

#include "eval/model/device.h"
#include "ptx/caches/atomic_contention.h"
#include "ptx/interpreter.h"

namespace regraph {

// Seconds the L2 needs for all global atomics of a grid, DRAM aside.
//
//   meeting   passes over the most wanted 512 bytes, one after another; of floating-point
//             additions at least those of one sector, which wait for each other
//   spread    sector operations / the device's rate, and the meeting's time on top: a stretch in
//             demand waits for requests that are on their way to others
//   operands  bytes / the device's rate, overlapped with the rest
[[nodiscard]] double global_atomic_seconds(const ptx::AtomicTraffic& traffic,
                                           const DeviceSpec& device);

// Seconds of DRAM beyond its bandwidth, for sectors fetched alone.
[[nodiscard]] double scattered_atomic_seconds(double lone_sectors, const DeviceSpec& device);

// Clocks of an SM's shared memory for all executions of one atomic instruction on it. Adding the
// constant 1 without reading the old value takes a pass for each distinct word of a bank, other
// integer operations one for each lane; floating-point additions are loops of compare-and-swap.
[[nodiscard]] double shared_atomic_clocks(const ptx::InstructionProfile& instruction);

}  // namespace regraph
