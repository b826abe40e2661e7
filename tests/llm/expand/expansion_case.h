// An example kernel with everything that an expander works with: real compiler, verifier, model of
// the device, prompts and ReGraph. Only who answers is a test's own.
#pragma once

#include "base/files.h"
#include "eval/model/device.h"
#include "eval/model/model_evaluator.h"
#include "eval/shared/shared_evaluator.h"
#include "eval/verify/verifier.h"
#include "kernel/manifest.h"
#include "llm/expand/candidate_reader.h"
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
    toolkit_ = *find_cuda_toolkit();
    front_end_ = *source::default_front_end(toolkit_.root, "sm_90");
    CompilerConfiguration configuration;
    configuration.toolkit = toolkit_;
    configuration.worker = REGRAPH_COMPILE_WORKER;
    compiler_ = std::make_unique<Compiler>(std::move(configuration));
    const std::string root = REGRAPH_SOURCE_DIR;
    graph_ = *load_regraph(root + "/graphs/cuda.yaml");
    prompts_ = *llm::PromptLibrary::load(root + "/graphs/prompts");
    const std::string base = root + "/examples/transpose/transpose";
    const std::string source = *read_file(base + ".cu", 1 << 20);
    const auto manifest = *parse_manifest(*read_file(base + ".regraph.yaml", 1 << 20), "t.yaml");
    const auto parsed = *source::parse_kernel(source, "t.cu", "", front_end_);
    problem_ = *make_problem(manifest, parsed.signature, "t.cu", source);
    // A size that the model predicts in a moment.
    for (Symbols& sizes : problem_.bench)
      sizes["width"] = sizes["height"] = 512;
    CompileRequest request;
    request.source = source;
    request.kernel = problem_.signature.name;
    request.architecture = "sm_90";
    verifier_ = std::make_unique<Verifier>(problem_, *compiler_->compile(request, never_));
    ASSERT_TRUE(verifier_->check_original(1, never_).ok());
    device_ = *find_device("h200");
    model_ = std::make_unique<ModelEvaluator>(problem_, *compiler_, *verifier_, device_);
    evaluator_ = std::make_unique<SharedEvaluator>(*model_, 2);
    reader_ = std::make_unique<llm::CandidateReader>(*compiler_, front_end_, "sm_90");
    original_ = source::make_candidate(*parsed.unit, problem_.launch);
    context_.evaluation = evaluator_->evaluate(original_, config_.evaluation, never_);
    ASSERT_TRUE(context_.evaluation.correct()) << context_.evaluation.message;
    rewriter_ = std::make_unique<rewrite::AstRewriter>(problem_, limits_of(device_));
    prompt_device_.name = "NVIDIA H200 SXM";
    config_.model = "tiny";
  }

  [[nodiscard]] llm::LanguageModelExpander expander() {
    return {{problem_, graph_, prompts_, prompt_device_, *reader_, oracle_, *evaluator_}, config_};
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

  const Cancellation never_;
  CudaToolkit toolkit_;
  source::FrontEndConfiguration front_end_;
  std::unique_ptr<Compiler> compiler_;
  StepGraph graph_;
  llm::PromptLibrary prompts_;
  Problem problem_;
  DeviceSpec device_;
  std::unique_ptr<Verifier> verifier_;
  std::unique_ptr<ModelEvaluator> model_;
  std::unique_ptr<SharedEvaluator> evaluator_;
  std::unique_ptr<llm::CandidateReader> reader_;
  std::unique_ptr<rewrite::AstRewriter> rewriter_;
  llm::PromptDevice prompt_device_;
  llm::LanguageModelConfig config_;
  Candidate original_;
  ExpansionContext context_;
  Oracle oracle_;
};

}  // namespace regraph::test
