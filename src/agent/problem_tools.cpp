// open_problem.
#include "agent/tool_groups.h"
#include "session/opened_problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace regraph::agent {

namespace {

// The manifest of the call: its own, or the one beside the file.
Result<std::string> manifest_of(const ToolContext& context) {
  std::string manifest = text_argument(context, "manifest");
  const std::string file = text_argument(context, "file");
  if (!manifest.empty() || file.empty()) return manifest;
  const std::size_t dot = file.rfind('.');
  const std::string sidecar = file.substr(0, dot) + ".regraph.yaml";
  if (!context.workspace.has(sidecar)) return manifest;
  return context.workspace.read(sidecar);
}

Result<ProblemDefinition> definition_of(const ToolContext& context) {
  auto source = source_argument(context);
  if (!source) return std::move(source).error();
  if (source->empty())
    return fail(ErrorCode::invalid_argument, "give the kernel as 'source' or as 'file'");
  auto manifest = manifest_of(context);
  if (!manifest) return std::move(manifest).error();
  ProblemDefinition definition;
  definition.source = *std::move(source);
  definition.manifest = *std::move(manifest);
  definition.kernel = text_argument(context, "kernel");
  definition.block = text_argument(context, "block");
  definition.launch_line = static_cast<int>(
      std::clamp<std::int64_t>(integer_argument(context, "launch_line", 0), 0, 1'000'000'000));
  definition.device = text_argument(context, "device");
  if (definition.device.empty()) definition.device = context.options.device;
  definition.evaluator = text_argument(context, "evaluator");
  if (definition.evaluator.empty()) definition.evaluator = context.options.evaluator;
  if (const auto sizes = context.arguments.find("sizes"); sizes != context.arguments.end()) {
    for (const auto& [name, value] : sizes->items())
      definition.sizes.push_back(fmt::format("{}={}", name, value.dump()));
  }
  if (const auto defines = context.arguments.find("defines"); defines != context.arguments.end()) {
    for (const auto& [name, value] : defines->items())
      definition.defines.push_back(fmt::format("{}={}", name, value.get<std::string>()));
  }
  return definition;
}

ToolResult incomplete_result(const OpenedDefinition& opened) {
  std::string text = "the problem is not complete; missing:\n";
  for (const std::string& one : opened.missing)
    text += "- " + one + "\n";
  text += "complete this manifest (docs/manifest.md) and call open_problem again with it:\n" +
          fmt::format("```yaml\n{}```\n", opened.manifest);
  ToolJson json{{"complete", false}, {"missing", opened.missing}, {"manifest", opened.manifest}};
  return {std::move(text), std::move(json), false};
}

ToolResult opened_result(AgentProblem& problem, const ToolContext& context) {
  const Session& session = problem.session();
  const OpenedProblem& opened = session.opened();
  const Evaluation original = problem.judge(session.original(), context.cancellation);
  if (!original.correct())
    return failed_call(fmt::format("the original is not judged correct ({}): {}",
                                   name(original.verdict), original.message));
  const std::string& kernel = session.problem().signature.name;
  ToolJson json{{"problem", problem.id()},
                {"complete", true},
                {"kernel", kernel},
                {"device", session.device().name},
                {"evaluator", session.evaluator_name()},
                {"sizes", session.problem().bench.empty() ? session.problem().sizes
                                                          : session.problem().bench.front()},
                {"launch", launch_json(session.original().plan, session)},
                {"time", time_json(original.time)},
                {"limited_by", original.bottleneck},
                {"roofline_seconds", original.roofline_seconds},
                {"rewritable", opened.rewritable},
                {"opaque_reason", opened.opaque_reason},
                {"notes", session.problem().notes},
                {"warnings", opened.warnings},
                {"source", session.original().source}};
  std::string text = fmt::format(
      "problem {}: kernel {} on {}\noriginal: {}\nlaunch: {}\nsizes: {}\n", problem.id(), kernel,
      session.device().name, time_text(original), json["launch"].dump(), json["sizes"].dump());
  const auto out = std::back_inserter(text);
  for (const std::string& note : session.problem().notes)
    fmt::format_to(out, "note: {}\n", note);
  for (const std::string& warning : opened.warnings)
    fmt::format_to(out, "warning: {}\n", warning);
  if (!opened.rewritable)
    fmt::format_to(out, "the built-in rewriter cannot work on it: {}\n", opened.opaque_reason);
  text += "device code to start from:\n" + code_block(session.original().source);
  return {std::move(text), std::move(json), false};
}

}  // namespace

ToolResult open_problem_tool(const ToolContext& context) {
  const auto definition = definition_of(context);
  if (!definition) return failed_call(definition.error().message);
  const auto opened = context.shelf.open(*definition, context.cancellation);
  if (!opened) {
    std::string text = opened.error().message;
    for (const std::string& note : opened.error().notes)
      text += "\nnote: " + note;
    return failed_call(std::move(text));
  }
  if (opened->problem == nullptr) return incomplete_result(*opened);
  return opened_result(*opened->problem, context);
}

}  // namespace regraph::agent
