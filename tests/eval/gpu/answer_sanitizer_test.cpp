// The whole way with programs in compute-sanitizer's place, over a driver whose launches do
// nothing.
#include "eval/gpu/answer_sanitizer.h"

#include "base/files.h"
#include "eval/gpu/driver/harness_kernels.h"
#include "eval/real_compiler.h"
#include "kernel/manifest.h"
#include "with_environment.h"

#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace regraph::gpu::answer_sanitizer_test {
namespace {

using test::WithEnvironment;

constexpr const char* kManifest = R"yaml(
sizes: {n: 100000}
args: {in: {shape: [n]}, out: {dir: out, shape: [n]}}
launch: {block: 256, grid: "cdiv(n, bx)"}
tests: [{n: 1000}, {n: 257}, {n: 1}]
)yaml";
constexpr const char* kSource =
    "__global__ void k(const float* in, float* out, int n) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) out[i] = 2.0f * in[i];\n}\n";

// Reads the options as compute-sanitizer does; "$@" is the worker then, without our descriptor.
constexpr const char* kOptions = R"sh(#!/bin/sh
cd "$(dirname "$0")"
echo "$*" >> asked
while :; do case "$1" in
  --tool) tool=$2; shift 2;;
  --log-file) log=$2; shift 2;;
  --report-api-errors) shift 2;;
  *) break;;
esac; done
exec 3<&-
echo "========= COMPUTE-SANITIZER" > "$log"
)sh";
constexpr const char* kNoErrors = "echo '========= ERROR SUMMARY: 0 errors' >> \"$log\"\n";
// Three processes that ignore what they are asked: one in a session of its own, one whose parent is
// gone, one that is both.
constexpr const char* kStubborn = R"sh(
trap '' TERM INT HUP
stay='trap "" TERM INT HUP; echo $$ >> processes; while :; do sleep 1; done'
setsid sh -c "$stay" &
sh -c "sh -c '$stay' &"
setsid sh -c "setsid sh -c '$stay' &"
while [ "$(cat processes 2>/dev/null | wc -l)" -lt 3 ]; do sleep 0.01; done
)sh";

bool is_there(pid_t process) {
  return ::kill(process, 0) == 0;
}

class AnswerSanitizer : public testing::Test {
 protected:
  void SetUp() override {
    auto folder = TemporaryDirectory::create("sanitizer-test");
    ASSERT_TRUE(folder.ok());
    folder_.emplace(std::move(*folder));
    const auto manifest = parse_manifest(kManifest, "k.yaml");
    ASSERT_TRUE(manifest.ok()) << manifest.error().message;
    const KernelSignature signature{"k",
                                    {{"in", ScalarType::f32, true, true, 1},
                                     {"out", ScalarType::f32, true, false, 1},
                                     {"n", ScalarType::i32, false, false, 1}}};
    auto problem = make_problem(*manifest, signature, "k.cu", kSource);
    ASSERT_TRUE(problem.ok()) << problem.error().message;
    problem_ = std::move(*problem);
    Compiler compiler(test::real_configuration());
    auto compiled = compiler.compile(test::request_for(kSource), Cancellation());
    ASSERT_TRUE(compiled.ok()) << compiled.error().message;
    kernel_.compiled = CompiledPlan::of(*compiled, problem_.launch);
    kernel_.plan = problem_.launch;
    auto loaded = verify::load_plan(kernel_.compiled, kernel_.plan);
    ASSERT_TRUE(loaded.ok()) << loaded.error().message;
    kernel_.loaded = std::move(*loaded);
    worker_.program = REGRAPH_GPU_WORKER;
    worker_.harness = {1, 2, 3};  // nobody runs it
    config_.program = path() / "compute-sanitizer";
  }

  [[nodiscard]] std::filesystem::path path() const { return folder_->path(); }

