// The GPUs of data centres with HBM. Sources of the numbers, here and in device_cards.cpp:
//   [guide]  NVIDIA CUDA C++ programming guide, technical specifications per compute capability, and
//            the calculator of the toolkit (cuda_occupancy.h)
//   [sheet]  NVIDIA data sheet of the product
//   [paper]  NVIDIA's white paper of the architecture: Turing, GA102, Ada, RTX Blackwell
//   [rrze]   RRZE-HPC/gpu-benches, measured result files (a100_80, h100_pcie, h200, gh200, a40, l40)
//   [hopper] HPMLL/NVIDIA-Hopper-Benchmark logs (H800 PCIe)
//   [accel]  Accel-Sim configurations SM80_A100, SM90_H100, SM90_H200
//   [luo]    Luo and others, "Benchmarking and Dissecting the Nvidia Hopper GPU Architecture via
//            Microbenchmarking", 2024
//   [dewing] markdewing/AI_kernels, table of measured latencies; its L2 and DRAM latencies of a GH200
//            are those of [rrze] within 3 %, its L1 latency is 8 clocks longer
//   [quick]  ademeure/QuickRunCUDA, notes on a B300, measured
//   [turing] sjfeng1999/gpu-arch-microbenchmark, measured on an RTX 2070
//   [copies] smallscientist1/cuda_microbenchmark, measured on an RTX 4090
//   [h200]   measured on one H200 by this project's developers (driver 580, CUDA 13.0)
//   [guess]  an estimate nobody measured; see docs/simulator.md
#include "eval/model/device_entries.h"

