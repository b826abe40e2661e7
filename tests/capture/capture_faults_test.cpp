// Programs that fail, do not end, leave others behind or attack the device that they run on.
#include "capture/program_fixture.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <unistd.h>

namespace regraph::capture::capture_faults_test {
namespace {

class CaptureFaultsTest : public CaptureProgramTest {};

TEST_F(CaptureFaultsTest, FaultsAreTheProgramsAndAreTold) {
  const std::string source = std::string(kHead) + R"(
__global__ void beyond(int* p) { p[threadIdx.x + 1000] = 1; }
int main() {
  int* p; cudaMalloc(&p, 400);
  beyond<<<1, 32>>>(p);
  cudaError_t error = cudaDeviceSynchronize();
  printf("%s; %s\n", cudaGetErrorName(error), cudaGetErrorName(cudaMemset(p, 0, 4)));
  return 7;
}
)";
  if (!build(source, "-arch=sm_90 -cudart shared")) GTEST_SKIP() << "no nvcc";
  const auto end = run();
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end->exit_code, 7);
  EXPECT_EQ(output(), "cudaErrorIllegalAddress; cudaErrorIllegalAddress\n");
  ASSERT_NE(launched("beyond"), nullptr);
  EXPECT_NE(launched("beyond")->fault.find("allocation 0"), std::string::npos)
      << launched("beyond")->fault;
}

TEST_F(CaptureFaultsTest, WhatIsNotThereIsNamed) {
  const std::string source = std::string(kHead) + R"(
int main() {
  cudaGraph_t graph;
  float* p;
  printf("%s ", cudaGetErrorName(cudaGraphCreate(&graph, 0)));
  printf("%s ", cudaGetErrorName(cudaMalloc(&p, size_t(1) << 40)));
  printf("%s\n", cudaGetErrorName(cudaMemcpy((void*)0x10, (void*)&p, 0, cudaMemcpyHostToDevice)));
}
)";
  if (!build(source, "-arch=sm_90 -cudart shared")) GTEST_SKIP() << "no nvcc";
  const auto end = run();
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(output(), "cudaErrorNotSupported cudaErrorMemoryAllocation cudaSuccess\n");
  EXPECT_EQ(device.not_there(), (std::map<std::string, int>{{"cudaGraphCreate", 1}}));
  EXPECT_TRUE(device.launched().empty());
}

TEST_F(CaptureFaultsTest, AStaticRuntimeAsksNothing) {
  if (!build("int main() { return 5; }", "-arch=sm_90 -cudart static")) GTEST_SKIP() << "no nvcc";
  const auto end = run();
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end->exit_code, 5);
  EXPECT_FALSE(end->asked);
}

TEST_F(CaptureFaultsTest, ProgramsThatDoNotEndAreEnded) {
  const std::string source = std::string(kHead) + R"(
__global__ void k(int* p) { *p = 1; }
__global__ void forever(volatile int* p) { while (*p != 5) {} }
int main(int count, char**) {
  int* p; cudaMalloc(&p, 4);
  k<<<1, 1>>>(p);
  if (fork() == 0) sleep(1000);  // a child that stays behind
  forever<<<1, 1>>>(p);
  for (;;) sleep(1);
}
)";
  if (!build(source, "-arch=sm_90 -cudart shared")) GTEST_SKIP() << "no nvcc";
  const auto end = run(2.0);
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_TRUE(end->timed_out);
  EXPECT_EQ(end->signal, SIGKILL);
  EXPECT_LT(end->seconds, 15.0);
  ASSERT_NE(launched("k(int*)"), nullptr);  // what was known before is not lost
  EXPECT_EQ(launched("k(int*)")->launches, 1U);
}

TEST_F(CaptureFaultsTest, ProgramsThatAreNotThereAreErrors) {
  const auto end =
      capture_program({{path("absent").string()}, REGRAPH_CAPTURE_RUNTIME, 10.0}, device, never);
  ASSERT_FALSE(end.ok());
  EXPECT_EQ(end.error().code, ErrorCode::not_found);
}

