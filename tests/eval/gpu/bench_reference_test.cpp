#include "eval/gpu/timing/bench_reference.h"

#include "eval/gpu/driver/harness_kernels.h"
#include "eval/gpu/timing/present_buffer.h"
#include "eval/real_compiler.h"
#include "ptx/ptx_test_support.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace regraph::gpu::bench_reference_test {
namespace {

// The harness's own kernel, on the interpreter, writes what the host says it does.
TEST(BenchReference, ThePoisonIsThatOfTheDevice) {
  Compiler compiler(test::real_configuration());
  auto compiled =
      compiler.compile(test::request_for(kHarnessSource, kPoisonKernel), Cancellation());
  ASSERT_TRUE(compiled.ok()) << compiled.error().message;
  const ptx::Program program = ptx::load_or_die(compiled->ptx, kPoisonKernel);
  constexpr std::uint64_t kWords = 1000;
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{7}, ~std::uint64_t{0} - 3}) {
    ptx::DeviceMemory memory;
    const auto words = ptx::make_buffer(memory, "words", std::vector<std::uint32_t>(kWords, 0));
    const ptx::RunResult run = ptx::run_kernel(program, memory, {2, 1, 1}, {128, 1, 1},
                                               ptx::Parameters().add(words).add(kWords).add(seed));
    ASSERT_TRUE(run.ok()) << run.fault.message;
    const auto on_device = ptx::read_buffer<std::uint32_t>(memory, words);
    std::vector<std::uint32_t> on_host(kWords);
    fill_as_device(std::as_writable_bytes(std::span(on_host)), seed);
    EXPECT_EQ(on_device, on_host) << "seed " << seed;
  }
}

// For problems that only nvcc takes it is compiled by that.
TEST(BenchReference, TheHarnessCompilesWithNvcc) {
  const auto nvcc = Compiler(test::real_configuration()).with_nvcc();
  if (!nvcc) GTEST_SKIP() << "no nvcc with a host compiler on this machine";
  const auto harness = compile_harness(*nvcc, "sm_90", Cancellation());
  EXPECT_TRUE(harness.ok()) << harness.error().message;
}

// A buffer whose end is no whole word, and one longer than what a thread takes at once.
TEST(BenchReference, ThePoisonDoesNotDependOnTheLength) {
  std::vector<std::byte> longer(300001);
  std::vector<std::byte> shorter(13);
  fill_as_device(longer, 5);
  fill_as_device(shorter, 5);
  EXPECT_EQ(std::memcmp(longer.data(), shorter.data(), shorter.size()), 0);
}

// Longer than what a thread takes at once, ends that are no whole word or element, and 12 bytes
// that divide no power of two.
TEST(BenchReference, WhatKeepsBothPoisonsWasNotWritten) {
  for (const std::size_t size : {1U, 2U, 4U, 8U, 12U}) {
    const std::size_t count = 600'000 / size + 1;
    std::vector<std::byte> once(count * size);
    std::vector<std::byte> again(count * size);
    fill_as_device(once, 11);
    fill_as_device(again, 12);
    const std::vector<std::uint8_t> none_written = untouched_elements(once, 11, again, 12, size);
    ASSERT_EQ(none_written.size(), count);
    EXPECT_EQ(std::ranges::count(none_written, 0), 0);
    if (size > 2) {
      EXPECT_EQ(std::ranges::count(none_written, 1), static_cast<std::ptrdiff_t>(count));
    }
    std::vector<std::uint8_t> expected(count, 0);
    for (std::size_t element = 0; element < count; ++element) {
      // One value for both launches, which only one poison may happen to be.
      if (element % 7 == 3) {
        expected[element] = 1;
        continue;
      }
      const std::size_t at = element * size;
      if (element % 2 == 0) std::memcpy(&again[at], &once[at], size);
      if (element % 2 == 1) std::memcpy(&once[at], &again[at], size);
    }
    if (size <= 2) continue;  // single bytes are those of both poisons now and then
    EXPECT_EQ(untouched_elements(once, 11, again, 12, size), expected) << size;
    std::fill(once.begin(), once.end(), std::byte{1});
    EXPECT_TRUE(untouched_elements(once, 11, once, 12, size).empty()) << size;
  }
}

