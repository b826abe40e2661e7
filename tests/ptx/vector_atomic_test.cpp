// Atomics on vectors: each element for itself, one request and one alignment for all.
#include "ptx/caches/cache_simulation.h"
#include "ptx/ptx_test_support.h"

#include <bit>

namespace regraph::ptx::vector_atomic_test {
namespace {

// Bits of small integers; `pair`: twice side by side.
std::uint32_t f32(int value) {
  return std::bit_cast<std::uint32_t>(static_cast<float>(value));
}
std::uint32_t bf16(int value) {
  return f32(value) >> 16;
}
std::uint32_t f16(int value) {
  if (value == 0) return 0;
  const int exponent = std::bit_width(static_cast<unsigned>(value)) - 1;
  return static_cast<std::uint32_t>(((exponent + 14) << 10) + (value << (10 - exponent)));
}
std::uint32_t pair(std::uint32_t half) {
  return half | (half << 16);
}

std::string kernel(const std::string& body) {
  return ".version 8.1\n.target sm_90\n.address_size 64\n.shared .align 16 .b8 tile[64];\n"
         ".visible .entry k(.param .u64 sums, .param .u64 old)\n{\n"
         ".reg .pred %p;\n.reg .b16 %h<18>;\n.reg .b32 %r<18>;\n.reg .f32 %f<10>;\n"
         ".reg .b64 %rd<8>;\nld.param.u64 %rd1, [sums];\nld.param.u64 %rd2, [old];\n"
         "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd3, %r1, 16;\nadd.s64 %rd4, %rd1, %rd3;\n"
         "add.s64 %rd5, %rd2, %rd3;\n" +
         body + "\nret;\n}\n";
}

struct Memory {
  std::vector<std::uint32_t> sums;
  std::vector<std::uint32_t> old;
};

RunResult run_body(const std::string& body, Memory& memory, std::uint32_t threads = 3,
                   BufferAccess access = BufferAccess::read_write, bool races = false,
                   std::uint32_t blocks = 1) {
  const Program program = load_or_die(kernel(body), "k");
  DeviceMemory device;
  const auto sums = make_buffer(device, "sums", memory.sums, access);
  const auto old = make_buffer(device, "old", memory.old);
  RunOptions options;
  options.detect_races = races;
  RunResult result = run_kernel(program, device, {blocks, 1, 1}, {threads, 1, 1},
                                Parameters().add(sums).add(old), options);
  memory.sums = read_buffer<std::uint32_t>(device, sums);
  memory.old = read_buffer<std::uint32_t>(device, old);
  return result;
}

// Three lanes add 1, 2, ... to all elements of one place, which was 4, 5, ...; what they saw is
// what the lanes before left. `bits`: of a small integer; `bytes`: of a register.
void check(const std::string& type, int elements, int bytes, std::uint32_t (*bits)(int)) {
  SCOPED_TRACE(type);
  const std::string reg = bytes == 2 ? "%h" : "%r";
  const bool single = type.find("f32") != std::string::npos;
  std::string values;
  std::string targets;
  std::string set;
  std::string keep;
  const auto spell = [&](int value) {
    return std::to_string(bytes == 2 || single ? bits(value) : pair(bits(value)));
  };
  for (int i = 0; i < elements; ++i) {
    const std::string comma = i == 0 ? "" : ", ";
    const std::string from = reg + std::to_string(2 + i);
    const std::string to = reg + std::to_string(10 + i);
    values += comma + from;
    targets += comma + to;
    set += "mov.b" + std::to_string(8 * bytes) + " " + from + ", " + spell(1 + i) + ";\n";
    keep += "st.global.b" + std::to_string(8 * bytes) + " [%rd5+" + std::to_string(i * bytes) +
            "], " + to + ";\n";
  }
  const int words = elements * bytes / 4;
  const auto word = [&](auto value_of, int index) {
    if (bytes == 2) return bits(value_of(2 * index)) | (bits(value_of(2 * index + 1)) << 16);
    return single ? bits(value_of(index)) : pair(bits(value_of(index)));
  };
  for (const bool returns : {false, true}) {
    for (const std::string space : {".global", ""}) {
      const auto braced = [&](const std::string& list) {
        return elements == 1 ? list : "{" + list + "}";
      };
      const std::string operation =
          (returns ? "atom" + space + type + " " + braced(targets) + ", [%rd1], "
                   : "red" + space + type + " [%rd1], ") +
          braced(values) + ";\n";
      Memory memory{std::vector<std::uint32_t>(4, 7), std::vector<std::uint32_t>(12, 9)};
      const auto start = [](int i) { return 4 + i; };
      for (int i = 0; i < words; ++i)
        memory.sums[static_cast<std::size_t>(i)] = word(start, i);
      const RunResult run = run_body(set + operation + (returns ? keep : ""), memory);
      ASSERT_TRUE(run.ok()) << run.fault.message;
      for (int i = 0; i < 4; ++i) {
        const auto sum = [](int e) { return 4 + e + 3 * (1 + e); };
        EXPECT_EQ(memory.sums[static_cast<std::size_t>(i)], i < words ? word(sum, i) : 7) << i;
        for (int lane = 0; lane < 3; ++lane) {
          const auto seen = [&](int e) { return 4 + e + lane * (1 + e); };
          EXPECT_EQ(memory.old[static_cast<std::size_t>(4 * lane + i)],
                    returns && i < words ? word(seen, i) : 9)
              << lane << " " << i;
        }
      }
    }
  }
}

TEST(VectorAtomicTest, ElementsAreAddedEachForItself) {
  check(".add.v2.f32", 2, 4, f32);
  check(".add.v4.f32", 4, 4, f32);
  for (const bool is_half : {true, false}) {
    const std::string type = is_half ? "f16" : "bf16";
    auto* const bits = is_half ? f16 : bf16;
    for (const int elements : {2, 4, 8})
      check(".add.noftz.v" + std::to_string(elements) + "." + type, elements, 2, bits);
    for (const int elements : {2, 4})
      check(".add.noftz.v" + std::to_string(elements) + "." + type + "x2", elements, 4, bits);
    check(".add.noftz." + type + "x2", 1, 4, bits);
  }
}

TEST(VectorAtomicTest, SmallestAndLargestOfHalves) {
  Memory memory{{f16(3) | (f16(9) << 16), 0, 0, 0}, std::vector<std::uint32_t>(4)};
  const std::string set = "mov.b16 %h1, " + std::to_string(f16(5)) + ";\n";
  ASSERT_TRUE(run_body(set + "red.global.min.noftz.v2.f16 [%rd1], {%h1, %h1};", memory).ok());
  EXPECT_EQ(memory.sums[0], f16(3) | (f16(5) << 16));
  ASSERT_TRUE(run_body(set + "red.global.max.noftz.v2.f16 [%rd1], {%h1, %h1};", memory).ok());
  EXPECT_EQ(memory.sums[0], pair(f16(5)));
}

// The old value of the first element goes where the second's operand is.
TEST(VectorAtomicTest, OldValuesMayReplaceOperands) {
  Memory memory{{f32(10), f32(20), 0, 0}, std::vector<std::uint32_t>(4)};
  const RunResult run = run_body(
      "mov.f32 %f1, 0f3F800000;\nmov.f32 %f2, 0f40000000;\n"
      "atom.global.add.v2.f32 {%f2, %f1}, [%rd1], {%f1, %f2};\n"
      "st.global.v2.f32 [%rd2], {%f1, %f2};",
      memory, 1);
  ASSERT_TRUE(run.ok()) << run.fault.message;
  EXPECT_EQ(memory.sums[0], f32(11));
  EXPECT_EQ(memory.sums[1], f32(22));
  EXPECT_EQ(memory.old[0], f32(20));
  EXPECT_EQ(memory.old[1], f32(10));
}

TEST(VectorAtomicTest, VectorsAreAlignedInsideAndWritable) {
  const auto fault = [](const std::string& body, BufferAccess access = BufferAccess::read_write) {
    Memory memory{std::vector<std::uint32_t>(12), std::vector<std::uint32_t>(12)};
    return run_body(body, memory, 3, access).fault;
  };
  const std::string four = "red.global.add.v4.f32 [%rd4], {%f1, %f1, %f1, %f1};";
  EXPECT_EQ(fault(four).kind, FaultKind::none);
  const Fault misaligned = fault("red.global.add.v4.f32 [%rd1+8], {%f1, %f1, %f1, %f1};");
  EXPECT_EQ(misaligned.kind, FaultKind::misaligned);
  EXPECT_NE(misaligned.message.find("multiple of 16"), std::string::npos) << misaligned.message;
  EXPECT_EQ(fault("red.global.add.v2.f32 [%rd1+8], {%f1, %f1};").kind, FaultKind::none);
  EXPECT_EQ(fault("red.global.add.v2.f32 [%rd1+4], {%f1, %f1};").kind, FaultKind::misaligned);
  EXPECT_EQ(fault("red.global.add.noftz.v2.f16 [%rd1+2], {%h1, %h1};").kind, FaultKind::misaligned);
  EXPECT_EQ(fault("red.add.noftz.f16x2 [%rd1+2], %r2;").kind, FaultKind::misaligned);
  const Fault outside = fault("red.global.add.v4.f32 [%rd4+16], {%f1, %f1, %f1, %f1};");
  EXPECT_EQ(outside.kind, FaultKind::out_of_bounds);
  EXPECT_EQ(outside.thread, (Dim3{2, 0, 0}));
  EXPECT_EQ(fault(four, BufferAccess::read_only).kind, FaultKind::write_to_read_only);
  // They are for global memory.
  EXPECT_EQ(fault("mov.u64 %rd6, tile;\ncvta.shared.u64 %rd6, %rd6;\n"
                  "red.add.v2.f32 [%rd6], {%f1, %f1};")
                .kind,
            FaultKind::out_of_bounds);
}

TEST(VectorAtomicTest, OthersThereAreNot) {
  for (const char* body :
       {"red.shared.add.v2.f32 [tile], {%f1, %f1};", "red.global.add.v2.u32 [%rd1], {%r1, %r1};",
        "red.global.min.v2.f32 [%rd1], {%f1, %f1};", "red.global.add.v2.f64 [%rd1], {%rd1, %rd1};",
        "red.global.add.noftz.v8.f16x2 [%rd1], {%r1, %r1, %r1, %r1, %r1, %r1, %r1, %r1};"}) {
    const auto program = Program::load(kernel(body), "k");
    ASSERT_FALSE(program.ok()) << body;
    EXPECT_EQ(program.error().code, ErrorCode::unsupported) << body;
  }
  const auto program = Program::load(kernel("red.global.add.v4.f32 [%rd1], {%f1, %f1};"), "k");
  ASSERT_FALSE(program.ok());
  EXPECT_EQ(program.error().code, ErrorCode::parse);
}

TEST(VectorAtomicTest, AtomicsDoNotRaceWithEachOther) {
  const auto fault = [](const std::string& body) {
    Memory memory{std::vector<std::uint32_t>(256), std::vector<std::uint32_t>(256)};
    return run_body(body, memory, 64, BufferAccess::read_write, true, 3).fault;
  };
  const std::string vector = "red.global.add.v4.f32 [%rd1], {%f1, %f1, %f1, %f1};\n";
  EXPECT_EQ(fault(vector + "red.global.add.f32 [%rd1+12], %f1;").kind, FaultKind::none);
  const std::string late = "setp.ne.u32 %p, %r1, 40;\n@%p ret;\n";
  // The last element of the vector, and the word behind it, which it leaves alone.
  const Fault race = fault(vector + late + "st.global.f32 [%rd1+12], 0f3F800000;");
  EXPECT_EQ(race.kind, FaultKind::data_race) << race.message;
  EXPECT_NE(race.message.find("byte 12 of 'sums'"), std::string::npos) << race.message;
  EXPECT_EQ(fault(vector + late + "ld.global.f32 %f2, [%rd1+12];").kind, FaultKind::data_race);
  EXPECT_EQ(fault(vector + late + "ld.global.f32 %f2, [%rd1+16];").kind, FaultKind::none);
  EXPECT_EQ(
      fault("red.global.add.v2.f32 [%rd1], {%f1, %f1};\n" + late + "ld.global.f32 %f2, [%rd1+8];")
          .kind,
      FaultKind::none);
}

// A release by a vector's element hands on what was before it, as a scalar's does.
TEST(VectorAtomicTest, ElementsOrderMemory) {
  const auto fault = [](const std::string& order) {
    Memory memory{std::vector<std::uint32_t>(256), std::vector<std::uint32_t>(256)};
    return run_body(
               "setp.ge.u32 %p, %r1, 32;\n@%p bra SECOND;\nst.global.u32 [%rd5], 5;\n"
               "bar.warp.sync -1;\natom" +
                   order +
                   ".gpu.global.add.v2.f32 {%f3, %f4}, [%rd1], {%f1, %f1};\nret;\nSECOND:\n"
                   "atom" +
                   order +
                   ".gpu.global.add.v2.f32 {%f3, %f4}, [%rd1], {%f1, %f1};\n"
                   "ld.global.u32 %r3, [%rd5+-512];\nret;",
               memory, 64, BufferAccess::read_write, true)
        .fault;
  };
  EXPECT_EQ(fault(".acq_rel").kind, FaultKind::none) << fault(".acq_rel").message;
  EXPECT_EQ(fault(".relaxed").kind, FaultKind::data_race);
}

const InstructionProfile& atomic_of(const RunResult& result) {
  for (const InstructionProfile& p : result.profile.instructions)
    if (p.instruction_class == InstructionClass::atomic_global) return p;
  ADD_FAILURE() << "no atomic";
  std::abort();
}

TEST(VectorAtomicTest, OneRequestIsCounted) {
  const auto run = [](const std::string& body) {
    Memory memory{std::vector<std::uint32_t>(128), std::vector<std::uint32_t>(128)};
    return run_body(body, memory, 32);
  };
  const RunResult wide = run("red.global.add.v4.f32 [%rd4], {%f1, %f1, %f1, %f1};");
  const InstructionProfile& four = atomic_of(wide);
  EXPECT_EQ(four.requests, 1U);
  EXPECT_EQ(four.sectors, 16U);
  EXPECT_EQ(four.ideal_sectors, 16U);
  EXPECT_EQ(four.lines, 4U);
  EXPECT_EQ(four.access_bytes, 16);
  EXPECT_EQ(four.address_alignment, 16);
  EXPECT_TRUE(four.atomic_floating);
  const RunResult narrow = run("red.global.add.v2.f32 [%rd4+8], {%f1, %f1};");
  const InstructionProfile& two = atomic_of(narrow);
  EXPECT_EQ(two.requests, 1U);
  EXPECT_EQ(two.sectors, 16U);
  EXPECT_EQ(two.ideal_sectors, 8U);
  EXPECT_EQ(two.access_bytes, 8);
}

TEST(VectorAtomicTest, WhereTheyMeetIsCountedOnce) {
  const Program program =
      load_or_die(kernel("red.global.add.v4.f32 [%rd4], {%f1, %f1, %f1, %f1};"), "k");
  DeviceMemory memory;
  LaunchArguments arguments;
  arguments.grid = {100, 1, 1};
  arguments.block = {32, 1, 1};
  Parameters parameters;
  for (int i = 0; i < 2; ++i)
    parameters.add(*memory.allocate("buffer", 512, BufferAccess::read_write));
  arguments.parameters = parameters.bytes();
  CacheGeometry geometry;
  geometry.sm_count = 4;
  geometry.l1_bytes = 32 << 10;
  geometry.l2_bytes = 1 << 20;
  auto traffic = simulate_caches(program, arguments, memory, geometry, {}, Cancellation());
  ASSERT_TRUE(traffic.ok()) << traffic.error().message;
  EXPECT_DOUBLE_EQ(traffic->atomics.lanes, 3200.0);
  EXPECT_DOUBLE_EQ(traffic->atomics.payload_bytes, 8 * 3200.0);
  EXPECT_DOUBLE_EQ(traffic->atomics.sector_operations, 1600.0);
  EXPECT_DOUBLE_EQ(traffic->atomics.hottest_full_passes, 1600.0);
  EXPECT_DOUBLE_EQ(traffic->atomics.hottest_partial_passes, 0.0);
  EXPECT_DOUBLE_EQ(traffic->atomics.hottest_floating_passes, 100.0);
}

}  // namespace
}  // namespace regraph::ptx::vector_atomic_test
