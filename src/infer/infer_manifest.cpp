#include "infer/infer_manifest.h"

#include "infer/access_summary.h"
#include "infer/analysis_form.h"
#include "infer/grid_sizes.h"
#include "infer/hidden_guards.h"
#include "infer/infer_launch.h"
#include "infer/size_quotients.h"
#include "infer/strides.h"
#include "rewrite/transform/specialisation.h"
#include "source/printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

namespace regraph::infer {
namespace {

// Sizes when nothing says them. The largest buffer and the work stay near 2^24 elements, enough to
// fill a GPU and little enough for its memory.
constexpr std::int64_t kLongVector = std::int64_t{1} << 24;       // one size for a buffer
constexpr std::int64_t kMatrixExtent = 4096;                      // two multiply to its length
constexpr std::int64_t kVolumeExtent = 256;                       // three
constexpr std::int64_t kQuadraticExtent = std::int64_t{1} << 15;  // all pairs of a vector
constexpr std::int64_t kFilterExtent = 3;
constexpr std::int64_t kParts = 4;  // what another size is divided by, as channels by groups
// An integer that is no size: small, but not so small that a factor or term vanishes.
constexpr double kOtherInteger = 3.0;
// Sizes at which two grids are compared that are to be the same.
constexpr std::int64_t kGridSamples = 8;

std::string_view direction_name(Direction direction) {
  switch (direction) {
    case Direction::in:
      return "in";
    case Direction::out:
      return "out";
    case Direction::inout:
      return "inout";
  }
  return "";
}

class Inferrer {
 public:
  Inferrer(const Manifest& given, const KernelSignature& signature,
           const std::optional<source::Unit>& unit, const std::optional<source::HostLaunch>& host)
      : signature_(signature), unit_(unit), host_(host) {
    result_.manifest = given;
    for (const auto& [name, said] : given.arguments) {
      if (said.shape) given_shapes_.emplace_back(name, *said.shape);
    }
  }

  InferredManifest run() {
    std::optional<AccessSummary> summary;
    infer_block_and_grid(summary);
    if (summary) {
      infer_strides(*summary);
      infer_arguments(*summary);
    } else {
      note_unknown_arguments();
    }
    put_in_values();
    infer_sizes();
    drop_impossible_lengths();
    if (summary) refuse_grid_beyond_buffers(*summary);
    infer_integers();
    infer_traffic();
    infer_overlaps();
    return std::move(result_);
  }

 private:
  void note(std::string text) { result_.notes.push_back(std::move(text)); }

  // What the program itself passes twice is one buffer here, too.
  void infer_overlaps() {
    if (!host_) return;
    for (const auto& [pointer, buffer] : host_->same_buffer) {
      ManifestArgument& said = argument(pointer);
      if (!said.overlaps.empty()) continue;
      said.overlaps = buffer;
      note(fmt::format("'{}' is the buffer '{}', as in line {}", pointer, buffer, host_->line));
    }
    if (host_->overlapping_line == 0 || !result_.manifest.assume.noalias) return;
    result_.manifest.assume.noalias = false;
    note(
        fmt::format("line {} passes one buffer for two parameters, so no step may assume that "
                    "buffers do not overlap",
                    host_->overlapping_line));
  }

  ManifestArgument& argument(const std::string& name) {
    auto& arguments = result_.manifest.arguments;
    for (auto& [known, one] : arguments) {
      if (known == name) return one;
    }
    arguments.emplace_back(name, ManifestArgument{});
    return arguments.back().second;
  }

