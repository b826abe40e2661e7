// Calls of cooperative groups, cub and libcu++'s barriers, written out as the indices, shuffles and
// barriers that they are. Used by clang_inline.h.
//
//   warp.thread_rank()                       threadIdx.x % 32
//   s = cg::reduce(warp, s, cg::plus<float>())
//                                            for (d = 16; d > 0; d /= 2) s += __shfl_xor_sync(.., s, d);
//   s = BlockReduce(storage).Sum(s)          the warps' sums, through shared memory added up by all
//   barrier.arrive_and_wait()                __syncthreads(), of a barrier for the whole block
//
// Groups are known by their types alone (a tile's size is part of it), so variables that are
// groups, and cub's storage, need no form. What is not known here stays a call, and the body that
// it is in is not opened.
#pragma once

#include "source/clang_expressions.h"
#include "source/ir.h"

#include <clang/AST/ExprCXX.h>
#include <clang/AST/Type.h>

#include <functional>
#include <string>

namespace regraph::source {

// Whether the type, or what it refers to or is an array of, is a group of threads, a barrier
// of a block, or a cub algorithm or its storage: nothing that is read or written.
[[nodiscard]] bool is_library_object(clang::QualType type);

// `block.thread_index().x` and its like as the built-in variable; null for other members.
[[nodiscard]] ExprPtr library_index(const clang::MemberExpr& access);

// What writing a call out needs of the body that it stands in.
struct LibraryCallPlace {
  // Declares a variable for a result; its name.
  std::function<std::string(const std::string& stem, clang::QualType type, ExprPtr value,
                            bool is_const, Block& block)>
      declare_result;
  // Declares an array in shared memory; its name.
  std::function<std::string(const std::string& stem, clang::QualType type, std::int64_t extent)>
      declare_shared;
};

class LibraryCalls {
 public:
  // Both must outlive it.
  LibraryCalls(ExpressionConverter& expressions, LibraryCallPlace place)
      : expressions_(expressions), place_(std::move(place)) {}

  // Whether the call is one of a library whose calls are known here, be it this one or not.
  [[nodiscard]] static bool is_library_call(const clang::CallExpr& call);
  // The arguments that are values: those that may hold calls themselves.
  [[nodiscard]] static std::vector<const clang::Expr*> values_of(const clang::CallExpr& call);
  // Writes the call out: statements go to `block`, without which there may be none, and `value` is
  // what it returns, null for nothing. False where it is not known.
  [[nodiscard]] bool write_out(const clang::CallExpr& call, Block* block, ExprPtr& value);

 private:
  struct Operation;

  bool write_group_method(const clang::CallExpr& call, clang::QualType type, Block* block,
                          ExprPtr& value);
  bool write_cub_method(const clang::CallExpr& call, clang::QualType algorithm, Block* block,
                        ExprPtr& value);
  bool write_sync(clang::QualType group, Block* block) const;
  static bool write_barrier(const clang::CallExpr& call, Block* block);
  // Puts together what `threads` neighbouring threads of a warp have in `total`; `line`: of the
  // call.
  void reduce_warp(const std::string& total, clang::QualType type, const Operation& operation,
                   std::int64_t threads, const char* shuffle, int line, Block& block);

  ExpressionConverter& expressions_;
  LibraryCallPlace place_;
  int loops_ = 0;
};

}  // namespace regraph::source
