// A candidate in the place of the kernel that a captured program launches.
#pragma once

#include "base/result.h"
#include "capture/device/launch_substitute.h"
#include "capture/problem/captured_kernel.h"
#include "kernel/problem.h"
#include "ptx/interpreter.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace regraph::capture {

// Not thread-safe.
class WinnerLaunches final : public LaunchSubstitute {
 public:
  // `launch` is the candidate's, of a problem whose manifest was derived from `kernel`; the problem
  // must outlive this. `entry` is its name in `ptx`. Of several kernels in a row it stands in for
  // the one that the problem's signature is of. Errors: as ptx::Program::load, resource;
  // unsupported (the captured kernel is none of the problem's).
  [[nodiscard]] static Result<WinnerLaunches> create(const CapturedKernel& kernel,
                                                     const Problem& problem,
                                                     const regraph::Launch& launch,
                                                     const std::string& ptx,
                                                     const std::string& entry);

  std::optional<Substitute> substitute(const ObservedLaunch& launch) override;

  [[nodiscard]] std::uint64_t replaced() const { return replaced_; }
  // Launches of the kernel that the candidate cannot stand in for, and why the first.
  [[nodiscard]] std::uint64_t kept() const { return kept_; }
  [[nodiscard]] const std::string& why_kept() const { return why_kept_; }

 private:
  // A kernel among those that were captured in a row.
  struct Place {
    std::string symbol;
    std::size_t stage = 0;
    std::vector<KeptSlot> slots;
  };
  [[nodiscard]] static Result<Place> place_in(const CapturedKernel& kernel, const Problem& problem);

  WinnerLaunches(Place place, const Problem& problem, const regraph::Launch& launch,
                 ptx::Program program, ptx::ModuleMemory variables)
      : place_(std::move(place)),
        problem_(&problem),
        launch_(launch),
        program_(std::move(program)),
        variables_(std::move(variables)) {}

  // The sizes that the launches' expressions need, in this launch.
  [[nodiscard]] Result<Symbols> symbols_of(const ObservedLaunch& launch,
                                           const regraph::Launch& original) const;
  [[nodiscard]] Result<std::int64_t> symbol_of(const std::string& name,
                                               const ObservedLaunch& launch) const;
  [[nodiscard]] Result<ptx::LaunchArguments> arguments_of(const ObservedLaunch& launch) const;

  Place place_;
  const Problem* problem_;
  regraph::Launch launch_;
  ptx::Program program_;
  ptx::ModuleMemory variables_;
  std::uint64_t replaced_ = 0;
  std::uint64_t kept_ = 0;
  std::string why_kept_;
};

}  // namespace regraph::capture