  void infer_block_and_grid(std::optional<AccessSummary>& summary) {
    std::optional<Launch>& launch = result_.manifest.launch;
    const bool told = launch.has_value();
    const bool from_host = !launch && host_ && host_->block && host_->grid;
    if (from_host) {
      launch = Launch{};
      launch->block = *host_->block;
      launch->grid = *host_->grid;
    }
    const auto say_host = [&] {
      if (from_host) note(fmt::format("launch: {}, as in line {}", describe(*launch), host_->line));
    };
    if (!unit_) {
      say_host();
      take_shared_bytes(told);
      return;
    }
    Dim3 block;
    if (launch) {
      block = launch->block;
    } else if (host_ && host_->block) {
      block = *host_->block;
    } else {
      block = default_block(unit_->kernel);
    }
    summary.emplace(unit_->kernel, block);
    if (from_host) follow_sizes(*summary);
    say_host();
    if (!launch && !(host_ && host_->block)) {
      const Dim3 fitting = block_of_fractions(*summary, block);
      if (!(fitting == block)) {
        block = fitting;
        summary.emplace(unit_->kernel, block);
      }
    }
    if (!launch) {
      InferredLaunch inferred = infer_launch(unit_->kernel, *summary, block, host_);
      const bool made_up = !inferred.grid_sizes.empty() && !(host_ && host_->open_grid);
      auto hidden = made_up ? hidden_guard(unit_->kernel, *summary,
                                           [&](const auto& name) { return has_value(name); })
                            : std::nullopt;
      launch = std::move(inferred.launch);
      grid_sizes_ = std::move(inferred.grid_sizes);
      note(fmt::format("launch: {}{}", describe(*launch), grid_sizes_.empty() ? "" : unguarded()));
      for (std::string& guess : inferred.guesses)
        note(std::move(guess));
      if (hidden) note(*std::move(hidden) + ": give the launch if it is for another grid");
    }
    take_shared_bytes(told);
    summary->set_grid(*launch);
  }

  // The host's, for a launch that the manifest does not tell.
  void take_shared_bytes(bool told) {
    std::optional<Launch>& launch = result_.manifest.launch;
    if (told || !launch || !host_ || !host_->dynamic_shared_bytes) return;
    launch->dynamic_shared_bytes = *host_->dynamic_shared_bytes;
    add_host_sizes(*host_, launch->dynamic_shared_bytes, grid_sizes_);
  }

  // A made-up grid cannot be right where it leaves a buffer whose length the user gave.
  void refuse_grid_beyond_buffers(const AccessSummary& summary) {
    std::optional<Launch>& launch = result_.manifest.launch;
    if (grid_sizes_.empty() || !launch || (host_ && host_->open_grid)) return;
    Symbols sizes = {{"bx", launch->block.x}, {"by", launch->block.y}, {"bz", launch->block.z}};
    sizes.insert(result_.manifest.sizes.begin(), result_.manifest.sizes.end());
    for (const auto& [name, shape] : given_shapes_) {
      const auto touched = summary.length(name);
      const auto reach = touched ? touched->evaluate(sizes) : Result<std::int64_t>(0);
      std::int64_t length = 1;
      for (const IntegerExpression& extent : shape) {
        const auto value = extent.evaluate(sizes);
        length = value && length > 0 ? length * *value : 0;
      }
      if (length <= 0 || !reach.ok() || *reach <= length) continue;
      launch.reset();
      result_.unknown.emplace_back(
          "",
          fmt::format("no guard such as 'blockIdx.x < n' bounds the grid, and nothing else says "
                      "how many blocks '{}', which has {} elements, is for",
                      name, length));
      return;
    }
  }

  // The guards' grid, where it is the host's: it follows sizes and block, where the host has a
  // number or one variable for several of the kernel's sizes.
  void follow_sizes(const AccessSummary& summary) {
    Launch& launch = *result_.manifest.launch;
    const InferredLaunch inferred = infer_launch(unit_->kernel, summary, launch.block, host_);
    if (!inferred.grid_sizes.empty()) return;
    // What the host's grid follows, such as the block, ours has to follow, too.
    if (!std::ranges::includes(symbols_of(inferred.launch), symbols_of(launch))) return;
    for (std::int64_t sample = 0; sample < kGridSamples; ++sample) {
      const Symbols known = sampled_sizes(launch, sample);
      for (std::size_t axis = 0; axis < launch.grid.size(); ++axis) {
        const auto ours = inferred.launch.grid[axis].evaluate(known);
        const auto theirs = launch.grid[axis].evaluate(known);
        const bool overflow = sample > 0 && !ours && !theirs;
        if (!overflow && (!ours || !theirs || *ours != *theirs)) return;
      }
    }
    launch.grid = inferred.launch.grid;
  }

