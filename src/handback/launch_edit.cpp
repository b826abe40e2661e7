#include "handback/launch_edit.h"

#include "handback/expression_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace regraph::handback {
namespace {

constexpr std::array<const char*, 3> kAxes = {"x", "y", "z"};
// Kernels that use more have to be permitted to, by a call of cudaFuncSetAttribute.
constexpr std::int64_t kSharedBytesWithoutAsking = 48 << 10;

using Grid = std::array<IntegerExpression, 3>;

IntegerExpression with_block(const IntegerExpression& expression, const Dim3& block) {
  return expression.substitute({{"bx", IntegerExpression(block.x)},
                                {"by", IntegerExpression(block.y)},
                                {"bz", IntegerExpression(block.z)}});
}

// The same with the launch's own block, which may follow the sizes.
IntegerExpression with_block(const IntegerExpression& expression, const Launch& launch) {
  return expression.substitute({{"bx", launch.block_extent(0)},
                                {"by", launch.block_extent(1)},
                                {"bz", launch.block_extent(2)}});
}

Grid grid_of(const Launch& launch) {
  return {with_block(launch.grid[0], launch), with_block(launch.grid[1], launch),
          with_block(launch.grid[2], launch)};
}

std::string block_text(const Dim3& block) {
  if (block.z > 1) return fmt::format("dim3({}, {}, {})", block.x, block.y, block.z);
  if (block.y > 1) return fmt::format("dim3({}, {})", block.x, block.y);
  return std::to_string(block.x);
}

// Sizes at which two expressions have to agree to count as equal: those of the search, and some
// that are nobody's.
std::vector<Symbols> probes(const Problem& problem, const source::HostLaunch& there) {
  std::vector<Symbols> all = problem.tests;
  all.insert(all.end(), problem.bench.begin(), problem.bench.end());
  constexpr int kOthers = 12;
  constexpr std::uint64_t kFactor = 6364136223846793005u;
  std::uint64_t state = 1;
  for (int i = 0; i < kOthers; ++i) {
    Symbols symbols;
    for (const auto& [name, value] : problem.sizes) {
      state = state * kFactor + 1442695040888963407u;
      symbols[name] = 1 + static_cast<std::int64_t>((state >> 33) % 5000);
    }
    all.push_back(std::move(symbols));
  }
  for (Symbols& symbols : all) {
    for (const auto& [name, value] : there.integers)
      symbols[name] = value;
  }
  return all;
}

class LaunchEditor {
 public:
  LaunchEditor(const LaunchSite& site, const LaunchBeforeAndAfter& change)
      : site_(site),
        change_(change),
        before_(grid_of(change.before)),
        after_(grid_of(change.after)) {}

  Result<EditedLaunch> run() {
    if (site_.shape.size() < 2)
      return refuse("block and grid of the launch could not be told apart");
    for (Status (LaunchEditor::*step)() :
         {&LaunchEditor::read_arguments, &LaunchEditor::check_block, &LaunchEditor::check_grid,
          &LaunchEditor::check_shared}) {
      if (Status status = (this->*step)(); !status) return status.error();
    }
    // A block that is not known here may be another one; the winner was checked with this one.
    if (change_.same() && !block_unknown_) return std::move(edited_);
    std::vector<std::string> shape = site_.shape;
    if (before_ != after_ || block_unknown_) {
      auto grid = new_grid();
      if (!grid) return grid.error();
      shape[0] = std::move(*grid);
    }
    if (!(change_.before.block == change_.after.block) || block_unknown_)
      shape[1] = block_text(change_.after.block);
    if (Status status = set_shared(shape); !status) return status.error();
    edited_.shape = fmt::format("{}", fmt::join(shape, ", "));
    return std::move(edited_);
  }

 private:
  [[nodiscard]] Error refuse(const std::string& why) const {
    return fail(ErrorCode::unsupported, fmt::format("line {}: {}", site_.line, why));
  }

