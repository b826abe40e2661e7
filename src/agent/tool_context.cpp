#include "agent/tool_context.h"

#include "kernel/caveats.h"
#include "llm/prompt/problem_text.h"
#include "report/run_report.h"
#include "source/local_includes.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

namespace regraph::agent {

namespace {

const ToolJson* argument(const ToolContext& context, const char* name) {
  const auto found = context.arguments.find(name);
  return found == context.arguments.end() ? nullptr : &*found;
}

}  // namespace

std::string text_argument(const ToolContext& context, const char* name) {
  const ToolJson* value = argument(context, name);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

std::int64_t integer_argument(const ToolContext& context, const char* name,
                              std::int64_t otherwise) {
  const ToolJson* value = argument(context, name);
  if (value == nullptr || !value->is_number_integer()) return otherwise;
  const bool beyond = value->is_number_unsigned() &&
                      value->get<std::uint64_t>() >
                          static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return beyond ? std::numeric_limits<std::int64_t>::max() : value->get<std::int64_t>();
}

Result<std::string> source_argument(const ToolContext& context) {
  std::string source = text_argument(context, "source");
  const std::string file = text_argument(context, "file");
  if (!source.empty() && !file.empty())
    return fail(ErrorCode::invalid_argument, "give 'source' or 'file', not both");
  if (!file.empty()) {
    auto read = context.workspace.read(file);
    if (!read) return fail(read.error().code, "'file': " + read.error().message);
    source = *std::move(read);
    if (source.empty())
      return fail(ErrorCode::invalid_argument, fmt::format("'file': '{}' is empty", file));
    // Headers of the workspace: there is no other place where the compiler would find them.
    auto whole = source::inline_local_includes(source, context.workspace.folder() / file,
                                               {context.workspace.folder()});
    if (!whole) return std::move(whole).error();
    source = *std::move(whole);
  }
  if (source.size() > context.options.most_source_bytes) {
    return fail(ErrorCode::resource,
                fmt::format("the source has {} bytes where {} are the limit (--most-source-bytes)",
                            source.size(), context.options.most_source_bytes));
  }
  return source;
}

std::variant<Subject, ToolResult> subject_of(const ToolContext& context) {
  const auto source = source_argument(context);
  if (!source) return failed_call(source.error().message);
  auto problem = context.shelf.find(text_argument(context, "problem"), context.cancellation);
  if (!problem) return failed_call(problem.error().message);
  Subject subject;
  subject.problem = *problem;
  Session& session = subject.problem->session();
  const ToolJson* launch = argument(context, "launch");
  if (source->empty() && launch == nullptr) {
    subject.is_original = true;
    subject.candidate = session.original();
    return subject;
  }
  auto candidate = subject.problem->read(source->empty() ? session.original().source : *source,
                                         launch == nullptr ? std::string() : launch->dump(),
                                         context.cancellation);
  if (candidate) {
    subject.candidate = *std::move(candidate);
  } else if (candidate.error().cause == FailureCause::unusable_kernel) {
    subject.why = candidate.error().message;
  } else {
    return failed_call(candidate.error().message);
  }
  return subject;
}

ToolJson time_json(const TimeEstimate& time) {
  return {{"seconds", time.median_seconds},
          {"interval", {time.low_seconds, time.high_seconds}},
          {"samples", time.samples},
          {"method", name(time.method)}};
}

std::string time_text(const Evaluation& evaluation) {
  const TimeEstimate& time = evaluation.time;
  std::string text =
      fmt::format("{} [{}, {}] {}; limited by {}", duration_text(time.median_seconds),
                  duration_text(time.low_seconds), duration_text(time.high_seconds),
                  name(time.method), evaluation.bottleneck);
  for (const std::string_view reason : caveats_of(evaluation.facts))
    text += fmt::format("\nuncertain: {}", reason);
  return text;
}

ToolJson verdict_json(const Evaluation& evaluation) {
  return {{"equal", evaluation.correct()},
          {"verdict", name(evaluation.verdict)},
          {"message", evaluation.message}};
}

ToolJson launch_json(const LaunchPlan& plan, const Session& session) {
  const std::string text = llm::launch_text(plan, session.problem().signature.name);
  if (text.empty()) return nullptr;
  return ToolJson::parse(text, nullptr, false);
}

std::string code_block(const std::string& source) {
  const bool ended = source.empty() || source.back() == '\n';
  return fmt::format("```cuda\n{}{}```\n", source, ended ? "" : "\n");
}

ToolResult not_judged(const std::string& why) {
  ToolJson json{{"equal", false}, {"verdict", "not_judged"}, {"message", why}};
  return {"NOT JUDGED: " + why, std::move(json), false};
}

}  // namespace regraph::agent
