// The forms in which trainers read a data set: lines of JSON, one a row. Columns are typed and
// there in every row; what has changing keys is JSON text.
//
//   pairs  PairRecord
//   sft    messages, state, step, kernel, family, verdict
//   pc     prompt, completion, state, step, kernel, family, verdict
//   rl     prompt, state, step, kernel, family, stage, settings
//   pref   prompt, chosen, rejected, state, step, kernel, family
//   kto    prompt, completion, label, state, step, kernel, family
//   verl   data_source, prompt, ability, reward_model, extra_info
#pragma once

#include "dataset/collected.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace regraph::dataset {

inline constexpr const char* kForms[] = {"pairs", "sft", "pc", "rl", "pref", "kto", "verl"};

// Form -> split -> rows, each ended by a newline. `splits`: family -> split.
using DataForms = std::map<std::string, std::map<std::string, std::vector<std::string>>>;

// Answers to learn from (sft, pc) are those that were shown to be faster and, where nobody judged
// them, the rewriter's. Preferred is the faster of two answers to a state whose intervals are
// separated, or a correct one to one that is not. A desirable answer (kto) is correct and not
// slower.
[[nodiscard]] DataForms data_forms(const Collected& collected,
                                   const std::map<std::string, std::string>& splits);

}  // namespace regraph::dataset
