#include "fleet/evaluation_job.h"

#include "base/random.h"
#include "fleet/problem_text.h"

#include <gtest/gtest.h>

#include <limits>

namespace regraph::fleet::evaluation_job_test {
namespace {

EvaluationJob some_job() {
  EvaluationJob job;
  job.problem = hash_text("problem");
  job.candidate.source = "// \xff is no UTF-8\n__global__ void f(float* x) {}\n";
  Launch launch;
  launch.kernel = "f";
  launch.block = {32, 4, 1};
  launch.grid = {*IntegerExpression::parse("cdiv(n, bx)"), 1, 1};
  job.candidate.plan.launches = {launch};
  job.candidate.assumptions = {"n is even"};
  job.budget.seed = std::numeric_limits<std::uint64_t>::max();
  job.budget.repetitions = 3;
  job.budget.wall_seconds = 12.5;
  job.budget.measured_over_predicted = 1.0 / 3.0;
  return job;
}

Evaluation some_evaluation() {
  Evaluation evaluation;
  evaluation.verdict = Verdict::correct;
  evaluation.time = {1.0 / 3.0, 0.3, 0.4, 7, TimeMethod::predicted};
  evaluation.resources.registers_per_thread = 40;
  evaluation.facts = {{"occupancy", 0.1},
                      {"latency_share", std::numeric_limits<double>::infinity()}};
  evaluation.bottleneck = "the \"DRAM\"";
  evaluation.roofline_seconds = 0.1 + 0.2;
  evaluation.machine_code = hash_text("code");
  return evaluation;
}

TEST(EvaluationJob, ComesBackAsItWas) {
  const EvaluationJob job = some_job();
  const Job packed = job_of("predict-1", job);
  const auto read = read_evaluation_job(packed.payload);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->problem, job.problem);
  EXPECT_EQ(read->candidate.source, job.candidate.source);
  EXPECT_EQ(read->candidate.plan, job.candidate.plan);
  EXPECT_EQ(read->candidate.assumptions, job.candidate.assumptions);
  EXPECT_EQ(read->budget.seed, job.budget.seed);
  EXPECT_EQ(read->budget.repetitions, job.budget.repetitions);
  EXPECT_EQ(read->budget.wall_seconds, job.budget.wall_seconds);
  EXPECT_EQ(read->budget.measured_over_predicted, job.budget.measured_over_predicted);
  EXPECT_EQ(job_of("predict-1", *read).id, packed.id);
  EvaluationJob trial = job;
  trial.task = EvaluationJob::Task::try_answer;
  trial.sanitize = true;
  const auto read_trial = read_evaluation_job(job_of("gpu-1", trial).payload);
  ASSERT_TRUE(read_trial.ok());
  EXPECT_EQ(read_trial->task, EvaluationJob::Task::try_answer);
  EXPECT_TRUE(read_trial->sanitize);
}

TEST(EvaluationJob, IsAnotherWhereAnythingIs) {
  const EvaluationJob job = some_job();
  const Hash128 id = job_of("a", job).id;
  EXPECT_NE(job_of("b", job).id, id);
  const auto changed = [&](auto change) {
    EvaluationJob other = job;
    change(other);
    return job_of("a", other).id;
  };
  EXPECT_NE(changed([](EvaluationJob& one) { one.candidate.source += " "; }), id);
  EXPECT_NE(changed([](EvaluationJob& one) { one.candidate.plan.launches[0].block.x = 64; }), id);
  EXPECT_NE(changed([](EvaluationJob& one) { one.candidate.assumptions.clear(); }), id);
  EXPECT_NE(changed([](EvaluationJob& one) { one.budget.seed = 1; }), id);
  EXPECT_NE(changed([](EvaluationJob& one) { one.problem = {}; }), id);
  EXPECT_NE(changed([](EvaluationJob& one) { one.occasion = "run 2"; }), id);
  EXPECT_NE(changed([](EvaluationJob& one) { one.task = EvaluationJob::Task::try_answer; }), id);
  EXPECT_NE(changed([](EvaluationJob& one) { one.sanitize = true; }), id);
  EXPECT_NE(changed([](EvaluationJob& one) {
              one.budget.effort = EvaluationBudget::Effort::confirmation;
            }),
            id);
}

TEST(EvaluationAnswer, ComesBackToTheLastBit) {
  EvaluationAnswer answer;
  answer.worker = "host-1";
  answer.evaluation = some_evaluation();
  const auto read = read_answer(answer_text(answer));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->worker, "host-1");
  ASSERT_TRUE(read->evaluation);
  const Evaluation& evaluation = *read->evaluation;
  EXPECT_EQ(evaluation.verdict, answer.evaluation->verdict);
  EXPECT_EQ(evaluation.time.median_seconds, 1.0 / 3.0);
  EXPECT_EQ(evaluation.time.samples, 7);
  EXPECT_EQ(evaluation.facts, answer.evaluation->facts);
  EXPECT_EQ(evaluation.bottleneck, answer.evaluation->bottleneck);
  EXPECT_EQ(evaluation.roofline_seconds, 0.1 + 0.2);
  EXPECT_EQ(evaluation.machine_code, answer.evaluation->machine_code);
}

