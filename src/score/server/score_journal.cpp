#include "score/server/score_journal.h"

#include "base/hash.h"
#include "base/json_text.h"
#include "learn/reward.h"
#include "score/item_json.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <optional>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace regraph::score {
namespace {

// A completion, every byte of it escaped, and what a compiler said of it.
constexpr JsonLimits kJournalLine = {std::size_t{24} << 20, 3};

nlohmann::ordered_json rewards_of(const learn::RewardFacts& facts) {
  nlohmann::ordered_json rewards = nlohmann::ordered_json::object();
  for (int i = 0; i < learn::kRewardKindCount; ++i) {
    const auto kind = static_cast<learn::RewardKind>(i);
    const std::optional<double> reward = learn::reward(kind, facts);
    rewards[learn::name(kind)] = reward ? nlohmann::ordered_json(*reward) : nullptr;
  }
  return rewards;
}

constexpr const char* kDigest = "digest";

// Of all else in a line.
std::string digest_of(const nlohmann::ordered_json& json) {
  return hash_text(json_line(json)).hex();
}

// False: the line is damaged. Lines of earlier versions have no digest.
bool read_journal_line(const std::string& text, const std::string& context,
                       const ScoreJournal::Line& line) {
  Result<nlohmann::ordered_json> json = parse_json(text, kJournalLine);
  if (!json || !json->is_object()) return false;
  if (const auto digest = json->find(kDigest); digest != json->end()) {
    const nlohmann::ordered_json stated = *digest;
    json->erase(kDigest);
    if (stated != digest_of(*json)) return false;
  }
  const auto ours = json->find("context");
  const auto said = json->find("score");
  if (ours == json->end() || said == json->end()) return false;
  if (*ours != context) return true;
  const Result<Score> score = score_of(*said);
  nlohmann::ordered_json item_json = {{"id", ""}};
  for (const char* key : {"state", "completion", "cut_off"}) {
    if (json->contains(key)) item_json[key] = std::move((*json)[key]);
  }
  Result<ScoreItem> item = item_of(item_json);
  if (!score || !item) return false;
  line(*std::move(item), *score);
  return true;
}

Error journal_error(const std::string& name, const char* what) {
  const ErrorCode code = errno == ENOENT ? ErrorCode::not_found : ErrorCode::io;
  return fail(code, fmt::format("{}: cannot {}: {}", name, what, std::strerror(errno)));
}

}  // namespace

ScoreJournal::ScoreJournal(FileDescriptor file, std::string context, std::string name)
    : file_(std::move(file)), context_(std::move(context)), name_(std::move(name)) {}

Result<ScoreJournal> ScoreJournal::open(const std::filesystem::path& path, std::string context,
                                        const Line& line) {
  const std::string name = path.string();
  FileDescriptor file(::open(name.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!file.valid()) return journal_error(name, "open it");
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return journal_error(name, "lock it");
    return fail(ErrorCode::busy, name + ": another program writes this file");
  }
  struct stat about {};
  if (::fstat(file.get(), &about) != 0) return journal_error(name, "look at it");
  ScoreJournal journal(std::move(file), std::move(context), name);
  if (!S_ISREG(about.st_mode)) return journal;  // a pipe or a device: nothing to read

  std::ifstream input(path);
  for (std::string text; std::getline(input, text);) {
    if (!text.empty() && !read_journal_line(text, journal.context_, line)) ++journal.damaged_lines_;
  }
  if (input.bad()) return journal_error(name, "read it");
  // A line that was broken off is ended, so that the next one is a line of its own.
  char last = '\n';
  if (about.st_size > 0 && ::pread(journal.file_.get(), &last, 1, about.st_size - 1) == 1 &&
      last != '\n' && ::write(journal.file_.get(), "\n", 1) != 1)
    return journal_error(name, "write it");
  return journal;
}

Status ScoreJournal::append(const ScoreItem& item, const Score& score) {
  nlohmann::ordered_json json;
  json["context"] = context_;
  json["state"] = item.state;
  json["completion"] = item.completion;
  json["cut_off"] = item.cut_off;
  json["score"] = json_of(score);
  json["rewards"] = rewards_of(score.facts);
  json[kDigest] = digest_of(json);
  const std::string text = json_line(json) + "\n";
  struct stat before {};
  const bool regular = ::fstat(file_.get(), &before) == 0 && S_ISREG(before.st_mode);
  const ssize_t written = ::write(file_.get(), text.data(), text.size());
  if (written == static_cast<ssize_t>(text.size())) return {};
  if (written >= 0) errno = ENOSPC;
  Error error = journal_error(name_, "write it");
  // What did arrive would spoil the next line.
  if (regular && written > 0 && ::ftruncate(file_.get(), before.st_size) != 0)
    error.message += "; its last line is broken";
  return error;
}

}  // namespace regraph::score