  static std::set<std::string> symbols_of(const Launch& launch) {
    std::set<std::string> result;
    for (const IntegerExpression& extent : launch.grid) {
      for (const auto& symbol : extent.symbols())
        result.insert(std::string(symbol));
    }
    return result;
  }

  // Values of the kernel's integers as the host could pass them, others for each sample.
  [[nodiscard]] Symbols sampled_sizes(const Launch& launch, std::int64_t sample) const {
    Symbols sizes = {{"bx", launch.block.x}, {"by", launch.block.y}, {"bz", launch.block.z}};
    sizes.insert(host_->integers.begin(), host_->integers.end());
    std::int64_t number = 0;
    for (const Parameter& parameter : signature_.parameters) {
      if (!is_integer_parameter(parameter.name)) continue;
      ++number;
      const auto other = host_->same_integer.find(parameter.name);
      // Up to millions: a grid may have a limit.
      const std::int64_t value = (997 * number + 31 * sample) << (2 * sample);
      sizes.emplace(parameter.name,
                    other != host_->same_integer.end() ? sizes.at(other->second) : value);
    }
    return sizes;
  }

  [[nodiscard]] std::string unguarded() const {
    std::string names;
    for (const std::string& name : grid_sizes_)
      names += fmt::format("{}'{}'", names.empty() ? "" : ", ", name);
    return host_ && host_->open_grid
               ? fmt::format(", with {} of the host code, as in line {}", names, host_->line)
               : fmt::format("; no guard bounds the grid, so that {} is a size", names);
  }

  static std::string describe(const Launch& launch) {
    const Dim3& block = launch.block;
    std::string text = fmt::format("blocks of {}", block.x);
    if (block.y * block.z > 1) text += fmt::format("x{}", block.y);
    if (block.z > 1) text += fmt::format("x{}", block.z);
    text += " threads, grid " + launch.grid[0].text();
    const IntegerExpression one = 1;
    if (!(launch.grid[1] == one && launch.grid[2] == one)) text += " x " + launch.grid[1].text();
    if (!(launch.grid[2] == one)) text += " x " + launch.grid[2].text();
    return text;
  }

  void infer_arguments(const AccessSummary& summary) {
    lengths_are_indices_ = true;
    for (const Parameter& parameter : signature_.parameters) {
      if (!parameter.is_pointer || parameter.is_symbol) continue;
      ManifestArgument& said = argument(parameter.name);
      if (said.is_null) continue;
      std::string found;
      if (!said.direction) {
        said.direction =
            parameter.points_to_const ? Direction::in : summary.direction(parameter.name);
        found = direction_name(*said.direction);
      }
      if (!said.shape) {
        auto length = summary.length(parameter.name);
        if (!length) {
          lengths_are_indices_ = false;
          result_.unknown.emplace_back(parameter.name, length.error().message);
        } else {
          said.shape = std::vector<IntegerExpression>{*length};
          found += fmt::format("{}{} elements", found.empty() ? "" : ", ", length->text());
        }
      }
      if (said.shape && found.find("elements") == std::string::npos) lengths_are_indices_ = false;
      if (!found.empty()) note(fmt::format("'{}': {}", parameter.name, found));
    }
  }