bool is_alive(const std::string& process) {
  // Killed ones may wait for somebody to take note.
  const auto status = read_file("/proc/" + process + "/stat", 1 << 12);
  return status.ok() && status->find(") Z ") == std::string::npos;
}

TEST_F(CaptureFaultsTest, ChildrenThatStayBehindAreEnded) {
  const std::string source = std::string(kHead) + R"(
__global__ void k(int* p) { *p = 1; }
int main(int, char**) {
  int* p; cudaMalloc(&p, 4);
  k<<<1, 1>>>(p);
  for (int i = 0; i < 3; ++i) {
    if (fork() != 0) continue;
    if (i > 0) setsid();  // in no group of ours
    if (i > 1 && fork() != 0) _exit(0);
    int* q;
    bool own = cudaMalloc(&q, 4) == cudaSuccess;  // asks on its own
    printf("%d %d\n", (int)getpid(), own); fflush(stdout);
    for (;;) sleep(1000);
  }
  sleep(1);
  return 3;
}
)";
  if (!build(source, "-arch=sm_90 -cudart shared")) GTEST_SKIP() << "no nvcc";
  const auto end = run();
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end->exit_code, 3);
  EXPECT_LT(end->seconds, 15.0);
  std::istringstream children(output());
  std::string process;
  int own = 0;
  int count = 0;
  for (; children >> process >> own; ++count) {
    EXPECT_EQ(own, 1);
    for (int wait = 0; wait < 100 && is_alive(process); ++wait)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_FALSE(is_alive(process)) << process;
  }
  EXPECT_EQ(count, 3);
  ASSERT_NE(launched("k(int*)"), nullptr);
}

TEST_F(CaptureFaultsTest, WhatWasLaunchedBeforeASignalIsKnown) {
  const std::string source = std::string(kHead) + R"(
#include <csignal>
__global__ void k(int* p) { *p = 1; }
int main() {
  int* p; cudaMalloc(&p, 4);
  for (int i = 0; i < 5; ++i) k<<<1, 32>>>(p);
  *(volatile int*)nullptr = 0;
}
)";
  if (!build(source, "-arch=sm_90 -cudart shared")) GTEST_SKIP() << "no nvcc";
  const auto end = run();
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end->signal, SIGSEGV);
  EXPECT_FALSE(end->timed_out);
  ASSERT_NE(launched("k(int*)"), nullptr);
  EXPECT_EQ(launched("k(int*)")->launches, 5U);
}

// Each kernel of a process of its own, since a fault ends the device's use.
TEST_F(CaptureFaultsTest, KernelsThatWriteEverywhereHarmNobody) {
  const std::string source = std::string(kHead) + R"(
#include <sys/wait.h>
__global__ void everywhere(unsigned long long from, unsigned long long step) {
  unsigned long long i = blockIdx.x * blockDim.x + threadIdx.x;
  *(unsigned long long*)((from + i * step) & ~7ull) = ~0ull;
}
__global__ void wild(void (*f)(int*), int* p) { f(p); }
__global__ void huge(int* p) { extern __shared__ int s[]; s[threadIdx.x + (1 << 28)] = 1; *p = s[0]; }
__global__ void random(char* p) {
  unsigned long long x = threadIdx.x + 1;
  for (int i = 0; i < 1000; ++i) { x = x * 6364136223846793005ull + 1442695040888963407ull; p[(long long)x >> 20] = 1; }
}
int main() {
  for (int which = 0; which < 7; ++which) {
    pid_t child = fork();
    if (child == 0) {
      int* p; cudaMalloc(&p, 1024);
      if (which == 0) everywhere<<<1024, 256>>>(0, 1ull << 46);
      if (which == 1) everywhere<<<1024, 256>>>(0x700000000000ull, 4096);
      if (which == 2) everywhere<<<64, 256>>>((unsigned long long)p - 8192, 8);
      if (which == 3) wild<<<1, 32>>>((void (*)(int*))0x1234567, p);
      if (which == 4) huge<<<1, 32, 1024>>>(p);
      if (which == 5) random<<<4, 256>>>((char*)p);
      if (which == 6) everywhere<<<1, 256>>>((unsigned long long)&child, 8);
      _exit(cudaGetLastError() != cudaSuccess ? 0 : 1);
    }
    int status = 0; waitpid(child, &status, 0);
    printf("%d", WIFEXITED(status) ? WEXITSTATUS(status) : 9);
  }
  return 0;
}
)";
  if (!build(source, "-arch=sm_90 -cudart shared")) GTEST_SKIP() << "no nvcc";
  const auto end = run();
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end->exit_code, 0);
  EXPECT_EQ(output(), "0000000");
  for (const char* name : {"everywhere", "huge", "random"}) {
    ASSERT_NE(launched(name), nullptr) << name;
    EXPECT_FALSE(launched(name)->fault.empty()) << name;
  }
}

