// Sources that would read what is not theirs, never end, or bring the compiler down.
#include "cli/bad_input.h"

#include <sys/stat.h>

namespace regraph::test::hostile_input_test {
namespace {

TEST_F(BadInput, AnIncludeOfASystemFileShowsNothingOfIt) {
  file("scale.regraph.yaml", kManifest);
  for (const char* name : {"\"/etc/passwd\"", "\"../../../../etc/passwd\"", "</etc/passwd>"}) {
    file("scale.cu", std::string("#include ") + name + "\n" + kScale);
    const ProgramRun done = run({"scale.cu", "--device", "h200", "--dry-run"});
    for (const std::string* text : {&done.output, &done.error})
      EXPECT_EQ(text->find("root:"), std::string::npos) << *text;
    if (name[0] == '"') {
      EXPECT_EQ(done.exit_code, kUnusableKernel) << done.error;
      EXPECT_TRUE(done.complains_of("scale.cu:1: #include")) << done.error;
    }
  }
  // Behind what only the front end defines, in places that are not cut out.
  const std::string head = "__global__ void scale(const float* in, float* out, int n) {\n";
  const std::string rest(std::string(kScale).substr(head.size()));
  for (const char* directive : {"#include </etc/passwd>", "#inc\\\nlude </etc/passwd>",
                                "#include_next </etc/passwd>", "%:include </etc/passwd>"}) {
    std::string text = head;
    text.append("#ifdef __clang__\n").append(directive).append("\n#endif\n").append(rest);
    file("scale.cu", text);
    const ProgramRun done = run({"scale.cu", "--device", "h200", "--dry-run"});
    for (const std::string* said : {&done.output, &done.error})
      EXPECT_EQ(said->find("root"), std::string::npos) << directive << "\n" << *said;
  }
  std::filesystem::remove_all(path("regraph-runs"));
}

TEST_F(BadInput, AnIncludeThatIsAFifoDoesNotBlock) {
  ASSERT_EQ(mkfifo(path("pipe.h").c_str(), 0600), 0);
  expect_for(kUnusableKernel, {"scale.cu:1: #include \"pipe.h\"", "not a regular file"},
             std::string("#include \"pipe.h\"\n") + kScale);
}

TEST_F(BadInput, AKernelFileThatIsAFifoDoesNotBlock) {
  ASSERT_EQ(mkfifo(path("pipe.cu").c_str(), 0600), 0);
  expect(kUsage, {"pipe.cu"}, {"pipe.cu", "--device", "h200"});
}

TEST_F(BadInput, ATemplateBombEnds) {
  expect_for(
      kUnusableKernel, {"does not compile"},
      "template <int N, int M> struct Bomb {\n"
      "  static constexpr int value = Bomb<N - 1, M>::value + Bomb<N - 1, M + 1>::value;\n};\n"
      "template <int M> struct Bomb<0, M> { static constexpr int value = 1; };\n"
      "__global__ void scale(const float* in, float* out, int n) {\n"
      "  out[0] = Bomb<4000, 0>::value;\n}\n");
}

// The compiler gives up unrolling; what is left would run for minutes.
TEST_F(BadInput, AnUnrollBombEnds) {
  const std::string bomb =
      "__global__ void scale(const float* in, float* out, int n) {\n  float s = 0;\n"
      "#pragma unroll\n  for (int i = 0; i < 400000; ++i) {\n"
      "#pragma unroll\n    for (int j = 0; j < 1000; ++j) s = s * in[i % 300] + in[j % 300];\n  }\n"
      "  out[0] = s;\n}\n";
  const ProgramRun done =
      expect(kUnusableKernel, {"does not end within 5 seconds", "--evaluation-time"},
             {kernel(bomb), "--device", "h200", "--evaluation-time", "5"});
  EXPECT_LT(done.wall_seconds, 110.0);
}

TEST_F(BadInput, DeepNestingIsRefused) {
  constexpr int kDepth = 200'000;
  expect_for(kUnusableKernel, {"does not compile"},
             "__global__ void scale(const float* in, float* out, int n) {\n  out[0] = " +
                 std::string(kDepth, '(') + "in[0]" + std::string(kDepth, ')') + ";\n}\n");
}

}  // namespace
}  // namespace regraph::test::hostile_input_test
