// A worker that does what completions tell it, in the folder that is its argument. There it says
// in the file `log` what it was asked: "PID STATE COMPLETION", a line each.
//
//   die [once], hang [once], noise [once]   `once`: the next that is asked does not
//   wait FILE                               answers when the file is there
//   wrong, unreadable                       that outcome
//   SPEEDUP                                 correct, so much faster than the parent's millisecond
#include "base/frame_stream.h"
#include "score/score_item.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <unistd.h>

namespace {

using namespace regraph;  // NOLINT: a program of its own

void log_line(const std::filesystem::path& folder, const score::ScoreItem& item) {
  const int file =
      ::open((folder / "log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const std::string line =
      std::to_string(::getpid()) + " " + item.state + " " + item.completion + "\n";
  if (::write(file, line.data(), line.size()) < 0) std::abort();
  ::close(file);
}

// Whether the item asks for it, and not only of one who was asked before.
bool asks_for(const std::filesystem::path& folder, const score::ScoreItem& item,
              const std::string& what) {
  if (item.completion == what) return true;
  if (item.completion != what + " once") return false;
  const std::filesystem::path marker = folder / (what + "." + item.state);
  if (std::filesystem::exists(marker)) return false;
  std::ofstream(marker) << what;
  return true;
}

score::Score answer(const std::filesystem::path& folder, const score::ScoreItem& item) {
  constexpr double kParent = 1e-3;
  score::Score score;
  score.id = item.id;
  score.facts.parent_seconds = score.facts.original_seconds = kParent;
  if (item.completion == "wrong" || item.completion == "unreadable") {
    score.facts.outcome = *learn::read_answer_outcome(item.completion);
    score.verdict = item.completion == "wrong" ? Verdict::wrong_result : Verdict::unsupported;
    score.message = "it is " + item.completion;
    return score;
  }
  if (item.completion.starts_with("wait ")) {
    while (!std::filesystem::exists(folder / item.completion.substr(5)))
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  const double speedup = std::strtod(item.completion.c_str(), nullptr);
  score.facts.outcome = learn::AnswerOutcome::correct;
  score.facts.seconds = speedup > 0.0 ? kParent / speedup : kParent;
  score.verdict = Verdict::correct;
  score.time = {score.facts.seconds, 0.9 * score.facts.seconds, 1.1 * score.facts.seconds, 1,
                TimeMethod::predicted};
  return score;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  const std::filesystem::path folder = arguments[1];
  while (const auto message = read_frame(STDIN_FILENO)) {
    const auto item = score::read_item(*message);
    if (!item.ok()) return 3;
    log_line(folder, *item);
    if (asks_for(folder, *item, "die")) ::raise(SIGKILL);
    while (asks_for(folder, *item, "hang"))
      ::pause();
    if (asks_for(folder, *item, "noise")) {
      if (!write_frame(STDOUT_FILENO, "noise")) return 1;
    } else if (!write_frame(STDOUT_FILENO, score::score_text(answer(folder, *item)))) {
      return 1;
    }
  }
}
