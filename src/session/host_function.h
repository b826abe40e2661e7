// A sequential function compiled for this machine's processor, and run in processes of its own.
#pragma once

#include "base/cancellation.h"
#include "base/files.h"
#include "base/result.h"
#include "eval/verify/kernel_run.h"
#include "kernel/problem.h"
#include "session/problem_source.h"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace regraph {

class HostFunction {
 public:
  // Compiles the user's file as it is with the system's compiler and `options`, e.g. {"-O2"}.
  // `source` and `problem` must outlive the result. Errors: not_found (there is no compiler),
  // compile, io.
  [[nodiscard]] static Result<HostFunction> build(const SequentialSource& source,
                                                  const Problem& problem,
                                                  const std::vector<std::string>& options,
                                                  const Cancellation& cancellation);

  // "g++ -O2".
  [[nodiscard]] const std::string& compiler() const { return compiler_; }

  // Runs it once in a limited process, its buffers between guard pages, inputs read-only. A fault
  // is a result. Errors as of verify::run_kernel.
  [[nodiscard]] Result<verify::KernelRun> run(const Symbols& symbols, const verify::Buffers& inputs,
                                              const verify::RunSettings& settings,
                                              const Cancellation& cancellation) const;

  // The best of several runs on one core, in seconds. Errors: resource (it takes longer than that
  // or needs too much memory), unsupported (it fails).
  [[nodiscard]] Result<double> time(const Symbols& symbols, double most_seconds,
                                    const Cancellation& cancellation) const;

 private:
  HostFunction(const SequentialSource& source, const Problem& problem, TemporaryDirectory folder)
      : source_(&source), problem_(&problem), folder_(std::move(folder)) {}

  // What the process is told: the parameters in order.
  [[nodiscard]] Result<std::string> parameters_of(const Symbols& symbols,
                                                  const verify::Buffers& contents) const;
  [[nodiscard]] std::size_t argument_of(const std::string& parameter) const;

  const SequentialSource* source_;
  const Problem* problem_;
  TemporaryDirectory folder_;
  std::string compiler_;
};

}  // namespace regraph
