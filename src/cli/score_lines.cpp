#include "cli/score_lines.h"

#include "report/comparison_text.h"
#include "session/candidate_file.h"
#include "session/compared_candidate.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <iostream>
#include <utility>

namespace regraph::cli {

namespace {

using Json = nlohmann::json;

// Of a source in an answer; what is longer is no kernel.
constexpr std::size_t kLongestLine = std::size_t{4} << 20;

struct CandidateLine {
  std::string name;
  std::string source;
  std::string launch;  // JSON; empty: as the original
};

Result<CandidateLine, SessionError> read_line(const std::string& line) {
  if (line.size() > kLongestLine) return usage("the line is longer than 4 MiB");
  constexpr int kDeepest = 4;
  const auto shallow = [](int depth, Json::parse_event_t, Json&) { return depth <= kDeepest; };
  const Json json = Json::parse(line, shallow, false);
  if (!json.is_object()) return usage("not an object of JSON in UTF-8");
  CandidateLine candidate;
  for (const auto& [key, value] : json.items()) {
    if (key == "launch") {
      candidate.launch = value.dump(-1, ' ', false, Json::error_handler_t::replace);
    } else if (key != "name" && key != "source") {
      return usage(fmt::format("unknown key '{}'; known are name, source and launch", key));
    } else if (!value.is_string()) {
      return usage(fmt::format("'{}' must be a text", key));
    } else {
      (key == "name" ? candidate.name : candidate.source) = value.get<std::string>();
    }
  }
  if (candidate.source.empty()) return usage("'source' is missing");
  return candidate;
}

}  // namespace

int score_lines(const Program& program, Session& session, const Evaluation& original,
                ComparisonDepth depth) {
  bool all_equal = true;
  bool faster = false;
  std::string line;
  for (int number = 1; std::getline(std::cin, line); ++number) {
    if (line.empty()) continue;
    auto read = read_line(line);
    const std::string name =
        read && !read->name.empty() ? read->name : fmt::format("line {}", number);
    Result<Candidate, SessionError> candidate =
        read ? read_candidate_text(session, name, read->source, read->launch, program.interrupted())
             : Result<Candidate, SessionError>(std::move(read).error());
    const ComparedKernel one =
        compared(session, name, std::move(candidate), depth, program.interrupted());
    if (program.interrupted().requested())
      return program.fail({FailureCause::interrupted, "interrupted"});
    all_equal = all_equal && one.equal;
    faster = faster || (one.equal && !one.same_code && one.verdict == SpeedVerdict::fast);
    const int written = program.print(comparison_json(one, original) + '\n', 0);
    if (written != 0) return written;
  }
  if (!all_equal) return kNotEqual;
  return faster ? kImproved : kNoImprovement;
}

}  // namespace regraph::cli
