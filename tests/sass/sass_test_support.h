// Real machine code for the tests of this room: compiled by NVRTC, run by the interpreter.
#pragma once

#include "base/random.h"
#include "eval/real_compiler.h"
#include "ptx/decode/code.h"
#include "ptx/ptx_test_support.h"
#include "sass/execution_counts.h"
#include "sass/machine_code.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace regraph::test {

inline const char* const kArchitectures[] = {"sm_75", "sm_80", "sm_90", "sm_100", "sm_120"};

// Equal requests are compiled once a program. The kernel is always named k.
inline const CompiledKernel& compiled(const std::string& source,
                                      const std::string& architecture = "sm_90") {
  static Compiler compiler(real_configuration());
  static std::map<std::pair<std::string, std::string>, CompiledKernel> done;
  CompiledKernel& kernel = done[{source, architecture}];
  if (!kernel.ptx.empty()) return kernel;
  auto result = compiler.compile(request_for(source, "k", architecture), Cancellation());
  EXPECT_TRUE(result.ok()) << result.error().message << "\n" << source;
  if (result.ok()) kernel = *std::move(result);
  return kernel;
}

inline sass::MachineCode machine_code(const CompiledKernel& kernel) {
  auto code = sass::read_machine_code(kernel.cubin, kernel.entry);
  EXPECT_TRUE(code.ok()) << code.error().message;
  return code.ok() ? *std::move(code) : sass::MachineCode{};
}

// A kernel k(const float* in, float* out, int n), run with one block of 32 threads on 4096
// elements.
class CountedKernel {
 public:
  explicit CountedKernel(const std::string& source, int n,
                         const std::string& architecture = "sm_90")
      : kernel_(compiled(source, architecture)),
        program_(ptx::load_or_die(kernel_.ptx, kernel_.entry)),
        code_(machine_code(kernel_)) {
    ptx::DeviceMemory memory;
    std::vector<float> values = ptx::random_floats(4096, 7);
    for (float& value : values)
      value = 1.5f + value;
    const std::uint64_t in = ptx::make_buffer(memory, "in", values);
    const std::uint64_t out = ptx::make_buffer(memory, "out", values);
    const ptx::RunResult run =
        ptx::run_kernel(program_, memory, {1, 1, 1}, {32, 1, 1},
                        ptx::Parameters().add(in).add(out).add(std::int32_t{n}));
    EXPECT_TRUE(run.ok()) << run.fault.message;
    profile_ = run.profile;
    counts_ = sass::count_executions(code_, program_, profile_);
  }

  [[nodiscard]] const sass::MachineCode& code() const { return code_; }
  [[nodiscard]] const sass::ExecutionCounts& counts() const { return counts_; }
  [[nodiscard]] const ptx::Program& program() const { return program_; }
  [[nodiscard]] const ptx::Profile& profile() const { return profile_; }

  // Executions of all machine instructions of a class, and how many stand in the code.
  [[nodiscard]] double executed(sass::OperationClass kind) const {
    double sum = 0.0;
    for (std::size_t j = 0; j < code_.instructions.size(); ++j) {
      if (code_.instructions[j].what.operation_class == kind) sum += counts_.executions[j];
    }
    return sum;
  }
  [[nodiscard]] int stand(sass::OperationClass kind) const {
    int sum = 0;
    for (const sass::CodeInstruction& one : code_.instructions)
      sum += one.what.operation_class == kind ? 1 : 0;
    return sum;
  }
  // Executions of PTX instructions of a class by an average warp.
  [[nodiscard]] double in_ptx(ptx::InstructionClass kind) const {
    double sum = 0.0;
    for (const ptx::InstructionProfile& one : profile_.instructions) {
      if (one.instruction_class == kind) sum += static_cast<double>(one.warp_executions);
    }
    return sum / static_cast<double>(profile_.warps);
  }

 private:
  const CompiledKernel& kernel_;
  ptx::Program program_;
  sass::MachineCode code_;
  ptx::Profile profile_;
  sass::ExecutionCounts counts_;
};

// A kernel around `body`.
inline std::string kernel_with(const std::string& body, const std::string& before = "") {
  return before + "__global__ void k(const float* in, float* out, int n) {\n" + body + "\n}\n";
}

}  // namespace regraph::test
