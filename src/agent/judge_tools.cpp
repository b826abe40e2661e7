// compile, verify, profile, score.
#include "agent/pair_record.h"
#include "agent/tool_groups.h"
#include "eval/compile/compiled_plan.h"
#include "report/comparison_text.h"
#include "report/run_report.h"
#include "session/compared_candidate.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>

namespace regraph::agent {

namespace {

ToolJson resources_json(const ResourceUsage& used) {
  return {{"registers_per_thread", used.registers_per_thread},
          {"static_shared_bytes", used.static_shared_bytes},
          {"spill_store_bytes", used.spill_store_bytes},
          {"spill_load_bytes", used.spill_load_bytes},
          {"stack_bytes", used.stack_bytes}};
}

std::string resources_text(const ResourceUsage& used) {
  return fmt::format(
      "{} registers a thread, {} bytes of static shared memory, {} bytes of spill stores and {} of "
      "loads",
      used.registers_per_thread, used.static_shared_bytes, used.spill_store_bytes,
      used.spill_load_bytes);
}

ToolResult wrong_result(const Evaluation& evaluation) {
  return {fmt::format("NOT EQUAL ({}): {}", name(evaluation.verdict), evaluation.message),
          verdict_json(evaluation), false};
}

}  // namespace

ToolResult compile_tool(const ToolContext& context) {
  auto found = subject_of(context);
  if (auto* answer = std::get_if<ToolResult>(&found)) return std::move(*answer);
  auto& subject = std::get<Subject>(found);
  const auto rejected = [](const std::string& log) {
    return ToolResult{"DOES NOT COMPILE: " + log, {{"compiles", false}, {"log", log}}, false};
  };
  if (!subject.candidate) return rejected(subject.why);
  AgentProblem& problem = *subject.problem;
  const auto compiled =
      compile_plan(problem.compiler(), subject.candidate->source, subject.candidate->plan,
                   problem.session().device().architecture, context.cancellation);
  if (!compiled) {
    if (compiled.error().code == ErrorCode::compile) return rejected(compiled.error().message);
    return failed_call("it could not be compiled: " + compiled.error().message);
  }
  ToolJson json{{"compiles", true}, {"kernels", ToolJson::array()}};
  std::string text = "compiles";
  const std::vector<Launch>& launches = subject.candidate->plan.launches;
  for (std::size_t i = 0; i < compiled->launches.size() && i < launches.size(); ++i) {
    const CompiledKernel& kernel = *compiled->launches[i];
    ToolJson one{{"kernel", launches[i].kernel}};
    one.update(resources_json(kernel.resources));
    one["log"] = kernel.log;
    json["kernels"].push_back(std::move(one));
    fmt::format_to(std::back_inserter(text), "\n{}: {}", launches[i].kernel,
                   resources_text(kernel.resources));
    if (!kernel.log.empty()) text += "\n" + kernel.log;
  }
  return {std::move(text), std::move(json), false};
}

ToolResult verify_tool(const ToolContext& context) {
  auto found = subject_of(context);
  if (auto* answer = std::get_if<ToolResult>(&found)) return std::move(*answer);
  auto& subject = std::get<Subject>(found);
  if (!subject.candidate) return not_judged(subject.why);
  const Evaluation evaluation = subject.problem->judge(*subject.candidate, context.cancellation);
  if (!evaluation.correct()) return wrong_result(evaluation);
  std::string text =
      "EQUAL: it computes what the original does on all sizes and inputs that were "
      "tried";
  if (!evaluation.message.empty()) text += "; " + evaluation.message;
  for (const std::string& fixed : subject.problem->session().problem().held_fixed)
    text += "\nassumes " + fixed;
  return {std::move(text), verdict_json(evaluation), false};
}

ToolResult profile_tool(const ToolContext& context) {
  auto found = subject_of(context);
  if (auto* answer = std::get_if<ToolResult>(&found)) return std::move(*answer);
  auto& subject = std::get<Subject>(found);
  if (!subject.candidate) return not_judged(subject.why);
  const Evaluation evaluation = subject.problem->judge(*subject.candidate, context.cancellation);
  if (!evaluation.correct()) return wrong_result(evaluation);
  ToolJson json = verdict_json(evaluation);
  json["time"] = time_json(evaluation.time);
  json["limited_by"] = evaluation.bottleneck;
  json["roofline_seconds"] = evaluation.roofline_seconds;
  json["resources"] = resources_json(evaluation.resources);
  json["facts"] = evaluation.facts;
  std::string text = fmt::format(
      "time: {}\nroofline: {}\n{}\nfacts:\n", time_text(evaluation),
      evaluation.roofline_seconds > 0.0 ? duration_text(evaluation.roofline_seconds) : "not known",
      resources_text(evaluation.resources));
  for (const FactDescription& fact : kFactDescriptions) {
    const auto value = evaluation.facts.find(fact.name);
    if (value == evaluation.facts.end()) continue;
    fmt::format_to(std::back_inserter(text), "  {} = {:.4g}{}{}\n", fact.name, value->second,
                   fact.meaning.empty() ? "" : "  ", fact.meaning);
  }
  return {std::move(text), std::move(json), false};
}

ToolResult score_tool(const ToolContext& context) {
  auto found = subject_of(context);
  if (auto* answer = std::get_if<ToolResult>(&found)) return std::move(*answer);
  auto& subject = std::get<Subject>(found);
  if (!subject.candidate) return not_judged(subject.why);
  AgentProblem& problem = *subject.problem;
  const bool once = text_argument(context, "depth") == "once";
  const ComparedKernel one =
      compared(problem.session(), "candidate", *subject.candidate,
               once ? ComparisonDepth::once : ComparisonDepth::whole, context.cancellation);
  const Evaluation original = problem.judge(problem.session().original(), context.cancellation);
  ToolJson json = ToolJson::parse(comparison_json(one, original), nullptr, false);
  json["depth"] = once ? "once" : "whole";
  json["faster"] = one.equal && !one.same_code && one.verdict == SpeedVerdict::fast;
  std::string text = comparison_text(one) + original_text("original", original);
  if (json["faster"] == true && !once && !context.cancellation.requested()) {
    const Status kept = keep_pair(problem, *subject.candidate, context);
    if (!kept) text += "\nnote: no pair for data sets was kept: " + kept.error().message;
  }
  return {std::move(text), std::move(json), false};
}

}  // namespace regraph::agent
