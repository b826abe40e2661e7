// A conversation in a file, and the conversation played back without a network.
//
// One JSON value a line; the first says what the file is:
//   {"format": "regraph-cassette/1"}
//   {"key": "0123...", "request": {...}, "answer": {...}}
//   {"key": "4567...", "request": {...}, "error": {...}}
// Failures are kept as well, because a search goes another way after one. There is no key of a
// server in it, nor its address. Several lines of one key: the first counts.
#pragma once

#include "base/file_descriptor.h"
#include "llm/chat/chat.h"

#include <filesystem>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>

namespace regraph::llm {

// Passes requests on and appends each first result of a request to a file as it comes.
// What was cancelled is not recorded. Thread-safe.
class CassetteRecorder final : public ChatModel {
 public:
  // Creates the file, or goes on with one that is a cassette: what is in it is not recorded again.
  // Errors: io; parse when the file is there and is no cassette.
  [[nodiscard]] static Result<std::unique_ptr<CassetteRecorder>> open(
      ChatModel& inner, const std::filesystem::path& path);

  [[nodiscard]] ChatResult complete(const ChatRequest& request,
                                    const Cancellation& cancellation) override;
  // The first thing that could not be written.
  [[nodiscard]] Status status() const;

 private:
  CassetteRecorder(ChatModel& inner, FileDescriptor file, std::string path)
      : inner_(inner), file_(std::move(file)), path_(std::move(path)) {}
  void record(const std::string& key, const ChatRequest& request, const ChatResult& result);

  ChatModel& inner_;
  FileDescriptor file_;
  std::string path_;
  mutable std::mutex mutex_;
  std::set<std::string> recorded_;
  Status status_;
};

// Answers from a cassette; a request that is not in it fails with not_recorded. Thread-safe.
class CassettePlayer final : public ChatModel {
 public:
  // Errors: not_found, io, resource (over 1 GiB), parse with file:line. A last line that was cut is
  // ignored, as a recording may end at any moment.
  [[nodiscard]] static Result<std::unique_ptr<CassettePlayer>> open(
      const std::filesystem::path& path);

  [[nodiscard]] ChatResult complete(const ChatRequest& request,
                                    const Cancellation& cancellation) override;
  [[nodiscard]] std::size_t size() const { return results_.size(); }
  [[nodiscard]] bool holds(const std::string& key) const { return results_.contains(key); }

 private:
  explicit CassettePlayer(std::string path) : path_(std::move(path)) {}

  std::string path_;
  std::unordered_map<std::string, ChatResult> results_;
};

}  // namespace regraph::llm
