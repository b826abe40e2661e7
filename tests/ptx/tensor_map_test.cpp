// Maps of tensors that a kernel makes, and copies of boxes by them.
#include "ptx/ptx_test_support.h"

#include <algorithm>
#include <numeric>

namespace regraph::ptx::tensor_map_test {
namespace {

constexpr std::uint32_t kColumns = 40;
constexpr std::uint32_t kRows = 6;
constexpr std::uint32_t kBoxColumns = 32;
constexpr std::uint32_t kBoxRows = 8;

std::string field(const std::string& name, const std::string& value, const char* bits = "32") {
  return "  @%first tensormap.replace.tile." + name + ".shared::cta.b1024.b" + bits + " [%map], " +
         value + ";\n";
}

// Makes a map of `in` as a matrix of kRows times kColumns floats with lines of `stride` bytes.
std::string make_map(const std::string& stride = "160") {
  return field("global_address", "%in", "64") + field("rank", "1") +
         field("box_dim", "0, " + std::to_string(kBoxColumns)) +
         field("box_dim", "1, " + std::to_string(kBoxRows)) +
         field("global_dim", "0, " + std::to_string(kColumns)) +
         field("global_dim", "1, " + std::to_string(kRows)) + "  mov.u64 %rd2, " + stride + ";\n" +
         field("global_stride", "0, %rd2", "64") + field("element_stride", "0, 1") +
         field("element_stride", "1, 1") + field("elemtype", "7") +
         field("interleave_layout", "0") + field("swizzle_mode", "3") + field("fill_mode", "0");
}

const std::string kPutMap =
    "  bar.warp.sync -1;\n"
    "  tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
    "[%place], [%map], 128;\n"
    "  fence.proxy.tensormap::generic.acquire.gpu [%place], 128;\n";

std::string copy_box(const std::string& column, const std::string& row) {
  return "  @%first mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 1024;\n  mov.u32 %r2, " +
         column + ";\n  mov.u32 %r3, " + row +
         ";\n  @%first cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
         "[%tile], [%place, {%r2, %r3}], [%bar];\n";
}

const std::string kWait =
    "again:\n  mbarrier.try_wait.parity.shared.b64 %p, [%bar], 0;\n  @!%p bra again;\n";

struct Outcome {
  RunResult result;
  std::vector<std::uint32_t> out;
};

// A warp that copies a box, and hands all that came on to `out`.
Outcome run_body(const std::string& body, const RunOptions& options = {},
                 const std::vector<std::uint32_t>& first_values = {}) {
  const Program program = load_or_die(
      ".version 8.6\n.target sm_90a\n.address_size 64\n"
      ".global .align 128 .b8 maps[256];\n"
      ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
      "  .shared .align 1024 .b8 tile[1024];\n  .shared .align 128 .b8 made[128];\n"
      "  .shared .align 8 .b64 bar;\n  .reg .pred %p, %first;\n"
      "  .reg .b32 %r<8>, %t, %tile, %bar, %map, %at;\n  .reg .b64 %rd<8>, %in, %out, %place;\n"
      "  ld.param.u64 %in, [in];\n  ld.param.u64 %out, [out];\n  mov.u32 %t, %tid.x;\n"
      "  mov.u32 %tile, tile;\n  mov.u32 %bar, bar;\n  mov.u32 %map, made;\n"
      "  mov.u64 %place, maps;\n  setp.eq.u32 %first, %t, 0;\n"
      "  @%first mbarrier.init.shared.b64 [%bar], 1;\n  bar.sync 0;\n" +
          body +
          "  mul.wide.u32 %rd1, %t, 4;\n  add.s64 %out, %out, %rd1;\n  shl.b32 %at, %t, 2;\n"
          "  add.u32 %at, %at, %tile;\n  mov.u32 %r4, 0;\n"
          "next:\n  ld.shared.u32 %r5, [%at];\n  st.global.u32 [%out], %r5;\n"
          "  add.u32 %at, %at, 128;\n  add.s64 %out, %out, 128;\n  add.u32 %r4, %r4, 1;\n"
          "  setp.lt.u32 %p, %r4, 8;\n  @%p bra next;\n  ret;\n}\n",
      "k");
  DeviceMemory memory;
  std::vector<std::uint32_t> values(kRows * kColumns);
  std::iota(values.begin(), values.end(), 1U);
  std::copy(first_values.begin(), first_values.end(), values.begin());
  const auto in = make_buffer(memory, "in", values);
  const auto out =
      make_buffer(memory, "out", std::vector<std::uint32_t>(kBoxRows * kBoxColumns, 7U));
  Outcome run;
  run.result =
      run_kernel(program, memory, {1, 1, 1}, {32, 1, 1}, Parameters().add(in).add(out), options);
  run.out = read_buffer<std::uint32_t>(memory, out);
  return run;
}

RunOptions watched() {
  RunOptions options;
  options.detect_races = true;
  return options;
}

// Element (row, column) of the box, where its 16 bytes are exchanged by the line's number.
std::uint32_t element(const std::vector<std::uint32_t>& out, std::uint32_t row,
                      std::uint32_t column) {
  return out[row * kBoxColumns + (column / 4 ^ row % 8) * 4 + column % 4];
}

TEST(TensorMap, BoxesAreZeroOutsideOfTheTensor) {
  for (const auto& [column, row] : {std::pair(16, 2), std::pair(-4, -3), std::pair(0, 0)}) {
    const Outcome run = run_body(
        make_map() + kPutMap + copy_box(std::to_string(column), std::to_string(row)) + kWait,
        watched());
    ASSERT_TRUE(run.result.ok()) << run.result.fault.message;
    for (std::uint32_t r = 0; r < kBoxRows; ++r) {
      for (std::uint32_t c = 0; c < kBoxColumns; ++c) {
        const int y = row + static_cast<int>(r);
        const int x = column + static_cast<int>(c);
        const bool inside =
            y >= 0 && y < static_cast<int>(kRows) && x >= 0 && x < static_cast<int>(kColumns);
        const std::uint32_t expected =
            inside ? static_cast<std::uint32_t>(y) * kColumns + static_cast<std::uint32_t>(x) + 1
                   : 0;
        ASSERT_EQ(element(run.out, r, c), expected) << r << ", " << c;
      }
    }
  }
}

// As an H200 does it.
TEST(TensorMap, BoxesOfTf32Round) {
  const std::vector<std::pair<std::uint32_t, std::uint32_t>> cases = {
      {0x3f800000, 0x3f800000}, {0x3f800800, 0x3f800000}, {0x3f801000, 0x3f800000},
      {0x3f801800, 0x3f802000}, {0x3f803000, 0x3f804000}, {0x3f80f000, 0x3f810000},
      {0xbf801000, 0xbf800000}, {0xbf803000, 0xbf804000}, {0x00001000, 0x00000000},
      {0x80003000, 0x80004000}, {0x7f7fffff, 0x7f800000}, {0xff800000, 0xff800000},
      {0x7fc01234, 0x7fffe000}, {0x7f800001, 0x7fffe000}};
  std::vector<std::uint32_t> values;
  for (const auto& [value, rounded] : cases)
    values.push_back(value);
  const Outcome run = run_body(
      make_map() + field("elemtype", "11") + kPutMap + copy_box("0", "0") + kWait, {}, values);
  ASSERT_TRUE(run.result.ok()) << run.result.fault.message;
  for (std::uint32_t i = 0; i < cases.size(); ++i)
    EXPECT_EQ(element(run.out, 0, i), cases[i].second) << std::hex << cases[i].first;
}

TEST(TensorMap, ReadingBeforeTheBoxIsThereIsARace) {
  const Outcome run = run_body(make_map() + kPutMap + copy_box("0", "0"), watched());
  EXPECT_EQ(run.result.fault.kind, FaultKind::data_race) << run.result.fault.message;
}

TEST(TensorMap, WhatHardwareWouldNotTakeIsAFault) {
  const Outcome missing = run_body(copy_box("0", "0") + kWait);
  EXPECT_EQ(missing.result.fault.kind, FaultKind::trap);
  EXPECT_NE(missing.result.fault.message.find("made no map"), std::string::npos);
  const Outcome crooked = run_body(make_map("164") + kPutMap + copy_box("0", "0") + kWait);
  EXPECT_EQ(crooked.result.fault.kind, FaultKind::misaligned);
  const Outcome beyond = run_body(make_map("320") + kPutMap + copy_box("0", "0") + kWait);
  EXPECT_EQ(beyond.result.fault.kind, FaultKind::out_of_bounds);
  const Outcome large =
      run_body(make_map() + field("box_dim", "1, 300") + kPutMap + copy_box("0", "0") + kWait);
  EXPECT_EQ(large.result.fault.kind, FaultKind::trap);
}

}  // namespace
}  // namespace regraph::ptx::tensor_map_test