  void write_tool(const std::string& script) {
    std::ofstream(config_.program) << script;
    std::filesystem::permissions(config_.program, std::filesystem::perms::owner_all);
  }
  SanitizerReport run() {
    return sanitize_answer(config_, worker_, problem_, kernel_, kernel_, 7, Cancellation());
  }
  // Lines of a file that the tool wrote.
  std::vector<std::string> lines(const std::string& file) {
    std::ifstream stream(path() / file);
    std::vector<std::string> all;
    for (std::string line; std::getline(stream, line);)
      all.push_back(line);
    return all;
  }
  void expect_gone(double seconds) {
    const auto numbers = lines("processes");
    EXPECT_EQ(numbers.size(), 3U);
    for (const std::string& number : numbers) {
      for (int i = 0; i < static_cast<int>(seconds * 100.0) && is_there(std::stoi(number)); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      EXPECT_FALSE(is_there(std::stoi(number))) << "process " << number;
    }
  }

  const WithEnvironment driver_{"LD_LIBRARY_PATH", std::string(REGRAPH_FAKE_DRIVERS) + "/gpu"};
  std::optional<TemporaryDirectory> folder_;
  Problem problem_;
  PreparedCandidate kernel_;
  GpuWorkerConfiguration worker_;
  SanitizerConfig config_;
};

TEST_F(AnswerSanitizer, AToolThatFindsNothingIsListed) {
  write_tool(std::string(kOptions) + "\"$@\"\n" + kNoErrors);
  const SanitizerReport report = run();
  EXPECT_EQ(report.tools, (std::vector<std::string>{"memcheck", "racecheck", "synccheck"}));
  EXPECT_TRUE(report.findings.empty());
  EXPECT_TRUE(report.notes.empty()) << report.notes.front();
  const auto asked = lines("asked");
  ASSERT_EQ(asked.size(), 3U);
  EXPECT_NE(asked[0].find("--tool memcheck --log-file "), std::string::npos) << asked[0];
  EXPECT_NE(asked[0].find("--report-api-errors no "), std::string::npos) << asked[0];
  EXPECT_EQ(asked[1].find("--report-api-errors"), std::string::npos) << asked[1];
}

TEST_F(AnswerSanitizer, AFindingIsAgainstTheAnswerUnlessTheOriginalHasItToo) {
  // memcheck: the first run, which is the answer's; racecheck: every run.
  write_tool(std::string(kOptions) + R"sh("$@"
if [ $tool = memcheck ] && [ ! -e once ]; then
  touch once
  printf '========= Invalid __global__ read of size 4 bytes\n=========     at k+0x90 in k.cu:3\n' >> "$log"
  echo '========= ERROR SUMMARY: 1 error' >> "$log"
elif [ $tool = racecheck ]; then
  echo '========= Error: Race reported between Write access at k+0x10' >> "$log"
  echo '========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)' >> "$log"
else
  echo '========= ERROR SUMMARY: 0 errors' >> "$log"
fi
)sh");
  const SanitizerReport report = run();
  EXPECT_EQ(report.tools.size(), 3U);
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.findings[0],
            "memcheck: Invalid __global__ read of size 4 bytes, at k+0x90 in k.cu:3");
  ASSERT_EQ(report.notes.size(), 1U);
  EXPECT_EQ(report.notes[0],
            "racecheck objects to the original, too: Error: Race reported between Write access at "
            "k+0x10");
}

// A finding ends the kernel; the worker ends itself, and only then is there a summary.
TEST_F(AnswerSanitizer, AFindingThatEndsTheKernelIsReported) {
  const WithEnvironment faulty("CUDA_VISIBLE_DEVICES", "faulty");
  config_.tools = {"memcheck"};
  write_tool(std::string(kOptions) + R"sh("$@"
sleep 0.2
[ -e once ] && { echo '========= ERROR SUMMARY: 0 errors' >> "$log"; exit; }
touch once
echo '========= Invalid __global__ write of size 4 bytes' >> "$log"
echo '========= ERROR SUMMARY: 1 error' >> "$log"
)sh");
  const SanitizerReport report = run();
  ASSERT_EQ(report.findings.size(), 1U) << (report.notes.empty() ? "" : report.notes.front());
  EXPECT_EQ(report.findings[0], "memcheck: Invalid __global__ write of size 4 bytes");
  // Without a finding a launch that fails is no verdict either.
  const SanitizerReport again = run();
  EXPECT_TRUE(again.findings.empty());
  ASSERT_EQ(again.notes.size(), 1U);
  EXPECT_NE(again.notes[0].find("memcheck did not run: "), std::string::npos) << again.notes[0];
}

