#include "source/choose_launch.h"

#include <fmt/format.h>

#include <algorithm>

namespace regraph::source {
namespace {

// More than a message can list.
constexpr std::size_t kMostListed = 8;

std::string without_blanks(std::string text) {
  std::erase(text, ' ');
  return text;
}

// Launches of other instances of a template are left out where some are of this one for sure.
std::vector<HostLaunch> of_instance(std::vector<HostLaunch> launches,
                                    const std::vector<std::string>& arguments) {
  const auto fits = [&](const HostLaunch& launch) {
    if (launch.template_arguments.empty() || launch.template_arguments.size() > arguments.size())
      return false;
    for (std::size_t i = 0; i < launch.template_arguments.size(); ++i) {
      if (without_blanks(launch.template_arguments[i]) != without_blanks(arguments[i]))
        return false;
    }
    return true;
  };
  if (std::ranges::none_of(launches, fits)) return launches;
  std::erase_if(launches, [&](const HostLaunch& launch) { return !fits(launch); });
  return launches;
}

std::string grid_text(const std::array<IntegerExpression, 3>& grid) {
  std::string text = grid[0].text();
  const IntegerExpression one = 1;
  if (!(grid[1] == one && grid[2] == one)) text += " x " + grid[1].text();
  if (!(grid[2] == one)) text += " x " + grid[2].text();
  return text;
}

// Of the block, grid and shared memory, as far as they are known; else as they are written.
std::string shape_of(const HostLaunch& launch) {
  const auto& grid = launch.grid ? launch.grid : launch.open_grid;
  if (!launch.block || !grid) return fmt::format("<<<{}>>>", launch.shape);
  std::string text = fmt::format("block {}", launch.block->x);
  if (launch.block->y * launch.block->z > 1) text += fmt::format("x{}", launch.block->y);
  if (launch.block->z > 1) text += fmt::format("x{}", launch.block->z);
  text += ", grid " + grid_text(*grid);
  if (launch.dynamic_shared_bytes && launch.dynamic_shared_bytes->text() != "0")
    text += fmt::format(", {} bytes of shared memory", launch.dynamic_shared_bytes->text());
  return text;
}

std::string list_of(const std::vector<HostLaunch>& launches) {
  std::string text;
  for (std::size_t i = 0; i < launches.size() && i < kMostListed; ++i)
    text +=
        fmt::format("{}line {}: {}", i == 0 ? "" : "; ", launches[i].line, shape_of(launches[i]));
  if (launches.size() > kMostListed)
    text += fmt::format("; and {} more", launches.size() - kMostListed);
  return text;
}

}  // namespace

Result<ChosenLaunch> choose_launch(std::string_view source, const KernelSignature& kernel,
                                   const std::vector<std::string>& template_arguments, int line) {
  const std::vector<HostLaunch> all = find_host_launches(source, kernel);
  std::vector<HostLaunch> launches = of_instance(all, template_arguments);
  ChosenLaunch chosen;
  if (line != 0) {
    const auto named = std::ranges::find(launches, line, &HostLaunch::line);
    if (named == launches.end()) {
      return fail(
          ErrorCode::not_found,
          launches.empty()
              ? fmt::format("the file does not launch '{}', so that --launch {} says nothing",
                            kernel.name, line)
              : fmt::format("line {} does not launch '{}'; its launches: {}", line, kernel.name,
                            list_of(launches)));
    }
    chosen.launch = *named;
  } else if (!launches.empty()) {
    const std::string first = shape_of(launches.front());
    const auto differs = [&](const HostLaunch& one) { return shape_of(one) != first; };
    if (std::ranges::any_of(launches, differs)) {
      // One of each.
      std::vector<HostLaunch> kinds;
      for (const HostLaunch& one : launches) {
        const auto same = [&](const HostLaunch& kind) { return shape_of(kind) == shape_of(one); };
        if (std::ranges::none_of(kinds, same)) kinds.push_back(one);
      }
      return fail(ErrorCode::invalid_argument,
                  fmt::format("'{}' is launched in several ways ({}); say which is meant, e.g. "
                              "--launch {}",
                              kernel.name, list_of(kinds), kinds.front().line));
    }
    chosen.launch = launches.front();
    for (const HostLaunch& one : launches) {
      if (one.integers == chosen.launch->integers) continue;
      chosen.note = fmt::format("'{}' is launched with other sizes in line {} (--launch {})",
                                kernel.name, one.line, one.line);
      break;
    }
  }
  // What one launch does with its buffers no step may forget, whichever is meant.
  for (const HostLaunch& one : all) {
    if (chosen.launch && chosen.launch->overlapping_line == 0)
      chosen.launch->overlapping_line = one.overlapping_line;
  }
  return chosen;
}

}  // namespace regraph::source