TEST(EvaluationAnswer, KeepsWholeNumbersThatAreTimes) {
  // JSON has one kind of number; a time of exactly two seconds must not come back as none.
  EvaluationAnswer answer;
  answer.evaluation = some_evaluation();
  answer.evaluation->time = {2.0, 1.0, 3.0, 1, TimeMethod::predicted};
  answer.evaluation->roofline_seconds = 0.0;
  const auto read = read_answer(answer_text(answer));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->evaluation->time.median_seconds, 2.0);
  EXPECT_EQ(read->evaluation->roofline_seconds, 0.0);
}

Measurement some_measurement() {
  Measurement measurement;
  measurement.gpu = "NVIDIA H200";
  measurement.driver_version = 13000;
  measurement.timed = 12;
  measurement.noise = 1.0 / 3.0;
  measurement.original_seconds = 1e-3;
  measurement.timing_seconds = 0.1 + 0.2;
  measurement.no_counters = "not permitted";
  measurement.disturbances = {"process 7 uses the GPU"};
  return measurement;
}

TEST(EvaluationAnswer, SaysHowItsGpuWasUsed) {
  EvaluationAnswer answer;
  answer.evaluation = some_evaluation();
  answer.use = some_measurement();
  answer.process = 4711;
  const auto read = read_answer(answer_text(answer));
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_TRUE(read->use);
  EXPECT_EQ(read->process, 4711U);
  EXPECT_EQ(read->use->gpu, "NVIDIA H200");
  EXPECT_EQ(read->use->driver_version, 13000);
  EXPECT_EQ(read->use->timed, 12);
  EXPECT_EQ(read->use->noise, 1.0 / 3.0);
  EXPECT_EQ(read->use->original_seconds, 1e-3);
  EXPECT_EQ(read->use->timing_seconds, 0.1 + 0.2);
  EXPECT_EQ(read->use->no_counters, "not permitted");
  EXPECT_EQ(read->use->disturbances, answer.use->disturbances);
  EXPECT_FALSE(read->use->speedup);
}

AnswerTrial some_trial() {
  AnswerTrial trial;
  trial.measurement = some_measurement();
  MeasuredSpeedup& speedup = trial.measurement.speedup.emplace();
  speedup.cold = {1.0 / 3.0, 0.3, 0.4};
  speedup.hot = {2.0, 1.9, 2.1};
  speedup.processes = 5;
  speedup.benches = {
      {{{"n", 1024}, {"m", 3}}, {2.0, 1.0, 10, speedup.cold}, {3.0, 1.5, 9, speedup.hot}}};
  trial.measurement.sanitizer = SanitizerReport{{"memcheck"}, {"a finding"}, {"a note"}};
  trial.objections = {"slower"};
  trial.notes = {"why"};
  return trial;
}

TEST(EvaluationAnswer, MayBeATrial) {
  EvaluationAnswer answer;
  answer.trial = some_trial();
  const auto read = read_answer(answer_text(answer));
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_TRUE(read->trial);
  EXPECT_FALSE(read->evaluation);
  EXPECT_FALSE(read->trial->stands());
  EXPECT_EQ(read->trial->objections, answer.trial->objections);
  EXPECT_EQ(read->trial->notes, answer.trial->notes);
  ASSERT_TRUE(read->trial->measurement.speedup);
  const MeasuredSpeedup& speedup = *read->trial->measurement.speedup;
  EXPECT_EQ(speedup.cold.ratio, 1.0 / 3.0);
  EXPECT_EQ(speedup.hot.high, 2.1);
  EXPECT_EQ(speedup.processes, 5);
  ASSERT_EQ(speedup.benches.size(), 1U);
  EXPECT_EQ(speedup.benches[0].symbols.at("n"), 1024);
  EXPECT_EQ(speedup.benches[0].cold.samples, 10);
  EXPECT_EQ(speedup.benches[0].hot.best_seconds, 1.5);
  ASSERT_TRUE(read->trial->measurement.sanitizer);
  EXPECT_EQ(read->trial->measurement.sanitizer->findings.front(), "a finding");
}

TEST(EvaluationAnswer, TrialsAreReadAsForeign) {
  const auto refused = [](auto change) {
    EvaluationAnswer answer;
    answer.trial = some_trial();
    change(*answer.trial);
    return !read_answer(answer_text(answer)).ok();
  };
  EXPECT_FALSE(refused([](AnswerTrial&) {}));
  EXPECT_TRUE(refused([](AnswerTrial& one) { one.measurement.speedup->cold.low = 0.5; }));
  EXPECT_TRUE(refused([](AnswerTrial& one) { one.measurement.speedup->cold.low = -1.0; }));
  EXPECT_TRUE(refused([](AnswerTrial& one) { one.measurement.speedup->benches.clear(); }));
  EXPECT_TRUE(refused([](AnswerTrial& one) { one.measurement.speedup->hot.ratio = 0.0; }));
  EXPECT_TRUE(refused([](AnswerTrial& one) { one.measurement.timed = -1; }));
  EXPECT_TRUE(
      refused([](AnswerTrial& one) { one.measurement.speedup->benches[0].cold.best_seconds = 0; }));
}

