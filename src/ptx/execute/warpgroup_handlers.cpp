// wgmma.mma_async: every warp of the four computes its 16 rows where it comes to the instruction,
// from shared memory as it is then. A kernel that writes a factor, or reads the sums, before it
// waited does not see what hardware might: the race detector sees the former, nobody the latter.
#include "ptx/execute/matrix_values.h"
#include "ptx/execute/tensor_sums.h"
#include "ptx/execute/whole_warp.h"
#include "ptx/memory/race_detector.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

namespace regraph::ptx {
namespace {

#include "ptx/execute/handlers/lane_types.h"

using Word = std::uint32_t;

constexpr std::uint64_t kChunk = 16;  // bytes that lie side by side in every layout
constexpr int kChunkWords = 4;

// PTX ISA, "Matrix Descriptor Format" and "Strides", of wgmma. Chunks of a matrix whose rows
// (columns of B) are along k, and of one that is transposed; `line` counts rows or columns by one,
// or by eight.
class Descriptor {
 public:
  explicit Descriptor(std::uint64_t bits)
      : start_((bits & 0x3fffU) << 4),
        leading_((bits >> 16 & 0x3fffU) << 4),
        stride_((bits >> 32 & 0x3fffU) << 4),
        has_base_offset_((bits >> 49 & 7U) != 0) {
    const std::uint64_t mode = bits >> 62;
    swizzle_bits_ = mode == 0 ? 0 : 4 - mode;  // 128, 64, 32 bytes
  }
  [[nodiscard]] bool has_base_offset() const { return has_base_offset_; }

  // Half `half` of what the instruction takes of row `line`.
  [[nodiscard]] std::uint64_t along_depth(std::uint64_t line, std::uint64_t half) const {
    const std::uint64_t width = kChunk << swizzle_bits_;
    return swizzled(start_ + line % 8 * width + line / 8 * stride_ +
                    half * (swizzle_bits_ == 0 ? leading_ : kChunk));
  }
  // Rows 8 `line` to 8 `line` + 7 at depth k.
  [[nodiscard]] std::uint64_t across_depth(std::uint64_t line, std::uint64_t k) const {
    if (swizzle_bits_ == 0) return start_ + line * stride_ + k % 8 * kChunk + k / 8 * leading_;
    const std::uint64_t chunks = 1ULL << swizzle_bits_;
    return swizzled(start_ + line % chunks * kChunk + line / chunks * leading_ +
                    k % 8 * chunks * kChunk + k / 8 * stride_);
  }

 private:
  [[nodiscard]] std::uint64_t swizzled(std::uint64_t address) const {
    const std::uint64_t mask = (1ULL << swizzle_bits_) - 1;
    return address ^ ((address >> 7 & mask) << 4);
  }

  std::uint64_t start_;
  std::uint64_t leading_;
  std::uint64_t stride_;
  std::uint64_t swizzle_bits_ = 0;
  bool has_base_offset_;
};

const Record* stop(const Record* r, Warp& w, FaultKind kind, const char* what) {
  w.block->set_fault(kind, what, r, w, 0);
  w.status = WarpStatus::faulted;
  w.last = r;
  return nullptr;
}

// Reads chunks of shared memory for the tensor cores, 16 bytes at an aligned address.
class ChunkReader {
 public:
  ChunkReader(const Record* record, Warp& warp) : record_(record), warp_(warp) {}

  // False after setting a fault.
  bool read(std::uint64_t address, Word* to) {
    if (region_ == nullptr || address < region_->begin || address + kChunk > region_->end) {
      region_ = find_lane(*warp_.block, warp_, StateSpace::shared, address, kChunk, 0).region;
    }
    if (region_ == nullptr) {
      set_access_fault(record_, warp_, StateSpace::shared, false, address, kChunk, 0);
      return false;
    }
    std::memcpy(to, region_->host + (address - region_->begin), kChunk);
    RaceDetector* races = warp_.block->races;
    return races == nullptr ||
           races->asynchronous(*record_, warp_, 0, RaceDetector::tensor_agent(warp_),
                               StateSpace::shared, address, kChunk, nullptr);
  }

