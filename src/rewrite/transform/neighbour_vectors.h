// Neighbouring elements that straight code moves one by one, moved as vectors.
#pragma once

#include "kernel/problem.h"
#include "rewrite/analysis/neighbour_places.h"
#include "rewrite/forms/ir.h"
#include "rewrite/forms/names.h"
#include "rewrite/transform/vector_code.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace regraph::rewrite {

// For code of whose buffers no two overlap, without barriers and without calls that may write
// memory. The arguments must outlive it; the analysis is of the kernel that holds the code.
class NeighbourVectors {
 public:
  // Vectors have at most `width` elements, of the problem's alignment at most.
  NeighbourVectors(const Kernel& kernel, const Analysis& analysis, const Problem& problem,
                   Names& names, int width);

  // The block with vectors where conditions() hold. To be called once.
  [[nodiscard]] Block run(const Block& block);
  // What has to hold for every vector to start at a multiple of its size.
  [[nodiscard]] std::vector<ExprPtr> conditions() const;
  [[nodiscard]] int vectors() const { return vectors_; }

 private:
  struct Access {
    std::size_t stmt;  // place in the block
    const Subscript* element;
    NeighbourPlace place;
    bool is_store;
    bool is_certain;  // happens whenever the block is run
  };
  struct Vector {
    std::string name;
    ScalarType scalar = ScalarType::f32;
    NeighbourPlace place;  // of the first element
    int width;
    bool stores;
    // Its elements are in front of one that is there, and there where its index is not negative.
    bool is_in_front;
    std::size_t first;      // statement that it is declared in front of
    std::size_t last;       // statement that it is stored behind
    ExprPtr neighbour;      // index of an element, known at the statement
    std::int64_t distance;  // from there to the first element

    [[nodiscard]] VectorShape shape() const { return {scalar, width}; }
  };
  // Elements of one array with one rest: by offset, the accesses.
  using Offsets = std::map<std::int64_t, std::vector<const Access*>>;

  [[nodiscard]] std::vector<Vector> vectors_of(const Block& block);
  void collect(const Block& block);
  void collect(const ExprPtr& expr, std::size_t at, bool is_certain);
  void collect_below(const Stmt& stmt, std::size_t at);
  void add(const Subscript& element, std::size_t at, bool is_store, bool is_certain);
  [[nodiscard]] bool is_known(const std::string& array, const Block& block) const;
  [[nodiscard]] bool can_be_moved(const Vector& vector) const;
  // The length of a buffer that is only read, where the width can divide it.
  [[nodiscard]] std::optional<Polynomial> divisible_length(const std::string& array, int width);
  void fill(const Offsets& offsets, bool stores, std::vector<Vector>& out);
  void fill_in_front(const Offsets& offsets, std::set<std::int64_t>& open,
                     std::vector<Vector>& out);
  [[nodiscard]] bool can_start(const NeighbourPlace& some, const VectorShape& shape) const;
  [[nodiscard]] Vector vector_of(const Offsets& offsets, std::int64_t start, int width,
                                 bool stores);
  [[nodiscard]] StmtPtr with_components(const StmtPtr& stmt, std::size_t at,
                                        const std::vector<Vector>& vectors);
  [[nodiscard]] ExprPtr with_components(const ExprPtr& expr, std::size_t at,
                                        const std::vector<Vector>& vectors);
  [[nodiscard]] ExprPtr component(const Subscript& element, std::size_t at, bool stores,
                                  const std::vector<Vector>& vectors);
  [[nodiscard]] ExprPtr first_place(const Vector& vector) const;

  const Kernel& kernel_;
  const Analysis& analysis_;
  const Problem& problem_;
  Names& names_;
  int width_;
  NeighbourPlaces places_;
  std::vector<Access> accesses_;   // of the block at hand
  std::set<std::string> updated_;  // arrays of the block at hand that are changed in place
  std::vector<std::pair<Polynomial, int>> rests_;  // with what has to divide them
  int vectors_ = 0;
};

}  // namespace regraph::rewrite
