#include "rewrite/transform/tensor_copies.h"

#include "source/build.h"
#include "source/printer.h"

#include <fmt/format.h>

#include <optional>

namespace regraph::rewrite {

using source::Polynomial;

namespace {

constexpr int kVector = 4;

class CopyWriter {
 public:
  CopyWriter(CodeLines& lines, const MatrixProduct& product, const TensorTile& tile,
             const TensorNames& names)
      : lines_(lines), product_(product), tile_(tile), names_(names) {}

  void declare() const {
    for (std::size_t i = 0; i < 2; ++i) {
      if (!factor(i).divisible) continue;
      std::string condition;
      for (const std::string& parameter : *factor(i).divisible)
        condition += (condition.empty() ? "" : " && ") + parameter + " % 4 == 0";
      lines_.line("const bool {} = {};", names_.whole[i], condition.empty() ? "true" : condition);
    }
    if (!asks_inside()) return;
    for (std::size_t i = 0; i < 2; ++i)
      lines_.line("const bool {} = {};", names_.inside[i], *inside(i));
  }

  void define_fill() const {
    if (asks_inside()) {
      lines_.open("const auto {} = [&](int {}, {} {}, int {}, int {})", names_.fill_inside,
                  names_.into, index_type(), names_.strip, names_.part, names_.wanted);
      for (std::size_t i = 0; i < 2; ++i)
        copy_inside(i);
      lines_.close("};");
    }
    lines_.open("const auto {} = [&](int {}, {} {})", names_.fill, names_.into, index_type(),
                names_.strip);
    for (std::size_t i = 0; i < 2; ++i)
      copy_guarded(i);
    lines_.close("};");
  }

  std::string is_inside(const std::string& strip) const {
    return fmt::format("{} && {} && {} + {} < {}", names_.inside[0], names_.inside[1], strip,
                       tile_.depth - 1, names_.limit);
  }

  bool asks_inside() const { return inside(0) && inside(1); }

 private:
  const ProductFactor& factor(std::size_t i) const { return product_.factors[i]; }
  const char* index_type() const { return product_.is_wide ? "long long" : "int"; }

  // Whether all lines of the block's tile are inside, and vectors aligned; nothing where that
  // cannot be told.
  std::optional<std::string> inside(std::size_t i) const {
    const ProductFactor& one = factor(i);
    if (!one.divisible) return std::nullopt;
    std::string result = names_.whole[i];
    const std::string& coordinate = one.axis.coordinate;
    for (const TileGuard& guard : one.guards) {
      const Polynomial there =
          Polynomial::symbol(names_.first[i]) + Polynomial::symbol(names_.offset);
      const std::optional<TileGuard> hardest =
          TileGuard{guard.op, guard.left.substitute(coordinate, there),
                    guard.right.substitute(coordinate, there)}
              .hardest(names_.offset, tile_.tile[i]);
      if (!hardest) return std::nullopt;
      result += " && " + source::print(hardest->expression(one.is_wide));
    }
    if (one.axis.limit) {
      result += fmt::format(" && {} + {} < {}", names_.first[i], tile_.tile[i] - 1,
                            source::print(one.axis.limit));
    }
    return result;
  }

  // The conditions for an element of the factor, `beyond` neighbours further on.
  std::string conditions(std::size_t i, const std::string& beyond) const {
    const ProductFactor& one = factor(i);
    std::string result;
    const auto add = [&](const std::string& condition) {
      result += (result.empty() ? "" : " && ") + condition;
    };
    const std::string& coordinate = one.axis.coordinate;
    const bool moves = !one.along_k && !beyond.empty();
    for (const TileGuard& guard : one.guards) {
      TileGuard moved = guard;
      if (moves) {
        const Polynomial there = Polynomial::symbol(coordinate) + Polynomial::symbol(beyond);
        moved.left = guard.left.substitute(coordinate, there);
        moved.right = guard.right.substitute(coordinate, there);
      }
      add(source::print(moved.expression(one.is_wide)));
    }
    if (one.axis.limit) {
      add(fmt::format("{}{} < {}", coordinate, moves ? " + " + beyond : "",
                      source::print(one.axis.limit)));
    }
    add(fmt::format("{}{} < {}", names_.counter,
                    one.along_k && !beyond.empty() ? " + " + beyond : "", names_.limit));
    return result;
  }

  // The conditions for a whole vector; empty where they cannot be told.
  std::string whole(std::size_t i) const {
    const ProductFactor& one = factor(i);
    if (!one.divisible) return "";
    std::string result = names_.whole[i];
    const std::string& coordinate = one.axis.coordinate;
    for (const TileGuard& guard : one.guards) {
      std::optional<TileGuard> hardest = guard;
      if (!one.along_k) {
        const Polynomial there = Polynomial::symbol(coordinate) + Polynomial::symbol(names_.e);
        hardest = TileGuard{guard.op, guard.left.substitute(coordinate, there),
                            guard.right.substitute(coordinate, there)}
                      .hardest(names_.e, kVector);
      }
      if (!hardest) return "";
      result += " && " + source::print(hardest->expression(one.is_wide));
    }
    if (one.axis.limit) {
      result += fmt::format(" && {}{} < {}", coordinate, one.along_k ? "" : " + 3",
                            source::print(one.axis.limit));
    }
    return result +
           fmt::format(" && {}{} < {}", names_.counter, one.along_k ? " + 3" : "", names_.limit);
  }

