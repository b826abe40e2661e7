// How a language model took part in a run.
#pragma once

#include "llm/expand/expansion_statistics.h"
#include "llm/record/ledger.h"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace regraph {

struct ModelUse {
  std::string expander;  // as of --expander
  std::string model;
  std::string from;  // where answers came from: a URL, or the file of a recording
  llm::ChatStatistics chat;
  llm::ExpansionStatistics expansion;
  int saved_requests = 0;  // equal to others of this run, and not sent
};

// The member "language_model" of the JSON result, documented in docs/result.md.
[[nodiscard]] nlohmann::ordered_json model_use_json(const ModelUse& use);

// Lines for people, each ended by a newline.
[[nodiscard]] std::string model_use_text(const ModelUse& use);

// A few words for the live line: "model 12/14 answered, 34.1k tokens, $0.05".
[[nodiscard]] std::string model_use_live(const llm::ChatStatistics& chat);

}  // namespace regraph