  // Rows lie one behind the other where nothing says how far apart.
  void infer_strides(AccessSummary& summary) {
    const auto is_open = [&](const std::string& name) {
      return is_integer_parameter(name) && !has_value(name) &&
             !(host_ && host_->integers.contains(name));
    };
    auto strides = stride_values(summary, is_open);
    // One that the grid follows is a size: blockIdx.x * channels + blockIdx.y.
    std::erase_if(strides, [](const auto& one) {
      const auto value = IntegerExpression::parse(expression_text(one.second));
      return value && value->symbols().contains(one.first);
    });
    for (const auto& [name, extent] : strides) {
      auto value = IntegerExpression::parse(expression_text(extent));
      if (!value) continue;
      note(fmt::format("'{}' is {}: rows one behind the other", name, value->text()));
      argument(name).value = *std::move(value);
    }
    summary.set_values(std::move(strides));
  }

  void note_unknown_arguments() {
    if (!result_.manifest.launch) {
      result_.unknown.emplace_back("", "the kernel's code could not be analysed");
    }
    for (const Parameter& parameter : signature_.parameters) {
      const ManifestArgument& said = argument(parameter.name);
      if (!parameter.is_pointer || parameter.is_symbol || said.shape || said.is_null) continue;
      result_.unknown.emplace_back(parameter.name, "the kernel's code could not be analysed");
    }
  }

  [[nodiscard]] bool is_integer_parameter(const std::string& name) const {
    return std::any_of(signature_.parameters.begin(), signature_.parameters.end(),
                       [&](const Parameter& parameter) {
                         return parameter.name == name && !parameter.is_pointer &&
                                !is_floating(parameter.type) && parameter.record_bytes == 0;
                       });
  }

  [[nodiscard]] bool has_value(const std::string& name) const {
    const Manifest& manifest = result_.manifest;
    if (manifest.sizes.contains(name)) return true;
    for (const auto* list : {&manifest.bench, &manifest.tests}) {
      for (const Symbols& entry : *list) {
        if (entry.contains(name)) return true;
      }
    }
    for (const auto& [known, one] : manifest.arguments) {
      if (known == name && one.value) return true;
    }
    return false;
  }

  // Lengths and grids in terms of a parameter that is itself an expression of sizes are put in
  // terms of these.
  void put_in_values() {
    std::map<std::string, IntegerExpression, std::less<>> values;
    for (const auto& [name, one] : result_.manifest.arguments) {
      if (!one.value || one.value->expression() == nullptr || !is_integer_parameter(name)) continue;
      values.emplace(name, *one.value->expression());
    }
    if (values.empty()) return;
    for (auto& [name, one] : result_.manifest.arguments) {
      if (!one.shape) continue;
      for (IntegerExpression& extent : *one.shape)
        extent = extent.substitute(values);
    }
    if (!result_.manifest.launch) return;
    for (IntegerExpression& extent : result_.manifest.launch->grid)
      extent = extent.substitute(values);
  }

