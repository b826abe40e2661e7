#include "llm/prompt/problem_text.h"

#include "llm/prompt/facts_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace regraph::llm {

namespace {

std::string joined_lines(const std::vector<std::string>& lines) {
  return fmt::format("{}", fmt::join(lines, "\n"));
}

std::string_view direction_text(const Argument& argument) {
  if (argument.is_scratch) return "scratch";
  switch (argument.direction) {
    case Direction::in:
      return "in";
    case Direction::out:
      return "out";
    case Direction::inout:
      return "inout";
  }
  return "?";
}

// What a buffer is filled with, where an algorithm may depend on it: ranges of integers, the
// structure of sparse data. A path of the user's is nobody's business.
std::string content_text(const Argument& argument) {
  if (!argument.is_input() || argument.init.kind == BufferInit::Kind::normal) return {};
  if (argument.init.kind == BufferInit::Kind::file) return ", values of a file";
  return ", values " + argument.init.text();
}

std::string argument_line(const Problem& problem, const Argument& argument) {
  std::string type(cuda_name(argument.type));
  if (argument.components > 1) type += fmt::format(" x {}", argument.components);
  if (argument.is_symbol) {
    type = "__constant__ " + type;
  } else if (argument.is_pointer) {
    type += '*';
  }
  std::string text = fmt::format("{}: {}, ", argument.name, type);
  if (!argument.is_pointer && argument.record_bytes > 0)
    return fmt::format("{}: a structure of {} bytes", argument.name, argument.record_bytes);
  if (!argument.is_pointer) {
    if (argument.value && argument.value->expression() != nullptr)
      return text + argument.value->text() + ", whatever the sizes";
    if (argument.value) return text + argument.value->text() + " in tests";
    const bool is_size = problem.sizes.contains(argument.name);
    return text + (is_size ? fmt::format("size {}", argument.name) : std::string("scalar"));
  }
  std::vector<std::string> extents;
  for (const IntegerExpression& extent : argument.shape)
    extents.push_back(extent.text());
  text += fmt::format("{}, shape [{}]", direction_text(argument), fmt::join(extents, ", "));
  text += content_text(argument);
  if (argument.overlaps.empty()) return text;
  return text + fmt::format(", overlaps '{}' from its byte {}", argument.overlaps,
                            argument.overlap_bytes.text());
}

}  // namespace

std::string arguments_text(const Problem& problem) {
  std::vector<std::string> lines;
  for (const Argument& argument : problem.arguments)
    lines.push_back(argument_line(problem, argument));
  return joined_lines(lines);
}

std::string symbols_text(const Symbols& symbols) {
  std::vector<std::string> entries;
  for (const auto& [name, value] : symbols)
    entries.push_back(fmt::format("{}: {}", name, value));
  return fmt::format("{{{}}}", fmt::join(entries, ", "));
}

std::string sizes_text(const Problem& problem, std::size_t most) {
  const auto list = [&](const std::vector<Symbols>& all) {
    std::vector<std::string> entries;
    for (const Symbols& symbols : all) {
      if (entries.size() == most) break;
      entries.push_back(symbols_text(symbols));
    }
    if (all.size() > most) entries.push_back(fmt::format("and {} more", all.size() - most));
    return fmt::format("{}", fmt::join(entries, ", "));
  };
  return fmt::format("timed at {}\nresults compared at {}", list(problem.bench),
                     list(problem.tests));
}

std::string tolerance_text(const CheckPolicy& check) {
  if (!check.relative_tolerance) {
    return "chosen by type and length of the sums; integers must match exactly";
  }
  return fmt::format("relative {:g} for floating types; integers must match exactly",
                     *check.relative_tolerance);
}

std::string grants_text(const Assumptions& assume) {
  std::vector<std::string> granted = {
      fmt::format("every buffer is aligned to {} bytes", assume.align)};
  std::vector<std::string> withheld;
  const auto add = [&](bool grants, std::string what) {
    (grants ? granted : withheld).push_back(std::move(what));
  };
  add(assume.noalias, "buffers do not overlap (noalias)");
  add(assume.reassociate, "floating-point sums may be reordered (reassociate)");
  add(assume.fast_math, "less exact functions (fast_math)");
  if (assume.precision == Precision::tf32x3) {
    granted.emplace_back("products of two tf32 parts a factor (3xTF32)");
  }
  add(assume.lets_precision_go(), "lower precision");
  if (withheld.empty()) withheld.emplace_back("nothing");
  return fmt::format("granted: {}\nnot granted: {}", fmt::join(granted, "; "),
                     fmt::join(withheld, "; "));
}

std::string launch_text(const LaunchPlan& plan, std::string_view kernel) {
  const Launch* launch = plan.launch_of(kernel);
  if (launch == nullptr) return {};
  std::string text = fmt::format(
      R"({{"block": [{}, {}, {}], "grid": ["{}", "{}", "{}"], "smem": "{}"}})", launch->block.x,
      launch->block.y, launch->block.z, launch->grid[0].text(), launch->grid[1].text(),
      launch->grid[2].text(), launch->dynamic_shared_bytes.text());
  if (!launch->block_follows_sizes()) return text;
  return text +
         fmt::format(" (this block stands for [{}, {}, {}] at every size; any other is fixed)",
                     launch->block_extent(0).text(), launch->block_extent(1).text(),
                     launch->block_extent(2).text());
}

std::string other_launches_text(const LaunchPlan& plan, std::string_view kernel) {
  if (plan.launches.size() < 2) return {};
  std::vector<std::string> lines;
  for (const Launch& launch : plan.launches) {
    LaunchPlan one;
    one.launches = {launch};
    std::string text = one.text();
    if (!text.empty()) text.pop_back();
    lines.push_back(text + (launch.kernel == kernel ? "   <- the one to change" : ""));
  }
  return joined_lines(lines);
}

std::string device_text(const PromptDevice& device) {
  std::vector<std::string> parts = {device.name};
  if (!device.architecture.empty()) parts.back() += fmt::format(" ({})", device.architecture);
  const auto add = [&](bool known, std::string text) {
    if (known) parts.push_back(std::move(text));
  };
  add(device.sm_count > 0, fmt::format("{} SMs", device.sm_count));
  add(device.max_threads_per_sm > 0, fmt::format("{} threads per SM", device.max_threads_per_sm));
  add(device.registers_per_sm > 0, fmt::format("{} registers per SM", device.registers_per_sm));
  add(device.shared_bytes_per_sm > 0,
      fmt::format("shared memory {} bytes per SM", device.shared_bytes_per_sm));
  add(device.shared_bytes_per_block > 0,
      fmt::format("{} per block (over 49152 only as dynamic)", device.shared_bytes_per_block));
  add(device.l2_bytes > 0, fmt::format("L2 {} MiB", device.l2_bytes >> 20));
  add(device.dram_bytes_per_second > 0,
      fmt::format("DRAM {:.0f} GB/s", device.dram_bytes_per_second * 1e-9));
  add(device.peak_fp32_flops > 0,
      fmt::format("FP32 {:.1f} TFLOP/s", device.peak_fp32_flops * 1e-12));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string evaluation_time_text(const Evaluation& evaluation) {
  if (!evaluation.correct()) return {};
  const TimeEstimate& time = evaluation.time;
  return fmt::format("{} {}, between {} and {}", time_text(time.median_seconds), name(time.method),
                     time_text(time.low_seconds), time_text(time.high_seconds));
}

}  // namespace regraph::llm
