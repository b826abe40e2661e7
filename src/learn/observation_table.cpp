#include "learn/observation_table.h"

#include "base/hash.h"
#include "base/result.h"
#include "learn/table_lines.h"
#include "regraph/combined_steps.h"
#include "regraph/gain_statistics.h"
#include "regraph/step_graph.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <vector>

namespace regraph::learn {

namespace {

constexpr std::string_view kHeader = "regraph-observations/1";
constexpr std::size_t kColumns = 14;

// Tabs and line ends separate; names of foreign steps may hold anything.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char one : text) {
    switch (one) {
      case '\t':
        result += "\\t";
        break;
      case '\n':
        result += "\\n";
        break;
      case '\\':
        result += "\\\\";
        break;
      default:
        result += one;
    }
  }
  return result;
}

std::optional<std::string> unescaped(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\\') {
      result += text[at];
      continue;
    }
    if (++at == text.size()) return std::nullopt;
    switch (text[at]) {
      case 't':
        result += '\t';
        break;
      case 'n':
        result += '\n';
        break;
      case '\\':
        result += '\\';
        break;
      default:
        return std::nullopt;
    }
  }
  return result;
}

template <typename Integer>
bool read_integer(const std::string& text, Integer& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

std::string line_of(const ObservationRow& row) {
  std::string line;
  for (const std::string* text : {&row.device, &row.method, &row.family, &row.kernel, &row.run,
                                  &row.parent, &row.from, &row.step, &row.setting})
    line += escaped(*text) + '\t';
  line += std::to_string(row.variant) + '\t' + escaped(row.who) + '\t';
  line += row.verified ? "1\t" : "0\t";
  line += std::to_string(row.gain) + '\t' + escaped(row.reason);
  // Few rows have words of their own.
  if (!row.title.empty()) line += '\t' + escaped(row.title) + '\t' + escaped(row.instruction);
  return line + '\n';
}

// Empty `wrong` when it could be read.
std::optional<ObservationRow> read_line(std::string_view line, std::string& wrong) {
  std::vector<std::string> fields;
  while (true) {
    const std::size_t tab = line.find('\t');
    auto field = unescaped(line.substr(0, tab));
    if (!field) {
      wrong = "a backslash that means nothing";
      return std::nullopt;
    }
    fields.push_back(std::move(*field));
    if (tab == std::string_view::npos) break;
    line.remove_prefix(tab + 1);
  }
  if (fields.size() != kColumns && fields.size() != kColumns + 2) {
    wrong = "there must be " + std::to_string(kColumns) + " columns, not " +
            std::to_string(fields.size());
    return std::nullopt;
  }
  ObservationRow row;
  std::size_t at = 0;
  for (std::string* text : {&row.device, &row.method, &row.family, &row.kernel, &row.run,
                            &row.parent, &row.from, &row.step, &row.setting})
    *text = std::move(fields[at++]);
  const bool variant = read_integer(fields[at++], row.variant);
  row.who = std::move(fields[at++]);
  const std::string& verified = fields[at++];
  row.verified = verified == "1";
  const bool gain = read_integer(fields[at++], row.gain);
  row.reason = std::move(fields[at++]);
  if (at < fields.size()) {
    row.title = std::move(fields[at++]);
    row.instruction = std::move(fields[at]);
  }
  if (row.method != "predicted" && row.method != "measured") wrong = "unknown way of timing";
  if (!variant || row.variant < 0) wrong = "a variant must be a number";
  if (verified != "0" && verified != "1") wrong = "verified must be 0 or 1";
  if (verified == "0" && row.gain != 0) wrong = "a gain of what was not verified";
  if (!gain || std::abs(to_score(row.gain)) > kLargestLogGain) wrong = "a gain is not one";
  if (row.step.empty() || row.kernel.empty() || row.family.empty())
    wrong = "step, kernel and family must be named";
  return wrong.empty() ? std::optional(std::move(row)) : std::nullopt;
}

}  // namespace

void ObservationTable::add(const RunDigest& digest) {
  const std::string run = digest.run();
  for (const DigestState& state : digest.states) {
    for (const DigestEdge& edge : state.edges) {
      // A step whose result is the kernel itself is known to bring nothing.
      const bool nothing = edge.verified && edge.child == state.id;
      if (edge.repeats && !nothing) continue;
      const StepProposal& step = state.view.proposals[edge.proposal];
      const bool declined = edge.reason == regraph::name(ErrorCode::declined);
      if (declined || is_combined(step)) continue;
      ObservationRow row;
      row.device = digest.device;
      row.method = regraph::name(digest.method);
      row.family = digest.family;
      row.kernel = digest.kernel_hash;
      row.run = run;
      row.parent = state.identity;
      row.from =
          state.view.history.empty() ? std::string(StepGraph::kInit) : state.view.history.back();
      row.step = step.step;
      for (const auto& [key, value] : step.parameters) {
        if (key == kAppliedBy) continue;
        row.setting.append(row.setting.empty() ? "" : ", ").append(key).append("=").append(value);
      }
      row.variant = edge.variant;
      row.who = step.parameters.contains(kAppliedBy) ? "model" : "rewriter";
      row.verified = edge.verified;
      const double gain = std::clamp(edge.log_gain, -kLargestLogGain, kLargestLogGain);
      row.gain = edge.verified && !nothing ? to_fixed(gain) : 0;
      if (!edge.verified) row.reason = edge.reason;
      row.title = step.advice.title;
      if (!step.advice.title.empty()) row.instruction = step.advice.reason;
      add(std::move(row));
    }
  }
}

void ObservationTable::merge(const ObservationTable& other) {
  rows_.insert(other.rows_.begin(), other.rows_.end());
}

std::string ObservationTable::text() const {
  std::string result = std::string(kHeader) + '\n';
  for (const ObservationRow& row : rows_)
    result += line_of(row);
  return result;
}

std::string ObservationTable::name() const {
  return hash_text(text()).hex() + " (" + std::to_string(size()) + " rows)";
}

Result<ObservationTable> ObservationTable::parse(std::string_view text, std::string_view name) {
  ObservationTable table;
  const Status read =
      read_table_lines(text, name, {kHeader, "observations"}, [&](std::string_view line) {
        std::string wrong;
        if (auto row = read_line(line, wrong)) table.add(std::move(*row));
        return wrong;
      });
  if (!read) return read.error();
  return table;
}

}  // namespace regraph::learn
