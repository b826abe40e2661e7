// The commands of regraph-train. Each returns an exit code.
#pragma once

#include "cli/program.h"
#include "cli/train_options.h"

#include <string>

namespace regraph::cli {

// `regraph-train graph`
[[nodiscard]] int train_graph_file(const Program& program, const TrainOptions& options);
// `regraph-train model`
[[nodiscard]] int train_policy_file(const Program& program, const TrainOptions& options);
// `regraph-train search`
[[nodiscard]] int search_for_training(const Program& program, const TrainOptions& options);
// `regraph-train eval`
[[nodiscard]] int evaluate_learning(const Program& program, const TrainOptions& options);
// `regraph-train report`
[[nodiscard]] int report_searches(const Program& program, const TrainOptions& options);
// `regraph-train loop`
[[nodiscard]] int run_learning_loop(const Program& program, const TrainOptions& options);
// `regraph-train check`
[[nodiscard]] int check_corpus(const Program& program, const TrainOptions& options);
// `regraph-train slow`
[[nodiscard]] int write_slow_variants(const Program& program, const TrainOptions& options);
// `regraph-train vary -`: the variants of one kernel, for learn::run_tasks.
[[nodiscard]] int train_variation(const Program& program, const std::string& text,
                                  const FleetFlags& flags);
// `regraph-train study -`: the searches of one kernel, for run_studies (learn/study_pool.h).
[[nodiscard]] int train_study(const Program& program, const std::string& text,
                              const FleetFlags& flags);

}  // namespace regraph::cli
