// Speed of the PTX interpreter, checks and counters on, in thread instructions a second on one
// core, beside a plain scalar interpreter (one thread at a time, no checks, no counters) of the
// same bytecode. Also the wall time of a cache simulation of 4096^3 matrix products.
#include "base/random.h"
#include "interpreter_scalar.h"
#include "ptx/caches/cache_simulation.h"
#include "ptx/decode/code.h"
#include "ptx/decode/execution.h"
#include "ptx/interpreter.h"

#include <benchmark/benchmark.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

namespace {

using regraph::Cancellation;
using regraph::Dim3;
using namespace regraph::ptx;

struct Case {
  std::string file;
  std::string kernel;
  Dim3 grid;
  Dim3 block;
  std::vector<std::size_t> buffers;  // floats
  std::vector<int> scalars;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> kCases = {
      {"vector_add",
       "vector_add",
       {4096, 1, 1},
       {256, 1, 1},
       {1 << 20, 1 << 20, 1 << 20},
       {1 << 20}},
      {"matmul_naive",
       "matmul_naive",
       {8, 32, 1},
       {32, 8, 1},
       {1 << 16, 1 << 16, 1 << 16},
       {256, 256, 256}},
      {"matmul_tiled",
       "matmul_tiled",
       {8, 8, 1},
       {32, 32, 1},
       {1 << 16, 1 << 16, 1 << 16},
       {256, 256, 256}},
      {"sgemm_register_tiled",
       "sgemm_register_tiled",
       {2, 2, 1},
       {256, 1, 1},
       {1 << 16, 1 << 16, 1 << 16},
       {256, 256, 256}},
      {"softmax", "softmax", {64, 1, 1}, {256, 1, 1}, {1 << 18, 1 << 18}, {4096}},
      {"transpose", "transpose", {16, 16, 1}, {32, 8, 1}, {1 << 18, 1 << 18}, {512, 512}},
      {"shuffles", "shuffles", {64, 1, 1}, {256, 1, 1}, {1 << 14, 1 << 14}, {1 << 14, 256}},
      {"warp_scan", "warp_scan", {256, 1, 1}, {256, 1, 1}, {1 << 16, 1 << 16}, {1 << 16}},
  };
  return kCases;
}

Program load(const std::string& file, const std::string& kernel) {
  const std::string target = file.find('.') == std::string::npos ? ".sm_90" : "";
  std::ifstream stream(std::string(REGRAPH_SOURCE_DIR) + "/tests/ptx/kernels/" + file + target +
                       ".ptx");
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  auto program = Program::load(text, kernel);
  if (!program.ok()) std::abort();
  return *program;
}

struct Prepared {
  Program program;
  DeviceMemory memory;
  LaunchArguments arguments;
};

Prepared prepare(const Case& wanted) {
  Prepared prepared{load(wanted.file, wanted.kernel), DeviceMemory(), {}};
  prepared.arguments.grid = wanted.grid;
  prepared.arguments.block = wanted.block;
  std::vector<std::byte>& bytes = prepared.arguments.parameters;
  const auto add = [&](const void* value, std::size_t size) {
    const auto* from = static_cast<const std::byte*>(value);
    bytes.insert(bytes.end(), from, from + size);
  };
  for (std::size_t i = 0; i < wanted.buffers.size(); ++i) {
    const auto address = prepared.memory.allocate("buffer", wanted.buffers[i] * sizeof(float),
                                                  BufferAccess::read_write);
    if (!address.ok()) std::abort();
    auto view = prepared.memory.view(*address);
    for (std::size_t j = 0; j < wanted.buffers[i]; ++j) {
      const auto value = static_cast<float>(regraph::to_unit_interval(regraph::random_bits(i, j)));
      std::memcpy(view.data() + j * sizeof(float), &value, sizeof(float));
    }
    add(&*address, sizeof(*address));
  }
  for (int scalar : wanted.scalars)
    add(&scalar, sizeof(scalar));
  return prepared;
}

void interpreter(benchmark::State& state, HandlerSet handlers, bool count) {
  Prepared prepared = prepare(cases()[static_cast<std::size_t>(state.range(0))]);
  RunOptions options;
  options.threads = 1;
  options.handlers = handlers;
  options.count = count;
  double instructions = 0;
  for (auto _ : state) {
    const RunResult result =
        run(prepared.program, prepared.arguments, prepared.memory, options, Cancellation());
    if (!result.ok()) state.SkipWithError(result.fault.message.c_str());
    instructions += static_cast<double>(result.profile.thread_instructions);
  }
  state.SetLabel(cases()[static_cast<std::size_t>(state.range(0))].kernel);
  state.counters["thread_instructions/s"] =
      benchmark::Counter(instructions, benchmark::Counter::kIsRate);
}
BENCHMARK_CAPTURE(interpreter, automatic, HandlerSet::automatic, true)->DenseRange(0, 7);
BENCHMARK_CAPTURE(interpreter, no_counters, HandlerSet::automatic, false)->DenseRange(0, 7);
BENCHMARK_CAPTURE(interpreter, x86_64_v3, HandlerSet::x86_64_v3, true)->DenseRange(0, 7);
BENCHMARK_CAPTURE(interpreter, baseline, HandlerSet::baseline, true)->DenseRange(0, 7);

// The scalar loop, then the interpreter with checks and counters; both compute the same result.
void against_scalar(benchmark::State& state) {
  const Case& wanted = cases()[static_cast<std::size_t>(state.range(0))];
  Prepared prepared = prepare(wanted);
  Prepared scalar = prepare(wanted);
  RunOptions options;
  options.threads = 1;
  using Clock = std::chrono::steady_clock;
  double scalar_seconds = 0;
  double vector_seconds = 0;
  double instructions = 0;
  for (auto _ : state) {
    const auto start = Clock::now();
    const std::uint64_t executed =
        ScalarInterpreter(scalar.program, scalar.arguments, scalar.memory).run();
    const auto middle = Clock::now();
    const RunResult result =
        run(prepared.program, prepared.arguments, prepared.memory, options, Cancellation());
    const auto end = Clock::now();
    if (!result.ok() || executed != result.profile.thread_instructions) {
      state.SkipWithError("the two interpreters disagree");
    }
    scalar_seconds += std::chrono::duration<double>(middle - start).count();
    vector_seconds += std::chrono::duration<double>(end - middle).count();
    instructions += static_cast<double>(executed);
  }
  const auto mine = prepared.memory.regions();
  const auto theirs = scalar.memory.regions();
  for (std::size_t i = 0; i < mine.size(); ++i) {
    if (std::memcmp(mine[i].host, theirs[i].host, mine[i].end - mine[i].begin) != 0) {
      state.SkipWithError("the two interpreters' results differ");
    }
  }
  state.SetLabel(wanted.kernel);
  state.counters["scalar_G/s"] = instructions / scalar_seconds / 1e9;
  state.counters["vector_G/s"] = instructions / vector_seconds / 1e9;
  state.counters["ratio"] = scalar_seconds / vector_seconds;
}
BENCHMARK(against_scalar)->DenseRange(0, 3)->Unit(benchmark::kMillisecond);

// Products of halves of 1024^3 on tensor cores, in multiply-adds a second on one core.
void tensor_product(benchmark::State& state, const char* file, const char* kernel,
                    std::uint32_t threads) {
  const std::size_t n = 1024;
  const Program program = load(file, kernel);
  DeviceMemory memory;
  LaunchArguments arguments;
  arguments.grid = {n / 64, n / 64, 1};
  arguments.block = {threads, 1, 1};
  const auto add = [&](const auto& value) {
    const auto* from = reinterpret_cast<const std::byte*>(&value);
    arguments.parameters.insert(arguments.parameters.end(), from, from + sizeof(value));
  };
  for (const std::size_t bytes : {2, 2, 4}) {
    const auto address = memory.allocate("buffer", n * n * bytes, BufferAccess::read_write);
    if (!address.ok()) std::abort();
    const auto view = memory.view(*address);
    for (std::size_t i = 0; i < n * n * bytes; i += 2) {
      const auto half =
          static_cast<std::uint16_t>(0x3000U | (regraph::random_bits(1, i) & 0x8fffU));
      std::memcpy(view.data() + i, &half, sizeof(half));
    }
    add(*address);
  }
  add(static_cast<int>(n));
  RunOptions options;
  options.threads = 1;
  for (auto _ : state) {
    const RunResult result = run(program, arguments, memory, options, Cancellation());
    if (!result.ok()) state.SkipWithError(result.fault.message.c_str());
  }
  state.counters["multiply_adds/s"] =
      benchmark::Counter(static_cast<double>(n * n * n) * static_cast<double>(state.iterations()),
                         benchmark::Counter::kIsRate);
}
BENCHMARK_CAPTURE(tensor_product, mma, "matmul_mma.sm_90", "matmul_mma", 128)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(tensor_product, wgmma, "matmul_wgmma.sm_90a", "matmul_wgmma", 160)
    ->Unit(benchmark::kMillisecond);

// 4096^3: grids of the sizes the search meets; by threads that may work at once.
void caches(benchmark::State& state, const char* file, const char* kernel, Dim3 grid, Dim3 block,
            int resident) {
  const std::size_t n = 4096;
  Case wanted{file, kernel, grid, block, {}, {4096, 4096, 4096}};
  Program program = load(file, kernel);
  DeviceMemory memory;
  LaunchArguments arguments;
  arguments.grid = grid;
  arguments.block = block;
  const auto add = [&](const auto& value) {
    const auto* from = reinterpret_cast<const std::byte*>(&value);
    arguments.parameters.insert(arguments.parameters.end(), from, from + sizeof(value));
  };
  for (int i = 0; i < 3; ++i) {
    add(*memory.allocate("buffer", n * n * sizeof(float), BufferAccess::read_write));
  }
  for (int scalar : wanted.scalars)
    add(scalar);
  CacheGeometry geometry;
  geometry.resident_blocks_per_sm = resident;
  geometry.l1_bytes = 200 << 10;
  geometry.l2_bytes = 50 << 20;
  CacheTraffic traffic;
  regraph::ThreadBudget threads;
  threads.limit(static_cast<int>(state.range(0)));
  const regraph::ThreadBudget::Share calling = threads.enter();
  CacheSimulationLimits limits;
  limits.threads = &threads;
  for (auto _ : state) {
    auto result = simulate_caches(program, arguments, memory, geometry, limits, Cancellation());
    if (!result.ok()) {
      state.SkipWithError(result.error().message.c_str());
      return;
    }
    traffic = *result;
  }
  state.counters["L2_read_GB"] = traffic.l2_read_bytes / 1e9;
  state.counters["DRAM_read_GB"] = traffic.dram_read_bytes / 1e9;
  state.counters["DRAM_write_GB"] = traffic.dram_write_bytes / 1e9;
  state.counters["L1_hit"] = traffic.l1_hit_sectors / traffic.l1_load_sectors;
  state.counters["truncated"] = traffic.truncated ? 1 : 0;
}
BENCHMARK_CAPTURE(caches, naive_32x8, "matmul_naive", "matmul_naive", Dim3{128, 512, 1},
                  Dim3{32, 8, 1}, 8)
    ->RangeMultiplier(2)
    ->Range(1, 8)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(caches, naive_1x256, "matmul_naive", "matmul_naive", Dim3{4096, 16, 1},
                  Dim3{1, 256, 1}, 8)
    ->RangeMultiplier(2)
    ->Range(1, 8)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(caches, tiled_32x32, "matmul_tiled", "matmul_tiled", Dim3{128, 128, 1},
                  Dim3{32, 32, 1}, 2)
    ->RangeMultiplier(2)
    ->Range(1, 8)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(caches, register_tiled, "sgemm_register_tiled", "sgemm_register_tiled",
                  Dim3{32, 32, 1}, Dim3{256, 1, 1}, 2)
    ->RangeMultiplier(2)
    ->Range(1, 8)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
