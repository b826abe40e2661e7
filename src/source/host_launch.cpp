#include "source/host_launch.h"

#include "source/host_expressions.h"
#include "source/host_names.h"
#include "source/template_instance.h"
#include "source/top_level.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace regraph::source {
namespace {

class LaunchFinder {
 public:
  LaunchFinder(std::string_view source, const KernelSignature& kernel)
      : source_(source),
        kernel_(kernel),
        name_(unqualified_name(kernel.name)),
        tokens_(tokenize(source)),
        names_(source, tokens_),
        expressions_(kernel, host_functions(source, tokens_)) {}

  std::optional<HostLaunch> run() {
    std::optional<HostLaunch> first;
    for (std::size_t at = 1; at < tokens_.size(); ++at) {
      if (word(at) != "<<<" || !names_kernel(at)) continue;
      HostLaunch found = read(at);
      if (!first) {
        first = std::move(found);
      } else if (first->overlapping_line == 0) {
        first->overlapping_line = found.overlapping_line;
      }
    }
    return first;
  }

  std::vector<HostLaunch> all() {
    std::vector<HostLaunch> launches;
    for (std::size_t at = 1; at < tokens_.size(); ++at) {
      if (word(at) != "<<<" || !names_kernel(at)) continue;
      expressions_.forget_parameters();
      launches.push_back(read(at));
    }
    return launches;
  }

 private:
  [[nodiscard]] std::string_view word(std::size_t token) const {
    return token < tokens_.size() ? tokens_[token].in(source_) : std::string_view();
  }

  // Whether the words before "<<<" name the kernel, with or without template arguments.
  [[nodiscard]] bool names_kernel(std::size_t launch) const {
    std::size_t at = launch - 1;
    if (word(at) == ">") {
      int angles = 0;
      for (; at > 0; --at) {
        if (word(at) == ">") ++angles;
        if (word(at) == "<" && --angles == 0) break;
      }
      if (at > 0) --at;
    }
    return word(at) == name_;
  }

  // In the file that it comes from, where headers were put in.
  [[nodiscard]] int line_in_file(std::size_t token) const {
    const int line = static_cast<int>(tokens_[token].line);
    for (std::size_t at = token; at-- > 0;) {
      if (tokens_[at].kind != TokenKind::directive || directive_name(word(at)) != "line") continue;
      const std::string_view text = word(at);
      const std::size_t digits = text.find_first_of("0123456789");
      int said = 0;
      if (digits == std::string_view::npos ||
          std::from_chars(text.data() + digits, text.data() + text.size(), said).ec != std::errc())
        break;
      return said + line - static_cast<int>(tokens_[at].line) - 1;
    }
    return line;
  }

  [[nodiscard]] std::vector<std::string> template_arguments_before(std::size_t launch) const {
    if (word(launch - 1) != ">") return {};
    std::size_t open = launch - 1;
    for (int angles = 0; open > 0; --open) {
      if (word(open) == ">") ++angles;
      if (word(open) == "<" && --angles == 0) break;
    }
    return template_arguments(source_, tokens_, open);
  }

  [[nodiscard]] std::vector<std::string> split(std::size_t first, std::size_t last) const {
    std::vector<std::string> parts;
    std::size_t begin = first;
    for (std::size_t at = first; at < last; ++at) {
      if (word(at) == "(" || word(at) == "{" || word(at) == "[") {
        at = after_bracket(source_, tokens_, at) - 1;
      } else if (word(at) == ",") {
        parts.push_back(names_.join(begin, at));
        begin = at + 1;
      }
    }
    if (begin < last) parts.push_back(names_.join(begin, last));
    return parts;
  }

  HostLaunch read(std::size_t launch) {
    expressions_.see(names_.seen_from(launch));
    HostLaunch found;
    found.line = line_in_file(launch);
    found.begin = tokens_[launch].begin;
    std::size_t close = launch + 1;
    while (close < tokens_.size() && word(close) != ">>>")
      ++close;
    const std::vector<std::string> shape = split(launch + 1, close);
    found.shape = names_.join(launch + 1, close);
    found.template_arguments = template_arguments_before(launch);
    if (word(close + 1) == "(") read_arguments(close + 1, found);
    if (shape.size() >= 2) {
      found.block = block_of(shape[1]);
      found.grid = grid_of(shape[0], shape[1]);
      if (!found.grid) read_open_grid(shape[0], shape[1], found);
    }
    if (shape.size() >= 3) {
      found.dynamic_shared_bytes = expressions_.expression_of(shape[2], 0);
      if (!found.dynamic_shared_bytes) read_open_shared_bytes(shape[2], found);
    }
    return found;
  }

  // The grid with variables of the host as sizes.
  void read_open_grid(const std::string& grid, const std::string& block, HostLaunch& found) {
    std::set<std::string> names;
    expressions_.allow_host_sizes(&names);
    found.open_grid = grid_of(grid, block);
    expressions_.allow_host_sizes(nullptr);
    if (!found.open_grid) return;
    std::set<std::string> used;
    for (const IntegerExpression& extent : *found.open_grid)
      used.merge(extent.symbols());
    for (const std::string& name : names) {
      if (used.contains(name)) found.host_sizes.push_back(name);
    }
  }

