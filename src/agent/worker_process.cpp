#include "agent/worker_process.h"

#include "base/json_text.h"

#include <fmt/format.h>

#include <utility>

namespace regraph::agent {

namespace {

// From SIGTERM to SIGKILL: compilers and GPUs are let go of in good order.
constexpr double kGraceSeconds = 5.0;
// For a worker to notice by itself that a call has taken too long.
constexpr double kMarginSeconds = 15.0;
constexpr std::size_t kLongestProgress = 4096;
constexpr JsonLimits kWorkerLimits = {ServiceProcess::kLargestMessage, 64};

Error bad_text() {
  return fail(ErrorCode::parse, "the worker and the server do not understand each other");
}

}  // namespace

std::string call_request_text(const ToolCall& call) {
  return json_line({{"number", call.number}, {"tool", call.tool}, {"arguments", call.arguments}});
}

Result<ToolCall> read_call_request(std::string_view text) {
  auto json = parse_json(text, kWorkerLimits);
  if (!json) return std::move(json).error();
  const bool whole = json->is_object() && json->contains("number") && json->contains("tool") &&
                     json->contains("arguments") && (*json)["number"].is_number_integer() &&
                     (*json)["tool"].is_string();
  if (!whole) return bad_text();
  return ToolCall{(*json)["number"].get<std::int64_t>(), (*json)["tool"].get<std::string>(),
                  std::move((*json)["arguments"])};
}

std::string result_text(const ToolResult& result) {
  return json_line(
      {{"text", result.text}, {"structured", result.structured}, {"is_error", result.is_error}});
}

Result<ToolResult> read_result(std::string_view text) {
  auto json = parse_json(text, kWorkerLimits);
  if (!json) return std::move(json).error();
  const bool whole = json->is_object() && json->contains("text") && json->contains("structured") &&
                     json->contains("is_error") && (*json)["text"].is_string() &&
                     (*json)["is_error"].is_boolean();
  if (!whole) return bad_text();
  return ToolResult{(*json)["text"].get<std::string>(), std::move((*json)["structured"]),
                    (*json)["is_error"].get<bool>()};
}

std::string progress_text(const CallProgress& progress) {
  return json_line({{"done", progress.done}, {"message", progress.message}});
}

std::optional<CallProgress> read_progress(std::string_view text) {
  if (text.size() > kLongestProgress) return std::nullopt;
  const auto json = parse_json(text, kWorkerLimits);
  const bool whole = json && json->is_object() && json->contains("done") &&
                     json->contains("message") && (*json)["done"].is_number() &&
                     (*json)["message"].is_string();
  if (!whole) return std::nullopt;
  return CallProgress{(*json)["done"].get<double>(), (*json)["message"].get<std::string>()};
}

ToolResult WorkerProcess::call(const ToolCall& call, const Cancellation& cancellation,
                               const ProgressReport& report) {
  if (!process_ || !process_->alive()) {
    process_.reset();
    auto started = ServiceProcess::start(program_, kGraceSeconds);
    if (!started) {
      return failed_call("the process that does calls cannot be started: " +
                         started.error().message);
    }
    process_.emplace(*std::move(started));
  }
  const auto heard = [&](std::string_view message) {
    const auto progress = read_progress(message);
    if (progress && report) report(*progress);
    return progress.has_value();
  };
  const auto said =
      process_->ask(call_request_text(call), seconds_ + kMarginSeconds, cancellation, heard);
  if (said) {
    auto result = read_result(*said);
    if (result) return *std::move(result);
    process_.reset();
    return failed_call(result.error().message);
  }
  process_.reset();
  switch (said.error().code) {
    case ErrorCode::cancelled:
      return failed_call("cancelled");
    case ErrorCode::resource:
      return failed_call(
          fmt::format("{} did not end within {:.0f} s and was stopped; ask for less "
                      "at once, or start regraph-mcp with --call-seconds",
                      call.tool, seconds_));
    default:
      return failed_call(
          fmt::format("the process that did {} was lost: {}. Problems are opened "
                      "again as they are needed; if the same call does it again, "
                      "leave it out",
                      call.tool, said.error().message));
  }
}

}  // namespace regraph::agent
