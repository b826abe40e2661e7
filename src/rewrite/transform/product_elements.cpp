#include "rewrite/transform/product_elements.h"

#include "affine/block_geometry.h"
#include "rewrite/analysis/loop_choice.h"
#include "rewrite/analysis/product_coordinates.h"
#include "source/build.h"
#include "source/match.h"
#include "source/printer.h"
#include "source/walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace regraph::rewrite {

namespace {

// The kernel's only store to global memory.
struct ElementStore {
  const Stmt* statement = nullptr;
  const Assignment* assignment = nullptr;
  ScalarType type = ScalarType::f32;
};

// The loop, with those inside of it, as it is where it is hardly ever run.
StmtPtr without_unrolling(const StmtPtr& stmt) {
  const auto counted = counted_loop_of(*stmt);
  const auto* loop = as<ForLoop>(stmt);
  if (loop == nullptr || !counted) return stmt;
  Block body = rewrite_statements(loop->body, [](const StmtPtr& inner) -> std::optional<Block> {
    if (!is<ForLoop>(*inner)) return std::nullopt;
    return Block{without_unrolling(inner)};
  });
  return counted_loop(counted->name, counted->first, counted->limit, counted->stride,
                      std::move(body), kNeverUnroll);
}

class StagedElements {
 public:
  StagedElements(CodeLines& lines, const KernelForm& form, const Launch& launch,
                 const MatrixProduct& product, const TensorTile& tile, const TensorNames& names,
                 std::size_t rows, const BoxOfLines* box)
      : lines_(lines),
        form_(form),
        launch_(launch),
        product_(product),
        tile_(tile),
        names_(names),
        rows_(rows),
        box_(box) {}

  void write(int pitch, int threads) {
    const ExprPtr taken_sum =
        element(variable(names_.its_sums, product_.sum_type), {variable(names_.e)});
    const Block body = element_body(form_, launch_, product_, taken_sum);
    auto store = vector_store(body);
    int taken = store ? std::max(16 / bytes_of(*store), kLeast) : kLeast;
    if (tile_.tile[rows_] * columns() / taken % kLanes != 0) {
      // The lanes of a warp would not come together.
      store.reset();
      taken = kLeast;
    }
    lines_.open("for (int {0} = {1}; {0} < {2}; {0} += {3})", names_.step, names_.thread,
                tile_.tile[rows_] * columns() / taken, threads);
    if (store) {
      find_target(*store, pitch, taken);
      lines_.open("if (__all_sync(0xffffffffu, (unsigned long long){} % 16 == 0))", names_.to);
    }
    declare_place(fmt::format("{} * {}", names_.step, taken));
    read_sums(pitch, taken);
    if (store) declare_pack(*store, taken);
    lines_.unroll();
    lines_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.e, taken);
    coordinates();
    add_limited(store ? packed(body, *store) : body);
    lines_.close();
    if (store) {
      write_pack(*store, taken);
      lines_.reopen("} else {");
      write_by_lanes(pitch, taken);
      lines_.close();
    }
    lines_.close();
  }

