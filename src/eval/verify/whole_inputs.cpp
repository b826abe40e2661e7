#include "eval/verify/whole_inputs.h"

#include "base/random.h"
#include "eval/verify/element.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace regraph::verify {
namespace {

using InitKind = BufferInit::Kind;

// Of so many rows one is long, and so many are empty.
constexpr std::uint64_t kRowKinds = 16;
constexpr std::uint64_t kEmptyRows = 4;
constexpr std::uint64_t kLongRow = 24;  // entries, where a row has 1 to kUsualRow as a rule
constexpr std::uint64_t kUsualRow = 4;

std::uint64_t integer_of(double value) {
  return value > 0.0 ? static_cast<std::uint64_t>(value) : 0;
}

// Little-endian integers of all widths, as on the device.
void put(std::span<std::byte> buffer, std::size_t size, std::uint64_t index, std::uint64_t value) {
  std::memcpy(buffer.data() + index * size, &value, size);
}

std::uint64_t row_weight(std::uint64_t bits) {
  const std::uint64_t kind = bits % kRowKinds;
  if (kind < kEmptyRows) return 0;
  return kind == kEmptyRows ? kLongRow : 1 + bits / kRowKinds % kUsualRow;
}

// rows + 1 offsets from 0 to `entries`, of which one row has at least `of_one`.
std::vector<std::uint64_t> draw_offsets(std::size_t count, std::uint64_t entries,
                                        std::uint64_t of_one, std::uint64_t seed,
                                        std::size_t stream) {
  if (of_one > 0 && of_one <= entries && count > 1) {
    std::vector<std::uint64_t> offsets = draw_offsets(count, entries - of_one, 0, seed, stream);
    const std::size_t row = random_bits(seed, stream, count) % (count - 1);
    for (std::size_t i = row + 1; i < count; ++i)
      offsets[i] += of_one;
    return offsets;
  }
  std::vector<std::uint64_t> offsets(count);
  for (std::size_t row = 0; row + 1 < count; ++row)
    offsets[row + 1] = offsets[row] + row_weight(random_bits(seed, stream, row));
  if (count < 2) return offsets;
  const std::uint64_t weights = offsets.back();
  if (weights == 0) {  // few rows, all of them empty: one gets everything
    const std::size_t full = random_bits(seed, stream, count) % (count - 1);
    std::fill(offsets.begin() + static_cast<std::ptrdiff_t>(full) + 1, offsets.end(), entries);
    return offsets;
  }
  for (std::uint64_t& offset : offsets) {
    const auto scaled = static_cast<unsigned __int128>(entries) * offset / weights;
    offset = static_cast<std::uint64_t>(scaled);
  }
  return offsets;
}

// What the expressions of an argument's init are at these sizes; make_problem checked them.
BufferInit init_at(const Argument& argument, const Symbols& symbols) {
  Result<BufferInit> init = argument.init.at(symbols);
  return init.ok() ? *std::move(init) : argument.init;
}

std::size_t count_of(const Argument& argument, const Symbols& symbols) {
  const Result<std::int64_t> count = argument.element_count(symbols);
  return count.ok() ? static_cast<std::size_t>(*count) : 0;
}

// The argument that says where the rows of these columns begin: the one whose last offset is the
// length of the columns, by its expression or else by value, or else the first.
std::size_t offsets_of(const Problem& problem, const Argument& columns, const Symbols& symbols) {
  const std::vector<Argument>& arguments = problem.arguments;
  const auto length = static_cast<double>(count_of(columns, symbols));
  std::size_t best = arguments.size();
  int best_match = -1;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const BufferInit& init = arguments[i].init;
    if (init.kind != InitKind::csr_offsets || !arguments[i].has_content()) continue;
    const bool same_text = columns.shape.size() == 1 && init.high_expression == columns.shape[0];
    const int match = same_text ? 2 : init_at(arguments[i], symbols).high == length ? 1 : 0;
    if (match > best_match) {
      best = i;
      best_match = match;
    }
  }
  return best;
}

void fill_offsets(const Argument& argument, const Symbols& symbols, std::uint64_t seed,
                  std::size_t stream, std::span<std::byte> buffer) {
  const std::size_t size = size_in_bytes(argument.type);
  const BufferInit init = init_at(argument, symbols);
  const std::vector<std::uint64_t> offsets = draw_offsets(
      count_of(argument, symbols), integer_of(init.high), integer_of(init.low), seed, stream);
  for (std::size_t i = 0; i < std::min(offsets.size(), buffer.size() / size); ++i)
    put(buffer, size, i, offsets[i]);
}

// One column out of each of as many stretches as the row has entries.
void fill_columns(const Problem& problem, const Argument& argument, const Symbols& symbols,
                  std::uint64_t seed, std::size_t stream, std::span<std::byte> buffer) {
  const std::size_t size = size_in_bytes(argument.type);
  const std::size_t count = std::min(count_of(argument, symbols), buffer.size() / size);
  const std::uint64_t columns =
      std::max<std::uint64_t>(integer_of(init_at(argument, symbols).high), 1);
  const std::size_t index = offsets_of(problem, argument, symbols);
  std::vector<std::uint64_t> offsets = {0, count};
  if (index < problem.arguments.size()) {
    const Argument& rows = problem.arguments[index];
    const BufferInit init = init_at(rows, symbols);
    offsets = draw_offsets(count_of(rows, symbols), integer_of(init.high), integer_of(init.low),
                           seed, index);
    offsets.push_back(std::max<std::uint64_t>(count, offsets.back()));  // room behind the last row
  }
  for (std::size_t row = 0; row + 1 < offsets.size(); ++row) {
    const std::uint64_t length = offsets[row + 1] - offsets[row];
    const auto stretch = [&](std::uint64_t i) {
      return static_cast<std::uint64_t>(static_cast<unsigned __int128>(columns) * i / length);
    };
    for (std::uint64_t i = 0; i < length && offsets[row] + i < count; ++i) {
      const std::uint64_t begin = stretch(i);
      const std::uint64_t width = std::max<std::uint64_t>(stretch(i + 1) - begin, 1);
      put(buffer, size, offsets[row] + i,
          begin + random_bits(seed, stream, offsets[row] + i) % width);
    }
  }
}

// Fisher and Yates: "Statistical tables", 1938.
void fill_permutation(const Argument& argument, const Symbols& symbols, std::uint64_t seed,
                      std::size_t stream, std::span<std::byte> buffer) {
  const std::size_t size = size_in_bytes(argument.type);
  const std::size_t count = std::min(count_of(argument, symbols), buffer.size() / size);
  for (std::size_t i = 0; i < count; ++i)
    put(buffer, size, i, i);
  for (std::size_t i = count; i > 1; --i) {
    const std::size_t other = random_bits(seed, stream, i) % i;
    if (other == i - 1) continue;
    std::swap_ranges(buffer.data() + (i - 1) * size, buffer.data() + i * size,
                     buffer.data() + other * size);
  }
}

}  // namespace

void fill_whole(const Problem& problem, const Symbols& symbols, std::uint64_t seed,
                std::size_t stream, std::span<std::byte> buffer) {
  const Argument& argument = problem.arguments[stream];
  std::ranges::fill(buffer, std::byte{0});
  switch (argument.init.kind) {
    case InitKind::permutation:
      return fill_permutation(argument, symbols, seed, stream, buffer);
    case InitKind::csr_offsets:
      return fill_offsets(argument, symbols, seed, stream, buffer);
    case InitKind::csr_columns:
      return fill_columns(problem, argument, symbols, seed, stream, buffer);
    default:
      return;
  }
}

}  // namespace regraph::verify
