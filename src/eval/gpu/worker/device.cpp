#include "eval/gpu/worker/device.h"

#include "eval/gpu/driver/harness_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

namespace regraph::gpu::worker {
namespace {

using Clock = std::chrono::steady_clock;

constexpr unsigned kThreads = 256;
// The sweep reads that many times the L2, so that hashing and replacement leave nothing behind.
constexpr std::uint64_t kSweepFactor = 2;
constexpr std::uint64_t kSmallestSweep = std::uint64_t{64} << 20;
// Layout of the scratch memory, in bytes.
constexpr std::uint64_t kSinkAt = 0;
constexpr std::uint64_t kStampsAt = 16;
constexpr std::uint64_t kStampBytes = 16;
constexpr std::uint64_t kCountAt = 64;
constexpr std::uint64_t kScratchBytes = 256;
// What device code may print before it is cut off, and allocate: nothing that is verified does
// either, and a flood must not fill memory.
constexpr std::size_t kPrintfBytes = std::size_t{64} << 10;
constexpr std::size_t kHeapBytes = std::size_t{1} << 20;

}  // namespace

void Device::check(CUresult result) const {
  if (result == CUDA_SUCCESS) return;
  throw Failure{static_cast<int>(result), is_sticky(result), false, driver_.describe(result)};
}

DeviceProperties Device::properties(int ordinal) const {
  DeviceProperties found;
  check(driver_.cuDeviceGetCount(&found.device_count));
  check(driver_.cuDriverGetVersion(&found.driver_version));
  if (ordinal < 0 || ordinal >= found.device_count) {
    throw Failure{0, false, false,
                  found.device_count == 0 ? std::string("the driver shows no GPU")
                                          : fmt::format("there is no GPU {}; the driver shows {}",
                                                        ordinal, found.device_count)};
  }
  CUdevice device = 0;
  check(driver_.cuDeviceGet(&device, ordinal));
  std::array<char, 256> text{};
  check(driver_.cuDeviceGetName(text.data(), static_cast<int>(text.size()), device));
  found.name = text.data();
  check(driver_.cuDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), device));
  found.bus_id = text.data();
  const auto attribute = [&](CUdevice_attribute which) {
    int value = 0;
    check(driver_.cuDeviceGetAttribute(&value, which, device));
    return value;
  };
  found.architecture =
      fmt::format("sm_{}{}", attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
                  attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
  std::size_t total = 0;
  check(driver_.cuDeviceTotalMem(&total, device));
  found.total_bytes = total;
  found.sm_count = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  found.l2_bytes = static_cast<std::uint64_t>(attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE));
  found.shared_bytes_per_block =
      static_cast<std::uint64_t>(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
  constexpr double kKilohertz = 1e3;
  found.clock_hertz = attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE) * kKilohertz;
  found.memory_clock_hertz = attribute(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE) * kKilohertz;
  found.memory_bus_bits = attribute(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
  found.device_reads_host_memory = attribute(CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS) != 0;
  if (context_ != nullptr) {
    std::size_t free = 0;
    check(driver_.cuMemGetInfo(&free, &total));
    found.free_bytes = free;
  }
  return found;
}

// A search has several processes on a GPU at a time.
void Device::require_shared_use() const {
  int mode = CU_COMPUTEMODE_DEFAULT;
  check(driver_.cuDeviceGetAttribute(&mode, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, device_));
  if (mode != CU_COMPUTEMODE_PROHIBITED && mode != CU_COMPUTEMODE_EXCLUSIVE_PROCESS) return;
  throw Failure{
      0, false, false,
      fmt::format("the GPU's compute mode {}, and a search needs several; 'nvidia-smi -c 0' "
                  "as root opens it, CUDA_VISIBLE_DEVICES chooses another",
                  mode == CU_COMPUTEMODE_PROHIBITED ? "allows no process"
                                                    : "allows one process at a time")};
}

