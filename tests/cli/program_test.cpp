// Settings, manual page, completions and the examination of the machine.
#include "cli/search_program.h"

#include <sstream>

namespace regraph::program_test {
namespace {

using test::ProgramRun;

constexpr int kUsage = 2;

class Program : public test::SearchProgram {
 protected:
  [[nodiscard]] std::string setting(const std::string& name,
                                    std::vector<std::string> arguments = {}) const {
    arguments.emplace_back("--print-config");
    const ProgramRun done = run(arguments);
    EXPECT_EQ(done.exit_code, 0) << done.error;
    std::istringstream lines(done.output);
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with(name + ": ")) return line;
    }
    return "";
  }

  // Runs a shell command; returns its standard output.
  [[nodiscard]] std::string shell(const std::string& command) const {
    ChildRequest request;
    request.program = "/bin/bash";
    request.arguments = {"-c", command};
    request.environment = environment();
    request.working_directory = path("");
    request.wall_seconds = 20.0;
    const Cancellation never;
    const auto outcome = run_child(request, never);
    EXPECT_TRUE(outcome.ok() && outcome->exit_code == 0)
        << (outcome.ok() ? outcome->error : outcome.error().message);
    return outcome.ok() ? outcome->output : "";
  }
};

TEST_F(Program, FlagsGoBeforeTheEnvironmentBeforeTheFileBeforeDefaults) {
  EXPECT_EQ(setting("seed"), "seed: 1  # default");
  file("regraph.yaml", "# mine\nseed: 5\njobs: 3\nsize: [N=7, M=8]\nquiet: true\n");
  EXPECT_EQ(setting("seed"), "seed: 5  # regraph.yaml:2");
  EXPECT_EQ(setting("size"), "size: [\"N=7\", \"M=8\"]  # regraph.yaml:4");
  EXPECT_EQ(setting("quiet"), "quiet: true  # regraph.yaml:5");
  set_environment("REGRAPH_SEED=6");
  EXPECT_EQ(setting("seed"), "seed: 6  # REGRAPH_SEED");
  EXPECT_EQ(setting("jobs"), "jobs: 3  # regraph.yaml:3");
  EXPECT_EQ(setting("seed", {"--seed", "7"}), "seed: 7  # flag");
}

TEST_F(Program, WhatPrintConfigPrintsIsASettingsFile) {
  const ProgramRun first =
      run({"--print-config", "--device", "h100", "--size", "N=5", "--search", "beam", "--json"});
  ASSERT_EQ(first.exit_code, 0) << first.error;
  file("mine.yaml", first.output);
  EXPECT_EQ(setting("device", {"--config", "mine.yaml"}).substr(0, 23), "device: h100  # mine.ya");
  EXPECT_EQ(setting("search", {"--config", "mine.yaml"}).substr(0, 12), "search: beam");
  EXPECT_EQ(setting("json", {"--config", "mine.yaml"}).substr(0, 10), "json: true");
}

TEST_F(Program, WrongSettingsAreNamedWithTheirPlace) {
  const auto complaint = [&](const std::string& text) {
    file("regraph.yaml", text);
    const ProgramRun done = run({"--print-config"});
    EXPECT_EQ(done.exit_code, kUsage) << done.output;
    return done.error;
  };
  EXPECT_NE(complaint("seed: 1\ndevise: h200\n").find("regraph.yaml:2: unknown setting 'devise'"),
            std::string::npos);
  EXPECT_NE(complaint("search: best\n").find("regraph.yaml:1: "), std::string::npos);
  EXPECT_NE(complaint("seed: [1, 2]\n").find("regraph.yaml:1: seed: expected a single value"),
            std::string::npos);
  EXPECT_NE(complaint("seed: {\n").find("not valid YAML"), std::string::npos);
  EXPECT_NE(complaint("resume: x\n").find("unknown setting 'resume'"), std::string::npos);
  file("regraph.yaml", "");
  set_environment("REGRAPH_JOBS=many");
  const ProgramRun done = run({"--print-config"});
  EXPECT_EQ(done.exit_code, kUsage);
  EXPECT_TRUE(done.complains_of("REGRAPH_JOBS")) << done.error;
  EXPECT_EQ(run({"--print-config", "--config", "missing.yaml"}).exit_code, kUsage);
}

