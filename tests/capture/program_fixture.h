// A program that nvcc builds, and the device that it runs on, without a GPU.
#pragma once

#include "capture/device/capture_device.h"
#include "capture/device/capture_program.h"
#include "capture/kernel_image.h"
#include "capture/nvcc_program.h"

#include <algorithm>
#include <string>

namespace regraph::capture {

inline DeviceFacts capture_facts() {
  DeviceFacts device;
  device.total_bytes = std::uint64_t{8} << 30;
  device.shared_bytes_per_multiprocessor = 233472;
  device.shared_bytes_per_block_with_opt_in = 232448;
  return device;
}

class CaptureProgramTest : public test::NvccTest {
 protected:
  // Runs path("main"); what it writes to its standard output goes to path("output").
  Result<ProgramEnd> run(double wall_seconds = 60.0) {
    const std::string command =
        "exec '" + path("main").string() + "' > '" + path("output").string() + "'";
    return capture_program({{"/bin/sh", "-c", command}, REGRAPH_CAPTURE_RUNTIME, wall_seconds},
                           device, never);
  }
  std::string output() const {
    const auto text = read_file(path("output"), 1 << 20);
    return text ? *text : "";
  }
  const LaunchedKernel* launched(const std::string& name) const {
    const auto all = device.launched();
    const auto found = std::ranges::find_if(all, [&](const LaunchedKernel* kernel) {
      return readable_name(kernel->symbol).find(name) != std::string::npos;
    });
    return found == all.end() ? nullptr : *found;
  }

  const Cancellation never{};
  CaptureDevice device{{capture_facts(), 20.0, 0}};
};

// Begins the source of a program.
inline constexpr const char* kHead = "#include <cstdio>\n#include <cstdlib>\n#include <unistd.h>\n";

}  // namespace regraph::capture