  // Gives a value to every symbol of a shape, a grid or a loop that has none.
  void infer_sizes() {
    std::set<std::string> symbols;
    std::size_t degree = 1;
    for (const auto& [name, one] : result_.manifest.arguments) {
      if (one.value && one.value->expression() != nullptr)
        symbols.merge(one.value->expression()->symbols());
      if (!one.shape) continue;
      for (const IntegerExpression& extent : *one.shape)
        symbols.merge(extent.symbols());
      degree = std::max(degree, shape_growth(*one.shape));
    }
    if (result_.manifest.launch) {
      for (const IntegerExpression& extent : result_.manifest.launch->grid)
        symbols.merge(extent.symbols());
      symbols.merge(result_.manifest.launch->dynamic_shared_bytes.symbols());
    }
    bool quadratic = false;
    if (unit_) {
      for (const std::string& limit : loop_limits(unit_->kernel)) {
        quadratic = quadratic || symbols.contains(limit);
        if (is_integer_parameter(limit)) symbols.insert(limit);
      }
    }
    std::int64_t standard = kVolumeExtent;
    if (degree == 2) standard = kMatrixExtent;
    if (degree <= 1) standard = quadratic ? kQuadraticExtent : kLongVector;
    const std::vector<std::string> small =
        unit_ ? small_sizes(unit_->kernel) : std::vector<std::string>();
    const std::vector<SizeQuotient> quotients =
        unit_ ? size_quotients(unit_->kernel) : std::vector<SizeQuotient>();
    std::set<std::string> open;
    std::ranges::copy_if(symbols, std::inserter(open, open.end()),
                         [&](const std::string& symbol) { return !has_value(symbol); });
    std::vector<std::string> defaulted;
    std::vector<std::string> made_up;
    for (const std::string& symbol : symbols) {
      // Of other names only the user knows what they mean, if they are not misspelt.
      const bool of_grid = std::ranges::find(grid_sizes_, symbol) != grid_sizes_.end();
      if ((!is_integer_parameter(symbol) && !of_grid) || has_value(symbol)) continue;
      if (of_grid) made_up.push_back(symbol);
      // 0 is what a variable holds until it is read from somewhere.
      if (host_ && host_->integers.contains(symbol) && host_->integers.at(symbol) > 0) {
        result_.manifest.sizes[symbol] = host_->integers.at(symbol);
        note(fmt::format("{} is {}, as in line {}", symbol, host_->integers.at(symbol),
                         host_->line));
        continue;
      }
      const bool is_small = std::ranges::find(small, symbol) != small.end();
      const auto parts = std::ranges::find(quotients, symbol, &SizeQuotient::second);
      const bool divides =
          !is_small && parts != quotients.end() && open.contains(parts->first) &&
          std::ranges::find(quotients, symbol, &SizeQuotient::first) == quotients.end();
      result_.manifest.sizes[symbol] = is_small ? kFilterExtent : divides ? kParts : standard;
      if (divides) {
        note(fmt::format("{} is {}: '{}' is divided by it", symbol, kParts, parts->first));
      } else if (is_small) {
        note(fmt::format(
            "{} is {}: it is subtracted from other sizes, or moves over them, as a filter does",
            symbol, kFilterExtent));
      } else if (!of_grid) {
        defaulted.push_back(symbol);
      }
    }
    shrink_sizes(made_up, result_.manifest);
    shrink_sizes(defaulted, result_.manifest);
    made_up.insert(made_up.end(), defaulted.begin(), defaulted.end());
    add_small_tests(made_up, small, quotients, result_.manifest);
    for (std::string& text : notes_of_own_sizes(made_up, result_.manifest.sizes))
      note(std::move(text));
    result_.own_sizes = std::move(made_up);
  }

  // Integer parameters that are no size.
  void infer_integers() {
    for (const Parameter& parameter : signature_.parameters) {
      if (!is_integer_parameter(parameter.name) || has_value(parameter.name)) continue;
      const bool known = host_ && host_->integers.contains(parameter.name);
      const double value =
          known ? static_cast<double>(host_->integers.at(parameter.name)) : kOtherInteger;
      argument(parameter.name).value = parameter.type == ScalarType::boolean ? 1.0 : value;
      note(fmt::format("'{}' is {}", parameter.name, argument(parameter.name).value->text()));
    }
  }

  // A length that is not even positive says that what bounds its indices was misread.
  void drop_impossible_lengths() {
    Symbols sizes = result_.manifest.sizes;
    if (const auto& launch = result_.manifest.launch) {
      sizes.insert({{"bx", launch->block.x}, {"by", launch->block.y}, {"bz", launch->block.z}});
    }
    for (auto& [name, said] : result_.manifest.arguments) {
      const bool given = std::ranges::any_of(
          given_shapes_, [&, &known = name](const auto& one) { return one.first == known; });
      if (given || !said.shape || said.shape->size() != 1) continue;
      const auto length = said.shape->front().evaluate(sizes);
      if (!length || *length > 0) continue;
      result_.unknown.emplace_back(name, fmt::format("its indices make it {}, which is {}",
                                                     said.shape->front().text(), *length));
      said.shape.reset();
      lengths_are_indices_ = false;
    }
  }