 private:
  const Record* record_;
  Warp& warp_;
  const MemoryRegion* region_ = nullptr;
};

// A matrix of `lines` rows (columns of B) from `first` on: put(line, k, value).
template <typename Value, typename Put>
bool read_matrix(ChunkReader& reader, const Descriptor& descriptor, MatrixInput input,
                 bool transposed, int first, int lines, Put put) {
  const int values = values_in_word(input);
  const int per_chunk = values * kChunkWords;
  const int depth = 2 * per_chunk;
  const int chunks = transposed ? lines / 8 * depth : lines * 2;
  std::vector<Word> words(static_cast<std::size_t>(chunks * kChunkWords));
  Word* to = words.data();
  const auto offset = static_cast<std::uint64_t>(first);
  const auto width = static_cast<std::uint64_t>(depth);
  for (int i = 0; i < chunks; ++i, to += kChunkWords) {
    const auto chunk = static_cast<std::uint64_t>(i);
    const std::uint64_t address =
        transposed ? descriptor.across_depth(offset / 8 + chunk / width, chunk % width)
                   : descriptor.along_depth(offset + chunk / 2, chunk % 2);
    if (!reader.read(address, to)) return false;
  }
  const int count = chunks * kChunkWords;
  std::vector<Value> unpacked(static_cast<std::size_t>(count * values));
  unpack_words(input, words.data(), count, unpacked.data());
  for (int i = 0; i < values; ++i) {
    const Value* from = unpacked.data() + i * count;
    for (int c = 0; c < chunks; ++c) {
      for (int j = 0; j < kChunkWords; ++j) {
        const int along = j * values + i;
        const Value value = from[c * kChunkWords + j];
        if (transposed) {
          put(c / depth * 8 + along, c % depth, value);
        } else {
          put(c / 2, c % 2 * per_chunk + along, value);
        }
      }
    }
  }
  return true;
}

template <typename Value, typename Sum>
struct WarpgroupOperands {
  Value a[kMatrixRows * kMostMatrixDepth];
  Value b[kMostMatrixDepth * 256];
  Sum sums[kMatrixRows * 256];
};

template <typename Value, typename Sum>
bool gather_factors(const Record* r, Warp& w, const WarpgroupProduct& product,
                    WarpgroupOperands<Value, Sum>& to) {
  const int depth = product.depth();
  const int values = values_in_word(product.a_input);
  ChunkReader reader(r, w);
  const Value sign_a = product.negates_a ? -1 : 1;
  const Value sign_b = product.negates_b ? -1 : 1;
  if (product.a_in_registers) {
    for (int i = 0; i < 4; ++i) {
      Value unpacked[4 * kWarpLanes];
      unpack_words(product.a_input, lanes<Word>(w, product.a[static_cast<std::size_t>(i)]),
                   kWarpLanes, unpacked);
      for (int v = 0; v < values; ++v) {
        for (int l = 0; l < kWarpLanes; ++l) {
          const int row = l / 4 + 8 * (i % 2);
          const int k = (l % 4 + 4 * (i / 2)) * values + v;
          to.a[row * depth + k] = sign_a * unpacked[v * kWarpLanes + l];
        }
      }
    }
  } else {
    const Descriptor descriptor(lanes<std::uint64_t>(w, product.a[0])[0]);
    const int first = static_cast<int>(w.index % 4) * kMatrixRows;
    if (!read_matrix<Value>(
            reader, descriptor, product.a_input, product.a_transposed, first, kMatrixRows,
            [&](int row, int k, Value value) { to.a[row * depth + k] = sign_a * value; })) {
      return false;
    }
  }
  const Descriptor descriptor(lanes<std::uint64_t>(w, product.b)[0]);
  return read_matrix<Value>(
      reader, descriptor, product.b_input, product.b_transposed, 0, product.columns,
      [&](int column, int k, Value value) { to.b[k * product.columns + column] = sign_b * value; });
}

// visit(i, l, place): element i of lane l's sums and where it lies in the warp's dense rows.
template <typename Visit>
void for_each_element(int columns, Visit visit) {
  for (int i = 0; i < columns / 2; ++i) {
    for (int l = 0; l < kWarpLanes; ++l) {
      const int row = l / 4 + 8 * (i / 2 % 2);
      visit(static_cast<std::size_t>(i), l, row * columns + 8 * (i / 4) + 2 * (l % 4) + i % 2);
    }
  }
}

// The same for sums of which each has a register: visit(even, odd, place) for four lanes that share
// a row, whose eight elements lie side by side.
template <typename Visit>
void for_each_quad(Warp& w, const WarpgroupProduct& product, Visit visit) {
  for (int i = 0; i < product.columns / 2; i += 2) {
    Word* const even = lanes<Word>(w, product.d[static_cast<std::size_t>(i)]);
    Word* const odd = lanes<Word>(w, product.d[static_cast<std::size_t>(i) + 1]);
    for (int quad = 0; quad < kWarpLanes / 4; ++quad) {
      const int row = quad + 8 * (i / 2 % 2);
      visit(even + 4 * quad, odd + 4 * quad, row * product.columns + 8 * (i / 4));
    }
  }
}

template <typename Value, typename Sum>
void add_to_sums(const WarpgroupProduct& product, WarpgroupOperands<Value, Sum>& operands) {
  if constexpr (std::is_same_v<Value, float>) {
    add_float_products({product.a_input, product.b_input, product.sum, true, kMatrixRows,
                        product.columns, product.depth()},
                       operands.a, operands.b, operands.sums);
  } else {
    add_products(kMatrixRows, product.columns, product.depth(), operands.a, operands.b,
                 operands.sums);
  }
}

bool adds(Warp& w, const WarpgroupProduct& product) {
  return (predicate(w, product.adds) & 1U) != 0;
}

// Two sums of half precision are in a register.
bool multiply_to_halves(const Record* r, Warp& w, const WarpgroupProduct& product) {
  WarpgroupOperands<float, float> operands;
  if (!gather_factors(r, w, product, operands)) return false;
  const bool adds_up = adds(w, product);
  for_each_element(product.columns, [&](std::size_t i, int l, int place) {
    const Word both = lanes<Word>(w, product.d[i / 2])[l];
    operands.sums[place] = adds_up ? half_value(both >> (16 * (i % 2))) : 0.0F;
  });
  add_to_sums(product, operands);
  for_each_element(product.columns, [&](std::size_t i, int l, int place) {
    Word& d = lanes<Word>(w, product.d[i / 2])[l];
    const Word bits = half_bits(operands.sums[place]);
    d = i % 2 == 0 ? bits : d | (bits << 16);
  });
  return true;
}

// `of_word` and `to_word` turn a register into a sum and back.
template <typename Value, typename Sum, typename OfWord, typename ToWord>
bool multiply_warpgroup(const Record* r, Warp& w, const WarpgroupProduct& product, OfWord of_word,
                        ToWord to_word) {
  WarpgroupOperands<Value, Sum> operands;
  if (!gather_factors(r, w, product, operands)) return false;
  if (adds(w, product)) {
    for_each_quad(w, product, [&](const Word* even, const Word* odd, int place) {
      Sum* const to = operands.sums + place;
      for (int t = 0; t < 4; ++t) {
        to[2 * t] = of_word(even[t]);
        to[2 * t + 1] = of_word(odd[t]);
      }
    });
  } else {
    std::fill_n(operands.sums, kMatrixRows * product.columns, Sum{});
  }
  add_to_sums(product, operands);
  for_each_quad(w, product, [&](Word* even, Word* odd, int place) {
    const Sum* const from = operands.sums + place;
    for (int t = 0; t < 4; ++t) {
      even[t] = to_word(from[2 * t]);
      odd[t] = to_word(from[2 * t + 1]);
    }
  });
  return true;
}

bool is_uniform(const std::uint64_t* values) {
  return std::all_of(values, values + kWarpLanes,
                     [&](std::uint64_t value) { return value == values[0]; });
}

const Record* warpgroup_multiply_add(const Record* r, Warp& w) {
  const Record* next = nullptr;
  if (!is_whole_warp(r, w, "wgmma", &next)) return next;
  const WarpgroupProduct& product = w.block->code->warpgroup_products[r->e];
  if ((w.index | 3U) >= w.block->block.count() / kWarpLanes)
    return stop(r, w, FaultKind::barrier_divergence, "wgmma needs four warps, aligned by four");
  for (const std::uint32_t offset :
       {product.a_in_registers ? product.b : product.a[0], product.b}) {
    const std::uint64_t* descriptors = lanes<std::uint64_t>(w, offset);
    if (!is_uniform(descriptors))
      return stop(r, w, FaultKind::trap, "wgmma: lanes of a warp name different descriptors");
    if (Descriptor(descriptors[0]).has_base_offset())
      return stop(r, w, FaultKind::unsupported, "wgmma: a descriptor with a base offset");
  }
  bool done = false;
  switch (product.sum) {
    case MatrixSum::f16:
      done = multiply_to_halves(r, w, product);
      break;
    case MatrixSum::s32:
      done = multiply_warpgroup<std::int32_t, std::int64_t>(
          r, w, product, [](Word word) { return static_cast<std::int32_t>(word); },
          [&](std::int64_t sum) {
            using Limits = std::numeric_limits<std::int32_t>;
            if (product.saturates)
              sum = std::clamp<std::int64_t>(sum, Limits::min(), Limits::max());
            return static_cast<Word>(sum);
          });
      break;
    default:
      done = multiply_warpgroup<float, float>(
          r, w, product, [](Word word) { return float_of(word); },
          [](float sum) { return bits_of(canonical(sum)); });
  }
  return done ? r + 1 : nullptr;
}

std::uint32_t agent_of_record(const Record* r, const Warp& w) {
  return r->flags == kTensorAgent ? RaceDetector::tensor_agent(w) : RaceDetector::store_agent(w);
}

const Record* asynchronous_committed(const Record* r, Warp& w) {
  if (w.block->races != nullptr) w.block->races->commit_group(w, agent_of_record(r, w));
  return r + 1;
}

const Record* asynchronous_awaited(const Record* r, Warp& w) {
  if (w.block->races != nullptr) {
    w.block->races->await_groups(w, agent_of_record(r, w),
                                 static_cast<std::uint64_t>(r->immediate));
  }
  return r + 1;
}

}  // namespace

void fill_warpgroup_handlers(Handler* table) {
  put(table, Operation::warpgroup_multiply_add, &warpgroup_multiply_add);
  put(table, Operation::asynchronous_committed, &asynchronous_committed);
  put(table, Operation::asynchronous_awaited, &asynchronous_awaited);
}

}  // namespace regraph::ptx
