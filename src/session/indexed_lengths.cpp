#include "session/indexed_lengths.h"

#include "capture/problem/match_expressions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace regraph {
namespace {

constexpr std::array<double, 3> kNumbers = {3.0, 5.0, 9.0};
constexpr std::int64_t kSteps = 3;  // of offsets, to tell entries from rows
// Values of our own where nothing says one.
constexpr std::int64_t kEntriesOfARow = 16;
constexpr std::int64_t kMostRows = std::int64_t{1} << 20;
constexpr std::int64_t kSingleElements = std::int64_t{1} << 20;
constexpr std::int64_t kWholeRows = 4096;

bool is_smooth(const IntegerExpression& expression) {
  return expression.text().find_first_of("+-/%,") == std::string::npos;
}

// A plain product of sizes less one of fewer sizes: the border that a stencil leaves out, the last
// third of rows that hold three things. The buffer is the product.
std::optional<IntegerExpression> length_rounded_up(const std::vector<Symbols>& symbols,
                                                   const std::vector<std::int64_t>& values) {
  constexpr std::int64_t kMostTimes = 3;
  std::vector<std::string> names;
  for (const auto& [name, value] : symbols.front())
    names.push_back(name);
  std::vector<IntegerExpression> gaps;
  for (std::size_t a = 0; a < names.size(); ++a) {
    gaps.push_back(IntegerExpression::symbol(names[a]));
    for (std::size_t b = a; b < names.size(); ++b)
      gaps.push_back(IntegerExpression::multiply(IntegerExpression::symbol(names[a]),
                                                 IntegerExpression::symbol(names[b])));
  }
  for (const IntegerExpression& gap : gaps) {
    for (std::int64_t times = 1; times <= kMostTimes; ++times) {
      std::vector<std::int64_t> whole;
      for (std::size_t i = 0; i < values.size(); ++i) {
        const auto missing = gap.evaluate(symbols[i]);
        // As much again as there is would be no border.
        if (!missing.ok() || times * *missing >= values[i]) break;
        whole.push_back(values[i] + times * *missing);
      }
      if (whole.size() != values.size()) continue;
      const auto found = capture::match_length(symbols, whole);
      if (found && is_smooth(*found)) return found;
    }
  }
  return std::nullopt;
}

IntegerExpression less_one(const IntegerExpression& expression) {
  return IntegerExpression::add(expression, -1);
}

}  // namespace

std::optional<IntegerExpression> length_of(const std::vector<Symbols>& symbols,
                                           const std::vector<std::int64_t>& values) {
  if (values.empty()) return std::nullopt;
  if (std::ranges::all_of(values, [&](std::int64_t one) { return one == values.front(); }))
    return IntegerExpression(values.front());
  if (auto found = capture::match_length(symbols, values)) return found;
  if (auto found = capture::match_grid(symbols, values, "", 1)) return found;
  return length_rounded_up(symbols, values);
}

Direction direction_of(const CompiledKernel& compiled, const Parameter& parameter,
                       std::size_t place, const std::vector<Trial>& trials) {
  const auto any = [&](auto member) {
    return std::ranges::any_of(trials, [&](const Trial& trial) { return trial[place].*member; });
  };
  // Atomics stand among the writes, and read.
  const bool may_read = any(&Touched::is_read) || compiled.ptx.find("atom.") != std::string::npos ||
                        compiled.ptx.find("red.") != std::string::npos;
  if (parameter.points_to_const || !any(&Touched::is_written)) return Direction::in;
  return may_read ? Direction::inout : Direction::out;
}

bool IndexedLengths::is_index(std::size_t place) const {
  const Parameter& parameter = signature_.parameters[place];
  return parameter.is_pointer && parameter.is_passed() && !is_floating(parameter.type) &&
         parameter.type != ScalarType::boolean && parameter.components == 1;
}

bool IndexedLengths::has_atomics() const {
  return compiled_.ptx.find("atom.") != std::string::npos ||
         compiled_.ptx.find("red.") != std::string::npos;
}

