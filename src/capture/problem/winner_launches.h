// A candidate in the place of the kernel that a captured program launches.
#pragma once

#include "base/result.h"
#include "capture/device/launch_substitute.h"
#include "capture/problem/captured_kernel.h"
#include "kernel/problem.h"
#include "ptx/interpreter.h"

#include <cstdint>
#include <string>

namespace regraph::capture {

// Not thread-safe.
class WinnerLaunches final : public LaunchSubstitute {
 public:
  // `launch` is the candidate's, of a problem whose manifest was derived from `kernel`; both must
  // outlive this. `entry` is its name in `ptx`. Errors: as ptx::Program::load, resource.
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
  WinnerLaunches(const CapturedKernel& kernel, const Problem& problem,
                 const regraph::Launch& launch, ptx::Program program, ptx::ModuleMemory variables)
      : kernel_(&kernel),
        problem_(&problem),
        launch_(launch),
        program_(std::move(program)),
        variables_(std::move(variables)) {}

  // The problem's sizes in this launch.
  [[nodiscard]] Result<Symbols> symbols_of(const ObservedLaunch& launch) const;
  [[nodiscard]] Result<std::int64_t> symbol_of(const std::string& name,
                                               const ObservedLaunch& launch) const;
  [[nodiscard]] Result<ptx::LaunchArguments> arguments_of(const ObservedLaunch& launch) const;

  const CapturedKernel* kernel_;
  const Problem* problem_;
  regraph::Launch launch_;
  ptx::Program program_;
  ptx::ModuleMemory variables_;
  std::uint64_t replaced_ = 0;
  std::uint64_t kept_ = 0;
  std::string why_kept_;
};

}  // namespace regraph::capture
