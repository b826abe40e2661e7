#include "rewrite/transform/halo_filter_code.h"

#include "source/build.h"
#include "source/printer.h"
#include "source/walk.h"

#include <cstdint>
#include <utility>

namespace regraph::rewrite {

void HaloFilterCode::declare_other_line() {
  const bool is_line_first = halo.others == HaloTile::Others::by_lines;
  text.line("const int {} = {} {} {};", names.line, item, is_line_first ? '%' : '/',
            is_line_first ? lines(other) : HaloTile::kChunks);
  text.line("const int {} = {} {} {};", chunk, item, is_line_first ? '/' : '%',
            is_line_first ? lines(other) : HaloTile::kChunks);
  text.line("const int {} = {} + {};", factor(other).axis.coordinate, names.first[other],
            names.line);
  elements.declare_names_of(other);
  std::string inside = has_item.empty() ? "" : "(" + has_item + ")";
  if (const std::string more = elements.conditions(other, Asked::of_line); !more.empty())
    inside += (inside.empty() ? "" : " & ") + more;
  text.line("const bool {} = {};", names.inside[other], inside.empty() ? "true" : inside);
}

std::string HaloFilterCode::whole_chunk() const {
  return fmt::format("{} & {} & ({} + {} * {} + {} < {})", names.whole[other], names.inside[other],
                     begin, chunk, kChunk, kChunk - 1, elements.text_of(chunked().limit));
}

ExprPtr HaloFilterCode::element_of_first_tap() const {
  ExprPtr element = elements.gathered(other).element;
  for (const TapAxis& axis : halo.axes) {
    if (!axis.loop) continue;
    const SummedLoop& loop = gemm.loops[*axis.loop];
    element = rewrite_expr(element, replace_variable(loop.counter, loop.first));
  }
  return element;
}

void HaloFilterCode::define_copy_others() {
  text.open("const auto {} = [&](int {})", load[other], names.strip);
  declare_counters();
  declare_thread_again();
  text.unroll();
  text.open("for (int {0} = 0; {0} < {1}; ++{0})", names.step, steps(other));
  text.unroll();
  text.open("for (int {0} = 0; {0} < {1}; ++{0})", names.e, taps());
  text.line("const int {} = {} % 32 + 32 * {};", names.offset, again, names.e);
  declare_item(other,
               fmt::format("{0} - {0} % 32 + {1} / {2}", "(int)" + again, names.offset, taps()));
  declare_other_line();
  text.line("const int {} = {} + {} * {};", chunked().counter, begin, chunk, kChunk);
  text.open("if ({})", whole_chunk());
  write_copy(
      fmt::format("&{}[({} * {} + {} % {}) * {}]", raw, item, taps(), names.offset, taps(), kChunk),
      fmt::format("&{} + {} * ({} % {})", elements.text_of(element_of_first_tap()), kChunk,
                  names.offset, taps()));
  text.close();
  text.close();
  text.close();
  text.close("};");
}

void HaloFilterCode::define_copy_lines() {
  text.open("const auto {} = [&](int {})", load[other], names.strip);
  declare_counters();
  declare_thread_again();
  text.open("if ({})", whole_lines());
  const int vectors = lines(other) * taps() / kChunk;  // of an iteration
  const int count = HaloTile::kChunks * kChunk * vectors;
  const int rounds = (count + tile.threads() - 1) / tile.threads();
  text.unroll();
  text.open("for (int {0} = 0; {0} < {1}; ++{0})", names.step, rounds);
  text.line("const int {} = (int){} + {} * {};", item, again, names.step, tile.threads());
  if (rounds * tile.threads() != count) text.open("if ({} < {})", item, count);
  text.line("const int {} = {} + {} / {};", chunked().counter, begin, item, vectors);
  text.line("const int {} = {};", factor(other).axis.coordinate, names.first[other]);
  elements.declare_names_of(other);
  write_copy(fmt::format("&{}[{} * {}]", raw, item, kChunk),
             fmt::format("&{} + {} * ({} % {})", elements.text_of(element_of_first_tap()), kChunk,
                         item, vectors));
  if (rounds * tile.threads() != count) text.close();
  text.close();
  text.close();
  text.close("};");
}

std::string HaloFilterCode::whole_lines() const {
  const ExprPtr& limit = factor(other).axis.limit;
  const std::string inside =
      limit ? fmt::format(" & ({} + {} <= {})", names.first[other], lines(other), print(limit))
            : "";
  return fmt::format("{} & ({} + {} <= {}){}", names.whole[other], begin,
                     HaloTile::kChunks * kChunk, elements.text_of(chunked().limit), inside);
}

void HaloFilterCode::define_copy_chunks() {
  text.open("const auto {} = [&](int {}, int {})", load[other], names.strip, names.into);
  declare_counters();
  declare_thread_again();
  const int count = halo.other_chunks(tile);
  const int rounds = (count + tile.threads() - 1) / tile.threads();
  text.unroll();
  text.open("for (int {0} = 0; {0} < {1}; ++{0})", names.step, rounds);
  const std::string every = fmt::format("((int){} + {} * {})", again, names.step, tile.threads());
  text.line("const int {} = {} / {};", names.offset, every, chunks(other));
  text.line("const int {} = {} % {};", item, every, chunks(other));
  has_item = rounds * tile.threads() == count ? "" : fmt::format("{} < {}", names.offset, taps());
  declare_taps(names.offset);
  declare_other_line();
  if (!has_item.empty()) text.open("if ({})", has_item);
  const std::string of_chunk = elements.conditions(other, Asked::of_chunk);
  text.line("const bool {} = {}{};", wanted, names.inside[other],
            of_chunk.empty() ? "" : " & " + of_chunk);
  text.line("{}* const {} = &{}[{} * {} + {} * {}];", type(), names.to, names.stages[other],
            names.into, stage_elements(other), other_place(names.offset, names.line, chunk),
            kChunk);
  text.open("if ({} & {})", whole_chunk(), wanted);
  text.line("const int {} = {} + {} * {};", chunked().counter, begin, chunk, kChunk);
  write_copy(names.to, "&" + elements.text_of(elements.gathered(other).element));
  text.reopen("} else {");
  text.unroll();
  text.open("for (int {0} = 0; {0} < {1}; ++{0})", names.e, kChunk);
  declare_iteration(chunk);
  text.line("{}[{}] = {} ? {} : {};", names.to, names.e, wanted_element(other),
            elements.text_of(elements.gathered(other).element), print(zero_of(tile.element)));
  text.close();
  text.close();
  if (!has_item.empty()) text.close();
  text.close();
  text.close("};");
}

std::string HaloFilterCode::other_place(const std::string& tap, const std::string& line,
                                        const std::string& chunk) const {
  return fmt::format("(({0} * {1} + {2}) * {3} + ({4} ^ {2} / 4 % 2))", tap, lines(other), line,
                     HaloTile::kChunks, chunk);
}

void HaloFilterCode::define_store_others() {
  text.open("const auto {} = [&](int {})", store[other], names.strip);
  declare_counters();
  text.unroll();
  text.open("for (int {0} = 0; {0} < {1}; ++{0})", names.step, steps(other));
  declare_item(other, "(int)" + names.thread);
  declare_other_line();
  if (is_dense()) {
    std::string whole = is_by_lines() ? whole_lines() : whole_chunk();
    if (is_by_lines() && !has_item.empty()) whole += " & (" + has_item + ")";
    text.open("if ({})", whole);
    if (is_by_lines())
      store_lines();
    else
      store_vectors();
    text.reopen(has_item.empty() ? "} else {"
                                 : fmt::format("}} else if ({}) {{", has_item).c_str());
  } else if (!has_item.empty()) {
    text.open("if ({})", has_item);
  }
  if (is_dense())
    text.keep_rolled();
  else
    text.unroll();
  text.open("for (int {0} = 0; {0} < {1}; ++{0})", names.offset, taps());
  declare_taps(names.offset);
  const std::string of_chunk = elements.conditions(other, Asked::of_chunk);
  text.line("const bool {} = {}{};", wanted, names.inside[other],
            of_chunk.empty() ? "" : " & " + of_chunk);
  text.line("unsigned int {}[{}];", pair, kChunk);
  text.unroll();
  text.open("for (int {0} = 0; {0} < {1}; ++{0})", names.e, kChunk);
  declare_iteration(chunk);
  text.line("{}[{}] = {}(&{}, {});", pair, names.e, element,
            elements.text_of(elements.gathered(other).element), wanted_element(other));
  text.close();
  write_other(names.offset, [&](int e) { return fmt::format("{}[{}]", pair, e); });
  text.close();
  if (is_dense() || !has_item.empty()) text.close();
  text.close();
  text.close("};");
}

int HaloFilterCode::place_of_tap(int tap) const {
  const std::vector<std::int64_t>& steps = elements.gathered(other).dense->steps;
  const std::array number = {tap % halo.axes[0].trips, tap / halo.axes[0].trips};
  std::int64_t place = 0;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const TapAxis& one = halo.axes[axis];
    if (!one.loop) continue;
    place += steps[*one.loop] * (one.reversed ? one.trips - 1 - number[axis] : number[axis]);
  }
  return static_cast<int>(place);
}

