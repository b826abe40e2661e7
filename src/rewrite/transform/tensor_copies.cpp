#include "rewrite/transform/tensor_copies.h"

#include "source/build.h"
#include "source/printer.h"

#include <fmt/format.h>

#include <optional>

namespace regraph::rewrite {

namespace {

class CopyWriter {
 public:
  CopyWriter(CodeLines& lines, const MatrixProduct& product, const TensorTile& tile,
             const TensorNames& names)
      : lines_(lines), product_(product), tile_(tile), names_(names) {}

  void declare() const {
    for (std::size_t i = 0; i < 2; ++i) {
      if (!factor(i).divisible) continue;
      lines_.line("const bool {} = {};", names_.whole[i],
                  all_divisible(*factor(i).divisible, tile_.vector()));
    }
    if (!asks_inside()) return;
    for (std::size_t i = 0; i < 2; ++i)
      lines_.line("const bool {} = {};", names_.inside[i], *inside(i));
  }

  void define_fill() const {
    if (asks_inside()) {
      for (std::size_t i = 0; i < 2; ++i)
        declare_next(i);
      lines_.open("const auto {} = [&](int {}, int {}, int {})", names_.fill_inside, names_.into,
                  names_.part, names_.wanted);
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

  bool asks_inside() const {
    return !tile_.by_boxes && inside(0) && inside(1) && moves_evenly(0) && moves_evenly(1);
  }

  void advance() const {
    for (std::size_t i = 0; i < 2; ++i)
      lines_.line("{} += {};", names_.ahead[i], text_of(strip_stride(i), factor(i).is_wide));
  }

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
    if (tile_.fills_zeros && one.along_k) return result;
    if (const auto even = tile_.fills_zeros ? ends_evenly(one) : std::nullopt)
      return result + *even;
    for (const TileGuard& guard : one.guards) {
      const Polynomial there =
          Polynomial::symbol(names_.first[i]) + Polynomial::symbol(names_.offset);
      const std::optional<TileGuard> hardest =
          TileGuard{guard.op, guard.left.substitute(coordinate, there),
                    guard.right.substitute(coordinate, there)}
              .hardest(names_.offset, tile_.tile[i]);
      if (!hardest) return std::nullopt;
      result += " && " + print(hardest->expression(one.is_wide));
    }
    if (one.axis.limit) {
      result += fmt::format(" && {} + {} < {}", names_.first[i], tile_.tile[i] - 1,
                            print(one.axis.limit));
    }
    return result;
  }

  // Conditions, " && ...", for no vector along the coordinate to be inside in part: vectors begin
  // at multiples of their length. Nothing where they cannot be told.
  std::optional<std::string> ends_evenly(const ProductFactor& one) const {
    std::string result;
    const std::string& coordinate = one.axis.coordinate;
    for (const TileGuard& guard : one.guards) {
      const Polynomial end = guard.right - guard.left + Polynomial::symbol(coordinate);
      if (guard.op != BinaryOperator::less || end.mentions(coordinate)) return std::nullopt;
      result += fmt::format(" && ({}) % {} == 0", text_of(end, one.is_wide), tile_.vector());
    }
    if (one.axis.limit)
      result += fmt::format(" && ({}) % {} == 0", print(one.axis.limit), tile_.vector());
    return result;
  }

  // The conditions for an element of the factor, `beyond` neighbours further on.
  std::string conditions(std::size_t i, const std::string& beyond) const {
    const ProductFactor& one = factor(i);
    const std::string result = conditions_of_line(i, beyond);
    return fmt::format("{}{}{}{} < {}", result, result.empty() ? "" : " && ", names_.counter,
                       one.along_k && !beyond.empty() ? " + " + beyond : "", names_.limit);
  }

  // Those of them that do not ask for k; empty where there are none.
  std::string conditions_of_line(std::size_t i, const std::string& beyond) const {
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
      add(print(moved.expression(one.is_wide)));
    }
    if (one.axis.limit) {
      add(fmt::format("{}{} < {}", coordinate, moves ? " + " + beyond : "", print(one.axis.limit)));
    }
    return result;
  }