TEST_F(AnswerSanitizer, AToolThatFailsIsANote) {
  config_.tools = {"memcheck"};
  for (const auto& [script, why] : std::vector<std::pair<std::string, std::string>>{
           {std::string(kOptions) +
                "echo '========= Error: Device not supported' >> \"$log\"; exit 1\n",
            "Error: Device not supported"},
           {"#!/bin/sh\necho 'no such option' >&2; exit 2\n", "no such option"},
           {std::string(kOptions) + "\"$@\"\n", "it ended without a summary"},
           {std::string(kOptions) + "echo '===== to standard output'; \"$@\"\n" + kNoErrors,
            "too long a message"},
       }) {
    write_tool(script);
    const SanitizerReport report = run();
    EXPECT_TRUE(report.tools.empty()) << script;
    EXPECT_TRUE(report.findings.empty()) << script;
    ASSERT_EQ(report.notes.size(), 1U) << script;
    EXPECT_NE(report.notes[0].find(why), std::string::npos) << report.notes[0];
  }
  config_.program = path() / "nothing";
  const SanitizerReport report = run();
  ASSERT_EQ(report.notes.size(), 1U);
  EXPECT_NE(report.notes[0].find("cannot run"), std::string::npos) << report.notes[0];
}

TEST_F(AnswerSanitizer, NothingOutlivesAToolThatHangs) {
  config_.tools = {"racecheck"};
  config_.seconds = 1.5;
  write_tool(std::string(kOptions) + kStubborn + "while :; do sleep 1; done\n");
  const SanitizerReport report = run();
  ASSERT_EQ(report.notes.size(), 1U);
  EXPECT_EQ(report.notes[0], "racecheck did not run: not done within 1.5 seconds");
  expect_gone(0.0);
}

TEST_F(AnswerSanitizer, NothingOutlivesAToolThatEnds) {
  config_.tools = {"memcheck"};
  write_tool(std::string(kOptions) + kStubborn + "\"$@\"\n" + kNoErrors);
  const SanitizerReport report = run();
  EXPECT_EQ(report.tools.size(), 1U) << (report.notes.empty() ? "" : report.notes.front());
  expect_gone(0.0);
}

TEST_F(AnswerSanitizer, NothingOutlivesACoordinatorThatIsKilled) {
  config_.tools = {"memcheck"};
  write_tool(std::string(kOptions) + kStubborn + "while :; do sleep 1; done\n");
  const pid_t coordinator = ::fork();
  if (coordinator == 0) {
    (void)run();
    ::_exit(0);
  }
  for (int i = 0; i < 1000 && lines("processes").size() < 3; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  for (const std::string& number : lines("processes"))
    EXPECT_TRUE(is_there(std::stoi(number)));
  ::kill(coordinator, SIGKILL);
  ::waitpid(coordinator, nullptr, 0);
  expect_gone(20.0);
}

TEST_F(AnswerSanitizer, ARequestToStopIsHeeded) {
  write_tool(std::string(kOptions) + kStubborn + "while :; do sleep 1; done\n");
  Cancellation stop;
  std::thread other([&] {
    for (int i = 0; i < 1000 && lines("processes").size() < 3; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    stop.request();
  });
  const SanitizerReport report =
      sanitize_answer(config_, worker_, problem_, kernel_, kernel_, 7, stop);
  other.join();
  EXPECT_EQ(report.notes, std::vector<std::string>{"memcheck did not run: interrupted"});
  expect_gone(0.0);
}

TEST_F(AnswerSanitizer, TheToolkitComesBeforeThePath) {
  const auto make = [&](const std::filesystem::path& file, bool executable) {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << "#!/bin/sh\n";
    if (executable) std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    return file;
  };
  const auto root = path() / "cuda";
  const std::string folders = (path() / "none").string() + "::" + (path() / "bin").string();
  EXPECT_FALSE(find_sanitizer(root, folders));
  EXPECT_FALSE(find_sanitizer("", ""));
  const auto on_path = make(path() / "bin/compute-sanitizer", true);
  EXPECT_EQ(find_sanitizer(root, folders), on_path);
  make(root / "bin/compute-sanitizer", false);
  EXPECT_EQ(find_sanitizer(root, folders), on_path);
  const auto in_folder = make(root / "compute-sanitizer/compute-sanitizer", true);
  EXPECT_EQ(find_sanitizer(root, folders), in_folder);
  EXPECT_EQ(find_sanitizer("", folders), on_path);
  const auto in_bin = make(root / "bin/compute-sanitizer", true);
  EXPECT_EQ(find_sanitizer(root, folders), in_bin);
}

}  // namespace
}  // namespace regraph::gpu::answer_sanitizer_test