TEST(EvaluationAnswer, MayBeTrouble) {
  EvaluationAnswer answer;
  answer.worker = "w";
  answer.trouble = "no toolkit";
  const auto read = read_answer(answer_text(answer));
  ASSERT_TRUE(read.ok());
  EXPECT_FALSE(read->evaluation);
  EXPECT_EQ(read->trouble, "no toolkit");
}

TEST(EvaluationAnswer, IsReadAsForeign) {
  for (
      const char* text :
      {"", "1", "[]", "{}", R"({"worker": 1})", R"({"worker": "w"})",
       R"({"worker": "w", "evaluation": []})", R"({"worker": "w", "evaluation": ["correct"]})",
       R"({"worker": "w", "evaluation": ["correct", "", 0.0, 0.0, 0.0, 1, "predicted", 1, 1, 1, 1, 1, "{}", "", 0.0, ""]})",
       R"({"worker": "w", "trouble": 7})", "{\"worker\": \"\xff\"}"}) {
    EXPECT_FALSE(read_answer(text).ok()) << text;
  }
}

// Whatever is cut out or changed, reading ends with a value or an error.
TEST(EvaluationJob, SurvivesDamage) {
  const std::string job = job_of("lane", some_job()).payload;
  EvaluationAnswer answer;
  answer.worker = "w";
  answer.evaluation = some_evaluation();
  const std::string said = answer_text(answer);
  RunDescription description;
  description.kernel = "f";
  description.source = "x";
  const std::string problem = problem_text(description).text;
  std::uint64_t draw = 0;
  const auto below = [&](std::size_t most) {
    return static_cast<std::size_t>(random_bits(7, draw++) % most);
  };
  for (int round = 0; round < 3000; ++round) {
    for (const std::string& text : {job, said, problem}) {
      std::string damaged = text;
      for (std::size_t times = below(4) + 1; times > 0 && !damaged.empty(); --times) {
        const std::size_t at = below(damaged.size());
        if (below(3) == 0) {
          damaged.erase(at, below(20));
        } else {
          damaged[at] = static_cast<char>(below(256));
        }
      }
      (void)read_evaluation_job(damaged);
      (void)read_answer(damaged);
      (void)read_problem_text(damaged);
      (void)problem_files(damaged);
      (void)with_files_in(damaged, "/folder");
    }
  }
}

TEST(ProblemText, HasWhatDecidesAnEvaluation) {
  RunDescription description;
  description.kernel = "f";
  description.source = "__global__ void f() {} // \xff";
  description.source_path = "f.cu";
  description.manifest = "kernel: f\n";
  description.graph = "a graph";
  description.policy = "00";
  description.config.device = "h200";
  description.config.seed = 5;
  description.config.jobs = 64;
  const ProblemText text = problem_text(description);
  const auto read = read_problem_text(text.text);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->kernel, "f");
  EXPECT_EQ(read->source, description.source);
  EXPECT_EQ(read->manifest, description.manifest);
  EXPECT_EQ(read->config.device, "h200");
  EXPECT_EQ(read->config.seed, 5U);
  EXPECT_TRUE(read->graph.empty());
  // Neither how many work on it nor what steps there are.
  description.config.jobs = 1;
  description.config.budget.evaluations = 7;
  description.graph.clear();
  EXPECT_EQ(problem_text(description).id, text.id);
  description.config.seed = 6;
  EXPECT_NE(problem_text(description).id, text.id);
}

TEST(ProblemText, NamesFilesByTheirContent) {
  const ProblemFile file{hash_text("data"), "x.npy", "/home/me/x.npy"};
  RunDescription description;
  description.kernel = "f";
  description.manifest = "init: {file: \"" + travelling_name(file) + "\"}\n";
  description.source = "// " + travelling_name(file);
  const ProblemText text = problem_text(description, {file});
  const auto files = problem_files(text.text);
  ASSERT_TRUE(files.ok()) << files.error().message;
  ASSERT_EQ(files->size(), 1U);
  EXPECT_EQ((*files)[0].id, file.id);
  EXPECT_EQ((*files)[0].name, "x.npy");
  const auto local = with_files_in(text.text, "/cache");
  ASSERT_TRUE(local.ok());
  const auto read = read_problem_text(*local);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->manifest, "init: {file: \"/cache/" + file.id.hex() + "/x.npy\"}\n");
  EXPECT_EQ(read->source, description.source);
}

TEST(ProblemText, HasNoPathsForFiles) {
  for (const char* name : {"", ".", "..", "../x", "/etc/passwd", "a/b", "a\\b"}) {
    const ProblemText text = problem_text({}, {{hash_text("data"), name, ""}});
    EXPECT_FALSE(problem_files(text.text).ok()) << name;
  }
}

}  // namespace
}  // namespace regraph::fleet::evaluation_job_test