void HaloFilterCode::store_lines() {
  store_halves(
      fmt::format("({} * {} * {} + {}) * {}", chunk, kChunk, lines(other), names.line, taps()),
      lines(other) * taps());
}

void HaloFilterCode::store_halves(const std::string& first, int apart) {
  text.line("const unsigned short* const {} = (const unsigned short*){} + {};", names.to, raw,
            first);
  for (int tap = 0; tap < taps(); ++tap) {
    write_other(std::to_string(tap), [&](int e) {
      return fmt::format("{}[{}]", names.to, e * apart + place_of_tap(tap));
    });
  }
}

void HaloFilterCode::store_vectors() {
  constexpr int kMostInRegisters = 12;  // words by four
  if (taps() > kMostInRegisters) {
    store_halves(fmt::format("{} * {}", item, taps() * kChunk), taps());
    return;
  }
  text.line("uint4 {}[{}];", loaded[other], taps());
  text.unroll();
  text.line(
      "for (int {0} = 0; {0} < {1}; ++{0}) {2}[{0}] = *(const uint4*)&{3}[({4} * {1} + {0}) * "
      "{5}];",
      names.e, taps(), loaded[other], raw, item, kChunk);
  const auto half = [&](int at) {
    constexpr std::array kWords = {"x", "y", "z", "w"};
    const std::string word = fmt::format("{}[{}].{}", loaded[other], at / kChunk,
                                         kWords.at(static_cast<std::size_t>(at % kChunk / 2)));
    return at % 2 == 0 ? word : word + " >> 16";
  };
  for (int tap = 0; tap < taps(); ++tap) {
    write_other(std::to_string(tap), [&](int e) { return half(place_of_tap(tap) + e * taps()); });
  }
}

}  // namespace regraph::rewrite