  // Every element of a buffer moves once in each direction, if all lengths are those of the
  // indices: of a table that the user measured out, only a part may be used.
  void infer_traffic() {
    if (result_.manifest.bytes || result_.manifest.flops || !lengths_are_indices_) return;
    std::string text;
    for (const Parameter& parameter : signature_.parameters) {
      if (!parameter.is_pointer || parameter.is_symbol) continue;
      const ManifestArgument& said = argument(parameter.name);
      if (said.is_null) continue;
      const auto times = said.direction == Direction::inout ? 2 : 1;
      const auto size = static_cast<std::int64_t>(size_in_bytes(parameter.type));
      text += fmt::format("{}{} * ({})", text.empty() ? "" : " + ",
                          times * size * parameter.components, said.shape->front().text());
    }
    auto bytes = IntegerExpression::parse(text);
    if (!bytes) return;
    result_.manifest.bytes = *std::move(bytes);
    note(fmt::format("every element moves once: {} bytes", result_.manifest.bytes->text()));
  }

  bool lengths_are_indices_ = false;
  std::vector<std::string> grid_sizes_;  // in no parameter
  std::vector<std::pair<std::string, std::vector<IntegerExpression>>> given_shapes_;
  const KernelSignature& signature_;
  const std::optional<source::Unit>& unit_;
  const std::optional<source::HostLaunch>& host_;
  InferredManifest result_;
};

// Bounds with quotients in them are loose ones: what is seen when the kernel runs is plainer.
bool has_quotients(const Manifest& manifest) {
  return std::ranges::any_of(manifest.arguments, [](const auto& argument) {
    const auto& shape = argument.second.shape;
    return shape && std::ranges::any_of(*shape, [](const IntegerExpression& extent) {
             return extent.text().find('/') != std::string::npos;
           });
  });
}

// All sizes that are given, as those of a bench.
Problem with_sizes(const Manifest& given) {
  Problem said;
  said.bench = given.bench;
  said.bench.insert(said.bench.end(), given.tests.begin(), given.tests.end());
  if (said.bench.empty()) said.bench.emplace_back();
  for (Symbols& sizes : said.bench) {
    sizes.insert(given.sizes.begin(), given.sizes.end());
    for (const auto& [name, one] : given.arguments) {
      const auto value = one.value ? one.value->at(sizes) : fail(ErrorCode::not_found, "");
      if (value.ok() && *value == 1.0) sizes.emplace(name, 1);
    }
  }
  return said;
}

}  // namespace

InferredManifest infer_manifest(const Manifest& given, const KernelSignature& signature,
                                const std::optional<source::Unit>& unit,
                                const std::optional<source::HostLaunch>& host) {
  InferredManifest result = Inferrer(given, signature, unit, host).run();
  if (!unit) return result;
  const auto try_form = [&](source::Kernel kernel, const std::string& said = "") {
    const bool is_plain = said.empty() || !has_quotients(result.manifest);
    if ((result.unknown.empty() && is_plain) || kernel.body == unit->kernel.body) return;
    std::optional<source::Unit> other = unit;
    other->kernel = std::move(kernel);
    InferredManifest inferred = Inferrer(given, signature, other, host).run();
    const std::size_t most = result.unknown.size() + (is_plain ? 0 : 1);
    if (inferred.unknown.size() >= most || has_quotients(inferred.manifest)) return;
    result = std::move(inferred);
    if (!said.empty()) result.notes.push_back(said);
  };
  // What a call does may be plain once it is written out, and an index once it is one.
  try_form(unit->opened_kernel());
  try_form(indexed_form(unit->opened_kernel()));
  // What is divided by groups of channels is plain where there is one.
  if (const auto version = rewrite::specialised(unit->opened_kernel(), with_sizes(given))) {
    const std::string condition =
        fmt::format("lengths are those where {}", source::print(version->condition));
    try_form(version->kernel, condition);
    try_form(indexed_form(version->kernel), condition);
  }
  return result;
}

}  // namespace regraph::infer
