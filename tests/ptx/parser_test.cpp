// The parser on what compilers write and on garbage.
#include "ptx/parse/module.h"
#include "ptx/ptx_test_support.h"

#include <algorithm>

namespace regraph::ptx::parser_test {
namespace {

TEST(ParserTest, ReadsDeclarationsScopesAndStatementsOverLines) {
  const auto module = parse_module(R"(
.version 9.0
.target sm_90 /* comment
over lines */
.address_size 64
.global .align 4 .b8 table[8] = {1, 2, 0xff, 4};
.const .align 8 .f64 weights[2] = {0d3FF0000000000000, 2.5};
.extern .shared .align 16 .b8 dynamic[];
.extern .func (.param .b32 result) helper(.param .b64 a, .param .b32 b);
.visible .entry $kernel__1(
  .param .u64 .ptr .global .align 16 $kernel__1_param_0,
  .param .align 8 .b8 __struct[24]
)
.maxntid 256, 1, 1
.minnctapersm 2
{
  .reg .pred %p<3>;
  .reg .b32 %r<5>;
  .reg .b64 %rd1, %rd2;
  .shared .align 4 .b8 _ZZ4demo[128];
  $L__BB0_1:
  @!%p1 ld.shared.b32
    %r1,
    [%r2+-4];
  {
    .reg .b32 %r1;
    .param .b64 param0;
    mov.u32 %r1, -1;
    call.uni
    (%r1),
    helper,
    (param0, %r1);
  }
  ld.param.v2.u32 {%r3, _}, [__struct+16];
  setp.lt.s32 %p1|%p2, %r3, 0x7fU;
  bra.uni $L__BB0_1;
})");
  ASSERT_TRUE(module.ok()) << module.error().message;
  ASSERT_EQ((*module)->functions.size(), 2U);
  const Function& function = (*module)->functions[1];
  EXPECT_EQ(function.name, "$kernel__1");
  ASSERT_EQ(function.instructions.size(), 6U);
  EXPECT_EQ(function.instructions[0].mnemonic, "ld.shared.b32");
  EXPECT_TRUE(function.instructions[0].guard_negated);
  const Operand& address = function.operands[function.instructions[0].first_operand + 1];
  EXPECT_EQ(address.kind, Operand::Kind::address);
  EXPECT_EQ(address.offset, -4);
  // The inner %r1 is another register.
  const Operand& outer = function.operands[function.instructions[0].first_operand];
  const Operand& inner = function.operands[function.instructions[1].first_operand];
  EXPECT_NE(outer.index, inner.index);
  const Operand& compared = function.operands[function.instructions[4].first_operand];
  EXPECT_GE(compared.second, 0);
  ASSERT_EQ(function.labels.size(), 1U);
  EXPECT_EQ(function.labels[0].instruction, 0U);
  EXPECT_EQ((*module)->variables[0].initial[2], std::byte{0xff});
  EXPECT_EQ((*module)->variables[1].bytes, 16U);
}

// Inline assembly that is used twice has its labels twice.
TEST(ParserTest, LabelsWithinBracesAreKnownThere) {
  const auto module = parse_module(R"(
.version 9.0
.target sm_90
.address_size 64
.visible .entry kernel()
{
  .reg .pred %p1;
  .reg .b32 %r1;
  { again: mov.u32 %r1, 1; @%p1 bra again; { bra done; } done: }
  { again: mov.u32 %r1, 2; @%p1 bra again; bra done; done: }
  ret;
})");
  ASSERT_TRUE(module.ok()) << module.error().message;
  const Function& function = (*module)->functions[0];
  const auto target = [&](std::size_t instruction) {
    const std::string_view name =
        function.operands[function.instructions[instruction].first_operand].text;
    const auto label = std::find_if(function.labels.begin(), function.labels.end(),
                                    [&](const Label& one) { return one.name == name; });
    return label == function.labels.end() ? -1 : static_cast<int>(label->instruction);
  };
  EXPECT_EQ(target(1), 0);
  EXPECT_EQ(target(2), 3);
  EXPECT_EQ(target(4), 3);
  EXPECT_EQ(target(5), 6);
}

TEST(ParserTest, ErrorsNameTheLine) {
  const auto line_of = [](const std::string& text) {
    const auto module = parse_module(text);
    return module.ok() ? std::string() : module.error().message.substr(0, 11);
  };
  EXPECT_EQ(line_of(".version 8.0\n\n.entry k() { ; ; } ]"), "PTX line 3:");
  EXPECT_EQ(line_of(".entry k()\n{\n@%p bra X;\n}"), "PTX line 3:");
  EXPECT_EQ(line_of(".entry k()\n{\n.reg .b32 %r<4000000000>;\n}"), "PTX line 3:");
  EXPECT_EQ(line_of(".global .b8 x[99999999][99999999][9999999];"), "PTX line 1:");
  EXPECT_EQ(line_of(".entry k() {\nmov.u32 %r1, \"text"), "PTX line 2:");
  const auto missing = Program::load(".version 8.0\n.visible .entry other() { ret; }", "k");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
  EXPECT_NE(missing.error().message.find("other"), std::string::npos);
}

TEST(ParserTest, WhatIsNotImplementedIsNamed) {
  const auto error_of = [](const std::string& body) {
    const auto program = Program::load(
        ".entry k() {\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n" + body + "\nret; }", "k");
    return program.ok() ? Error{} : program.error();
  };
  for (const char* body : {"cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::"
                           "complete_tx::bytes [%rd1], "
                           "[%rd2, {%r1, %r2, %r3}], [%rd3], {%r4};",
                           "tcgen05.fence::before_thread_sync;", "mov.u32 %r1, %pm0;",
                           "vadd.s32.s32.s32 %r1, %r2, %r3;",
                           "tex.2d.v4.f32.f32 {%r1, %r2, %r3, %r4}, [%rd1, {%r1, %r2}];",
                           "barrier.cluster.arrive;", "redux.sync.min.f32 %r1, %r2, -1;"}) {
    EXPECT_EQ(error_of(body).code, ErrorCode::unsupported) << body << error_of(body).message;
    EXPECT_NE(error_of(body).message.find("line 4"), std::string::npos) << error_of(body).message;
  }
  for (const char* body :
       {"bra NOWHERE;", "add.u32 %r1, %r2;", "ld.global.u32 %r1, %r2;", "mov.b64 %rd1, %r1;",
        "setp.eq.u32 %r1, %r2, %r3;", "add.u32 %r1, %rd1, !;"}) {
    EXPECT_EQ(error_of(body).code, ErrorCode::parse) << body << error_of(body).message;
  }
}

TEST(ParserTest, SurvivesDeepNesting) {
  for (const char* open : {"(", "{", "[", "{(", "mov.u32 {", "@", "-", "!"}) {
    std::string text = ".entry k() { ";
    for (int i = 0; i < 200000; ++i)
      text += open;
    EXPECT_FALSE(parse_module(text).ok());
    EXPECT_FALSE(parse_module(open + text).ok());
  }
  std::string initialiser = ".global .b8 x[4] = ";
  initialiser.append(200000, '{');
  EXPECT_FALSE(parse_module(initialiser).ok());
  std::string section = ".section .debug_str ";
  section.append(200000, '{');
  EXPECT_FALSE(parse_module(section).ok());
}

// Any text gives a program or an error; a program that loads also runs to an end or a fault.
TEST(ParserTest, SurvivesMutations) {
  const std::vector<std::pair<std::string, std::string>> kernels = {
      {"vector_add.sm_90", "vector_add"},
      {"matmul_tiled.sm_100", "matmul_tiled"},
      {"reduce_tree.sm_90", "reduce_tree"},
      {"warp_scan.sm_100", "warp_scan"},
      {"softmax.sm_90", "softmax"}};
  const std::string pieces[] = {"{",          "}",       "(",
                                ")",          "[",       "]",
                                ";",          ",",       "%r1",
                                "%rd3",       "%p1",     "0x",
                                "0f3F800000", "-1",      ".v4",
                                ".u8",        ".b64",    "@!",
                                "|",          "bra",     "bar.sync",
                                "ret;",       ":",       "\n",
                                ".reg",       ".shared", "99999999999999999999"};
  int loaded = 0;
  for (std::uint64_t round = 0; round < 1500; ++round) {
    const auto& [file, entry] = kernels[round % kernels.size()];
    std::string text = read_kernel(file);
    const std::uint64_t edits = 1 + random_bits(round, 0) % 4;
    for (std::uint64_t edit = 0; edit < edits; ++edit) {
      const std::size_t at = random_bits(round, edit, 1) % text.size();
      const std::size_t length = random_bits(round, edit, 2) % 12;
      switch (random_bits(round, edit, 3) % 4) {
        case 0:
          text.erase(at, length);
          break;
        case 1:
          text.insert(at, pieces[random_bits(round, edit, 4) % std::size(pieces)]);
          break;
        case 2:
          text[at] = static_cast<char>(random_bits(round, edit, 5));
          break;
        default:
          text.insert(at, text.substr(random_bits(round, edit, 6) % text.size(), length));
          break;
      }
      if (text.empty()) text = " ";
    }
    const auto program = Program::load(text, entry);
    if (!program.ok()) {
      EXPECT_FALSE(program.error().message.empty());
      continue;
    }
    ++loaded;
    DeviceMemory memory;
    const auto a = make_buffer(memory, "a", std::vector<float>(4096));
    LaunchArguments arguments;
    arguments.block = {64, 1, 1};
    arguments.dynamic_shared_bytes = 256;
    for (const auto& parameter : program->parameters()) {
      if (parameter.offset > 4096 || parameter.bytes > 4096) continue;
      arguments.parameters.resize(
          std::max(arguments.parameters.size(), parameter.offset + parameter.bytes));
      const std::uint64_t value = parameter.is_pointer_sized ? a : 32;
      std::memcpy(arguments.parameters.data() + parameter.offset, &value,
                  std::min<std::size_t>(parameter.bytes, sizeof(value)));
    }
    RunOptions options;
    options.instruction_budget = 20000;
    const RunResult result = run(*program, arguments, memory, options, Cancellation());
    if (!result.ok()) {
      EXPECT_FALSE(result.fault.message.empty());
    }
  }
  EXPECT_GT(loaded, 100);
}

}  // namespace
}  // namespace regraph::ptx::parser_test