  std::string element(std::size_t i, const std::string& beyond) const {
    const ProductFactor& one = factor(i);
    Polynomial index = one.index;
    if (!beyond.empty()) {
      const std::string& moved = one.along_k ? names_.counter : one.axis.coordinate;
      index = index.substitute(moved, Polynomial::symbol(moved) + Polynomial::symbol(beyond));
    }
    return fmt::format("{}[{}]", one.array,
                       source::print(source::to_expression(index, one.is_wide)));
  }

  // Opens the loop over a thread's vectors of a factor's strip, and says where one comes from and
  // goes to.
  void open_vectors(std::size_t i, bool in_parts) const {
    const ProductFactor& one = factor(i);
    const int row = one.along_k ? tile_.depth : tile_.tile[i];
    const int vectors = row / kVector;  // of a line of the tile
    const int items = tile_.strip_elements(i) / kVector;
    const int steps = items / tile_.threads();
    if (in_parts) {
      lines_.open("for (int {0} = {1}; {0} < {2}; {0} += {3})", names_.step, names_.part, steps,
                  tile_.parts());
    } else {
      lines_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.step, steps);
    }
    // Without signs, so that quotients are shifts.
    lines_.line("const unsigned int {} = {} / {} + {} * {};", names_.line, names_.thread, vectors,
                names_.step, tile_.threads() / vectors);
    lines_.line("const unsigned int {} = {} % {} * {};", names_.offset, names_.thread, vectors,
                kVector);
    const std::string& at_k = one.along_k ? names_.offset : names_.line;
    const std::string& at = one.along_k ? names_.line : names_.offset;
    lines_.line("const int {} = {} + {};", one.axis.coordinate, names_.first[i], at);
    lines_.line("const {} {} = {} + {};", index_type(), names_.counter, names_.strip, at_k);
    const std::string place =
        one.along_k ? exchanged_along_k(names_.offset, names_.line, tile_.depth)
                    : fmt::format("({} ^ ({} / 2 % 4 * 8))", names_.offset, names_.line);
    lines_.line("float* const {} = &{}[{} * {} + {} * {} + {}];", names_.to, names_.stages[i],
                names_.into, tile_.strip_elements(i), names_.line, row, place);
  }

  void copy_vector(std::size_t i) const {
    lines_.line("asm volatile(\"cp.async.cg.shared.global.L2::128B [%0], [%1], 16;\" ::");
    lines_.line("             \"r\"((unsigned int)__cvta_generic_to_shared({})), \"l\"(&{})",
                names_.to, element(i, ""));
    lines_.line("             : \"memory\");");
  }

  // Under a predicate: a branch would part the code around it, which is scheduled as one.
  void copy_inside(std::size_t i) const {
    lines_.unroll();
    open_vectors(i, true);
    lines_.line("asm volatile(\"{{ .reg .pred p; setp.ne.s32 p, %2, 0; \"");
    lines_.line("             \"@p cp.async.cg.shared.global.L2::128B [%0], [%1], 16; }}\" ::");
    lines_.line("             \"r\"((unsigned int)__cvta_generic_to_shared({})), \"l\"(&{}),",
                names_.to, element(i, ""));
    lines_.line("             \"r\"({}) : \"memory\");", names_.wanted);
    lines_.close();
  }

  void copy_guarded(std::size_t i) const {
    // At borders only, where the copies without questions exist.
    if (asks_inside()) {
      lines_.keep_rolled();
    } else {
      lines_.unroll();
    }
    open_vectors(i, false);
    const std::string all = whole(i);
    if (!all.empty()) {
      lines_.open("if ({})", all);
      copy_vector(i);
      lines_.reopen("} else {");
    }
    lines_.unroll();
    lines_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.e, kVector);
    lines_.line("{}[{}] = {} ? {} : 0.0f;", names_.to, names_.e, conditions(i, names_.e),
                element(i, names_.e));
    lines_.close();
    if (!all.empty()) lines_.close();
    lines_.close();
  }

  CodeLines& lines_;
  const MatrixProduct& product_;
  const TensorTile& tile_;
  const TensorNames& names_;
};

}  // namespace

void declare_tensor_copies(CodeLines& lines, const MatrixProduct& product, const TensorTile& tile,
                           const TensorNames& names) {
  CopyWriter(lines, product, tile, names).declare();
}

std::optional<std::string> define_tensor_fill(CodeLines& lines, const MatrixProduct& product,
                                              const TensorTile& tile, const TensorNames& names,
                                              const std::string& strip) {
  const CopyWriter writer(lines, product, tile, names);
  writer.define_fill();
  if (!writer.asks_inside()) return std::nullopt;
  return writer.is_inside(strip);
}

}  // namespace regraph::rewrite
