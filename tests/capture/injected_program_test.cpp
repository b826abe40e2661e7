// What a library in a program on a GPU says, and what the observer is told.
#include "capture/device/injected_program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <dlfcn.h>
#include <random>
#include <string>
#include <vector>

namespace regraph::capture::injected_program_test {
namespace {

constexpr const char* kSymbol = "_Z1kPfS_i";

template <typename Structure>
std::string text_of(const Structure& structure) {
  return {reinterpret_cast<const char*>(&structure), sizeof structure};
}

template <typename Structure>
Structure struct_of(const DeviceAnswer& answer) {
  Structure structure;
  EXPECT_GE(answer.payload.size(), sizeof structure);
  std::memcpy(&structure, answer.payload.data(), std::min(sizeof structure, answer.payload.size()));
  return structure;
}

class Recorder final : public LaunchObserver {
 public:
  void before_launch(const ObservedLaunch& launch) override {
    ++launches;
    parameters = launch.parameters.size();
    allocations.clear();
    contents.clear();
    for (const ObservedPointer& pointer : launch.pointers) {
      allocations.push_back(pointer.allocation);
      contents.emplace_back(reinterpret_cast<const char*>(pointer.content.data()),
                            pointer.content.size());
    }
    variables.clear();
    for (const ObservedVariable& variable : launch.variables)
      variables.push_back(variable.name);
  }
  void after_launch(const ObservedLaunch& /*launch*/, std::uint64_t /*work*/) override { ++ends; }
  [[nodiscard]] bool wants_contents(const ObservedLaunch& /*launch*/) const override {
    return wants;
  }
  [[nodiscard]] double quiet_threads(const std::string& /*symbol*/) const override { return 64.0; }
  void count_launches(const std::string& /*symbol*/, std::uint64_t more) override {
    counted += more;
  }
  void add_seconds(const std::string& /*symbol*/, double more) override { seconds += more; }

  bool wants = true;
  int launches = 0;
  int ends = 0;
  std::size_t parameters = 0;
  std::vector<std::uint64_t> allocations;
  std::vector<std::string> contents;
  std::vector<std::string> variables;
  std::uint64_t counted = 0;
  double seconds = 0.0;
};

class Injected : public testing::Test {
 protected:
  static ProgramKernels kernels() {
    ProgramKernels all;
    ProgramKernel kernel;
    kernel.image.symbol = kSymbol;
    kernel.image.parameters = {{0, 8}, {8, 8}, {16, 4}};
    kernel.image.variables = {"table", "_ZN1a5limitE"};
    all.kernels.push_back(kernel);
    return all;
  }

  // k(x, x + 4 bytes, 7), x of eight bytes.
  static std::string launch_text(std::uint64_t not_shown = 0) {
    SeenLaunch launch;
    launch.process = 5;
    launch.grid[0] = 2;
    launch.block[0] = 32;
    launch.slots = 3;
    launch.pointers = 2;
    launch.symbol_bytes = static_cast<std::uint32_t>(std::strlen(kSymbol));
    launch.parameter_bytes = 20;
    launch.not_shown = not_shown;
    std::string text = text_of(launch);
    text += text_of(SeenPointer{0, 0, 4096, 8, 0});
    text += text_of(SeenPointer{1, 0, 4096, 8, 4});
    text += kSymbol;
    text += std::string(20, '\1');
    for (const KernelAnswer::Slot slot : {KernelAnswer::Slot{0, 8}, {8, 8}, {16, 4}})
      text += text_of(slot);
    return text;
  }

  static std::string piece(std::uint64_t offset, const std::string& bytes,
                           std::uint32_t variable = 0, std::uint64_t base = 4096) {
    return text_of(SeenContent{5, variable, base, offset, 8}) + bytes;
  }

  DeviceAnswer say(RequestKind kind, const std::string& text) {
    return program.answer(kind, text, never);
  }