Result<TrialContents> IndexedLengths::run(const std::vector<std::size_t>& wanted,
                                          const Trial& zeros) {
  wanted_ = wanted;
  Trial base = zeros;
  for (const auto step : {&IndexedLengths::find_offsets, &IndexedLengths::find_counts}) {
    if (Status status = (this->*step)(base); !status.ok()) return status.error();
  }
  if (Status status = find_indices(base); !status.ok()) return status.error();
  return base_;
}

// An array whose numbers have to ascend for something to be touched at all.
Status IndexedLengths::find_offsets(Trial& base) {
  const auto is_untouched = [&](std::size_t place) { return base[place].length == 0; };
  for (std::size_t i = 0; i < signature_.parameters.size() && !offsets_; ++i) {
    if (!is_index(i) || size_in_bytes(signature_.parameters[i].type) < 4) continue;
    if (std::ranges::none_of(wanted_, is_untouched)) return {};
    TrialContents ascending = base_;
    ascending.of[i] = {0.0, 1};
    TrialContents faster = base_;
    faster.of[i] = {0.0, kSteps};
    TrialContents constant = base_;
    constant.of[i] = {kNumbers.front(), 0};
    auto one = trial(0, ascending);
    const auto more = trial(0, faster);
    const auto same = trial(0, constant);
    if (!one.ok() || !more.ok() || !same.ok()) {
      if (cancellation_.requested()) return fail(ErrorCode::cancelled, "interrupted");
      continue;  // it is something else that it has to hold
    }
    const bool opens = std::ranges::any_of(wanted_, [&](std::size_t place) {
      return is_untouched(place) && (*same)[place].length == 0 && (*one)[place].length > 0 &&
             (*more)[place].length == kSteps * (*one)[place].length;
    });
    if (!opens) continue;
    offsets_ = i;
    base_ = ascending;
    base = std::move(*one);
  }
  return {};
}

// An array that says how much of something is touched: nothing where it holds 0.
Status IndexedLengths::find_counts(Trial& base) {
  for (std::size_t i = 0; i < signature_.parameters.size(); ++i) {
    const auto is_untouched = [&](std::size_t place) { return base[place].length == 0; };
    if (!is_index(i) || base_.of.contains(i)) continue;
    if (std::ranges::none_of(wanted_, is_untouched)) return {};
    TrialContents counting = base_;
    counting.of[i] = {kNumbers.front(), 0};
    auto seen = trial(0, counting);
    if (!seen.ok()) {
      if (cancellation_.requested()) return fail(ErrorCode::cancelled, "interrupted");
      continue;
    }
    const bool opens = std::ranges::any_of(wanted_, [&](std::size_t place) {
      return is_untouched(place) && (*seen)[place].length > 0;
    });
    if (!opens) continue;
    base_ = counting;
    base = std::move(*seen);
  }
  return {};
}

Status IndexedLengths::find_indices(const Trial& base) {
  for (std::size_t i = 0; i < signature_.parameters.size(); ++i) {
    if (!is_index(i) || offsets_ == i) continue;
    TrialContents other = base_;
    other.of[i] = {kNumbers[1], 0};
    const auto seen = trial(0, other);
    if (!seen.ok()) return seen.error();
    for (const std::size_t place : wanted_) {
      if (place != i && (*seen)[place].length != base[place].length) choosers_[place].insert(i);
    }
  }
  return {};
}

Status IndexedLengths::explain_chosen(const std::vector<Trial>& trials, ObservedLengths& result) {
  for (const auto& [buffer, arrays] : choosers_) {
    if (Status status = explain_indexed(buffer, trials, result); !status.ok()) return status;
  }
  return {};
}

