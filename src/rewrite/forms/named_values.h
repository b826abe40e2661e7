// What statements do to variables and memory, without the names that they give to values.
#pragma once

#include "source/analysis.h"
#include "source/ir.h"

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace regraph::rewrite {

// An element of an array, by its indices.
struct Element {
  std::string array;  // "" where it is not known
  std::vector<source::ExprPtr> indices;
};

// What a statement uses, blocks below it included.
struct MemoryUse {
  std::set<std::string> read;     // variables
  std::set<std::string> written;  // scalars
  std::vector<Element> loads;
  std::vector<Element> stores;
};

[[nodiscard]] MemoryUse memory_use_of(const source::StmtPtr& stmt,
                                      const source::Analysis& analysis);

// Whether the elements are of different places. Different buffers count where they may be relied on
// to be distinct, which is noted in `needs_distinct`.
[[nodiscard]] bool are_apart(const Element& a, const Element& b, const source::Analysis& analysis,
                             bool distinct_buffers, bool& needs_distinct);

// const float t = a[i]; s += t * t;   ->   s += a[i] * a[i];
//
// For blocks of declarations, assignments and branches that call nothing but pure functions.
class NamedValues {
 public:
  struct Result {
    source::Block statements;  // none is a declaration
    bool needs_distinct_buffers = false;
  };

  NamedValues(const source::Analysis& analysis, bool distinct_buffers)
      : analysis_(analysis), distinct_buffers_(distinct_buffers) {}

  // Nothing for other blocks, and where a value is used after what it is made of has changed.
  [[nodiscard]] std::optional<Result> written_out(const source::Block& block);

 private:
  struct Named {
    source::ExprPtr value;
    MemoryUse use;
    bool is_stale = false;
  };

  bool name(const source::Declaration& declaration);
  [[nodiscard]] source::StmtPtr replaced(const source::StmtPtr& stmt);
  [[nodiscard]] bool gives_named(const MemoryUse& use) const;
  void forget_what_changes(const MemoryUse& use);

  const source::Analysis& analysis_;
  bool distinct_buffers_;
  bool needs_distinct_ = false;
  bool is_lost_ = false;
  std::vector<std::pair<std::string, Named>> values_;
};

}  // namespace regraph::rewrite
