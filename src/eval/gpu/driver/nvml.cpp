#include "eval/gpu/driver/nvml.h"

#include <fmt/format.h>

#include <array>
#include <dlfcn.h>
#include <fstream>
#include <memory>
#include <unistd.h>
#include <utility>

namespace regraph::gpu {
namespace {

// NVML's public interface as far as it is used. Names, numbers and layouts are its own and stable.
using Device = void*;
enum Code : int {
  kSuccess = 0,
  kInvalidArgument = 2,
  kNoPermission = 4,
  kNotFound = 6,
  kInsufficientSize = 7,
};
enum ClockKind : int { kSmClock = 1, kMemoryClock = 2 };
constexpr int kTemperatureOfGpu = 0;
struct MemoryInfo {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};
// nvmlProcessInfo_t of version 2 and 3.
struct ProcessInfo {
  unsigned process;
  unsigned long long bytes;
  unsigned gpu_instance;
  unsigned compute_instance;
};
constexpr unsigned long long kNotAvailable = ~0ULL;
constexpr unsigned kTextBytes = 96;

struct ClockEvent {
  std::uint64_t bit;
  const char* words;
  bool slows;
};
constexpr std::array<ClockEvent, 9> kClockEvents = {{
    {0x001, "idle", false},
    {0x002, "application clocks", false},
    {0x004, "software power cap", false},
    {0x008, "hardware slowdown", true},
    {0x010, "sync boost", false},
    {0x020, "software thermal slowdown", true},
    {0x040, "hardware thermal slowdown", true},
    {0x080, "hardware power brake", true},
    {0x100, "display clocks", false},
}};

ErrorCode error_code(int code) {
  switch (code) {
    case kNoPermission:
      return ErrorCode::permission;
    case kInvalidArgument:
    case kNotFound:
      return ErrorCode::not_found;
    default:
      return ErrorCode::resource;
  }
}

// Of a process the parent; 0 when there is none, -1 when there is no such process here.
int parent_of(int process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string line;
  if (!std::getline(file, line)) return -1;
  // The name comes before, in parentheses, and may hold anything.
  const std::size_t name_end = line.rfind(')');
  int parent = 0;
  if (name_end == std::string::npos ||
      std::sscanf(line.c_str() + name_end + 1, " %*c %d", &parent) != 1) {
    return -1;
  }
  return parent;
}

bool is_ours(int process) {
  const int self = ::getpid();
  constexpr int kDeepest = 64;
  for (int depth = 0; process > 0 && depth < kDeepest; ++depth) {
    if (process == self) return true;
    process = parent_of(process);
  }
  return false;
}

class Library {
 public:
  explicit Library(void* handle) : handle_(handle, &::dlclose) {}

  // Null when the library does not have it.
  template <typename... Arguments>
  auto find(const char* name) const {
    return reinterpret_cast<int (*)(Arguments...)>(::dlsym(handle_.get(), name));
  }
  // What a call gives; nothing when it is missing or fails.
  template <typename T, typename... Arguments>
  std::optional<T> ask(const char* name, Device device, Arguments... arguments) const {
    const auto call = find<Device, Arguments..., T*>(name);
    T value{};
    if (call == nullptr || call(device, arguments..., &value) != kSuccess) return std::nullopt;
    return value;
  }
  [[nodiscard]] std::string describe(int code) const {
    const auto words =
        reinterpret_cast<const char* (*)(int)>(::dlsym(handle_.get(), "nvmlErrorString"));
    const char* const text = words != nullptr ? words(code) : nullptr;
    return text != nullptr ? text : fmt::format("NVML error {}", code);
  }

 private:
  std::unique_ptr<void, int (*)(void*)> handle_;
};

Result<Library> load(std::span<const std::string> candidates) {
  std::string trouble = "libnvidia-ml.so.1 is not found";
  for (const std::string& path : candidates) {
    void* const handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle != nullptr) return Library(handle);
    // One that is there but cannot be loaded says more than those that are not.
    const std::string why = ::dlerror();
    if (why.find("No such file") == std::string::npos) trouble = why;
  }
  return fail(ErrorCode::not_found, "no NVIDIA management library: " + trouble);
}

std::optional<double> scaled(std::optional<unsigned> value, double unit) {
  if (!value) return std::nullopt;
  return *value * unit;
}

class Reader {
 public:
  Reader(const Library& library, Device device) : library_(library), device_(device) {}

