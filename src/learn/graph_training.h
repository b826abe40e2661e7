// From observations to the statistics of a ReGraph.
#pragma once

#include "learn/observation_table.h"
#include "regraph/step_graph.h"

namespace regraph::learn {

// `published` with what the table says of its steps and transitions; what it had learned before is
// forgotten. Steps that the graph does not have become candidates. The same table gives the same
// graph, bit for bit:
//
//   y(kernel, state, step) = max(0, best log-gain over the settings tried there), 0 if all failed
//   vote of a family       = mean over its kernels of the mean of their y, in units of 2^-22
//
// by step, and by step and the one before.
[[nodiscard]] StepGraph train_graph(const StepGraph& published, const ObservationTable& table);

}  // namespace regraph::learn
