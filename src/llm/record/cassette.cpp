#include "llm/record/cassette.h"

#include "base/files.h"
#include "llm/record/chat_text.h"
#include "llm/record/json_lines.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace regraph::llm {

namespace {

constexpr const char* kFormat = "regraph-cassette/1";
constexpr std::size_t kLargestFile = std::size_t{1} << 30;

std::optional<ChatResult> read_result(const nlohmann::json& json) {
  if (const auto found = json.find("answer"); found != json.end()) {
    auto answer = read_answer(*found);
    return answer ? std::optional<ChatResult>(std::move(*answer)) : std::nullopt;
  }
  if (const auto found = json.find("error"); found != json.end()) {
    auto error = read_error(*found);
    return error ? std::optional<ChatResult>(std::move(*error)) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

Result<std::unique_ptr<CassettePlayer>> CassettePlayer::open(const std::filesystem::path& path) {
  Result<std::string> text = read_file(path, kLargestFile);
  if (!text) return text.error();
  std::unique_ptr<CassettePlayer> player(new CassettePlayer(path.string()));
  std::string_view rest = *text;
  for (int line = 1; !rest.empty(); ++line) {
    const std::size_t end = rest.find('\n');
    const bool cut = end == std::string_view::npos;
    const std::string content(rest.substr(0, end));
    rest = cut ? std::string_view() : rest.substr(end + 1);
    const nlohmann::json json = parse_compact(content);
    const auto bad = [&](const char* what) {
      return fail(ErrorCode::parse, fmt::format("{}:{}: {}", path.string(), line, what));
    };
    if (line == 1) {
      if (!json.is_object() || json.value("format", nlohmann::json()) != kFormat)
        return bad("this is no recording of a language model (regraph-cassette/1)");
      continue;
    }
    if (content.empty()) continue;
    auto result = json.is_object() ? read_result(json) : std::nullopt;
    const auto key = json.is_object() ? json.find("key") : json.end();
    const bool whole = result && key != json.end() && key->is_string();
    if (!whole && cut) break;
    if (!whole) return bad("a line of a recording needs a key and an answer or an error");
    player->results_.emplace(key->get<std::string>(), std::move(*result));
  }
  if (text->empty()) {
    return fail(ErrorCode::parse,
                fmt::format("{}: the file is empty: no recording", path.string()));
  }
  return player;
}

ChatResult CassettePlayer::complete(const ChatRequest& request, const Cancellation& cancellation) {
  if (cancellation.requested()) return ChatError{ChatFailure::cancelled, "cancelled", 0, {}};
  const auto found = results_.find(request_key(request));
  if (found != results_.end()) return found->second;
  return ChatError{ChatFailure::not_recorded,
                   fmt::format("the recording '{}' has no answer to this request: it is of another "
                               "search, or was cut short; record it again with --llm-record",
                               path_),
                   0,
                   {}};
}

Result<std::unique_ptr<CassetteRecorder>> CassetteRecorder::open(
    ChatModel& inner, const std::filesystem::path& path) {
  std::error_code ignored;
  const bool there = std::filesystem::exists(path, ignored);
  std::set<std::string> recorded;
  if (there) {
    // Its lines are checked; a cut last one is taken away, so that the next does not run on in it.
    Result<std::string> text = read_file(path, kLargestFile);
    if (!text) return text.error();
    if (auto whole = CassettePlayer::open(path); !whole) return whole.error();
    const std::size_t end = text->rfind('\n');
    const std::size_t length = end == std::string::npos ? 0 : end + 1;
    std::filesystem::resize_file(path, length, ignored);
    for (std::size_t at = 0; at < length;) {
      const std::size_t stop = text->find('\n', at);
      const nlohmann::json json = parse_compact(text->substr(at, stop - at));
      if (const auto key = json.find("key"); key != json.end() && key->is_string())
        recorded.insert(key->get<std::string>());
      at = stop + 1;
    }
  }
  FileDescriptor file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644));
  if (!file.valid()) {
    return fail(ErrorCode::io, fmt::format("cannot open '{}' for the recording: {}", path.string(),
                                           std::strerror(errno)));
  }
  std::unique_ptr<CassetteRecorder> recorder(
      new CassetteRecorder(inner, std::move(file), path.string()));
  recorder->recorded_ = std::move(recorded);
  if (!there) {
    if (Status written = write_line(recorder->file_.get(), {{"format", kFormat}},
                                    "the recording '" + path.string() + "'");
        !written)
      return written.error();
  }
  return recorder;
}

ChatResult CassetteRecorder::complete(const ChatRequest& request,
                                      const Cancellation& cancellation) {
  ChatResult result = inner_.complete(request, cancellation);
  const bool cancelled = !result && result.error().failure == ChatFailure::cancelled;
  if (!cancelled) record(request_key(request), request, result);
  return result;
}

void CassetteRecorder::record(const std::string& key, const ChatRequest& request,
                              const ChatResult& result) {
  nlohmann::json line = {{"key", key}, {"request", request_json(request)}};
  if (result) {
    line["answer"] = answer_json(*result);
  } else {
    line["error"] = error_json(result.error());
  }
  const std::lock_guard lock(mutex_);
  if (!status_ || !recorded_.insert(key).second) return;
  status_ = write_line(file_.get(), line, "the recording '" + path_ + "'");
}

Status CassetteRecorder::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

}  // namespace regraph::llm