void Device::take(int ordinal) {
  if (context_ != nullptr) throw Failure{0, false, false, "the GPU is open already"};
  ordinal_ = ordinal;
  check(driver_.cuDeviceGet(&device_, ordinal));
  require_shared_use();
  const CUresult taken = driver_.cuDevicePrimaryCtxRetain(&context_, device_);
  if (taken != CUDA_SUCCESS) {
    context_ = nullptr;
    throw Failure{
        static_cast<int>(taken), is_sticky(taken), false,
        driver_.describe(taken) +
            "; is another process using the GPU ('nvidia-smi' lists them)? Wait for it, or "
            "choose another GPU with CUDA_VISIBLE_DEVICES"};
  }
  check(driver_.cuCtxSetCurrent(context_));
}

void Device::open(const OpenRequest& request) {
  const DeviceProperties found = properties(request.device);
  take(request.device);
  check(driver_.cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, kPrintfBytes));
  check(driver_.cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, kHeapBytes));
  // A kernel may ask for lines that outlive the sweep. Devices without the feature refuse.
  (void)driver_.cuCtxSetLimit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 0);
  check(driver_.cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING));
  check(driver_.cuEventCreate(&done_, CU_EVENT_DISABLE_TIMING));
  CUmodule harness = nullptr;
  check(driver_.cuModuleLoadData(&harness, request.harness.data()));
  check(driver_.cuModuleGetFunction(&sweep_, harness, kSweepKernel));
  check(driver_.cuModuleGetFunction(&poison_, harness, kPoisonKernel));
  check(driver_.cuModuleGetFunction(&stamp_, harness, kStampKernel));
  check(driver_.cuModuleGetFunction(&compare_, harness, kCompareKernel));
  sm_count_ = found.sm_count;
  sweep_bytes_ = std::max(kSweepFactor * found.l2_bytes, kSmallestSweep);
  check(driver_.cuMemAlloc(&sweep_data_, sweep_bytes_));
  check(driver_.cuMemAlloc(&scratch_, kScratchBytes));
  check(driver_.cuMemsetD8(sweep_data_, 0, sweep_bytes_));
  check(driver_.cuMemsetD8(scratch_, 0, kScratchBytes));
}

void Device::require_open() const {
  if (context_ == nullptr) throw Failure{0, false, false, "the GPU is not open"};
}

void Device::finish(CUevent event, double timeout_seconds) const {
  // Spinning first: most kernels are over before a sleeping thread would be awake again.
  constexpr auto kSpin = std::chrono::milliseconds(2);
  constexpr auto kNap = std::chrono::microseconds(50);
  const Clock::time_point start = Clock::now();
  for (;;) {
    const CUresult result = driver_.cuEventQuery(event);
    if (result != CUDA_ERROR_NOT_READY) return check(result);
    const Clock::duration waited = Clock::now() - start;
    if (std::chrono::duration<double>(waited).count() > timeout_seconds) {
      throw Failure{0, true, true,
                    fmt::format("the kernel did not end within {:.3g} seconds", timeout_seconds)};
    }
    if (waited > kSpin) std::this_thread::sleep_for(kNap);
  }
}

// 1 where the kernel requires none.
unsigned Device::required_extent(CUfunction function, CUfunction_attribute attribute) const {
  int extent = 0;
  const CUresult result = driver_.cuFuncGetAttribute(&extent, attribute, function);
  return result == CUDA_SUCCESS && extent > 1 ? static_cast<unsigned>(extent) : 1;
}