  void read_open_shared_bytes(const std::string& bytes, HostLaunch& found) {
    std::set<std::string> names;
    expressions_.allow_host_sizes(&names);
    found.dynamic_shared_bytes = expressions_.expression_of(bytes, 0);
    expressions_.allow_host_sizes(nullptr);
    for (const std::string& name : names) {
      if (std::ranges::find(found.host_sizes, name) == found.host_sizes.end())
        found.host_sizes.push_back(name);
    }
  }

  static bool is_null(const std::string& text) {
    return text == "nullptr" || text == "NULL" || text == "0";
  }

  void read_arguments(std::size_t open, HostLaunch& found) {
    const std::size_t after = after_bracket(source_, tokens_, open);
    const std::vector<std::string> arguments = split(open + 1, after - 1);
    for (std::size_t i = 0; i < arguments.size() && i < kernel_.parameters.size(); ++i) {
      const Parameter& parameter = kernel_.parameters[i];
      if (!parameter.is_passed()) break;
      if (parameter.is_pointer) {
        for (std::size_t earlier = 0; earlier < i; ++earlier) {
          const Parameter& other = kernel_.parameters[earlier];
          if (!other.is_pointer || arguments[earlier] != arguments[i] || is_null(arguments[i]))
            continue;
          found.same_buffer.emplace(parameter.name, other.name);
          found.overlapping_line = found.line;
          break;
        }
        continue;
      }
      if (is_floating(parameter.type) || parameter.record_bytes > 0) continue;
      if (const auto value = expressions_.expression_of(arguments[i], 0)) {
        if (const auto constant = value->evaluate({}); constant.ok())
          found.integers[parameter.name] = *constant;
      }
      for (std::size_t earlier = 0; earlier < i; ++earlier) {
        const Parameter& other = kernel_.parameters[earlier];
        if (other.is_pointer || is_floating(other.type) || other.record_bytes > 0 ||
            without_casts(arguments[earlier]) != without_casts(arguments[i]))
          continue;
        found.same_integer.emplace(parameter.name, other.name);
        break;
      }
      // Host names of parameters, for grids that are computed from them.
      expressions_.name_parameter(arguments[i], parameter.name);
    }
  }

  [[nodiscard]] std::optional<Dim3> block_of(const std::string& text) const {
    const std::vector<std::string> axes = expressions_.axes_of(text, 0);
    if (axes.empty() || axes.size() > 3) return std::nullopt;
    Dim3 block;
    std::uint32_t* const extents[] = {&block.x, &block.y, &block.z};
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
      const auto value = expressions_.expression_of(axes[axis], 0);
      if (!value) return std::nullopt;
      const auto extent = value->evaluate({});
      if (!extent.ok() || *extent < 1 || *extent > kMaxThreadsPerBlock) return std::nullopt;
      *extents[axis] = static_cast<std::uint32_t>(*extent);
    }
    if (block.count() > kMaxThreadsPerBlock) return std::nullopt;
    return block;
  }

  std::optional<std::array<IntegerExpression, 3>> grid_of(const std::string& text,
                                                          const std::string& block) {
    const std::vector<std::string> axes = expressions_.axes_of(text, 0);
    if (axes.empty() || axes.size() > 3) return std::nullopt;
    // Where the grid mentions the block's extents it is to follow the block.
    const std::vector<std::string> block_axes = expressions_.axes_of(block, 0);
    constexpr std::array<std::string_view, 3> kSymbols = {"bx", "by", "bz"};
    constexpr std::array<std::string_view, 3> kMembers = {"x", "y", "z"};
    for (std::size_t axis = 0; axis < block_axes.size() && axis < 3; ++axis) {
      expressions_.name_parameter(block + " . " + std::string(kMembers[axis]), kSymbols[axis]);
      const std::vector<Token> words = tokenize(block_axes[axis]);
      if (words.size() == 1 && words[0].kind == TokenKind::identifier) {
        expressions_.name_parameter(std::string(words[0].in(block_axes[axis])), kSymbols[axis]);
      }
    }
    std::array<IntegerExpression, 3> grid = {1, 1, 1};
    const std::optional<Dim3> extents = block_of(block);
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
      auto expression = expressions_.expression_of(axes[axis], 0);
      if (!expression) return std::nullopt;
      const std::uint32_t* const extent =
          extents ? std::array{&extents->x, &extents->y, &extents->z}[axis] : nullptr;
      grid[axis] = as_ceil_divide(*expression, std::string(kSymbols[axis]), extent);
    }
    return grid;
  }

  std::string_view source_;
  const KernelSignature& kernel_;
  const std::string name_;
  std::vector<Token> tokens_;
  const HostNames names_;
  HostExpressions expressions_;
};

}  // namespace

std::string unqualified_name(const std::string& kernel) {
  const std::size_t qualifier = kernel.rfind("::");
  return qualifier == std::string::npos ? kernel : kernel.substr(qualifier + 2);
}

std::optional<HostLaunch> find_host_launch(std::string_view source, const KernelSignature& kernel) {
  return LaunchFinder(source, kernel).run();
}

std::vector<HostLaunch> find_host_launches(std::string_view source, const KernelSignature& kernel) {
  return LaunchFinder(source, kernel).all();
}

}  // namespace regraph::source
