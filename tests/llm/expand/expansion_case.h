// An example kernel with everything that an expander works with: real compiler, verifier, model of
// the device, prompts and ReGraph. Only who answers is a test's own.
#pragma once

#include "base/files.h"
#include "candidate/candidate_reader.h"
#include "eval/model/device.h"
#include "eval/model/model_evaluator.h"
#include "eval/shared/shared_evaluator.h"
#include "eval/verify/verifier.h"
#include "kernel/manifest.h"
#include "llm/expand/language_model_expander.h"
#include "regraph/regraph_yaml.h"
#include "rewrite/ast_rewriter.h"
#include "source/printer.h"
#include "support/cuda.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace regraph::test {

// Answers by a function and keeps what it was asked.
class Oracle final : public llm::ChatModel {
 public:
  using Answerer = std::function<llm::ChatResult(const llm::ChatRequest&)>;

  llm::ChatResult complete(const llm::ChatRequest& request, const Cancellation&) override {
    const std::lock_guard lock(mutex_);
    requests.push_back(request);
    return answerer(request);
  }
  // One answer after the other, the last again and again.
  void say(std::vector<std::string> texts) {
    auto next = std::make_shared<std::size_t>(0);
    answerer = [texts = std::move(texts), next](const llm::ChatRequest&) {
      llm::ChatAnswer answer;
      const std::string& text = texts[std::min((*next)++, texts.size() - 1)];
      answer.choices.push_back({text, "", "", llm::FinishReason::stop});
      return answer;
    };
  }

  Answerer answerer;
  std::vector<llm::ChatRequest> requests;

 private:
  std::mutex mutex_;
};

class ExpansionCase : public testing::Test {
 protected:
  void SetUp() override {
    cuda_toolkit = *find_cuda_toolkit();
    front_end = *source::default_front_end(cuda_toolkit.root, "sm_90");
    CompilerConfiguration configuration;
    configuration.toolkit = cuda_toolkit;
    configuration.worker = REGRAPH_COMPILE_WORKER;
    compiler = std::make_unique<Compiler>(std::move(configuration));
    const std::string root = REGRAPH_SOURCE_DIR;
    graph = *load_regraph(root + "/graphs/cuda.yaml");
    prompts = *llm::PromptLibrary::load(root + "/graphs/prompts");
    const std::string base = root + "/examples/transpose/transpose";
    const std::string source = *read_file(base + ".cu", 1 << 20);
    const auto manifest = *parse_manifest(*read_file(base + ".regraph.yaml", 1 << 20), "t.yaml");
    const auto parsed = *source::parse_kernel(source, "t.cu", "", front_end);
    problem = *make_problem(manifest, parsed.signature, "t.cu", source);
    // A size that the model predicts in a moment.
    for (Symbols& sizes : problem.bench)
      sizes["width"] = sizes["height"] = 512;
    CompileRequest request;
    request.source = source;
    request.kernel = problem.signature.name;
    request.architecture = "sm_90";
    verifier = std::make_unique<Verifier>(problem, *compiler->compile(request, never));
    ASSERT_TRUE(verifier->check_original(1, never).ok());
    device = *find_device("h200");
    timing_model = std::make_unique<ModelEvaluator>(problem, *compiler, *verifier, device);
    evaluator = std::make_unique<SharedEvaluator>(*timing_model, 2);
    reader = std::make_unique<CandidateReader>(*compiler, front_end, "sm_90");
    original = source::make_candidate(*parsed.unit, problem.launch);
    context.evaluation = evaluator->evaluate(original, config.writing.evaluation, never);
    ASSERT_TRUE(context.evaluation.correct()) << context.evaluation.message;
    rewriter = std::make_unique<rewrite::AstRewriter>(problem, limits_of(device));
    prompt_device.name = "NVIDIA H200 SXM";
    config.requests.model = "tiny";
  }

  [[nodiscard]] llm::LanguageModelExpander expander() {
    return {{problem, graph, prompts, prompt_device, *reader, oracle, *evaluator}, config};
  }
  [[nodiscard]] static StepProposal by_model(const std::string& step) {
    StepProposal proposal;
    proposal.step = step;
    proposal.parameters = {{"by", "model"}};
    proposal.variant_limit = 2;
    return proposal;
  }
  [[nodiscard]] static std::string answer(const std::string& name) {
    return *read_file(std::string(REGRAPH_SOURCE_DIR) + "/tests/llm/answers/transpose/" + name,
                      1 << 20);
  }

  Cancellation never;
  CudaToolkit cuda_toolkit;
  source::FrontEndConfiguration front_end;
  std::unique_ptr<Compiler> compiler;
  StepGraph graph;
  llm::PromptLibrary prompts;
  Problem problem;
  DeviceSpec device;
  std::unique_ptr<Verifier> verifier;
  std::unique_ptr<ModelEvaluator> timing_model;
  std::unique_ptr<SharedEvaluator> evaluator;
  std::unique_ptr<CandidateReader> reader;
  std::unique_ptr<rewrite::AstRewriter> rewriter;
  llm::PromptDevice prompt_device;
  llm::LanguageModelConfig config;
  Candidate original;
  ExpansionContext context;
  Oracle oracle;
};

}  // namespace regraph::test