void Device::launch(CUfunction function, const LaunchMessage& message) const {
  std::size_t bytes = message.parameters.size();
  // The driver reads it before it returns.
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER,
                   const_cast<std::uint8_t*>(message.parameters.data()),
                   CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
  // A kernel may require a cluster of the launch (.explicitcluster); then it says of what extents.
  CUlaunchAttribute cluster = {};
  cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  cluster.value.clusterDim.x = required_extent(function, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH);
  cluster.value.clusterDim.y = required_extent(function, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT);
  cluster.value.clusterDim.z = required_extent(function, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH);
  const auto& extents = cluster.value.clusterDim;
  if (extents.x * extents.y * extents.z == 1) {
    check(driver_.cuLaunchKernel(function, message.grid[0], message.grid[1], message.grid[2],
                                 message.block[0], message.block[1], message.block[2],
                                 message.shared_bytes, stream_, nullptr,
                                 bytes == 0 ? nullptr : static_cast<void**>(extra)));
    return;
  }
  CUlaunchConfig launch = {};
  launch.gridDimX = message.grid[0];
  launch.gridDimY = message.grid[1];
  launch.gridDimZ = message.grid[2];
  launch.blockDimX = message.block[0];
  launch.blockDimY = message.block[1];
  launch.blockDimZ = message.block[2];
  launch.sharedMemBytes = message.shared_bytes;
  launch.hStream = stream_;
  launch.attrs = &cluster;
  launch.numAttrs = 1;
  check(driver_.cuLaunchKernelEx(&launch, function, nullptr,
                                 bytes == 0 ? nullptr : static_cast<void**>(extra)));
}

void Device::launch_harness(CUfunction function, unsigned blocks,
                            std::vector<void*> parameters) const {
  check(driver_.cuLaunchKernel(function, blocks, 1, 1, kThreads, 1, 1, 0, stream_,
                               parameters.data(), nullptr));
}

void Device::sweep_cache() const {
  CUdeviceptr data = sweep_data_;
  std::uint64_t count = sweep_bytes_ / 16;
  CUdeviceptr sink = scratch_ + kSinkAt;
  launch_harness(sweep_, static_cast<unsigned>(sm_count_) * 8, {&data, &count, &sink});
}

void Device::poison(CUdeviceptr address, std::uint64_t bytes, std::uint64_t seed) const {
  std::uint64_t words = (bytes + 3) / 4;  // allocations are rounded up further than that
  const std::uint64_t blocks =
      std::clamp<std::uint64_t>((words + kThreads - 1) / kThreads, 1, std::uint64_t{16} * 132);
  launch_harness(poison_, static_cast<unsigned>(blocks), {&address, &words, &seed});
}

void Device::stamp(int slot) const {
  CUdeviceptr at = scratch_ + kStampsAt + static_cast<std::uint64_t>(slot) * kStampBytes;
  // Enough blocks that one lands on every SM.
  launch_harness(stamp_, static_cast<unsigned>(sm_count_) * 2, {&at});
}

double Device::stamped_clock_hertz() const {
  std::array<std::uint64_t, 4> stamps{};
  check(driver_.cuMemcpyDtoH(stamps.data(), scratch_ + kStampsAt, sizeof(stamps)));
  const auto clocks = static_cast<double>(stamps[2] - stamps[0]);
  const auto nanoseconds = static_cast<double>(stamps[3] - stamps[1]);
  if (stamps[2] <= stamps[0] || stamps[3] <= stamps[1]) return 0.0;
  return clocks / nanoseconds * 1e9;
}

std::uint32_t Device::count_different(CUdeviceptr address, std::uint64_t bytes,
                                      std::uint8_t pattern, double timeout_seconds) const {
  if (bytes == 0) return 0;
  CUdeviceptr count = scratch_ + kCountAt;
  check(driver_.cuMemsetD8Async(count, 0, sizeof(std::uint32_t), stream_));
  launch_harness(compare_, static_cast<unsigned>(sm_count_) * 4,
                 {&address, &bytes, &pattern, &count});
  check(driver_.cuEventRecord(done_, stream_));
  finish(done_, timeout_seconds);
  std::uint32_t different = 0;
  check(driver_.cuMemcpyDtoH(&different, count, sizeof(different)));
  return different;
}

}  // namespace regraph::gpu::worker