// Buffers with an element, or several, for each entry of a sparse matrix.
Status IndexedLengths::explain_entries(const std::vector<Trial>& trials, ObservedLengths& result) {
  if (!offsets_) return {};
  std::vector<std::int64_t> ends;
  for (const Trial& trial : trials)
    ends.push_back(trial[*offsets_].length);
  const auto length = length_of(symbols_, ends);
  TrialContents faster = base_;
  faster.of[*offsets_] = {0.0, kSteps};
  const auto more = trial(0, faster);
  if (!more.ok()) return more.error();
  std::map<std::size_t, std::int64_t> entries;  // buffer -> elements of one
  const std::int64_t last = ends.front() - 1;
  for (const std::size_t place : wanted_) {
    const std::int64_t elements = trials.front()[place].length;
    if (elements == 0 || last < 1 || elements % last != 0 ||
        (*more)[place].length != kSteps * elements)
      continue;
    entries[place] = elements / last;
  }
  if (entries.empty() || !length) return {};
  // How many rows there are by default decides how many entries.
  for (const std::string& symbol : length->symbols()) {
    const auto given = draft_.sizes.find(symbol);
    if (given == draft_.sizes.end()) continue;
    rows_ = std::min(given->second, kMostRows);
    if (rows_ < given->second) result.own_sizes[symbol] = rows_;
  }
  if (rows_ == 0) rows_ = kWholeRows;
  const ManifestArgument* said = launch_.said_of(name_of(*offsets_));
  const bool told =
      said != nullptr && said->init && said->init->kind == BufferInit::Kind::csr_offsets;
  if (told) {
    entries_ = said->init->high_expression.value_or(
        IntegerExpression(static_cast<std::int64_t>(said->init->high)));
  } else {
    std::string name;
    for (const std::string& unread : unread_sizes()) {
      for (const char* part : {"nnz", "nz", "entries", "edges", "elements", "total"}) {
        if (name.empty() && unread.find(part) != std::string::npos) name = unread;
      }
    }
    name = own_size(name.empty() ? unused_name("nnz") : name, kEntriesOfARow * rows_, result);
    entries_ = IntegerExpression::symbol(name);
    BufferInit init;
    init.kind = BufferInit::Kind::csr_offsets;
    init.high_expression = entries_;
    result.contents[name_of(*offsets_)] = init;
    result.notes.push_back(
        fmt::format("'{}' says where rows begin: it is filled with csr_offsets({})",
                    name_of(*offsets_), entries_->text()));
  }
  for (const auto& [place, each] : entries) {
    result.buffers[name_of(place)] = {
        IntegerExpression::multiply(each, *entries_),
        direction_of(compiled_, signature_.parameters[place], place, trials)};
  }
  return {};
}

Result<std::optional<IndexedLengths::Line>> IndexedLengths::line_of(std::size_t buffer,
                                                                    std::size_t index) {
  Line line;
  for (std::size_t sizes = 0; sizes < symbols_.size(); ++sizes) {
    std::vector<std::int64_t> lengths;
    for (const double number : kNumbers) {
      TrialContents contents = base_;
      contents.of[index] = {number, 0};
      const auto seen = trial(sizes, contents);
      if (!seen.ok()) return seen.error();
      lengths.push_back((*seen)[buffer].length);
    }
    const std::int64_t rise = lengths[1] - lengths[0];
    if (rise <= 0 || rise % 2 != 0 || lengths[2] - lengths[1] != 2 * rise)
      return std::optional<Line>();
    line.slope.push_back(rise / 2);
    line.at_zero.push_back(lengths[0] - 3 * (rise / 2));
  }
  return std::optional(line);
}

