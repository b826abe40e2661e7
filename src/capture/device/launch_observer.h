// Who looks on while a captured program launches kernels.
#pragma once

#include "capture/runtime/protocol.h"
#include "kernel/launch_plan.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace regraph::capture {

// A pointer argument with the whole allocation that it leads into.
struct ObservedPointer {
  std::uint32_t parameter = 0;
  std::uint32_t byte = 0;
  std::uint64_t allocation = 0;
  std::uint64_t offset = 0;            // in it
  std::uint64_t bytes = 0;             // of it
  std::span<const std::byte> content;  // of it; empty: not at hand
};

struct ObservedVariable {
  std::string name;  // mangled
  std::span<const std::byte> content;
};

// Valid during the call it is given to.
struct ObservedLaunch {
  const std::string& symbol;
  Dim3 grid;
  Dim3 block;
  std::uint32_t dynamic_shared_bytes = 0;
  std::span<const std::byte> parameters;
  std::span<const KernelAnswer::Slot> slots;  // of the parameters in them
  std::vector<ObservedPointer> pointers;
  std::vector<ObservedVariable> variables;  // of the kernel's module
  bool after_cut = false;  // an earlier launch was ended, so memory is not what it would be
};

class LaunchObserver {
 public:
  virtual ~LaunchObserver() = default;
  // Memory is as the launch finds it.
  virtual void before_launch(const ObservedLaunch& launch) = 0;
  // A launch comes with the arguments of an earlier one, and what it would leave in memory is
  // known. True: it need not be executed, and neither of the calls above and below comes. False:
  // they do.
  virtual bool may_skip(const std::string& /*symbol*/) { return false; }
  // The program is about to write to an allocation otherwise than by a launch; nothing: to which is
  // not known. Of programs on a GPU nothing is told.
  virtual void before_write(std::optional<std::uint64_t> /*allocation*/) {}
  // For programs on a GPU, whose memory has to be fetched: whether before_launch would keep the
  // contents of this launch. They are there then, and else not.
  [[nodiscard]] virtual bool wants_contents(const ObservedLaunch& /*launch*/) const { return true; }
  // Launches of up to so many threads whose pointers lead into different allocations need not be
  // shown any more; they are counted (count_launches).
  [[nodiscard]] virtual double quiet_threads(const std::string& /*symbol*/) const { return 0.0; }
  virtual void count_launches(const std::string& /*symbol*/, std::uint64_t /*launches*/) {}
  // A launch took so long on the GPU, alone.
  virtual void add_seconds(const std::string& /*symbol*/, double /*seconds*/) {}
  // Memory is as the launch left it; 0 instructions where it was not executed, or failed.
  virtual void after_launch(const ObservedLaunch& launch, std::uint64_t thread_instructions) = 0;
};

}  // namespace regraph::capture
