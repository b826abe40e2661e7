// Listens to a program that runs on a GPU with capture/injection loaded into it, and tells an
// observer of its launches as if they ran here.
//
//   seen_launch -> seen_content, ... of each allocation -> seen_all
//                  (where the observer wants the contents)
#pragma once

#include "capture/device/launch_observer.h"
#include "capture/device/program_listener.h"
#include "capture/program_kernels.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace regraph::capture {

class InjectedProgram final : public ProgramListener {
 public:
  // `kernels`: of the program's file; others are asked of the driver. `observer` must outlive this.
  InjectedProgram(ProgramKernels kernels, LaunchObserver& observer);

  [[nodiscard]] DeviceAnswer answer(RequestKind kind, std::string_view request,
                                    const Cancellation& cancellation) override;

  // Launches of each kernel, by symbol.
  [[nodiscard]] const std::map<std::string, std::uint64_t>& launches() const { return launches_; }
  // What the injected library could not do, each once.
  [[nodiscard]] const std::set<std::string>& troubles() const { return troubles_; }

  // Contents of a launch that are held until it begins; what lies beyond is refused.
  static constexpr std::uint64_t kMostPending = std::uint64_t{4} << 30;

 private:
  struct Content {
    std::string name;  // of a variable
    std::vector<std::byte> bytes;
    std::uint64_t received = 0;
  };
  // A launch whose contents are on their way.
  struct Pending {
    std::string symbol;
    SeenLaunch launch;
    std::vector<SeenPointer> pointers;
    std::vector<KernelAnswer::Slot> slots;
    std::string parameters;
    std::map<std::uint64_t, Content> allocations;  // by base
    std::map<std::uint64_t, Content> variables;
  };

  DeviceAnswer describe_kernel(std::string_view symbol) const;
  DeviceAnswer launch(std::string_view request);
  DeviceAnswer content(RequestKind kind, std::string_view request);
  DeviceAnswer all(std::string_view request);
  DeviceAnswer time(std::string_view request);
  void count(const std::string& symbol, std::uint64_t launches);
  [[nodiscard]] ObservedLaunch observed(const Pending& pending);

  std::map<std::string, ProgramKernel> kernels_;  // by symbol
  LaunchObserver& observer_;
  std::map<std::uint32_t, Pending> pending_;        // by process
  std::map<std::uint64_t, std::uint64_t> numbers_;  // of allocations, by base
  std::map<std::string, std::uint64_t> launches_;
  std::set<std::string> troubles_;
};

}  // namespace regraph::capture