Status IndexedLengths::explain_indexed(std::size_t buffer, const std::vector<Trial>& trials,
                                       ObservedLengths& result) {
  const std::set<std::size_t>& arrays = choosers_[buffer];
  if (result.buffers.contains(name_of(buffer))) return {};
  const std::size_t index = *arrays.begin();
  const auto unknown = [&](const std::string& why) {
    result.unknown.emplace_back(
        name_of(buffer),
        fmt::format("the places that are touched depend on what buffers hold, on the integers of "
                    "'{}'{}",
                    name_of(index), why));
  };
  if (arrays.size() > 1) {
    unknown(fmt::format(" and of '{}' at once", name_of(*std::next(arrays.begin()))));
    return {};
  }
  const auto line = line_of(buffer, index);
  if (!line.ok()) return line.error();
  std::optional<IntegerExpression> slope;
  if (*line) slope = length_of(symbols_, (*line)->slope);
  if (!slope) {
    unknown(", which are more than a number of elements or rows");
    return {};
  }
  const Line& seen = **line;
  const IntegerExpression range = range_of(index, buffer, seen, trials, result);
  std::optional<IntegerExpression> length;
  if (seen.at_zero == seen.slope) {
    length = IntegerExpression::multiply(range, *slope);
  } else {
    // With the numbers that it holds at most, at the sizes of the trials.
    std::vector<std::int64_t> lengths;
    for (std::size_t i = 0; i < symbols_.size(); ++i) {
      const auto end = range.evaluate(symbols_[i]);
      if (end.ok()) lengths.push_back(seen.at_zero[i] + seen.slope[i] * (*end - 1));
    }
    if (lengths.size() == symbols_.size()) length = length_of(symbols_, lengths);
    const auto first = length_of(symbols_, seen.at_zero);
    if (!length && first)
      length = IntegerExpression::add(*first, IntegerExpression::multiply(less_one(range), *slope));
  }
  if (!length) {
    unknown(", and no simple expression of sizes gives its length");
    return {};
  }
  result.buffers[name_of(buffer)] = {
      *length, direction_of(compiled_, signature_.parameters[buffer], buffer, trials)};
  return {};
}

std::optional<IntegerExpression> IndexedLengths::known_range(std::size_t index) const {
  if (const auto decided = ranges_.find(index); decided != ranges_.end()) return decided->second;
  const ManifestArgument* said = launch_.said_of(name_of(index));
  if (said == nullptr || !said->init) return std::nullopt;
  const BufferInit& init = *said->init;
  const auto high =
      init.high_expression.value_or(IntegerExpression(static_cast<std::int64_t>(init.high)));
  if (init.kind == BufferInit::Kind::csr_columns) return high;
  if (init.kind == BufferInit::Kind::integers) return IntegerExpression::add(high, 1);
  if (init.kind == BufferInit::Kind::permutation && said->shape && said->shape->size() == 1)
    return said->shape->front();
  return std::nullopt;
}

// A parameter p: the length is a plain product of sizes where the array holds p - 1 at most, or p.
std::optional<IntegerExpression> IndexedLengths::range_of_parameter(const Line& line) const {
  if (line.at_zero == line.slope) return std::nullopt;
  for (const Parameter& parameter : signature_.parameters) {
    if (parameter.is_pointer || !symbols_.front().contains(parameter.name)) continue;
    for (const std::int64_t more : {0, 1}) {
      std::vector<std::int64_t> lengths;
      for (std::size_t i = 0; i < symbols_.size(); ++i) {
        const std::int64_t end = symbols_[i].at(parameter.name) + more;
        lengths.push_back(line.at_zero[i] + line.slope[i] * (end - 1));
      }
      const auto length = length_of(symbols_, lengths);
      if (length && !length->is_constant() && is_smooth(*length))
        return IntegerExpression::add(IntegerExpression::symbol(parameter.name), more);
    }
  }
  return std::nullopt;
}

