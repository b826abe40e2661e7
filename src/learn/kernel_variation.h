// Slow variants of one kernel with a known way back to a fast one: paths that searches found
// without one of their steps (path_ablation.h), and inverse rewrites (rewrite/inverse) of the
// kernel itself and of what the paths lead to. Each is judged like any candidate.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "kernel/evaluation.h"
#include "learn/studied_kernel.h"
#include "session/installation.h"
#include "session/session_error.h"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace regraph::learn {

// How many times as slow a variant has to be, at least.
inline constexpr double kLeastSlowdown = 1.05;

struct VariationRequest {
  StudyPlace place;
  std::vector<std::vector<std::string>> paths;  // RunDigest::path_to_fastest of its searches
};

// A kernel of its own that computes what the one it was made from does.
struct KernelVariant {
  std::string label;       // unique among the variants of a kernel, fit for a file name
  std::string taken_away;  // in words: "from the kernel: ..."
  double slowdown = 1.0;   // times, against what it was made from
  std::string source;
  std::string manifest;  // YAML
  // Equal for kernels that are the same; the second is empty where it is not known.
  std::string identity;
  std::string machine_code;
};

struct VariationReport {
  std::string key;  // of the request, as variation_key
  std::string device;
  TimeMethod method = TimeMethod::predicted;
  std::string identity;  // of the kernel itself
  int tried = 0;
  std::map<std::string, int> dropped;  // reason -> how many of those tried
  std::vector<KernelVariant> variants;
};

// The request as JSON, for a process of its own. Errors: parse.
[[nodiscard]] std::string variation_text(const VariationRequest& request);
[[nodiscard]] Result<VariationRequest> read_variation(std::string_view text);
// Hash of the request, of the kernel's file and manifest, and of the program unless any build will
// do: reports with the same key are the same.
[[nodiscard]] std::string variation_key(const VariationRequest& request);

// The report as JSON, "regraph-variants/1". Errors start with `name`: parse.
[[nodiscard]] std::string report_text(const VariationReport& report);
[[nodiscard]] Result<VariationReport> read_variation_report(std::string_view text,
                                                            std::string_view name);
// Where the report of the request is kept, and the report if it is there and of this key.
[[nodiscard]] std::filesystem::path variation_path(const VariationRequest& request);
[[nodiscard]] std::optional<VariationReport> kept_report(const VariationRequest& request);

// How many times as slow a variant is as what it was made from; nothing where it is wrong, or not
// slower by kLeastSlowdown, for measured times with separated intervals.
[[nodiscard]] std::optional<double> slowdown_of(const Evaluation& variant, const Evaluation& fast);

// Makes and judges the variants, and writes the report. Errors: as Session::open; unusable_kernel
// where the kernel itself is not judged correct.
[[nodiscard]] Result<void, SessionError> vary_kernel(const VariationRequest& request,
                                                     const Installation& installation,
                                                     const Cancellation& cancellation);

}  // namespace regraph::learn