  void write_original(int threads) {
    const int across = tile_.tile[1 - rows_];
    lines_.keep_rolled();
    lines_.open("for (int {0} = {1}; {0} < {2}; {0} += {3})", names_.step, names_.thread,
                tile_.tile[rows_] * across, threads);
    lines_.line("const int {} = {} / {};", names_.i, names_.step, across);
    lines_.line("const int {} = {} % {};", names_.j, names_.step, across);
    lines_.line("const int {} = 0;", names_.e);
    coordinates();
    const Block body =
        rewrite_statements(form_.kernel.body, [](const StmtPtr& stmt) -> std::optional<Block> {
          if (!is<ForLoop>(*stmt)) return std::nullopt;
          return Block{without_unrolling(stmt)};
        });
    add_limited(rewrite_expressions(body, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
      return in_coordinates(expr, form_, launch_, product_);
    }));
    lines_.close();
  }

 private:
  // Elements that a thread takes one after the other, whatever their type.
  static constexpr int kLeast = 4;
  static constexpr int kLanes = 32;

  const ProductFactor& factor(std::size_t i) const { return product_.factors[i]; }

  int columns() const { return tile_.tile[1 - rows_]; }

  void declare_place(const std::string& element) {
    lines_.line("const int {} = {} / {};", names_.i, element, columns());
    lines_.line("const int {} = {} % {};", names_.j, element, columns());
  }

  // A thread's sums, by vectors, those of all slices added up.
  void read_sums(int pitch, int taken) {
    const std::string type(cuda_name(product_.sum_type));
    lines_.line("__align__(16) {} {}[{}];", type, names_.its_sums, taken);
    for (int slice = 0; slice < tile_.slices; ++slice) {
      const std::string at = fmt::format("{}[{} * {} + {} + {}", names_.sums, names_.i, pitch,
                                         names_.j, slice * tile_.staged_elements(rows_));
      lines_.unroll();
      if (slice == 0) {
        lines_.line(
            "for (int {0} = 0; {0} < {1}; {0} += 4) "
            "*({2}4*)&{3}[{0}] = *(const {2}4*)&{4} + {0}];",
            names_.e, taken, type, names_.its_sums, at);
      } else {
        lines_.line("for (int {0} = 0; {0} < {1}; ++{0}) {2}[{0}] += {3} + {0}];", names_.e, taken,
                    names_.its_sums, at);
      }
    }
  }

  // The body for an element whose sum is read where it lies.
  Block body_of_one(int pitch, const MatrixProduct& product) const {
    ExprPtr part;
    for (int slice = 0; slice < tile_.slices; ++slice) {
      ExprPtr line = multiply(variable(names_.i), integer(pitch));
      if (slice > 0) line = source::add(line, integer(slice * tile_.staged_elements(rows_)));
      const ExprPtr sum = element(variable(names_.sums, product_.sum_type),
                                  {source::add(line, variable(names_.j))});
      part = part ? source::add(part, sum) : sum;
    }
    return element_body(form_, launch_, product, part);
  }

  // Where the first of the elements that a thread takes is stored; null where it is not.
  void find_target(const ElementStore& store, int pitch, int taken) {
    MatrixProduct simple = product_;
    simple.may_meet_infinity = false;
    lines_.line("{}* {} = nullptr;", cuda_name(store.type), names_.to);
    lines_.open();
    declare_place(fmt::format("{} * {}", names_.step, taken));
    lines_.line("const int {} = 0;", names_.e);
    coordinates();
    const Block body = body_of_one(pitch, simple);
    const auto found = vector_store(body);
    add_limited(rewrite_statements(body, [&](const StmtPtr& stmt) -> std::optional<Block> {
      if (!found || stmt.get() != found->statement) return std::nullopt;
      return Block{assign(variable(names_.to, std::nullopt), address(found->assignment->target))};
    }));
    lines_.close();
  }

  // Lanes take neighbours, where what a lane would take is not aligned.
  void write_by_lanes(int pitch, int taken) {
    // One copy of the body, so that tests of few columns see all of it.
    lines_.keep_rolled();
    lines_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.slot, taken);
    declare_place(fmt::format("(({0} - {1} % {2}) * {3} + {4} * {2} + {1} % {2})", names_.step,
                              "(int)" + names_.thread, kLanes, taken, names_.slot));
    lines_.line("const int {} = 0;", names_.e);
    coordinates();
    add_limited(body_of_one(pitch, product_));
    lines_.close();
  }

  // Of the element at hand, in the tile, along a factor's axis.
  std::string place(std::size_t i) const {
    return i == rows_ ? names_.i : fmt::format("{} + {}", names_.j, names_.e);
  }

  bool is_boxed(std::size_t i) const { return box_ != nullptr && box_->factor == i; }

  void coordinates() {
    for (const std::size_t i : {rows_, 1 - rows_}) {
      const std::string within = is_boxed(i) ? fmt::format("({0}) / {1} * {2} + ({0}) % {1}",
                                                           place(i), box_->across, box_->pitch)
                                             : place(i);
      lines_.line("const int {} = {} + {};", factor(i).axis.coordinate, names_.first[i], within);
    }
  }

  // The body for the elements that there are.
  void add_limited(Block body) {
    std::vector<ExprPtr> limits;
    for (const ProductFactor& one : product_.factors) {
      if (one.axis.limit) limits.push_back(less(variable(one.axis.coordinate), one.axis.limit));
    }
    if (!limits.empty()) body = {branch(conjunction(limits), std::move(body))};
    if (box_ == nullptr) return lines_.add(body);
    const std::string line = place(box_->factor);
    const std::array places = {fmt::format("{} + ({}) % {}", box_->column, line, box_->across),
                               fmt::format("{} + ({}) / {}", box_->row, line, box_->across)};
    lines_.open("if ({} < {})", places[0], box_->pitch);
    for (std::size_t at = 0; at < 2; ++at)
      lines_.line("const int {} = {};", box_->places[at], places[at]);
    lines_.add(without_places(body));
    lines_.close();
  }

  // The body without the kernel's own declarations of the box's column and row.
  Block without_places(const Block& body) const {
    return rewrite_statements(body, [&](const StmtPtr& stmt) -> std::optional<Block> {
      const auto* declared = as<Declaration>(stmt);
      if (declared == nullptr ||
          std::ranges::find(box_->places, declared->variable.name) == box_->places.end())
        return std::nullopt;
      return Block{};
    });
  }

  // The store of an element, where the body has one, to neighbours along the columns, and reads
  // nothing that is stored.
  std::optional<ElementStore> vector_store(const Block& body) const {
    std::optional<ElementStore> found;
    int stores = 0;
    walk(body, [&](const Stmt& stmt) {
      const auto* assignment = as<Assignment>(stmt);
      if (assignment == nullptr || !is<Subscript>(assignment->target)) return;
      const auto* base = base_variable(*assignment->target);
      const KernelParameter* array = base != nullptr ? form_.kernel.parameter(base->name) : nullptr;
      if (array == nullptr) return;
      ++stores;
      if (assignment->op != AssignmentOperator::assign || !array->scalar) return;
      found = ElementStore{&stmt, assignment, *array->scalar};
    });
    if (stores != 1 || !found || size_in_bytes(found->type) > 4) return std::nullopt;
    if (is_read(body, base_variable(*found->assignment->target)->name)) return std::nullopt;
    if (!are_neighbours(form_.kernel.body, base_variable(*found->assignment->target)->name))
      return std::nullopt;
    return found;
  }

  // Whether elements that follow each other along the columns do so in the array, where the
  // original stores to it.
  bool are_neighbours(const Block& original, const std::string& array) const {
    if (product_.row_major.contains(array)) return true;
    const ProductAxis& columns = factor(1 - rows_).axis;
    bool result = false;
    walk(original, [&](const Stmt& stmt) {
      const auto* assignment = as<Assignment>(stmt);
      const auto* target = assignment != nullptr ? as<Subscript>(assignment->target) : nullptr;
      if (target == nullptr || base_variable(*target) == nullptr ||
          base_variable(*target)->name != array) {
        return;
      }
      auto index = form_.analysis.polynomial(target->index);
      if (index) index = with_block_extents(*index, launch_.block);
      if (index) index = with_coordinate(*index, columns.axis, launch_.block, columns.coordinate);
      const auto step = index ? index->coefficient(columns.coordinate) : std::nullopt;
      result = step && step->constant() == 1;
    });
    return result;
  }

  static bool is_read(const Block& body, const std::string& array) {
    int mentions = 0;
    walk_expressions(body, [&](const Expr& expr) {
      if (is_named(expr, array)) ++mentions;
    });
    return mentions != 1;
  }

  static int bytes_of(const ElementStore& store) {
    return static_cast<int>(size_in_bytes(store.type));
  }

  void declare_pack(const ElementStore& store, int taken) {
    lines_.line("__align__(16) {} {}[{}];", cuda_name(store.type), names_.pack, taken);
    lines_.line("unsigned int {} = 0;", names_.kept);
  }

  // The element goes into the pack, and is remembered with where it belongs.
  Block packed(const Block& body, const ElementStore& store) const {
    return rewrite_statements(body, [&](const StmtPtr& stmt) -> std::optional<Block> {
      if (stmt.get() != store.statement) return std::nullopt;
      const ExprPtr place = variable(names_.e);
      return Block{
          assign(element(variable(names_.pack, store.type), {place}), store.assignment->value),
          assign(variable(names_.to, std::nullopt),
                 source::subtract(address(store.assignment->target), place)),
          assign(variable(names_.kept, ScalarType::u32), AssignmentOperator::bit_or,
                 binary(BinaryOperator::shift_left, integer(1, "1u", ScalarType::u32), place))};
    });
  }

  void write_pack(const ElementStore& store, int taken) {
    const unsigned all = (1U << static_cast<unsigned>(taken)) - 1;
    lines_.open("if ({} == {}u && (unsigned long long){} % 16 == 0)", names_.kept, all, names_.to);
    lines_.unroll();
    lines_.open("for (int {0} = 0; {0} < {1}; {0} += {2})", names_.e, taken, 16 / bytes_of(store));
    lines_.line("*(uint4*)&{0}[{1}] = *(const uint4*)&{2}[{1}];", names_.to, names_.e, names_.pack);
    lines_.close();
    lines_.reopen("} else {");
    lines_.unroll();
    lines_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.e, taken);
    lines_.line("if ({0} >> {1} & 1) {2}[{1}] = {3}[{1}];", names_.kept, names_.e, names_.to,
                names_.pack);
    lines_.close();
    lines_.close();
  }

  CodeLines& lines_;
  const KernelForm& form_;
  const Launch& launch_;
  const MatrixProduct& product_;
  const TensorTile& tile_;
  const TensorNames& names_;
  const std::size_t rows_;
  const BoxOfLines* const box_;
};

}  // namespace

