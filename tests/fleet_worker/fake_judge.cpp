// In place of regraph-judge: does what the candidate's source says.
//
//   2.5          correct, that many seconds
//   wrong        wrong_result
//   trouble      cannot say
//   die          dies; "die once FILE": unless the file is there, which it makes before
//   hang         says nothing any more
//   wait S       correct after S seconds
//   garbage      says what is no answer
#include "base/frame_stream.h"
#include "fleet/evaluation_job.h"
#include "fleet_worker/judge_request.h"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <unistd.h>

namespace regraph::fleet {
namespace {

std::string said_to(const std::string& message) {
  const auto request = read_judge_request(message);
  const auto job = read_evaluation_job(request->evaluation);
  std::istringstream words(job->candidate.source);
  std::string verb;
  words >> verb;
  EvaluationAnswer answer;
  if (verb == "trouble") {
    answer.trouble = "no toolkit here";
    return answer_text(answer);
  }
  answer.evaluation.emplace();
  answer.evaluation->verdict = Verdict::correct;
  double seconds = 1.0;
  if (verb == "die") {
    std::string once;
    std::string file;
    words >> once >> file;
    if (file.empty() || !std::filesystem::exists(file)) {
      if (!file.empty()) std::ofstream(file) << "died";
      std::raise(SIGKILL);
    }
  } else if (verb == "hang") {
    std::this_thread::sleep_for(std::chrono::hours(1));
  } else if (verb == "garbage") {
    return "garbage";
  } else if (verb == "wait") {
    words >> seconds;
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  } else if (verb == "wrong") {
    answer.evaluation->verdict = Verdict::wrong_result;
  } else {
    seconds = std::stod(verb);
  }
  answer.evaluation->time = {seconds, seconds, seconds, 1, TimeMethod::predicted};
  answer.evaluation->message = std::string(request->problem);
  return answer_text(answer);
}

}  // namespace
}  // namespace regraph::fleet

int main() {
  while (const auto message = regraph::read_frame(STDIN_FILENO)) {
    if (!regraph::write_frame(STDOUT_FILENO, regraph::fleet::said_to(*message))) break;
  }
}