IntegerExpression IndexedLengths::range_of(std::size_t index, std::size_t buffer, const Line& line,
                                           const std::vector<Trial>& trials,
                                           ObservedLengths& result) {
  const Parameter& array = signature_.parameters[index];
  if (const auto known = known_range(index)) return *known;
  const bool is_written =
      std::ranges::any_of(trials, [&](const Trial& trial) { return trial[buffer].is_written; });
  IntegerExpression range = 0;
  if (const auto parameter = range_of_parameter(line)) {
    range = *parameter;
  } else if (is_written && !has_atomics() && length_known(index, result)) {
    // Two threads that write one place would race.
    range = *length_known(index, result);
    BufferInit init;
    init.kind = BufferInit::Kind::permutation;
    result.contents[array.name] = init;
    result.notes.push_back(
        fmt::format("'{}' chooses the places of '{}' that are written: it is filled with a "
                    "permutation, so that each is written once",
                    array.name, name_of(buffer)));
    ranges_.insert_or_assign(index, range);
    return range;
  } else if (size_in_bytes(array.type) == 1) {
    range = array.type == ScalarType::u8 ? 256 : 128;
  } else {
    auto unread = unread_sizes();
    std::erase_if(unread, [&](const std::string& name) { return taken_.contains(name); });
    const bool single =
        std::ranges::all_of(line.slope, [&](std::int64_t one) { return one == line.slope[0]; });
    std::int64_t value = single ? kSingleElements : kWholeRows;
    if (entries_) value = rows_;
    range = IntegerExpression::symbol(own_size(
        unread.size() == 1 ? unread.front() : unused_name(array.name + "_range"), value, result));
  }
  add_content(index, range, result);
  return range;
}

void IndexedLengths::add_content(std::size_t index, const IntegerExpression& range,
                                 ObservedLengths& result) {
  ranges_.insert_or_assign(index, range);
  const std::string& name = name_of(index);
  BufferInit init;
  const auto own = result.buffers.find(name);
  const bool of_entries =
      entries_ && own != result.buffers.end() && own->second.length == *entries_;
  if (of_entries) {
    init.kind = BufferInit::Kind::csr_columns;
    init.high_expression = range;
  } else {
    init.kind = BufferInit::Kind::integers;
    init.low = 0.0;
    if (range.is_constant()) {
      const auto end = range.evaluate({});
      init.high = static_cast<double>(end.ok() ? *end - 1 : 0);
    } else {
      init.low_expression = IntegerExpression(0);
      init.high_expression = less_one(range);
    }
  }
  result.contents[name] = init;
  result.notes.push_back(
      fmt::format("'{}' chooses places of other buffers: it is filled with {} (give it another "
                  "init where that is not what it holds)",
                  name, init.text()));
}

std::optional<IntegerExpression> IndexedLengths::length_known(std::size_t place,
                                                              const ObservedLengths& result) const {
  if (const auto seen = result.buffers.find(name_of(place)); seen != result.buffers.end())
    return seen->second.length;
  const ManifestArgument* said = launch_.said_of(name_of(place));
  if (said == nullptr || !said->shape) return std::nullopt;
  IntegerExpression length = 1;
  for (const IntegerExpression& extent : *said->shape)
    length = IntegerExpression::multiply(length, extent);
  return length;
}

std::vector<std::string> IndexedLengths::unread_sizes() const {
  std::vector<std::string> names;
  std::size_t slot = 0;
  for (const Parameter& parameter : signature_.parameters) {
    if (!parameter.is_passed()) continue;
    const std::string place = fmt::format("[{}_param_{}", compiled_.entry, slot++);
    if (parameter.is_pointer || !symbols_.front().contains(parameter.name)) continue;
    bool read = false;
    for (std::size_t at = 0; (at = compiled_.ptx.find(place, at)) != std::string::npos; ++at) {
      const char next = compiled_.ptx[std::min(at + place.size(), compiled_.ptx.size() - 1)];
      read = read || next == ']' || next == '+';
    }
    if (!read) names.push_back(parameter.name);
  }
  return names;
}

std::string IndexedLengths::own_size(const std::string& wish, std::int64_t value,
                                     ObservedLengths& result) {
  taken_.insert(wish);
  result.own_sizes.emplace(wish, value);
  return wish;
}

std::string IndexedLengths::unused_name(std::string wish) const {
  const auto taken = [&](const std::string& name) {
    return taken_.contains(name) || draft_.sizes.contains(name) ||
           std::ranges::any_of(signature_.parameters,
                               [&](const Parameter& one) { return one.name == name; });
  };
  while (taken(wish))
    wish += "_";
  return wish;
}

}  // namespace regraph
