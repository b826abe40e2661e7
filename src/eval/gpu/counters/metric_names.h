// CudaForge's 24 metric names in terms of what CUPTI offers today. Pure.
#pragma once

#include <span>
#include <string_view>

namespace regraph::gpu {

// How a metric of CudaForge (Zhang et al., arXiv 2511.01884: the 24 Nsight Compute metrics that
// correlate best with run time) can be had. Exactly one of `counter` and `fact` is set, or neither.
struct MetricName {
  std::string_view cudaforge;
  std::string_view counter;  // CUPTI's name on sm_80, sm_90 and sm_100
  std::string_view fact;  // not a counter: known from the compiler and the launch, kernel/facts.h
  std::string_view note;  // what differs
};

// All 24, in CudaForge's order.
[[nodiscard]] std::span<const MetricName> cudaforge_metrics();

}  // namespace regraph::gpu
