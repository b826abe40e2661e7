#include "sass/machine_code_check.h"

#include "sass/elf_image.h"
#include "sass/sass_test_support.h"

#include <gtest/gtest.h>

namespace regraph::sass::machine_code_check_test {
namespace {

struct Checked {
  CompiledKernel kernel;
  MachineCode code;
  ptx::Program program;
};

Checked checked(const std::string& architecture) {
  static Compiler compiler(test::real_configuration());
  const auto kernel = compiler.compile(
      test::request_for(std::string(check_source()), std::string(kCheckKernel), architecture),
      Cancellation());
  EXPECT_TRUE(kernel.ok()) << kernel.error().message;
  return {*kernel, test::machine_code(*kernel), ptx::load_or_die(kernel->ptx, kernel->entry)};
}

TEST(MachineCodeCheck, EveryArchitectureIsUnderstood) {
  for (const char* architecture : test::kArchitectures) {
    const Checked known = checked(architecture);
    const Status status = check_machine_code(known.code, known.program);
    EXPECT_TRUE(status.ok()) << architecture << ": " << status.error().message;
  }
}

// Whatever a new compiler might change is noticed.
TEST(MachineCodeCheck, NoticesWhatIsNotAsBelieved) {
  const Checked known = checked("sm_90");
  const auto refused = [&](const char* what, auto change) {
    MachineCode code = known.code;
    change(code);
    EXPECT_FALSE(check_machine_code(code, known.program).ok()) << what;
  };
  refused("lines off by one", [](MachineCode& code) {
    for (CodeInstruction& one : code.instructions)
      ++one.ptx_line;
  });
  refused("no lines", [](MachineCode& code) {
    for (CodeInstruction& one : code.instructions)
      one.ptx_line = 0;
  });
  refused("an unknown operation", [](MachineCode& code) {
    code.instructions[5].what.operation_class = OperationClass::unknown;
  });
  refused("another width", [](MachineCode& code) {
    for (CodeInstruction& one : code.instructions) {
      if (one.what.operation_class == OperationClass::load_global) one.what.access_bytes = 4;
    }
  });
  refused("a branch to nowhere", [](MachineCode& code) {
    for (CodeInstruction& one : code.instructions) {
      if (one.what.has_target) one.target = kNoInstruction;
    }
  });
  refused("no loop", [](MachineCode& code) {
    for (ptx::BasicBlock& block : code.flow.blocks)
      block.loop = -1;
  });
  refused("no barriers", [](MachineCode& code) {
    for (CodeInstruction& one : code.instructions)
      one.what.write_barrier = kNoBarrier;
  });
  refused("nobody waits", [](MachineCode& code) {
    for (CodeInstruction& one : code.instructions)
      one.what.wait_mask = 0;
  });
  refused("loads and stores swapped", [](MachineCode& code) {
    for (CodeInstruction& one : code.instructions) {
      if (one.what.operation_class == OperationClass::load_shared) {
        one.what.operation_class = OperationClass::store_shared;
      } else if (one.what.operation_class == OperationClass::store_shared) {
        one.what.operation_class = OperationClass::load_shared;
      }
    }
  });
}

// sm_90's code read by sm_80's rules, as if an architecture had changed again.
TEST(MachineCodeCheck, NoticesBranchesOfAnotherArchitecture) {
  const Checked known = checked("sm_90");
  std::vector<std::byte> cubin = known.kernel.cubin;
  constexpr std::size_t kFlags = offsetof(Elf64_Ehdr, e_flags);
  ASSERT_EQ(cubin[kFlags + 1], std::byte{90});
  cubin[kFlags + 1] = std::byte{80};
  const auto code = read_machine_code(cubin, known.kernel.entry);
  if (code.ok()) {
    EXPECT_FALSE(check_machine_code(*code, known.program).ok());
  }
}

}  // namespace
}  // namespace regraph::sass::machine_code_check_test
