#include "eval/verify/global_state.h"

#include <gtest/gtest.h>

#include <string>

namespace regraph::verify::global_state_test {
namespace {

// One kernel with `body` and the variable `t` in global memory.
std::vector<StatefulVariable> state_of(const std::string& body,
                                       const std::vector<std::string>& harmless = {}) {
  const std::string ptx =
      ".version 8.0\n.target sm_90\n.address_size 64\n.global .align 4 .b8 t[64] = {1};\n"
      ".extern .func report\n(\n.param .b64 report_param_0\n)\n;\n"
      ".visible .entry k()\n{\n.reg .pred %p<4>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n"
      ".shared .align 8 .b8 s[64];\n" +
      body + "\nret;\n}\n";
  static std::vector<std::shared_ptr<const ptx::Module>> kept;  // what the names point into
  auto module = ptx::parse_module(ptx);
  EXPECT_TRUE(module.ok()) << module.error().message << "\n" << ptx;
  if (!module.ok()) return {};
  kept.push_back(*module);
  return stateful_variables(**module, harmless);
}

TEST(GlobalState, ReadingIsNone) {
  EXPECT_TRUE(state_of("").empty());
  EXPECT_TRUE(state_of("ld.global.u32 %r1, [t+4];").empty());
  EXPECT_TRUE(state_of("mov.u64 %rd1, t;\ncvta.global.u64 %rd2, %rd1;\nadd.s64 %rd3, %rd2, 8;\n"
                       "ld.u32 %r1, [%rd3];\nst.shared.u32 [s], %r1;")
                  .empty());
}

TEST(GlobalState, WritingAndHidingTheAddressIs) {
  const std::string address = "mov.u64 %rd1, t;\nadd.s64 %rd2, %rd1, 4;\n";
  for (const std::string& body : std::initializer_list<std::string>{
           std::string("st.global.u32 [t], %r1;"), address + "st.global.u32 [%rd2], %r1;",
           address + "red.global.add.u32 [%rd2], 1;",
           address + "atom.global.add.u32 %r1, [%rd2], 1;", address + "st.shared.u64 [s], %rd2;",
           address + "setp.lt.u64 %p1, %rd2, %rd3;",
           address + "selp.b64 %rd4, %rd2, %rd3, %p1;\nst.global.u32 [%rd4], %r1;",
           // Defined after its use, in a loop.
           "L:\nst.global.u32 [%rd5], %r1;\nmov.u64 %rd5, t;\nbra L;"}) {
    const auto found = state_of(body);
    ASSERT_EQ(found.size(), 1u) << body;
    EXPECT_EQ(found[0].name, "t");
  }
}

TEST(GlobalState, AStringMayBeHandedToAHarmlessFunction) {
  const std::string call =
      "mov.u64 %rd1, t;\n{\n.param .b64 param0;\nst.param.b64 [param0+0], %rd1;\ncall.uni report, "
      "(param0);\n}\n";
  EXPECT_EQ(state_of(call).size(), 1u);
  EXPECT_TRUE(state_of(call, {"report"}).empty());
}

TEST(GlobalState, LocalMemoryOfItsOwnIs) {
  EXPECT_TRUE(state_of(".local .align 4 .b8 __local_depot0[16];").empty());
  EXPECT_EQ(state_of(".local .align 4 .b8 mine[16];").size(), 1u);
}

}  // namespace
}  // namespace regraph::verify::global_state_test
