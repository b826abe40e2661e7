// A function as pieces that are launched one after the other.
#pragma once

#include "base/result.h"
#include "kernel/manifest.h"
#include "source/ir.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace regraph::loops {

struct FunctionPieces {
  // The function; what its pieces hand on stands in buffers, which are parameters behind its own.
  source::Kernel kernel;
  std::vector<source::Block> pieces;    // of its body, in order: one loop each, or what has none
  source::Block shared;                 // declarations that follow from parameters: for every piece
  std::vector<source::ExprPtr> guards;  // conditions on parameters that all of it stands under
  std::vector<std::pair<std::string, ManifestScratch>> scratch;  // those buffers
  std::set<std::string> scalars;  // those of them that hold one scalar
};

// Error: unsupported, with the line: a loop under a condition, an array whose values are listed.
[[nodiscard]] Result<FunctionPieces> pieces_of(const source::Kernel& function);

// Whether the statement holds a loop.
[[nodiscard]] bool holds_loop(const source::Stmt& stmt);

}  // namespace regraph::loops