namespace regraph {
namespace {

constexpr std::uint64_t kMebi = 1 << 20;

}  // namespace

DeviceSpec make_h200() {
  DeviceSpec d;
  d.name = "h200";
  d.architecture = "sm_90";
  d.description = "NVIDIA H200 SXM 141 GB";
  d.sm_count = 132;                      // [h200]
  d.clock_hertz = 1.98e9;                // [h200] 1975-1980 MHz loaded
  d.shared_bytes = 228 << 10;            // [guide]
  d.shared_bytes_per_block = 227 << 10;  // [guide]
  d.unified_bytes = 256 << 10;           // [guide]
  d.fp32_lanes = 128;                    // [guide]
  d.fp64_lanes = 64;                     // [guide]
  d.int32_lanes = 64;                    // [guide]
  d.special_function_lanes = 16;         // [guide]
  d.constant_load_lanes = 16;            // [h200] convolutions: 15.5 reached, never exceeded
  // [luo] mma.sync reaches 62.9 % of the data sheet's rate, which takes wgmma: 1024 and 2048
  d.tensor_tf32_products = 644.0;
  d.tensor_half_products = 1288.0;
  d.lsu_bytes_per_clock = 128.0;                 // [rrze] 127 to 128
  d.arithmetic_latency = 4.0;                    // [accel]
  d.special_function_latency = 23.0;             // [accel]
  d.tensor_latency = 33.0;                       // [luo] m16n8k16
  d.shared_latency = 23.0;                       // [accel] 23 to 29
  d.l1_latency = 32.0;                           // [rrze] gh200
  d.l2_latency = 280.0;                          // [rrze] gh200 at 1.98 GHz
  d.dram_latency = 635.0;                        // [rrze] gh200 625 to 642
  d.l2_bytes_per_second = 9.7e12;                // [rrze] h200 at 25 MB
  d.l2_write_bytes_per_second = 6.0e12;          // [h200] bench/h200/writes.txt: 16 MiB in 2.8 us
  d.l2_partial_write_bytes_per_second = 2.4e12;  // [h200] a transpose, an element a sector: 2.3e12
  d.l2_full_speed_bytes = 42 * kMebi;            // [rrze] h200: 9.1 TB/s at 44 MB, 7.5 at 48
  d.l2_bytes = 60 * kMebi;                       // [h200]
  d.dram_bytes_per_second = 4.25e12;             // [h200] copy of 2^28 floats
  d.peak_dram_bytes_per_second = 4.8e12;         // [sheet]
  // bench/h200/atomics.txt:
  d.atomic_full_pass_seconds = 0.585e-9;           // [h200] indexed, 8 to 64 counters
  d.atomic_partial_pass_seconds = 0.731e-9;        // [h200] one counter
  d.atomic_floating_pass_seconds = 1.755e-9;       // [h200] one counter, float
  d.atomic_sectors_per_second = 1.04e11;           // [h200] random, 2^22 counters
  d.atomic_returning_sectors_per_second = 7.9e10;  // [h200] returning, 2^22 counters
  d.atomic_bytes_per_second = 1.6e12;              // [h200] indexed, 2^14 counters and more
  d.atomic_dram_sectors_per_second = 1.6e10;       // [h200] random, 2^26 counters
  // A launch that is timed by itself: by the short ones of bench/h200/samples.jsonl.gz and
  // micro_samples.jsonl.gz (regraph-calibrate fits 4.3 to 4.6, leaving families out).
  d.kernel_launch_seconds = 4.3e-6;  // [h200]
  d.block_launch_clocks = 416.0;     // [rrze] fitted to gh200 occupancy sweeps
  d.blocks_per_second = 1.65e9;      // [h200] a stencil in blocks of 64 threads; no kernel did more
  return d;
}

namespace {

// Atomics of a device nobody measured, `speed` times as fast as those of `d`.
void slow_atomics(DeviceSpec& d, double speed) {
  d.atomic_full_pass_seconds /= speed;
  d.atomic_partial_pass_seconds /= speed;
  d.atomic_floating_pass_seconds /= speed;
  d.atomic_sectors_per_second *= speed;
  d.atomic_returning_sectors_per_second *= speed;
  d.atomic_bytes_per_second *= speed;
  d.atomic_dram_sectors_per_second *= speed;
}

DeviceSpec make_h100() {
  DeviceSpec d = make_h200();
  d.name = "h100";
  d.description = "NVIDIA H100 SXM 80 GB";
  d.l2_latency = 273.0;                  // [hopper] 264 at 1.755 GHz, scaled by the usual 3 %
  d.dram_latency = 620.0;                // [hopper] 600 to 640
  d.l2_bytes_per_second = 9.5e12;        // [guess] from 7 TB/s of the PCIe part by SMs and clock
  d.l2_write_bytes_per_second = 5.9e12;  // [guess] the H200's by the reads
  d.l2_partial_write_bytes_per_second = 2.35e12;  // [guess] likewise
  d.l2_full_speed_bytes = 36 * kMebi;             // [rrze] h100_pcie
  d.l2_bytes = 50 * kMebi;                        // [sheet]
  d.dram_bytes_per_second = 3.0e12;               // [guess] 90 % of peak, as measured on the H200
  d.peak_dram_bytes_per_second = 3.35e12;         // [sheet]
  return d;
}

DeviceSpec make_gh200() {
  DeviceSpec d = make_h200();  // the same chip: [rrze] gh200 is where its latencies come from
  d.name = "gh200";
  d.description = "NVIDIA GH200 96 GB";
  d.l2_bytes_per_second = 9.7e12;         // [guess] the H200's
  d.l2_full_speed_bytes = 42 * kMebi;     // [guess] the H200's
  d.l2_bytes = 60 * kMebi;                // [dewing]
  d.dram_bytes_per_second = 3.55e12;      // [guess] 89 % of peak as on the H200; [rrze] 3.2 to 3.8
  d.peak_dram_bytes_per_second = 4.0e12;  // [sheet]
  return d;
}

DeviceSpec make_a100() {
  DeviceSpec d = make_h200();
  d.name = "a100";
  d.architecture = "sm_80";
  d.description = "NVIDIA A100 SXM 80 GB";
  d.sm_count = 108;                              // [sheet]
  d.clock_hertz = 1.41e9;                        // [rrze]
  d.shared_bytes = 164 << 10;                    // [guide]
  d.shared_bytes_per_block = 163 << 10;          // [guide]
  d.unified_bytes = 192 << 10;                   // [guide]
  d.fp32_lanes = 64;                             // [guide]
  d.fp64_lanes = 32;                             // [guide]
  d.tensor_tf32_products = 512.0;                // [sheet] 156 TFLOP/s
  d.tensor_half_products = 1024.0;               // [sheet] 312 TFLOP/s
  d.tensor_latency = 25.0;                       // [luo]
  d.lsu_bytes_per_clock = 125.0;                 // [rrze]
  d.l1_latency = 33.0;                           // [rrze]
  d.l2_latency = 203.0;                          // [rrze]
  d.dram_latency = 526.0;                        // [rrze] 515 to 537
  d.l2_bytes_per_second = 5.4e12;                // [rrze]
  d.l2_write_bytes_per_second = 3.3e12;          // [guess] the H200's by the reads
  d.l2_partial_write_bytes_per_second = 1.3e12;  // [guess] likewise
  slow_atomics(d, 1.41 / 1.98);                  // [guess] the H200's by the clock
  d.blocks_per_second = 1.18e9;                  // [guess] likewise
  d.l2_full_speed_bytes = 20 * kMebi;            // [rrze]
  d.l2_bytes = 40 * kMebi;                       // [sheet]
  d.dram_bytes_per_second = 1.8e12;              // [rrze] 1.73 to 1.9
  d.peak_dram_bytes_per_second = 2.04e12;        // [sheet]
  d.block_launch_clocks = 400.0;                 // [guess]
  return d;
}

DeviceSpec make_b200() {
  DeviceSpec d = make_h200();
  d.name = "b200";
  d.architecture = "sm_100";
  d.description = "NVIDIA B200 192 GB";
  d.sm_count = 148;                              // [sheet]
  d.clock_hertz = 1.9e9;                         // [guess]
  d.l2_latency = 300.0;                          // [guess]
  d.dram_latency = 700.0;                        // [guess]
  d.l2_bytes_per_second = 11.0e12;               // [guess]
  d.l2_write_bytes_per_second = 6.8e12;          // [guess] the H200's by the reads
  d.l2_partial_write_bytes_per_second = 2.7e12;  // [guess] likewise
  d.l2_full_speed_bytes = 60 * kMebi;            // [guess]
  d.l2_bytes = 126 * kMebi;                      // [sheet]
  d.dram_bytes_per_second = 7.0e12;              // [guess]
  d.peak_dram_bytes_per_second = 8.0e12;         // [sheet]
  d.block_launch_clocks = 400.0;                 // [guess]
  d.blocks_per_second = 1.58e9;                  // [guess] the H200's by the clock
  return d;
}

DeviceSpec make_b300() {
  DeviceSpec d = make_b200();
  d.name = "b300";
  d.architecture = "sm_103";
  d.description = "NVIDIA B300 SXM 288 GB";
  d.sm_count = 148;                              // [quick]
  d.clock_hertz = 1.92e9;                        // [quick] under load
  d.fp64_lanes = 2;                              // [sheet] 1.25 TFLOP/s
  d.l2_latency = 295.0;                          // [dewing]
  d.dram_latency = 848.0;                        // [dewing]
  d.l2_bytes_per_second = 11.0e12;               // [guess] the B200's; [quick] 13
  d.l2_write_bytes_per_second = 6.8e12;          // [guess] the H200's by the reads
  d.l2_partial_write_bytes_per_second = 2.7e12;  // [guess] likewise
  d.l2_full_speed_bytes = 60 * kMebi;            // [guess] the B200's
  d.l2_bytes = 126 * kMebi;                      // [quick]
  d.dram_bytes_per_second = 7.0e12;              // [guess] the B200's; [quick] reads at 7.3
  d.peak_dram_bytes_per_second = 8.0e12;         // [sheet]
  d.blocks_per_second = 1.6e9;                   // [guess] the H200's by the clock
  return d;
}

}  // namespace

std::vector<DeviceSpec> make_data_centre_devices() {
  return {make_a100(), make_h100(), make_h200(), make_gh200(), make_b200(), make_b300()};
}

}  // namespace regraph
