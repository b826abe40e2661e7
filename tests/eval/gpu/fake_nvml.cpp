// Management libraries that no test machine has: one that knows everything (FAKE_FULL), one of an
// older driver (FAKE_OLD: other names, fewer functions), one that may not be used (FAKE_REFUSED),
// one without what every call needs (FAKE_EMPTY). Only the GPU at 0000:1b:00.0 exists.
#include <cstdlib>
#include <cstring>

namespace {
constexpr int kUnsupported = 3;
constexpr int kNoPermission = 4;
constexpr int kNotFound = 6;
constexpr int kInsufficientSize = 7;
int g_device = 0;
int g_users = 0;  // the library's init and shutdown must be in balance

struct ProcessInfo {
  unsigned pid;
  unsigned long long bytes;
  unsigned gpu_instance;
  unsigned compute_instance;
};

unsigned long long number_of(const char* variable, unsigned long long otherwise) {
  const char* const text = std::getenv(variable);
  return text != nullptr ? std::strtoull(text, nullptr, 0) : otherwise;
}
}  // namespace

extern "C" {
const char* nvmlErrorString(int code) {
  return code == kNoPermission ? "Insufficient Permissions" : "Not Found";
}

#ifndef FAKE_EMPTY
int nvmlInit_v2() {
#ifdef FAKE_REFUSED
  return kNoPermission;
#else
  ++g_users;
  return 0;
#endif
}
int nvmlShutdown() {
  return --g_users == 0 ? 0 : 1;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, void** device) {
  if (std::strcmp(bus_id, "0000:1b:00.0") != 0) return kNotFound;
  *device = &g_device;
  return 0;
}
int nvmlDeviceGetName(void* device, char* text, unsigned bytes) {
  if (device != &g_device || bytes < 16) return kInsufficientSize;
  std::strcpy(text, "NVIDIA Fake");
  return 0;
}
int nvmlSystemGetDriverVersion(char* text, unsigned bytes) {
  if (bytes < 16) return kInsufficientSize;
  std::strcpy(text, "580.1");
  return 0;
}
int nvmlDeviceGetClockInfo(void*, int kind, unsigned* megahertz) {
  *megahertz = kind == 1 ? 345 : kind == 2 ? 3201 : 7;
  return 0;
}
int nvmlDeviceGetMaxClockInfo(void*, int kind, unsigned* megahertz) {
  if (kind != 1) return kUnsupported;
  *megahertz = 1980;
  return 0;
}
int fake_events(void*, unsigned long long* events)
#ifdef FAKE_OLD
    __asm__("nvmlDeviceGetCurrentClocksThrottleReasons");
#else
    __asm__("nvmlDeviceGetCurrentClocksEventReasons");
#endif
int fake_events(void*, unsigned long long* events) {
  *events = number_of("FAKE_CLOCK_EVENTS", 1);
  return 0;
}
#ifdef FAKE_FULL
int nvmlDeviceGetPersistenceMode(void*, int* on) {
  *on = 1;
  return 0;
}
int nvmlDeviceGetTemperature(void*, int sensor, unsigned* celsius) {
  *celsius = 34;
  return sensor == 0 ? 0 : kUnsupported;
}
int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
  *milliwatts = 75400;
  return 0;
}
int nvmlDeviceGetEnforcedPowerLimit(void*, unsigned* milliwatts) {
  *milliwatts = 700000;
  return 0;
}
int nvmlDeviceGetMemoryInfo(void*, unsigned long long* memory) {
  memory[0] = 1000ULL << 20;
  memory[1] = 600ULL << 20;
  memory[2] = 400ULL << 20;
  return 0;
}
// FAKE_PROCESS, as often as FAKE_PROCESSES says; the last one's memory is not known.
int nvmlDeviceGetComputeRunningProcesses_v3(void*, unsigned* count, ProcessInfo* list) {
  const auto there = static_cast<unsigned>(number_of("FAKE_PROCESSES", 0));
  const unsigned room = *count;
  *count = there;
  if (room < there) return kInsufficientSize;
  for (unsigned i = 0; i < there; ++i) {
    list[i] = {static_cast<unsigned>(number_of("FAKE_PROCESS", 1)),
               i + 1 == there ? ~0ULL : 512ULL << 20, ~0U, ~0U};
  }
  return 0;
}
#endif
#endif
}