  Recorder recorder;
  InjectedProgram program{kernels(), recorder};
  Cancellation never;
};

TEST_F(Injected, KnowsTheKernelsOfTheFile) {
  const DeviceAnswer known = say(RequestKind::seen_kernel, kSymbol);
  EXPECT_EQ(struct_of<SeenKernel>(known).is_known, 1U);
  EXPECT_EQ(struct_of<SeenKernel>(known).slots, 3U);
  const std::string names = std::string("table") + '\0' + "_ZN1a5limitE" + '\0';
  EXPECT_NE(known.payload.find(names), std::string::npos);
  EXPECT_EQ(struct_of<SeenKernel>(say(RequestKind::seen_kernel, "other")).is_known, 0U);
}

TEST_F(Injected, ContentsComeBeforeTheLaunch) {
  const auto wish = struct_of<SeenAnswer>(say(RequestKind::seen_launch, launch_text()));
  EXPECT_EQ(wish.wants_contents, 1U);
  EXPECT_EQ(recorder.launches, 0);
  EXPECT_EQ(say(RequestKind::seen_content, piece(0, "abcd")).status, 0);
  EXPECT_EQ(say(RequestKind::seen_content, piece(4, "efgh")).status, 0);
  EXPECT_EQ(say(RequestKind::seen_variable, piece(0, "table", 1, 512)).status, 0);
  EXPECT_EQ(say(RequestKind::seen_content, piece(0, "tttttttt", 1, 512)).status, 0);
  EXPECT_EQ(say(RequestKind::seen_all, text_of(Hello{kProtocolVersion, 5})).status, 0);
  EXPECT_EQ(recorder.launches, 1);
  EXPECT_EQ(recorder.ends, 1);
  EXPECT_EQ(recorder.parameters, 20U);
  EXPECT_EQ(recorder.contents, (std::vector<std::string>{"abcdefgh", "abcdefgh"}));
  EXPECT_EQ(recorder.allocations, (std::vector<std::uint64_t>{1, 1}));  // no address
  EXPECT_EQ(recorder.variables, std::vector<std::string>{"table"});
  EXPECT_EQ(program.launches().at(kSymbol), 1U);
}

TEST_F(Injected, WhatIsMissingIsNotTakenForZeros) {
  (void)say(RequestKind::seen_launch, launch_text());
  EXPECT_EQ(say(RequestKind::seen_content, piece(0, "abcd")).status, 0);
  EXPECT_NE(say(RequestKind::seen_content, piece(6, "gh")).status, 0);
  EXPECT_NE(say(RequestKind::seen_content, piece(4, "efghi")).status, 0);
  (void)say(RequestKind::seen_all, text_of(Hello{kProtocolVersion, 5}));
  EXPECT_EQ(recorder.contents, (std::vector<std::string>{"", ""}));
}

TEST_F(Injected, LaunchesThatNobodyKeepsAreCounted) {
  recorder.wants = false;
  const auto wish = struct_of<SeenAnswer>(say(RequestKind::seen_launch, launch_text(3)));
  EXPECT_EQ(wish.wants_contents, 0U);
  EXPECT_EQ(wish.quiet_threads, 64.0);
  EXPECT_EQ(recorder.launches, 1);
  EXPECT_EQ(recorder.counted, 3U);
  (void)say(RequestKind::seen_time, text_of(SeenTime{0.5, 10}) + kSymbol);
  EXPECT_EQ(recorder.counted, 13U);
  EXPECT_EQ(recorder.seconds, 0.5);
  EXPECT_EQ(program.launches().at(kSymbol), 14U);
  EXPECT_NE(say(RequestKind::seen_content, piece(0, "abcd")).status, 0);  // nobody asked
}

TEST_F(Injected, TheProgramIsForeign) {
  const std::string whole = launch_text();
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes)
    EXPECT_NE(say(RequestKind::seen_launch, whole.substr(0, bytes)).status, 0) << bytes;
  std::mt19937 random(7);
  for (int round = 0; round < 20000; ++round) {
    std::string text = whole;
    for (int change = 0; change < 3; ++change)
      text[random() % text.size()] = static_cast<char>(random());
    (void)say(RequestKind::seen_launch, text);
    (void)say(RequestKind::seen_content, piece(random() % 8, "abcd", random() % 2));
    (void)say(RequestKind::seen_all, text_of(Hello{kProtocolVersion, 5}));
  }
  SeenContent large{5, 0, 4096, 0, InjectedProgram::kMostPending + 1};
  (void)say(RequestKind::seen_launch, whole);
  EXPECT_NE(say(RequestKind::seen_content, text_of(large)).status, 0);
  EXPECT_NE(say(RequestKind::module, "x").status, 0);
}

// In a program without a driver, and with nobody listening, it keeps out of the way.
TEST(Injection, NeverEndsTheProgram) {
  const std::string path = std::string(REGRAPH_CAPTURE_RUNTIME) + "/libregraph-injection.so";
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << ::dlerror();
  const auto initialize = reinterpret_cast<int (*)()>(::dlsym(library, "InitializeInjection"));
  ASSERT_NE(initialize, nullptr);
  EXPECT_EQ(initialize(), 1);
  EXPECT_EQ(::dlsym(library, "_ZN7regraph7capture3askENS0_11RequestKindENS0_4PartES2_"), nullptr);
}

}  // namespace
}  // namespace regraph::capture::injected_program_test