  // The conditions for a whole vector; empty where they cannot be told.
  std::string whole(std::size_t i) const {
    const ProductFactor& one = factor(i);
    if (!one.divisible) return "";
    const std::string last = fmt::format(" + {}", tile_.vector() - 1);
    std::string result = names_.whole[i];
    const std::string& coordinate = one.axis.coordinate;
    for (const TileGuard& guard : one.guards) {
      std::optional<TileGuard> hardest = guard;
      if (!one.along_k) {
        const Polynomial there = Polynomial::symbol(coordinate) + Polynomial::symbol(names_.e);
        hardest = TileGuard{guard.op, guard.left.substitute(coordinate, there),
                            guard.right.substitute(coordinate, there)}
                      .hardest(names_.e, tile_.vector());
      }
      if (!hardest) return "";
      result += " && " + print(hardest->expression(one.is_wide));
    }
    if (one.axis.limit) {
      result +=
          fmt::format(" && {}{} < {}", coordinate, one.along_k ? "" : last, print(one.axis.limit));
    }
    return result +
           fmt::format(" && {}{} < {}", names_.counter, one.along_k ? last : "", names_.limit);
  }

  std::string element(std::size_t i, const std::string& beyond) const {
    const ProductFactor& one = factor(i);
    Polynomial index = one.index;
    if (!beyond.empty()) {
      const std::string& moved = one.along_k ? names_.counter : one.axis.coordinate;
      index = index.substitute(moved, Polynomial::symbol(moved) + Polynomial::symbol(beyond));
    }
    return fmt::format("{}[{}]", one.array, print(to_expression(index, one.is_wide)));
  }

  static std::string text_of(const Polynomial& polynomial, bool wide) {
    return print(to_expression(polynomial, wide));
  }

  // A thread copies vectors of lines this far apart.
  int lines_apart(std::size_t i) const { return threads() / vectors_of_line(i); }
  int row(std::size_t i) const { return factor(i).along_k ? tile_.depth : tile_.tile[i]; }
  int vectors_of_line(std::size_t i) const { return row(i) / tile_.vector(); }
  int steps(std::size_t i) const { return tile_.strip_elements(i) / tile_.vector() / threads(); }
  int threads() const {
    return tile_.copying_threads > 0 ? tile_.copying_threads : tile_.threads() / tile_.slices;
  }
  // Which of them a thread is.
  const std::string& thread() const { return tile_.slices > 1 ? names_.lane : names_.thread; }
  std::string type() const { return std::string(cuda_name(tile_.element)); }
  // Strips that are copied before the pointers of those that are inside begin.
  int strips_before() const {
    return tile_.copying_threads > 0 || tile_.slices > 1 ? 0 : tile_.stages - 1;
  }

  Polynomial stride(std::size_t i, const std::string& along, int by) const {
    const Polynomial& index = factor(i).index;
    return index.substitute(along, Polynomial::symbol(along) + Polynomial(by)) - index;
  }
  // Elements from a strip to the next, and from a line that a thread copies to its next.
  Polynomial strip_stride(std::size_t i) const {
    return stride(i, names_.counter, tile_.strip_step());
  }
  Polynomial line_stride(std::size_t i) const {
    return stride(i, factor(i).along_k ? factor(i).axis.coordinate : names_.counter,
                  lines_apart(i));
  }

  bool moves_evenly(std::size_t i) const {
    for (const Polynomial& one : {strip_stride(i), line_stride(i)}) {
      if (one.mentions(names_.counter) || one.mentions(factor(i).axis.coordinate)) return false;
    }
    return true;
  }

  // Where a thread's first vector of a strip comes from, a pointer that moves from strip to strip,
  // and goes to, an address: what a copy adds to them is a constant, or the same for all threads.
  void declare_next(std::size_t i) const {
    lines_.line("unsigned int {};", names_.address[i]);
    lines_.line("const {}* {};", type(), names_.ahead[i]);
    if (asks_lines(i)) lines_.line("int {};", names_.first_line[i]);
    lines_.open();
    const std::string first = text_of(product_.first, product_.is_wide);
    vector_at(i, "0",
              tile_.slices > 1 ? fmt::format("{} + {} * {}", first, names_.slice, tile_.depth)
                               : fmt::format("{} + {}", first, strips_before() * tile_.depth));
    lines_.line("{} = (unsigned int)__cvta_generic_to_shared(&{}[{}]);", names_.address[i],
                names_.stages[i], place(i));
    lines_.line("{} = &{};", names_.ahead[i], element(i, ""));
    if (asks_lines(i)) lines_.line("{} = {};", names_.first_line[i], factor(i).axis.coordinate);
    lines_.close();
  }

  // Whether a copy asks if its line is inside.
  bool asks_lines(std::size_t i) const {
    return tile_.fills_zeros && !conditions_of_line(i, "").empty();
  }