Block element_body(const KernelForm& form, const Launch& launch, const MatrixProduct& product,
                   const ExprPtr& part) {
  Block body =
      rewrite_statements(form.kernel.body, [&](const StmtPtr& stmt) -> std::optional<Block> {
        if (stmt.get() != product.loop) return std::nullopt;
        Block sum = {
            assign(variable(product.sum, product.sum_type), AssignmentOperator::add, part)};
        if (product.may_meet_infinity)
          sum = {branch(equals(part, part), std::move(sum), {without_unrolling(stmt)})};
        if (product.guards.empty()) return sum;
        return Block{branch(conjunction(product.guards), std::move(sum))};
      });
  return rewrite_expressions(body, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
    return in_coordinates(expr, form, launch, product);
  });
}

void write_staged_elements(CodeLines& lines, const KernelForm& form, const Launch& launch,
                           const MatrixProduct& product, const TensorTile& tile,
                           const TensorNames& names, std::size_t rows, int pitch, int threads,
                           const BoxOfLines* box) {
  StagedElements(lines, form, launch, product, tile, names, rows, box).write(pitch, threads);
}

void write_original_elements(CodeLines& lines, const KernelForm& form, const Launch& launch,
                             const MatrixProduct& product, const TensorTile& tile,
                             const TensorNames& names, std::size_t rows, int threads,
                             const BoxOfLines* box) {
  StagedElements(lines, form, launch, product, tile, names, rows, box).write_original(threads);
}

}  // namespace regraph::rewrite
