// Records of a journal as rows of tables, for the run database and others that keep evaluations.
#pragma once

#include "base/sqlite_table.h"
#include "search/journal.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace regraph::journal {

// The key of tables of one row.
inline constexpr std::int64_t kOnlyRow = 1;

// Columns of an evaluation, to be put at the end of a table's own.
[[nodiscard]] std::vector<SqlColumn> with_evaluation(std::vector<SqlColumn> columns);
// Appends the evaluation's values to `row`.
void append(const Evaluation& evaluation, SqlRow& row);
// Reads an evaluation from `row`, whose first value of it is at `at`. Nothing if a value is out of
// range: names unknown, a correct verdict without a positive time.
[[nodiscard]] std::optional<Evaluation> read_evaluation(const SqlRow& row, std::size_t at);

// JSON texts of what has structure. The readers give nothing for anything they did not write.
[[nodiscard]] std::string parameters_text(const StepParameters& parameters);
[[nodiscard]] std::optional<StepParameters> read_parameters(const std::string& text);
[[nodiscard]] std::string proposals_text(const std::vector<StepProposal>& proposals);
[[nodiscard]] std::optional<std::vector<StepProposal>> read_proposals(const std::string& text);
[[nodiscard]] std::string plan_text(const LaunchPlan& plan);
[[nodiscard]] std::optional<LaunchPlan> read_plan(const std::string& text);
[[nodiscard]] std::string texts_text(const std::vector<std::string>& texts);
[[nodiscard]] std::optional<std::vector<std::string>> read_texts(const std::string& text);
[[nodiscard]] std::optional<Hash128> read_hash(const std::string& hex);

// Values of a row by place; nothing when the value is absent or of another type.
[[nodiscard]] std::optional<std::int64_t> integer_at(const SqlRow& row, std::size_t at);
[[nodiscard]] std::optional<double> real_at(const SqlRow& row, std::size_t at);
[[nodiscard]] const std::string* text_at(const SqlRow& row, std::size_t at);

}  // namespace regraph::journal
