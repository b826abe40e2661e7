// Cards with GDDR memory: one function for what an architecture's SMs have in common, one row a
// card. The sources in brackets are those of device_entries.cpp.
//
// Nobody of this project measured any of them. Where data sheets and published benchmarks say
// nothing, a card has the H200's number, scaled as the functions below say: all that is [guess].
// Clocks are the boost clocks of the data sheets; under load, cards of little power (T4, L4) run
// slower, many GeForce cards faster.
#include "eval/model/device_entries.h"

namespace regraph {
namespace {

constexpr std::uint64_t kMebiByte = 1 << 20;

struct Card {
  const char* name;
  const char* description;
  int sm_count;
  double clock_hertz;
  // Multiply-adds of 16-bit factors per clock of one SM, sums of 32 bits: GeForce cards do half of
  // what others do. Half as many of tf32.
  double half_products;
  double l2_latency;
  double dram_latency;
  double l2_bytes_per_second;
  double l2_full_speed_mebi;
  double l2_mebi;
  double dram_bytes_per_second;
  double peak_dram_bytes_per_second;
};

// What sm_86, sm_89 and sm_120 have in common.
DeviceSpec card_sm(const char* architecture) {
  DeviceSpec d = make_h200();
  d.architecture = architecture;
  d.max_warps = 48;                     // [guide]
  d.shared_bytes = 100 << 10;           // [guide]
  d.shared_bytes_per_block = 99 << 10;  // [guide]
  d.unified_bytes = 128 << 10;          // [guide]
  d.fp32_lanes = 128;                   // [guide]
  d.fp64_lanes = 2;                     // [guide]
  d.int32_lanes = 64;                   // [guide]
  d.special_function_lanes = 16;        // [guide]
  d.constant_load_lanes = 16;           // [guess] the H200's
  d.lsu_bytes_per_clock = 128.0;        // [paper] shared memory
  d.l1_path_share = 0.5;                // [rrze] a40, l40: L1 delivers 64 bytes a clock
  d.arithmetic_latency = 4.0;           // [guess] the H200's, as the next three
  d.special_function_latency = 23.0;
  d.tensor_latency = 33.0;
  d.shared_latency = 23.0;
  return d;
}

DeviceSpec sm_75() {
  DeviceSpec d = card_sm("sm_75");
  d.max_warps = 32;                     // [guide]
  d.max_blocks = 16;                    // [guide]
  d.shared_bytes = 64 << 10;            // [guide]
  d.shared_bytes_per_block = 64 << 10;  // [guide]
  d.reserved_shared_bytes = 0;          // [guide]
  d.unified_bytes = 96 << 10;           // [guide]
  d.fp32_lanes = 64;                    // [guide]
  d.lsu_bytes_per_clock = 64.0;         // [paper]
  d.l1_path_share = 1.0;                // [paper]
  d.shared_latency = 23.0;              // [turing]
  d.l1_latency = 32.0;                  // [turing]
  return d;
}

DeviceSpec sm_86() {
  DeviceSpec d = card_sm("sm_86");
  d.max_blocks = 16;    // [guide]
  d.l1_latency = 33.0;  // [rrze] a40
  return d;
}

DeviceSpec sm_89() {
  DeviceSpec d = card_sm("sm_89");
  d.max_blocks = 24;    // [guide]
  d.l1_latency = 34.0;  // [rrze] l40
  return d;
}

DeviceSpec sm_120() {
  DeviceSpec d = card_sm("sm_120");
  d.max_blocks = 24;  // [guide]
  // [paper] every lane does fp32 or integers; multiplications are fewer, which is left out
  d.int32_lanes = 128;
  d.l1_path_share = 0.5;  // [guess] as on Ada
  d.l1_latency = 36.0;    // [dewing] 44, less the 8 that its program adds
  return d;
}

// A card of `sm`: atomics, writes and launches are the H200's by what they depend on, all [guess].
DeviceSpec make_card(DeviceSpec d, const Card& card) {
  const DeviceSpec h200 = make_h200();
  d.name = card.name;
  d.description = card.description;
  d.sm_count = card.sm_count;
  d.clock_hertz = card.clock_hertz;
  d.tensor_half_products = card.half_products;
  d.tensor_tf32_products = card.half_products / 2.0;
  d.l2_latency = card.l2_latency;
  d.dram_latency = card.dram_latency;
  d.l2_bytes_per_second = card.l2_bytes_per_second;
  d.l2_full_speed_bytes = static_cast<std::uint64_t>(card.l2_full_speed_mebi * kMebiByte);
  d.l2_bytes = static_cast<std::uint64_t>(card.l2_mebi * kMebiByte);
  d.dram_bytes_per_second = card.dram_bytes_per_second;
  d.peak_dram_bytes_per_second = card.peak_dram_bytes_per_second;

  const double clock = d.clock_hertz / h200.clock_hertz;
  const double l2 = d.l2_bytes_per_second / h200.l2_bytes_per_second;
  const double dram = d.dram_bytes_per_second / h200.dram_bytes_per_second;
  d.l2_write_bytes_per_second *= l2;
  d.l2_partial_write_bytes_per_second *= l2;
  d.atomic_full_pass_seconds /= clock;
  d.atomic_partial_pass_seconds /= clock;
  d.atomic_floating_pass_seconds /= clock;
  d.atomic_sectors_per_second *= l2;
  d.atomic_returning_sectors_per_second *= l2;
  d.atomic_bytes_per_second *= l2;
  d.atomic_dram_sectors_per_second *= dram;
  d.blocks_per_second *= clock * d.sm_count / h200.sm_count;
  d.block_launch_clocks = 400.0;
  return d;
}

// clang-format off
constexpr Card kT4 = {
    .name = "t4", .description = "NVIDIA T4 16 GB",
    .sm_count = 40, .clock_hertz = 1.59e9,   // [sheet]
    .half_products = 512,                    // [sheet] 65 TFLOP/s; sm_75 has no tf32
    .l2_latency = 236,                       // [turing]
    .dram_latency = 500,                     // [guess] the A40's nanoseconds
    .l2_bytes_per_second = 1.3e12,           // [guess] the A40's by memory bus and clock, rounded down
    .l2_full_speed_mebi = 3.5,               // [guess] by the A40's share
    .l2_mebi = 4,                            // [sheet]
    .dram_bytes_per_second = 240e9,          // [guess] 75 % of peak, error correction is on
    .peak_dram_bytes_per_second = 320e9};    // [sheet]

constexpr Card kA40 = {
    .name = "a40", .description = "NVIDIA A40 48 GB",
    .sm_count = 84, .clock_hertz = 1.74e9,   // [sheet], and [rrze] under load
    .half_products = 512,                    // [sheet] 149.7 TFLOP/s
    .l2_latency = 250, .dram_latency = 547,  // [rrze]
    .l2_bytes_per_second = 2.45e12,          // [rrze]
    .l2_full_speed_mebi = 5.3,               // [rrze] latencies rise from there on
    .l2_mebi = 6,                            // [paper]
    .dram_bytes_per_second = 655e9,          // [rrze] 651 to 680
    .peak_dram_bytes_per_second = 696e9};    // [sheet]

constexpr Card kA10 = {
    .name = "a10", .description = "NVIDIA A10 24 GB",
    .sm_count = 72, .clock_hertz = 1.695e9,  // [sheet]
    .half_products = 512,                    // [sheet] 125 TFLOP/s
    .l2_latency = 250, .dram_latency = 547,  // [guess] the A40's, the same chip
    .l2_bytes_per_second = 2.39e12,          // [guess] the A40's by the clock
    .l2_full_speed_mebi = 5.3,               // [guess] the A40's
    .l2_mebi = 6,                            // [paper]
    .dram_bytes_per_second = 565e9,          // [guess] 94 % of peak, as measured on the A40
    .peak_dram_bytes_per_second = 600e9};    // [sheet]

constexpr Card kRtx3090 = {
    .name = "rtx3090", .description = "NVIDIA GeForce RTX 3090 24 GB",
    .sm_count = 82, .clock_hertz = 1.695e9,  // [paper]
    .half_products = 256,                    // [paper] 71 TFLOP/s
    .l2_latency = 250, .dram_latency = 547,  // [guess] the A40's, the same chip
    .l2_bytes_per_second = 2.39e12,          // [guess] the A40's by the clock
    .l2_full_speed_mebi = 5.3,               // [guess] the A40's
    .l2_mebi = 6,                            // [paper]
    .dram_bytes_per_second = 880e9,          // [guess] 94 % of peak, as measured on the A40
    .peak_dram_bytes_per_second = 936e9};    // [paper]

constexpr Card kL4 = {
    .name = "l4", .description = "NVIDIA L4 24 GB",
    .sm_count = 58, .clock_hertz = 2.04e9,   // [sheet]
    .half_products = 512,                    // [sheet] 121 TFLOP/s
    .l2_latency = 274, .dram_latency = 625,  // [guess] the L40S's
    .l2_bytes_per_second = 2.1e12,           // [guess] the L40S's by memory bus and clock
    .l2_full_speed_mebi = 44,                // [guess] by the L40S's share
    .l2_mebi = 48,                           // [sheet]
    .dram_bytes_per_second = 270e9,          // [guess] 90 % of peak, as measured on the L40
    .peak_dram_bytes_per_second = 300e9};    // [sheet]

constexpr Card kL40s = {
    .name = "l40s", .description = "NVIDIA L40S 48 GB",
    .sm_count = 142, .clock_hertz = 2.52e9,  // [sheet]; [rrze] l40 2.49 to 2.52 under load
    .half_products = 512,                    // [sheet] 362 TFLOP/s
    .l2_latency = 274, .dram_latency = 625,  // [rrze] l40, the same chip, SMs and memory
    .l2_bytes_per_second = 5.2e12,           // [rrze] l40
    .l2_full_speed_mebi = 88,                // [rrze] l40: 5.2 TB/s at 89 MiB, 4.3 at 98
    .l2_mebi = 96,                           // [paper]
    .dram_bytes_per_second = 780e9,          // [rrze] l40: 776 to 795
    .peak_dram_bytes_per_second = 864e9};    // [sheet]

constexpr Card kRtx4090 = {
    .name = "rtx4090", .description = "NVIDIA GeForce RTX 4090 24 GB",
    .sm_count = 128, .clock_hertz = 2.52e9,  // [paper]
    .half_products = 256,                    // [paper] 165 TFLOP/s
    .l2_latency = 296, .dram_latency = 636,  // [dewing]
    .l2_bytes_per_second = 4.9e12,           // [copies]
    .l2_full_speed_mebi = 66,                // [guess] by the L40S's share
    .l2_mebi = 72,                           // [paper]
    .dram_bytes_per_second = 910e9,          // [guess] 90 % of peak, as measured on the L40
    .peak_dram_bytes_per_second = 1008e9};   // [paper]

constexpr Card kRtx5090 = {
    .name = "rtx5090", .description = "NVIDIA GeForce RTX 5090 32 GB",
    .sm_count = 170, .clock_hertz = 2.407e9,  // [paper]
    .half_products = 256,                     // [paper] 209.5 TFLOP/s
    .l2_latency = 360, .dram_latency = 936,   // [dewing]
    .l2_bytes_per_second = 6.7e12,            // [guess] the L40S's by memory bus and clock
    .l2_full_speed_mebi = 88,                 // [guess] by the L40S's share
    .l2_mebi = 96,                            // [paper]
    .dram_bytes_per_second = 1610e9,          // [guess] 90 % of peak, as measured on the L40
    .peak_dram_bytes_per_second = 1792e9};    // [paper]

constexpr Card kRtxPro6000 = {
    .name = "rtxpro6000", .description = "NVIDIA RTX PRO 6000 Blackwell Workstation Edition 96 GB",
    .sm_count = 188, .clock_hertz = 2.617e9,  // [paper]
    .half_products = 512,                     // [paper] 503.8 TFLOP/s
    .l2_latency = 352, .dram_latency = 864,   // [dewing]
    .l2_bytes_per_second = 7.3e12,            // [guess] the L40S's by memory bus and clock
    .l2_full_speed_mebi = 117,                // [guess] by the L40S's share
    .l2_mebi = 128,                           // [paper]
    .dram_bytes_per_second = 1610e9,          // [guess] 90 % of peak, as measured on the L40
    .peak_dram_bytes_per_second = 1792e9};    // [sheet]
// clang-format on

}  // namespace

std::vector<DeviceSpec> make_card_devices() {
  return {
      make_card(sm_75(), kT4),  make_card(sm_86(), kRtx3090),  make_card(sm_86(), kA10),
      make_card(sm_86(), kA40), make_card(sm_89(), kRtx4090),  make_card(sm_89(), kL40s),
      make_card(sm_89(), kL4),  make_card(sm_120(), kRtx5090), make_card(sm_120(), kRtxPro6000)};
}

}  // namespace regraph