  Status read_arguments() {
    std::size_t place = 0;
    for (const Parameter& parameter : change_.problem.signature.parameters) {
      if (!parameter.is_passed()) break;
      if (place == site_.arguments.size())
        return refuse("the launch passes fewer arguments than the kernel has parameters");
      const std::string& argument = site_.arguments[place++];
      const bool integer =
          !parameter.is_pointer && parameter.record_bytes == 0 && !is_floating(parameter.type);
      if (integer) meanings_[parameter.name] = argument;
    }
    for (std::size_t axis = 0; axis < kAxes.size(); ++axis)
      meanings_[fmt::format("grid_{}", kAxes[axis])] =
          fmt::format("dim3({}).{}", site_.shape[0], kAxes[axis]);
    if (site_.shape.size() > 2) meanings_["shared_bytes"] = site_.shape[2];
    return {};
  }

  Status check_block() {
    block_unknown_ = !site_.read.block.has_value();
    if (block_unknown_) {
      edited_.notes.push_back(fmt::format(
          "line {}: the block '{}' is known to the program alone; it is taken for that of the "
          "search, {}",
          site_.line, site_.shape[1], block_text(change_.before.block)));
    } else if (!(*site_.read.block == change_.before.block)) {
      return refuse(
          fmt::format("it is launched with blocks of {}, and the search was for blocks of {}",
                      block_text(*site_.read.block), block_text(change_.before.block)));
    }
    return {};
  }

  // Whether both have the same value wherever both have one; nothing where they never do.
  [[nodiscard]] std::optional<bool> agree(const IntegerExpression& a,
                                          const IntegerExpression& b) const {
    bool compared = false;
    for (const Symbols& symbols : probes(change_.problem, site_.read)) {
      const auto left = a.evaluate(symbols);
      const auto right = b.evaluate(symbols);
      if (!left.ok() || !right.ok()) continue;
      if (*left != *right) return false;
      compared = true;
    }
    return compared ? std::optional(true) : std::nullopt;
  }

  Status check_grid() {
    for (std::size_t axis = 0; axis < kAxes.size(); ++axis) {
      known_[axis] = false;
      // A symbol for the grid itself stands for whatever is launched.
      if (change_.before.grid[axis].text() == fmt::format("grid_{}", kAxes[axis])) {
        known_[axis] = true;
        continue;
      }
      if (!site_.read.grid) continue;
      const IntegerExpression there = with_block((*site_.read.grid)[axis], change_.before.block);
      const auto agreement = agree(there, before_[axis]);
      if (agreement == false) {
        return refuse(fmt::format("its grid is {} in {}, and the search was for {}", there.text(),
                                  kAxes[axis], before_[axis].text()));
      }
      known_[axis] = agreement.has_value();
    }
    return {};
  }

  Status check_shared() {
    const IntegerExpression& before = change_.before.dynamic_shared_bytes;
    IntegerExpression there = 0;
    if (site_.shape.size() > 2) {
      if (!site_.read.dynamic_shared_bytes) return {};  // what it asks for stays, or is refused
      there = *site_.read.dynamic_shared_bytes;
    }
    if (before.text() == "shared_bytes" || agree(there, before) != false) return {};
    return refuse(fmt::format("it has {} bytes of dynamic shared memory, and the search was for {}",
                              there.text(), before.text()));
  }

