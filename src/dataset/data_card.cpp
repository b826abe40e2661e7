#include "dataset/data_card.h"

#include "dataset/data_forms.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace regraph::dataset {

namespace {

struct AboutForm {
  std::string_view form;
  const char* text;
};
constexpr AboutForm kAboutForms[] = {
    {"pairs",
     "the evidence | a slow and a fast kernel, launches, times with intervals, what was compared"},
    {"sft", "supervised fine-tuning | `messages`"},
    {"pc", "the same, divided | `prompt`, `completion`"},
    {"rl",
     "reinforcement learning with the reward server | `prompt`, `state` (what the server knows it "
     "by), `stage`, `settings`"},
    {"pref", "preference learning | `prompt`, `chosen`, `rejected`"},
    {"kto", "single judgements | `prompt`, `completion`, `label`"},
    {"verl", "verl | `data_source`, `prompt`, `ability`, `reward_model`, `extra_info`"},
};
constexpr const char* kAboutColumns =
    "\nAll but `pairs` and `verl` also have `state`, `step`, `kernel` and `family`. Maps with "
    "changing keys\n(`parameters`, `history`, launches) are JSON text.\n";

constexpr const char* kAboutVerification = R"(
## How a pair was verified

Both kernels of a pair were compiled in a sandbox and compared with the original at every test size and at the
bench size, once when they were found and again, with other inputs, before the pair was written. A pair is left out when
one of the two does not come out correct again, when the interval of its speedup touches 1, or when it differs from
an earlier pair in names, constants and layout only. `regraph-dataset verify FOLDER` does it once more.

Rows of `sft` and `pc` with `verdict: unjudged` were made by the built-in rewriter and not executed.

## Limits

- Predicted times come from an analytical model; their intervals are its error, not noise. `method` says which
  pairs were measured, and `device` where.
- Equality is that of outputs on the tested sizes and inputs, within the tolerance that a pair names, and freedom
  from races and stray accesses there. It is no proof for every input.
- Families of kernels are divided among the splits as wholes, and families that hold nearly the same kernel stay
  together; similar ideas (a reduction in two families, say) remain.
)";

std::string size_category(std::size_t rows) {
  struct Category {
    std::size_t below;
    const char* name;
  };
  for (const Category category :
       {Category{1000, "n<1K"}, Category{10'000, "1K<n<10K"}, Category{100'000, "10K<n<100K"}}) {
    if (rows < category.below) return category.name;
  }
  return "100K<n<1M";
}

std::size_t rows_of(const DataSetSummary& summary, const char* form) {
  const auto found = summary.rows.find(form);
  std::size_t rows = 0;
  if (found == summary.rows.end()) return rows;
  for (const auto& [split, count] : found->second)
    rows += count;
  return rows;
}

std::string header(const DataSetSummary& summary, const DataSetOptions& options,
                   const std::string& ending) {
  std::size_t largest = 0;
  for (const char* form : kForms)
    largest = std::max(largest, rows_of(summary, form));
  std::string text = fmt::format(
      "---\nlicense: {}\npretty_name: {}\nlanguage:\n- code\ntags:\n- cuda\n- gpu\n- code\n- "
      "performance\ntask_categories:\n- text-generation\nsize_categories:\n- "
      "{}\nannotations_creators:\n- machine-generated\nconfigs:\n",
      options.licence, nlohmann::json(options.title).dump(), size_category(largest));
  auto out = std::back_inserter(text);
  for (const char* form : kForms) {
    const auto rows = summary.rows.find(form);
    if (rows == summary.rows.end()) continue;
    fmt::format_to(out, "- config_name: {}\n  data_files:\n", form);
    for (const char* split : kSplits) {
      if (!rows->second.contains(split)) continue;
      fmt::format_to(out, "  - split: {}\n    path: data/{}/{}-*.{}\n", split, form, split, ending);
    }
  }
  return text + "---\n";
}

}  // namespace

std::string data_card(const DataSetSummary& summary, const DataSetOptions& options,
                      const std::string& ending) {
  std::string text = header(summary, options, ending);
  auto out = std::back_inserter(text);
  fmt::format_to(
      out,
      "\n# {}\n\nSlow and fast CUDA kernels that compute the same, found, executed and timed by "
      "ReGraph {}, with the evidence.\n\n",
      options.title, REGRAPH_VERSION);
  fmt::format_to(out, "{} pairs of {} kernels in {} families", rows_of(summary, "pairs"),
                 summary.kernels, summary.families);
  for (const auto& [method, count] : summary.methods)
    fmt::format_to(out, ", {} {}", count, method);
  if (!summary.device.empty()) fmt::format_to(out, "; device {}", summary.device);
  text += ".\n\n| form | train | validation | test |\n|---|---|---|---|\n";
  for (const char* form : kForms) {
    const auto rows = summary.rows.find(form);
    if (rows == summary.rows.end()) continue;
    const auto count = [&](const char* split) {
      const auto found = rows->second.find(split);
      return found == rows->second.end() ? std::size_t{0} : found->second;
    };
    fmt::format_to(out, "| `{}` | {} | {} | {} |\n", form, count(kTrain), count(kValidation),
                   count(kTest));
  }
  text += "\n| form | for | columns |\n|---|---|---|\n";
  for (const AboutForm& about : kAboutForms) {
    if (summary.rows.contains(std::string(about.form)))
      fmt::format_to(out, "| `{}` | {} |\n", about.form, about.text);
  }
  text += kAboutColumns;
  fmt::format_to(out, "\n## What was left out\n\nOf {} pairs that were looked at:\n\n",
                 summary.considered);
  for (const auto& [reason, count] : summary.dropped)
    fmt::format_to(out, "- {}: {}\n", count, reason);
  if (summary.dropped.empty()) text += "- nothing\n";
  text += "\n## Steps\n\n";
  for (const auto& [step, count] : summary.steps)
    fmt::format_to(out, "- `{}`: {}\n", step.empty() ? "(several)" : step, count);
  text += "\n## Families\n\n";
  for (const char* split : kSplits) {
    std::string names;
    for (const auto& [family, where] : summary.splits) {
      if (where == split) names += (names.empty() ? "" : ", ") + family;
    }
    if (!names.empty()) fmt::format_to(out, "- {}: {}\n", split, names);
  }
  return text + kAboutVerification;
}

std::string summary_text(const DataSetSummary& summary, const DataSetOptions& options) {
  const nlohmann::ordered_json json{{"format", "regraph-dataset/1"},
                                    {"tool_version", REGRAPH_VERSION},
                                    {"title", options.title},
                                    {"licence", options.licence},
                                    {"seed", options.seed},
                                    {"device", summary.device},
                                    {"considered", summary.considered},
                                    {"dropped", summary.dropped},
                                    {"rows", summary.rows},
                                    {"families", summary.families},
                                    {"kernels", summary.kernels},
                                    {"methods", summary.methods},
                                    {"steps", summary.steps},
                                    {"splits", summary.splits}};
  return json.dump(2) + '\n';
}

}  // namespace regraph::dataset