// Every option that --help names is in the manual page and in each completion script.
TEST_F(Program, ManualAndCompletionsKnowEveryOption) {
  std::istringstream help(run({"--help"}).output);
  const std::string man = run({"--man"}).output;
  const std::string bash = run({"--completion", "bash"}).output;
  const std::string zsh = run({"--completion", "zsh"}).output;
  const std::string fish = run({"--completion", "fish"}).output;
  int options = 0;
  for (std::string line; std::getline(help, line);) {
    const std::size_t at = line.find("--");
    if (at == std::string::npos || at > 8 || line.find("regraph-search") != std::string::npos) {
      continue;
    }
    const std::string name = line.substr(at + 2, line.find_first_of(" ,", at) - at - 2);
    std::string in_man = "\\-\\-" + name;
    for (std::size_t dash = 4; (dash = in_man.find('-', dash)) != std::string::npos; dash += 2)
      in_man.replace(dash, 1, "\\-");
    EXPECT_NE(man.find(in_man), std::string::npos) << name;
    EXPECT_NE(bash.find("--" + name), std::string::npos) << name;
    EXPECT_NE(zsh.find("'--" + name + "["), std::string::npos) << name;
    EXPECT_NE(fish.find(" -l " + name), std::string::npos) << name;
    ++options;
  }
  EXPECT_GT(options, 20);
  EXPECT_TRUE(man.starts_with(".TH REGRAPH\\-SEARCH 1"));
  EXPECT_EQ(run({"--completion", "tcsh"}).exit_code, kUsage);
}

TEST_F(Program, BashCompletes) {
  file("complete.bash", run({"--completion", "bash"}).output);
  file("kernel.cu", "");
  const auto complete = [&](const std::string& words, int at) {
    return shell("source complete.bash; COMP_WORDS=(" + words + "); COMP_CWORD=" +
                 std::to_string(at) + "; _regraph_search; echo \"${COMPREPLY[*]}\"");
  };
  EXPECT_EQ(complete("regraph-search --eval", 1), "--evaluator --evaluations --evaluation-time\n");
  EXPECT_EQ(complete("regraph-search --search be", 2), "beam\n");
  EXPECT_EQ(complete("regraph-search ker", 1), "kernel.cu\n");
}

TEST_F(Program, TheDoctorExaminesThisMachine) {
  const ProgramRun done = run({"doctor"});
  EXPECT_EQ(done.exit_code, 0) << done.output << done.error;
  for (const char* subject : {"CUDA toolkit", "C++ front end", "compiler", "sandbox", "cache",
                              "ReGraph", "processor", "memory", "GPU"}) {
    EXPECT_NE(done.output.find(subject), std::string::npos) << subject << "\n" << done.output;
  }
  EXPECT_NE(done.output.find("searches can run"), std::string::npos);
}

// A driver and a management library that only pretend, and a tool that is nothing.
TEST_F(Program, TheDoctorLooksAtTheGpusState) {
  file("tools/compute-sanitizer", "#!/bin/sh\n");
  const std::string tool = shell("chmod +x tools/compute-sanitizer && printf %s \"$PWD/tools\"");
  set_environment("LD_LIBRARY_PATH=" REGRAPH_FAKE_DRIVERS "/gpu:" REGRAPH_FAKE_NVML "/full");
  set_environment("FAKE_CLOCK_EVENTS=0x40");
  set_environment("FAKE_PROCESSES=1");
  set_environment("FAKE_PROCESS=2147483647");
  set_environment("PATH=" + tool + ":/usr/bin:/bin");
  const ProgramRun done = run({"doctor"});
  for (const char* part :
       {"NVIDIA Fake (sm_90)", "SM 345 of 1980 MHz", "clocks held by: hardware thermal slowdown",
        "persistence mode on", "clocks are held down by hardware thermal slowdown",
        "process 2147483647 uses the GPU", "compute-sanitizer checks measured answers",
        "note  counters       none"}) {
    EXPECT_NE(done.output.find(part), std::string::npos) << part << "\n" << done.output;
  }
}

TEST_F(Program, TheDoctorDoesWithoutTheManagementLibrary) {
  set_environment("LD_LIBRARY_PATH=" REGRAPH_FAKE_DRIVERS "/gpu:" REGRAPH_FAKE_NVML "/refused");
  const ProgramRun done = run({"doctor"});
  EXPECT_NE(done.output.find("Insufficient Permissions"), std::string::npos) << done.output;
  EXPECT_NE(done.output.find("GPU kernels"), std::string::npos) << done.output;
}

TEST_F(Program, AGpuThatIsTakenEndsWithFive) {
  set_environment("LD_LIBRARY_PATH=" REGRAPH_FAKE_DRIVERS "/gpu");
  set_environment("CUDA_VISIBLE_DEVICES=taken");
  file("copy.cu", "__global__ void copy(const float* in, float* out) { out[0] = in[0]; }\n");
  const ProgramRun done = run({"copy.cu", "--evaluator", "gpu"});
  EXPECT_EQ(done.exit_code, 5) << done.output << done.error;
  EXPECT_NE(done.error.find("another process"), std::string::npos) << done.error;
}

TEST_F(Program, TheDoctorSaysWhatIsBroken) {
  set_environment("REGRAPH_CLANG_RESOURCES=/nowhere");
  const ProgramRun done = run({"doctor"});
  EXPECT_EQ(done.exit_code, 5) << done.output;
  EXPECT_NE(done.output.find("FAIL  C++ front end"), std::string::npos) << done.output;
}

}  // namespace
}  // namespace regraph::program_test
