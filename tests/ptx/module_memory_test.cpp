// Variables of a module: initial values, values set by the host, values kept between launches.
#include "ptx/memory/module_memory.h"

#include "ptx/ptx_test_support.h"

namespace regraph::ptx::module_memory_test {
namespace {

constexpr const char* kModule = R"(.version 8.0
.target sm_90
.address_size 64
.const .align 4 .f32 scale;
.const .align 4 .b8 table[8] = {1, 0, 0, 0, 2, 0, 0, 0};
.global .align 4 .u32 counter = 40;
.global .align 8 .u64 places[3] = {counter, generic(table)+4, 7};
.global .align 4 .b8 _ZL4mine[4];
.visible .entry count(.param .u64 out)
{
  .reg .b32 %r<6>; .reg .b64 %rd<6>; .reg .f32 %f<3>;
  ld.param.u64 %rd1, [out];
  ld.global.u32 %r1, [counter];
  add.s32 %r1, %r1, 1;
  st.global.u32 [counter], %r1;
  st.global.u32 [%rd1], %r1;
  ld.const.f32 %f1, [scale];
  st.global.f32 [%rd1+4], %f1;
  ld.const.u32 %r2, [table+4];
  st.global.u32 [%rd1+8], %r2;
  ld.global.u64 %rd2, [places+8];
  ld.u32 %r3, [%rd2];
  st.global.u32 [%rd1+12], %r3;
  ret;
}
.visible .entry twice(.param .u64 out)
{
  .reg .b32 %r<6>; .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [out];
  ld.global.u64 %rd2, [places];
  ld.global.u32 %r1, [%rd2];
  shl.b32 %r1, %r1, 1;
  st.global.u32 [%rd2], %r1;
  ret;
}
)";

std::span<const std::byte> bytes_of(const float& value) {
  return std::as_bytes(std::span(&value, 1));
}

constexpr const char* kEmpty =
    ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n";

TEST(ModuleMemoryTest, SymbolsAreReported) {
  const auto symbols = load_or_die(kModule, "count").symbols();
  ASSERT_EQ(symbols.size(), 5U);
  std::string text;
  for (const Program::Symbol& symbol : symbols) {
    text += symbol.name + ":" + std::to_string(symbol.bytes) + (symbol.is_constant ? "c" : "g") +
            (symbol.is_initialised ? "i " : " ");
  }
  EXPECT_EQ(text, "counter:4gi places:24gi _ZL4mine:4g scale:4c table:8ci ");
}

TEST(ModuleMemoryTest, ValuesAreSetAndKeptBetweenLaunches) {
  const Program count = load_or_die(kModule, "count");
  const auto twice = count.with_entry("twice");
  ASSERT_TRUE(twice.ok());
  auto variables = ModuleMemory::create(count);
  ASSERT_TRUE(variables.ok());
  const float scale = 2.5F;
  ASSERT_TRUE(variables->set("scale", bytes_of(scale)).ok());
  DeviceMemory memory;
  const auto out = make_buffer(memory, "out", std::vector<std::uint32_t>(4));
  RunOptions options;
  options.variables = &*variables;
  const auto launch = [&](const Program& program) {
    const RunResult result =
        run_kernel(program, memory, {1, 1, 1}, {1, 1, 1}, Parameters().add(out), options);
    EXPECT_TRUE(result.ok()) << result.fault.message;
  };
  launch(count);                          // 41
  launch(*twice);                         // 82
  launch(load_or_die(kModule, "count"));  // 83: another load of the same text fits too
  const auto values = read_buffer<std::uint32_t>(memory, out);
  EXPECT_EQ(values[0], 83U);
  EXPECT_EQ(values[1], std::bit_cast<std::uint32_t>(scale));
  EXPECT_EQ(values[2], 2U);
  EXPECT_EQ(values[3], 2U);  // through an address in an initialiser
  const auto counter = variables->get("counter");
  ASSERT_TRUE(counter.ok());
  EXPECT_EQ(std::to_integer<int>((*counter)[0]), 83);
  // Without memory of its own every launch starts with the initial values.
  options.variables = nullptr;
  launch(count);
  EXPECT_EQ(read_buffer<std::uint32_t>(memory, out)[0], 41U);
}

TEST(ModuleMemoryTest, ACopyHasTheValuesAndKeepsThem) {
  const Program program = load_or_die(kModule, "count");
  auto variables = ModuleMemory::create(program);
  ASSERT_TRUE(variables.ok());
  const std::vector<std::byte> sevens(4, std::byte{7});
  ASSERT_TRUE(variables->set("counter", sevens).ok());
  const auto copy = variables->copy();
  ASSERT_TRUE(copy.ok());
  EXPECT_TRUE(copy->fits(program));
  const std::vector<std::byte> nines(4, std::byte{9});
  ASSERT_TRUE(variables->set("counter", nines).ok());
  EXPECT_TRUE(std::ranges::equal(*copy->get("counter"), sevens));
  EXPECT_TRUE(std::ranges::equal(*variables->get("counter"), nines));
}

TEST(ModuleMemoryTest, MistakesAreErrors) {
  const Program program = load_or_die(kModule, "count");
  auto variables = ModuleMemory::create(program);
  ASSERT_TRUE(variables.ok());
  const std::vector<std::byte> five(5);
  EXPECT_EQ(variables->set("counter", five).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(variables->set("counter", std::span(five).first(1), 4).error().code,
            ErrorCode::invalid_argument);
  EXPECT_TRUE(variables->set("counter", std::span(five).first(1), 3).ok());
  EXPECT_TRUE(variables->set("mine", std::span(five).first(4)).ok());  // static at global scope
  const Status unknown = variables->set("nothing", five);
  EXPECT_EQ(unknown.error().code, ErrorCode::not_found);
  EXPECT_NE(unknown.error().message.find("counter"), std::string::npos);
  const Program other = load_or_die(kEmpty, "k");
  EXPECT_FALSE(variables->fits(other));
  RunOptions options;
  options.variables = &*variables;
  DeviceMemory memory;
  EXPECT_EQ(run_kernel(other, memory, {1, 1, 1}, {1, 1, 1}, Parameters(), options).fault.kind,
            FaultKind::bad_launch);
}

TEST(ModuleMemoryTest, BudgetsOfHugeGridsCostNothing) {
  const Program program = load_or_die(kEmpty, "k");
  DeviceMemory memory;
  RunOptions options;
  options.instruction_budget = 1000;
  const RunResult result =
      run_kernel(program, memory, {0x7fffffff, 1, 1}, {32, 1, 1}, Parameters(), options);
  EXPECT_EQ(result.fault.kind, FaultKind::instruction_budget);
  EXPECT_NE(result.fault.message.find("the first 1001 blocks"), std::string::npos)
      << result.fault.message;
}

// Threads that come too late must not keep the block that is one too many from being counted.
TEST(ModuleMemoryTest, BudgetsEndWhoeverRunsTheBlocks) {
  const Program program = load_or_die(kEmpty, "k");
  DeviceMemory memory;
  RunOptions options;
  options.instruction_budget = 20;
  options.threads = 8;
  constexpr int kRuns = 2000;
  for (int run = 0; run < kRuns; ++run) {
    const RunResult result =
        run_kernel(program, memory, {0x7fffffff, 1, 1}, {32, 1, 1}, Parameters(), options);
    ASSERT_EQ(result.fault.kind, FaultKind::instruction_budget) << run;
    ASSERT_NE(result.fault.message.find("the first 21 blocks"), std::string::npos)
        << result.fault.message;
  }
}

}  // namespace
}  // namespace regraph::ptx::module_memory_test
