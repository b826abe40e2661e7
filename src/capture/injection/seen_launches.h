// Tells the process that captures of the launches of this program.
#pragma once

#include "capture/injection/driver_functions.h"
#include "capture/runtime/protocol.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace regraph::capture {

// A launch as the program asked the driver for it.
struct DriverLaunch {
  CUfunction function = nullptr;  // or a CUkernel
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
  unsigned dynamic_shared_bytes = 0;
  CUstream stream = nullptr;
  void** parameters = nullptr;
  void** extra = nullptr;
};

// Thread-safe, but for a launch's before() and after(), which are one thread's.
class SeenLaunches {
 public:
  explicit SeenLaunches(const DriverFunctions& driver) : driver_(driver) {}

  // The launch is about to be asked for. Returns whether after() is to be called, which waits for
  // its end.
  bool before(const DriverLaunch& launch, const char* symbol);
  void after();
  // Tells what was not told yet.
  void flush();

 private:
  struct Kernel {
    std::string symbol;
    std::vector<KernelAnswer::Slot> slots;
    std::vector<std::string> variables;  // of its module
    bool is_kernel_handle = false;       // CUkernel, not CUfunction
    bool is_usable = false;
    bool overlapped = false;  // a launch was shown two of whose pointers lead into one allocation
    int timed = 0;
    double quiet_threads = 0.0;
    std::uint64_t not_shown = 0;
  };

  Kernel& kernel_of(const DriverLaunch& launch, const char* symbol);
  void ask_for(Kernel& kernel, const DriverLaunch& launch) const;
  [[nodiscard]] std::vector<char> parameter_block(const Kernel& kernel,
                                                  const DriverLaunch& launch) const;
  [[nodiscard]] std::vector<SeenPointer> pointers_in(const Kernel& kernel,
                                                     const std::vector<char>& block) const;
  [[nodiscard]] bool is_being_captured(const DriverLaunch& launch) const;
  void show(Kernel& kernel, const DriverLaunch& launch, const std::vector<char>& block,
            const std::vector<SeenPointer>& pointers);
  void send_contents(const Kernel& kernel, const DriverLaunch& launch,
                     const std::vector<SeenPointer>& pointers);
  void send_bytes(SeenContent piece, CUdeviceptr address);
  void complain(const std::string& trouble);

  const DriverFunctions& driver_;
  std::mutex mutex_;
  std::map<CUfunction, Kernel> kernels_;
};

}  // namespace regraph::capture