  GpuState read() const {
    constexpr double kMegahertz = 1e6;
    constexpr double kMilliwatt = 1e-3;
    GpuState state;
    state.name = text(library_.find<Device, char*, unsigned>("nvmlDeviceGetName"), device_);
    state.driver = text(library_.find<char*, unsigned>("nvmlSystemGetDriverVersion"));
    if (const auto mode = library_.ask<int>("nvmlDeviceGetPersistenceMode", device_))
      state.persistent = *mode != 0;
    const auto clock = [&](const char* name, int kind) {
      return scaled(library_.ask<unsigned, int>(name, device_, kind), kMegahertz);
    };
    state.sm_clock_hertz = clock("nvmlDeviceGetClockInfo", kSmClock);
    state.most_sm_clock_hertz = clock("nvmlDeviceGetMaxClockInfo", kSmClock);
    state.memory_clock_hertz = clock("nvmlDeviceGetClockInfo", kMemoryClock);
    state.most_memory_clock_hertz = clock("nvmlDeviceGetMaxClockInfo", kMemoryClock);
    // Drivers before 535 know it by the second name only.
    for (const char* name :
         {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"}) {
      if (!state.clock_events) state.clock_events = library_.ask<unsigned long long>(name, device_);
    }
    state.celsius = scaled(
        library_.ask<unsigned, int>("nvmlDeviceGetTemperature", device_, kTemperatureOfGpu), 1.0);
    state.watts = scaled(library_.ask<unsigned>("nvmlDeviceGetPowerUsage", device_), kMilliwatt);
    state.most_watts =
        scaled(library_.ask<unsigned>("nvmlDeviceGetEnforcedPowerLimit", device_), kMilliwatt);
    if (const auto memory = library_.ask<MemoryInfo>("nvmlDeviceGetMemoryInfo", device_))
      state.used_bytes = memory->used;
    state.users = users();
    return state;
  }

 private:
  template <typename Call, typename... Arguments>
  static std::optional<std::string> text(Call call, Arguments... arguments) {
    std::array<char, kTextBytes> buffer{};
    if (call == nullptr || call(arguments..., buffer.data(), kTextBytes - 1) != kSuccess)
      return std::nullopt;
    return std::string(buffer.data());
  }

  std::optional<std::vector<GpuUser>> users() const {
    auto call = find_list("nvmlDeviceGetComputeRunningProcesses_v3");
    if (call == nullptr) call = find_list("nvmlDeviceGetComputeRunningProcesses_v2");
    if (call == nullptr) return std::nullopt;
    // More may come between two calls.
    constexpr unsigned kSpare = 16;
    constexpr int kAttempts = 4;
    std::vector<ProcessInfo> list(kSpare);
    int code = kInsufficientSize;
    for (int i = 0; i < kAttempts && code == kInsufficientSize; ++i) {
      auto count = static_cast<unsigned>(list.size());
      code = call(device_, &count, list.data());
      list.resize(code == kInsufficientSize ? count + kSpare : count);
    }
    if (code != kSuccess) return std::nullopt;
    std::vector<GpuUser> users;
    for (const ProcessInfo& one : list) {
      GpuUser user;
      user.process = static_cast<int>(one.process);
      if (is_ours(user.process)) continue;
      if (one.bytes != kNotAvailable) user.bytes = one.bytes;
      user.visible = parent_of(user.process) >= 0;
      users.push_back(user);
    }
    return users;
  }
  auto find_list(const char* name) const -> int (*)(Device, unsigned*, ProcessInfo*) {
    return library_.find<Device, unsigned*, ProcessInfo*>(name);
  }

  const Library& library_;
  Device device_;
};

}  // namespace

std::vector<std::string> clock_event_words(std::uint64_t events) {
  std::vector<std::string> words;
  for (const ClockEvent& event : kClockEvents) {
    if ((events & event.bit) != 0) words.emplace_back(event.words);
    events &= ~event.bit;
  }
  if (events != 0) words.push_back(fmt::format("{:#x}", events));
  return words;
}

std::uint64_t slowing_clock_events(std::uint64_t events) {
  std::uint64_t slowing = 0;
  for (const ClockEvent& event : kClockEvents) {
    if (event.slows) slowing |= event.bit;
  }
  return events & slowing;
}

std::vector<std::string> nvml_candidates() {
  return {"libnvidia-ml.so.1", "/usr/local/nvidia/lib64/libnvidia-ml.so.1",
          "/usr/lib/wsl/lib/libnvidia-ml.so.1"};
}

Result<GpuState> read_gpu_state(const std::string& bus_id,
                                std::span<const std::string> candidates) {
  const Result<Library> library = load(candidates);
  if (!library.ok()) return library.error();
  const auto start = library->find<>("nvmlInit_v2");
  const auto stop = library->find<>("nvmlShutdown");
  const auto find = library->find<const char*, Device*>("nvmlDeviceGetHandleByPciBusId_v2");
  if (start == nullptr || stop == nullptr || find == nullptr) {
    return fail(ErrorCode::unsupported,
                "the NVIDIA management library is too old: it lacks nvmlInit_v2, nvmlShutdown or "
                "nvmlDeviceGetHandleByPciBusId_v2");
  }
  if (const int code = start(); code != kSuccess) {
    return fail(error_code(code),
                "the NVIDIA management library does not start: " + library->describe(code));
  }
  Device device = nullptr;
  const int code = find(bus_id.c_str(), &device);
  Result<GpuState> state =
      code == kSuccess
          ? Result<GpuState>(Reader(*library, device).read())
          : fail(error_code(code), fmt::format("the NVIDIA management library has no GPU at {}: {}",
                                               bus_id, library->describe(code)));
  (void)stop();
  return state;
}

}  // namespace regraph::gpu
