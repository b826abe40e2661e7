// The card of a data set: README.md with the hub's YAML header.
#pragma once

#include "dataset/data_set.h"

#include <string>

namespace regraph::dataset {

// `ending`: of the files that a loader should read, "jsonl" or "parquet".
[[nodiscard]] std::string data_card(const DataSetSummary& summary, const DataSetOptions& options,
                                    const std::string& ending);
// The same figures for programs, JSON.
[[nodiscard]] std::string summary_text(const DataSetSummary& summary,
                                       const DataSetOptions& options);

}  // namespace regraph::dataset
