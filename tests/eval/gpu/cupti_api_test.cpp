#include "eval/gpu/counters/cupti_api.h"

#include "eval/gpu/real_cupti.h"
#include "support/closed_cupti.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>

namespace regraph::gpu::cupti_api_test {
namespace {

namespace fs = std::filesystem;

TEST(CuptiApi, ProgramsAreNotLinkedWithIt) {
  const std::string self = fs::read_symlink("/proc/self/exe").string();
  // What ldd does: the loader lists the libraries instead of starting the program.
  FILE* const pipe = ::popen(("LD_TRACE_LOADED_OBJECTS=1 '" + self + "'").c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string libraries;
  std::array<char, 4096> buffer;
  while (const std::size_t read = std::fread(buffer.data(), 1, buffer.size(), pipe))
    libraries.append(buffer.data(), read);
  ::pclose(pipe);
  EXPECT_NE(libraries.find("libc.so"), std::string::npos) << libraries;
  EXPECT_EQ(libraries.find("libcupti"), std::string::npos) << libraries;
  EXPECT_EQ(libraries.find("libcuda"), std::string::npos) << libraries;
}

TEST(CuptiApi, WhatIsNotThereIsAnError) {
  const fs::path directory = fs::path(::testing::TempDir()) / "regraph_cupti";
  fs::create_directories(directory);
  const fs::path text = directory / "libcupti.so.13";
  std::ofstream(text) << "this is no library";
  const std::vector<fs::path> candidates = {directory / "nothing.so", text};
  const auto api = load_cupti(candidates);
  ASSERT_FALSE(api.ok());
  EXPECT_EQ(api.error().code, ErrorCode::not_found);
  EXPECT_NE(api.error().message.find("nothing.so"), std::string::npos);
  EXPECT_NE(api.error().message.find(text.string()), std::string::npos);
  fs::remove_all(directory);
}

TEST(CuptiApi, AnotherLibraryIsRefusedByItsMissingFunctions) {
  const std::vector<fs::path> candidates = {"libm.so.6"};
  const auto api = load_cupti(candidates);
  ASSERT_FALSE(api.ok());
  EXPECT_EQ(api.error().code, ErrorCode::unsupported);
  EXPECT_NE(api.error().message.find("cuptiGetVersion"), std::string::npos);
}

TEST(CuptiApi, TheNewestOfAToolkitComesFirstAndSonamesLast) {
  const fs::path root = fs::path(::testing::TempDir()) / "regraph_cupti_root";
  fs::create_directories(root / "lib64");
  for (const char* name : {"libcupti.so", "libcupti.so.12", "libcupti.so.13",
                           "libcupti.so.2025.3.1", "libcupti_static.a", "libcupti.so.13x"})
    std::ofstream(root / "lib64" / name) << "";
  const auto found = cupti_candidates(root);
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0], root / "lib64" / "libcupti.so.13");
  EXPECT_EQ(found[1], root / "lib64" / "libcupti.so.12");
  EXPECT_EQ(found[2], "libcupti.so.13");
  EXPECT_EQ(cupti_candidates({}).size(), 2u);
  fs::remove_all(root);
}

TEST(CuptiApi, LoadsTheToolkitsOwn) {
  const auto api = test::real_cupti();
  if (!api) GTEST_SKIP() << "this toolkit has no CUPTI";
  EXPECT_GE(api->version, 24u);
  EXPECT_FALSE(api->library.empty());
}

TEST(CuptiApi, ErrorsTellCasesApart) {
  const auto api = test::real_cupti();
  if (!api) GTEST_SKIP() << "this toolkit has no CUPTI";
  EXPECT_TRUE(api->check(CUPTI_SUCCESS, "x").ok());
  const Status closed = api->check(CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, "cuptiX");
  ASSERT_FALSE(closed.ok());
  EXPECT_EQ(closed.error().code, ErrorCode::permission);
  for (const char* word : {"cuptiX", "INSUFFICIENT_PRIVILEGES", "root", "CAP_SYS_ADMIN",
                           "CAP_PERFMON", "NVreg_RestrictProfilingToAdminUsers"}) {
    EXPECT_NE(closed.error().message.find(word), std::string::npos) << closed.error().message;
  }
  EXPECT_EQ(closed.error().message.find('\n'), std::string::npos) << closed.error().message;
  EXPECT_EQ(api->check(CUPTI_ERROR_HARDWARE_BUSY, "x").error().code, ErrorCode::busy);
  EXPECT_EQ(api->check(CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED, "x").error().code,
            ErrorCode::unsupported);
  EXPECT_EQ(api->check(CUPTI_ERROR_UNKNOWN, "x").error().code, ErrorCode::io);
  EXPECT_FALSE(api->check(static_cast<CUptiResult>(12345), "x").ok());
}

// Everything of NVIDIA's library is there, and one call says no.
TEST(CuptiApi, ClosedCountersAreNotMissingOnes) {
  const auto real = cupti_candidates(regraph::test::cuda_root());
  const fs::path programs = fs::read_symlink("/proc/self/exe").parent_path();
  const fs::path folder = fs::path(::testing::TempDir()) / "regraph_closed_cupti";
  const auto closed =
      regraph::test::closed_cupti(programs / "closed_cupti_before.so", folder, real);
  if (!closed) GTEST_SKIP() << "this toolkit has no libcupti.so.13";
  const std::vector<fs::path> candidates = {*closed};
  const auto api = load_cupti(candidates);
  ASSERT_TRUE(api.ok()) << api.error().message;
  EXPECT_GE((*api)->version, 24U);
  auto p = cupti_parameters<CUpti_Profiler_GetCounterAvailability_Params>(
      CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE);
  const Status asked = (*api)->check((*api)->profiler_get_counter_availability(&p), "cuptiAsked");
  ASSERT_FALSE(asked.ok());
  EXPECT_EQ(asked.error().code, ErrorCode::permission) << asked.error().message;
  EXPECT_NE(asked.error().message.find("CAP_SYS_ADMIN"), std::string::npos);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace regraph::gpu::cupti_api_test