// Bytes hold what they were written as by chance: where both poisons are the same, and the value.
TEST(BenchReference, BytesThatLookUntouchedAreDecidedByFurtherLaunches) {
  const std::size_t count = 300'000;
  std::vector<std::byte> once(count);
  std::vector<std::byte> again(count);
  fill_as_device(once, 11);
  fill_as_device(again, 12);
  // The first half is written, always the same: 0 to 255.
  const auto write = [&](std::vector<std::byte>& buffer) {
    for (std::size_t i = 0; i < count / 2; ++i)
      buffer[i] = static_cast<std::byte>(i * 7 / 3);
  };
  write(once);
  write(again);
  std::vector<std::uint8_t> marks = untouched_elements(once, 11, again, 12, 1);
  ASSERT_EQ(marks.size(), count);
  EXPECT_GT(std::ranges::count(marks, 2), 100);
  bool is_open = true;
  for (std::uint64_t seed = 13; is_open && seed < 20; ++seed) {
    std::vector<std::byte> later(count);
    fill_as_device(later, seed);
    write(later);
    is_open = decide_untouched(marks, 11, later, seed, 1);
  }
  EXPECT_FALSE(is_open);
  std::vector<std::uint8_t> expected(count, 0);
  std::fill(expected.begin() + count / 2, expected.end(), 1);
  EXPECT_EQ(marks, expected);
}

TEST(BenchReference, LargeBuffersAreZeros) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{13}, (std::size_t{96} << 20) + 5}) {
    std::vector<std::byte> buffer = present_buffer(bytes);
    ASSERT_EQ(buffer.size(), bytes);
    EXPECT_TRUE(std::all_of(buffer.begin(), buffer.end(),
                            [](std::byte one) { return one == std::byte{0}; }));
    std::fill(buffer.begin(), buffer.end(), std::byte{7});
    make_present(buffer);
    EXPECT_TRUE(std::all_of(buffer.begin(), buffer.end(),
                            [](std::byte one) { return one == std::byte{7}; }));
  }
}

TEST(BenchReference, SumsGrowWithTheSizes) {
  Problem problem;
  EXPECT_DOUBLE_EQ(reduction_length_at(problem, {{"n", 4096}}, {{"n", 64}}, 64.0), 4096.0);
  // One that sums nothing does so at no size.
  EXPECT_DOUBLE_EQ(reduction_length_at(problem, {{"n", 4096}}, {{"n", 64}}, 1.0), 1.0);
  Argument out;
  out.name = "out";
  out.is_pointer = true;
  out.direction = Direction::out;
  out.shape = {*IntegerExpression::parse("n*n")};
  problem.arguments = {out};
  problem.flops = *IntegerExpression::parse("2*n*n*n");
  EXPECT_DOUBLE_EQ(reduction_length_at(problem, {{"n", 100}}, {{"n", 10}}, 20.0), 200.0);
}

TEST(BenchReference, TheLongestSumRunsAlongEverySize) {
  Problem problem;
  const Symbols test{{"c", 32}, {"h", 8}, {"w", 64}};
  const Symbols bench{{"c", 64}, {"h", 32}, {"w", 16}};
  EXPECT_DOUBLE_EQ(reduction_length_at(problem, bench, test, 16384.0), 65536.0);
  EXPECT_DOUBLE_EQ(longest_reduction_at(problem, bench, test, 16384.0), 131072.0);
  EXPECT_DOUBLE_EQ(longest_reduction_at(problem, bench, test, 1.0), 1.0);
}

}  // namespace
}  // namespace regraph::gpu::bench_reference_test