  // Says how many bytes the copy number `step` reads.
  void declare_bytes(std::size_t i) const {
    const ProductFactor& one = factor(i);
    lines_.line("const int {} = {}{};", one.axis.coordinate, names_.first_line[i],
                one.along_k ? fmt::format(" + {} * {}", names_.step, lines_apart(i)) : "");
    lines_.line("const int {} = {} ? 16 : 0;", names_.bytes, conditions_of_line(i, ""));
  }

  // Under a predicate: a branch would part the code around it, which is scheduled as one.
  void copy_inside(std::size_t i) const {
    lines_.unroll();
    lines_.open("for (int {0} = {1}; {0} < {2}; {0} += {3})", names_.step, names_.part, steps(i),
                tile_.parts());
    const int bytes = lines_apart(i) * tile_.pitch(i, factor(i).along_k) * tile_.element_bytes();
    std::string to = fmt::format("{} + {} * {}", names_.address[i], names_.into,
                                 tile_.strip_elements(i) * tile_.element_bytes());
    const std::string exchange =
        exchange_of_step(tile_, i, factor(i).along_k, names_.step, lines_apart(i));
    if (!exchange.empty()) to = fmt::format("(({}) ^ ({}))", to, exchange);
    const bool asks = asks_lines(i);
    if (asks) declare_bytes(i);
    lines_.line("asm volatile(\"{{ .reg .pred p; setp.ne.s32 p, %2, 0; \"");
    lines_.line("             \"@p cp.async.cg.shared.global.L2::128B [%0], [%1], 16{}; }}\" ::",
                asks ? ", %3" : "");
    lines_.line("             \"r\"({} + {} * {}), \"l\"({} + {} * ({})),", to, names_.step, bytes,
                names_.ahead[i], names_.step, text_of(line_stride(i), factor(i).is_wide));
    lines_.line("             \"r\"({}){} : \"memory\");", names_.wanted,
                asks ? fmt::format(", \"r\"({})", names_.bytes) : "");
    lines_.close();
  }

  // Says which elements a thread's vector number `step` of the strip from `strip` on has.
  void vector_at(std::size_t i, const std::string& step, const std::string& strip) const {
    const ProductFactor& one = factor(i);
    // Without signs, so that quotients are shifts.
    lines_.line("const unsigned int {} = {} / {} + {} * {};", names_.line, thread(),
                vectors_of_line(i), step, lines_apart(i));
    lines_.line("const unsigned int {} = {} % {} * {};", names_.offset, thread(),
                vectors_of_line(i), tile_.vector());
    const std::string& at_k = one.along_k ? names_.offset : names_.line;
    const std::string& at = one.along_k ? names_.line : names_.offset;
    lines_.line("const int {} = {} + {};", one.axis.coordinate, names_.first[i], at);
    lines_.line("const {} {} = {} + {};", index_type(), names_.counter, strip, at_k);
  }

  // Where that vector lies in its strip.
  std::string place(std::size_t i) const {
    return place_in_strip(tile_, i, factor(i).along_k, names_.line, names_.offset);
  }

  void copy_vector(std::size_t i) const {
    lines_.line("asm volatile(\"cp.async.cg.shared.global.L2::128B [%0], [%1], 16;\" ::");
    lines_.line("             \"r\"((unsigned int)__cvta_generic_to_shared({})), \"l\"(&{})",
                names_.to, element(i, ""));
    lines_.line("             : \"memory\");");
  }

  void copy_guarded(std::size_t i) const {
    // At borders only, where the copies without questions exist.
    if (asks_inside() || tile_.by_boxes) {
      lines_.keep_rolled();
    } else {
      lines_.unroll();
    }
    lines_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.step, steps(i));
    vector_at(i, names_.step, names_.strip);
    lines_.line("{}* const {} = &{}[{} * {} + {}];", type(), names_.to, names_.stages[i],
                names_.into, tile_.strip_elements(i), place(i));
    const std::string all = whole(i);
    if (!all.empty()) {
      lines_.open("if ({})", all);
      copy_vector(i);
      lines_.reopen("} else {");
    }
    lines_.unroll();
    lines_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.e, tile_.vector());
    lines_.line("{}[{}] = {} ? {} : {};", names_.to, names_.e, conditions(i, names_.e),
                element(i, names_.e), print(zero_of(tile_.element)));
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

void advance_tensor_copies(CodeLines& lines, const MatrixProduct& product, const TensorTile& tile,
                           const TensorNames& names) {
  CopyWriter(lines, product, tile, names).advance();
}

}  // namespace regraph::rewrite
