// What the codes of a tile with a halo have in common: names, how threads share out chunks, and
// where a stage of the product begins. Used by halo_gemm_code and halo_filter_code.
#pragma once

#include "rewrite/analysis/implicit_gemm.h"
#include "rewrite/forms/names.h"
#include "rewrite/transform/code_lines.h"
#include "rewrite/transform/gathered_elements.h"
#include "rewrite/transform/halo_tile.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace regraph::rewrite {

// Keeps references to all it is made with. Not thread-safe.
class HaloCode {
 protected:
  HaloCode(const KernelForm& form, const Launch& launch, const ImplicitGemm& gemm,
           const TensorTile& tile, const HaloTile& halo);

  static constexpr int kChunk = ImplicitGemm::kChunk;

  const ProductFactor& factor(std::size_t i) const { return product.factors[i]; }

  std::string type() const { return std::string(cuda_name(tile.element)); }

  int lines(std::size_t i) const { return tile.tile[i]; }

  int taps() const { return halo.axes[0].trips * halo.axes[1].trips; }

  const SummedLoop& chunked() const { return *elements.chunked(); }

  // Chunks of a stage, which the threads share out.
  int chunks(std::size_t i) const {
    return i == input ? halo.input_chunks() : HaloTile::kChunks * lines(other);
  }

  int steps(std::size_t i) const { return (chunks(i) + tile.threads() - 1) / tile.threads(); }

  int stage_elements(std::size_t i) const {
    return kChunk * (i == input ? halo.input_chunks() : halo.other_chunks(tile));
  }

  // Neither chunked nor over taps, the fastest first.
  std::vector<std::size_t> outer_loops() const;

  std::string counter_from(std::size_t loop, const std::string& iteration) const;

  // The outer loops' counters, and the chunked one's where the stage begins.
  void declare_counters();

  // A thread's chunk at a step, `item`, of a stage's.
  void declare_item(std::size_t i, const std::string& first);

  // The thread's number, asked again: what is made of it would else be kept in registers while taps
  // are multiplied.
  void declare_thread_again();

  // Whether the original loads the element at hand, of a chunk that it wants.
  std::string wanted_element(std::size_t i) const;

  void declare_iteration(const std::string& chunk);

  // Eight elements, each in the lower half of a word.
  template <typename Element>
  static std::string packed(const Element& element) {
    const auto pair = [&](int first) {
      return fmt::format("__byte_perm({}, {}, 0x5410)", element(first), element(first + 1));
    };
    return fmt::format("make_uint4({}, {}, {}, {})", pair(0), pair(2), pair(4), pair(6));
  }

  // An asynchronous copy of a chunk.
  void write_copy(const std::string& to, const std::string& from);

  // Counters of a tap, of those that are numbered along the fast axis first.
  void declare_taps(const std::string& tap);

  const KernelForm& form;
  const Launch& launch;
  const ImplicitGemm& gemm;
  const MatrixProduct& product;
  const TensorTile& tile;
  const HaloTile& halo;
  Names fresh;
  TensorNames names;
  CodeLines text;
  GatheredElements elements;
  const std::size_t rows;
  const std::size_t input;
  const std::size_t other;
  std::array<std::string, 2> loaded, load, store;
  std::string has_item;
  std::vector<std::string> trips;  // of each loop
  std::string chunk = fresh.fresh("chunk");
  std::string begin = fresh.fresh("begin");
  std::string item = fresh.fresh("item");
  std::string element = fresh.fresh("element");
  std::string again = fresh.fresh("thread_again");
  std::string wanted = fresh.fresh("wanted");
};

}  // namespace regraph::rewrite