TEST_F(CaptureFaultsTest, TooMuchMemoryIsRefused) {
  const std::string source = std::string(kHead) + R"(
int main() {
  void* p; int given = 0;
  const size_t sizes[] = {size_t(1) << 40, size_t(1) << 62, ~size_t(0), ~size_t(0) - 4095, (size_t(8) << 30) + 1};
  for (size_t bytes : sizes) given += cudaMalloc(&p, bytes) != cudaErrorMemoryAllocation;
  size_t pitch; given += cudaMallocPitch(&p, &pitch, ~size_t(0), ~size_t(0)) == cudaSuccess;
  int got = 0;
  while (cudaMalloc(&p, size_t(1) << 30) == cudaSuccess) ++got;
  size_t left, total; cudaMemGetInfo(&left, &total);
  printf("%d %d %zu %zu\n", given, got, left, total >> 30);
}
)";
  if (!build(source, "-arch=sm_90 -cudart shared")) GTEST_SKIP() << "no nvcc";
  for (int round = 0; round < 2; ++round) {  // the second gets what the first had
    const auto end = run();
    ASSERT_TRUE(end.ok()) << end.error().message;
    EXPECT_EQ(output(), "0 8 0 8\n");
  }
}

// A program that has the descriptor of device memory cannot take the memory away.
TEST_F(CaptureFaultsTest, MemoryThatIsGivenKeepsItsSize) {
  const Allocation wanted{8192, MemoryKind::device, 0};
  const DeviceAnswer given = device.answer(
      RequestKind::allocate, {reinterpret_cast<const char*>(&wanted), sizeof wanted}, never);
  ASSERT_EQ(given.status, 0);
  EXPECT_NE(::ftruncate(given.descriptor, 0), 0);
  EXPECT_NE(::ftruncate(given.descriptor, 1 << 20), 0);
}

// Requests that no runtime of ours would send: an answer comes, an error, for each.
TEST_F(CaptureFaultsTest, ForeignRequestsAreRefused) {
  std::uint64_t random = 88172645463325252ULL;
  for (int round = 0; round < 20000; ++round) {
    std::string request;
    const auto next = [&] {
      random ^= random << 13;
      random ^= random >> 7;
      random ^= random << 17;
      return random;
    };
    for (std::uint64_t bytes = next() % 100; bytes > 0; --bytes)
      request.push_back(static_cast<char>(next() % 7 == 0 ? next() : 0));
    const auto kind = static_cast<RequestKind>(next() % 17);
    if (kind == RequestKind::allocate) continue;  // zeros but for a few bytes: it may be given
    (void)device.answer(kind, request, never);
  }
}

}  // namespace
}  // namespace regraph::capture::capture_faults_test