  Result<std::string> new_axis(std::size_t axis) {
    if (before_[axis] == after_[axis] && !block_unknown_ && !after_[axis].is_constant())
      return fmt::format("dim3({}).{}", site_.shape[0], kAxes[axis]);
    if (!known_[axis] && !(before_[axis] == after_[axis] && after_[axis] == IntegerExpression(1))) {
      if (before_[axis].is_constant()) {
        return refuse(fmt::format(
            "the search knows its grid as the number {} in {}, and the program computes it",
            before_[axis].text(), kAxes[axis]));
      }
      edited_.notes.push_back(
          fmt::format("line {}: the grid '{}' is taken for that of the search, {} in {}",
                      site_.line, site_.shape[0], before_[axis].text(), kAxes[axis]));
    }
    for (const std::string& symbol : after_[axis].symbols()) {
      const auto meaning = meanings_.find(symbol);
      if (meaning != meanings_.end() && !is_pure(meaning->second)) {
        return refuse(fmt::format("the grid depends on '{}', which may do something else each time",
                                  meaning->second));
      }
    }
    auto text = host_text(after_[axis], meanings_);
    if (!text) return refuse(text.error().message);
    if (after_[axis].is_constant()) return text;
    return "(unsigned)(" + *text + ")";
  }

  Result<std::string> new_grid() {
    // The launch's own words where they stay right.
    if (before_ == after_ && !block_unknown_) return site_.shape[0];
    std::array<std::string, 3> axes;
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
      auto text = new_axis(axis);
      if (!text) return text;
      axes[axis] = std::move(*text);
    }
    if (axes[2] != "1") return fmt::format("dim3({}, {}, {})", axes[0], axes[1], axes[2]);
    if (axes[1] != "1") return fmt::format("dim3({}, {})", axes[0], axes[1]);
    return axes[0];
  }

  Status set_shared(std::vector<std::string>& shape) {
    const IntegerExpression after =
        with_block(change_.after.dynamic_shared_bytes, change_.after.block);
    if (after == with_block(change_.before.dynamic_shared_bytes, change_.before.block)) return {};
    if (site_.shape.size() > 2 && !site_.read.dynamic_shared_bytes)
      return refuse("its dynamic shared memory is known to the program alone");
    for (const Symbols& symbols : change_.problem.bench) {
      const auto bytes = after.evaluate(symbols);
      if (!bytes.ok() || *bytes > kSharedBytesWithoutAsking) {
        return refuse(
            fmt::format("the winner needs {} bytes of dynamic shared memory, which "
                        "cudaFuncSetAttribute must permit",
                        after.text()));
      }
    }
    auto text = host_text(after, meanings_);
    if (!text) return refuse(text.error().message);
    if (shape.size() == 2) shape.emplace_back();
    shape[2] = std::move(*text);
    return {};
  }

  const LaunchSite& site_;
  const LaunchBeforeAndAfter& change_;
  const Grid before_;
  const Grid after_;
  Meanings meanings_;
  bool block_unknown_ = false;
  std::array<bool, 3> known_{};
  EditedLaunch edited_;
};

}  // namespace

bool LaunchBeforeAndAfter::same() const {
  return before.block == after.block && grid_of(before) == grid_of(after) &&
         with_block(before.dynamic_shared_bytes, before) ==
             with_block(after.dynamic_shared_bytes, after);
}

Result<EditedLaunch> edit_launch(const LaunchSite& site, const LaunchBeforeAndAfter& change) {
  if (change.before.block_follows_sizes()) {
    // What stands there is for the program alone to tell.
    if (change.same()) return EditedLaunch();
    return fail(ErrorCode::unsupported,
                fmt::format("line {}: the block of the launch follows the sizes", site.line));
  }
  return LaunchEditor(site, change).run();
}

std::string launch_text(const Launch& launch) {
  const Grid grid = grid_of(launch);
  std::string text =
      fmt::format("block {} x {} x {}, grid {} x {} x {}", launch.block_extent(0).text(),
                  launch.block_extent(1).text(), launch.block_extent(2).text(), grid[0].text(),
                  grid[1].text(), grid[2].text());
  if (!(launch.dynamic_shared_bytes == IntegerExpression(0)))
    text += fmt::format(", {} bytes of dynamic shared memory",
                        with_block(launch.dynamic_shared_bytes, launch).text());
  return text;
}

}  // namespace regraph::handback
