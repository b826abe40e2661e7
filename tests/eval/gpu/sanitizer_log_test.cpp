#include "eval/gpu/sanitizer_log.h"

#include <gtest/gtest.h>

namespace regraph::gpu::sanitizer_log_test {
namespace {

TEST(SanitizerLog, NothingFound) {
  const SanitizerLog log = read_sanitizer_log(
      "========= COMPUTE-SANITIZER\nprinted by the program\n========= ERROR SUMMARY: 0 errors\n");
  EXPECT_TRUE(log.complete);
  EXPECT_EQ(log.errors, 0);
  EXPECT_EQ(log.first_finding, "");
  EXPECT_EQ(log.trouble, "");
  const SanitizerLog races = read_sanitizer_log(
      "========= COMPUTE-SANITIZER\n"
      "========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n");
  EXPECT_TRUE(races.complete);
  EXPECT_EQ(races.errors, 0);
}

TEST(SanitizerLog, TheFirstFindingIsToldWithItsPlace) {
  const SanitizerLog log = read_sanitizer_log(
      "========= COMPUTE-SANITIZER\n"
      "========= Invalid __global__ write of size 4 bytes\n"
      "=========     at k(const float *, float *, int)+0x90 in k.cu:3\n"
      "=========     by thread (232,0,0) in block (3,0,0)\n"
      "=========     Access at 0x7f1c8e000fa0 is out of bounds\n"
      "=========     and is 1 bytes after the nearest allocation at 0x7f1c8e000000 of size 4000\n"
      "=========     Saved host backtrace up to driver entry point at kernel launch time\n"
      "=========         Host Frame: [0x2f1a] in regraph-eval\n"
      "========= \n"
      "========= Invalid __global__ read of size 4 bytes\n"
      "=========     at k(const float *, float *, int)+0x60 in k.cu:3\n"
      "========= Target application returned an error\n"
      "========= ERROR SUMMARY: 2 errors\n");
  EXPECT_TRUE(log.complete);
  EXPECT_EQ(log.errors, 2);
  EXPECT_EQ(log.first_finding,
            "Invalid __global__ write of size 4 bytes, at k(const float *, float *, int)+0x90 in "
            "k.cu:3, by thread (232,0,0) in block (3,0,0), Access at 0x7f1c8e000fa0 is out of "
            "bounds");
}

TEST(SanitizerLog, HazardsAreErrorsOrWarnings) {
  const SanitizerLog error = read_sanitizer_log(
      "========= COMPUTE-SANITIZER\n"
      "========= Warning: Race reported between Read access at k(float *)+0x1 in k.cu:9\n"
      "=========     and Write access at k(float *)+0x3 in k.cu:9 [4 hazards]\n"
      "=========\n"
      "========= Error: Race reported between Write access at k(float *)+0x110 in k.cu:7\n"
      "=========     and Read access at k(float *)+0x170 in k.cu:8 [124 hazards]\n"
      "=========\n"
      "========= RACECHECK SUMMARY: 2 hazards displayed (1 error, 1 warning)\n");
  EXPECT_TRUE(error.complete);
  EXPECT_EQ(error.errors, 1);
  EXPECT_EQ(error.warnings, 1);
  EXPECT_EQ(error.first_finding,
            "Error: Race reported between Write access at k(float *)+0x110 in k.cu:7, and Read "
            "access at k(float *)+0x170 in k.cu:8 [124 hazards]");
  const SanitizerLog warning = read_sanitizer_log(
      "========= Warning: Race reported between Read access at k+0x1\r\n"
      "=========     and Write access at k+0x3 [4 hazards]\r\n"
      "========= RACECHECK SUMMARY: 12 hazards displayed (0 errors, 12 warnings)\r\n");
  EXPECT_EQ(warning.errors, 0);
  EXPECT_EQ(warning.warnings, 12);
  EXPECT_EQ(warning.first_finding,
            "Warning: Race reported between Read access at k+0x1, and Write access at k+0x3 [4 "
            "hazards]");
}

TEST(SanitizerLog, BarriersAreFindings) {
  const SanitizerLog log = read_sanitizer_log(
      "========= COMPUTE-SANITIZER\n"
      "========= Barrier error detected. Divergent thread(s) in block.\n"
      "=========     at k(float *)+0x208 in k.cu:20\n"
      "=========     by thread (128,0,0) in block (0,0,0)\n"
      "========= ERROR SUMMARY: 144 errors\n");
  EXPECT_EQ(log.errors, 144);
  EXPECT_EQ(log.first_finding.find("Barrier error detected."), 0U);
}

TEST(SanitizerLog, AToolThatFailsSaysSo) {
  for (const std::string trouble :
       {"Error: Device not supported. Please refer to the list of supported devices",
        "Error: Target application terminated before first instrumented API call",
        "Unable to find injection library libsanitizer-collection.so",
        "Internal Sanitizer Error: The Sanitizer encountered an error and will stop"}) {
    const SanitizerLog log =
        read_sanitizer_log("========= COMPUTE-SANITIZER\n========= " + trouble +
                           "\n========= ERROR SUMMARY: 0 errors\n");
    EXPECT_FALSE(log.complete) << trouble;
    EXPECT_EQ(log.trouble, trouble);
    EXPECT_EQ(log.first_finding, "");
    // Also when it counts itself.
    EXPECT_EQ(
        read_sanitizer_log("========= " + trouble + "\n========= ERROR SUMMARY: 1 error\n").trouble,
        trouble);
  }
}

TEST(SanitizerLog, CallsOfTheApiAreNoFindings) {
  const SanitizerLog log = read_sanitizer_log(
      "========= Program hit CUDA_ERROR_INVALID_VALUE (error 1) due to \"invalid argument\" on "
      "CUDA "
      "API call to cuCtxSetLimit.\n"
      "=========     Saved host backtrace up to driver entry point at error\n"
      "========= Invalid __shared__ read of size 8 bytes\n"
      "========= ERROR SUMMARY: 2 errors\n");
  EXPECT_EQ(log.first_finding, "Invalid __shared__ read of size 8 bytes");
}

TEST(SanitizerLog, AnyTextIsTaken) {
  EXPECT_FALSE(read_sanitizer_log("").complete);
  EXPECT_FALSE(read_sanitizer_log("=========").complete);
  EXPECT_FALSE(read_sanitizer_log("ERROR SUMMARY: 3 errors\n").complete);  // the program's own
  EXPECT_FALSE(read_sanitizer_log("========= Invalid __global__ write of size 4 bytes").complete);
  EXPECT_EQ(read_sanitizer_log("========= ERROR SUMMARY: 99999999999999999999 errors").errors, 1);
  EXPECT_EQ(read_sanitizer_log("========= ERROR SUMMARY: errors").errors, 0);
  EXPECT_EQ(read_sanitizer_log("========= ERROR SUMMARY: 3 errors").first_finding,
            "errors that its report does not name");
  std::string flood = "========= Invalid __global__ read\n";
  for (int i = 0; i < 3; ++i)
    flood += "=========     at " + std::string(10000, 'x') + "\n";
  EXPECT_LE(read_sanitizer_log(flood).first_finding.size(), 600U);
}

}  // namespace
}  // namespace regraph::gpu::sanitizer_log_test
