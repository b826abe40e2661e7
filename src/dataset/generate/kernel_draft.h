// A kernel and its manifest while a family writes them. Families say what is computed, with roles
// where a name belongs; how it is spelt (names, const, braces, counting) is drawn here, once a
// kernel.
//
//   draft.size("n", many_elements(dice, "n"));
//   draft.buffer({"in", Direction::in, {"$n"}, draft.init()});
//   over_elements(draft, {{"i", "$n"}});          // thread_layout.h
//   draft.line("$out[$i] = $in[$i];");
//   return draft.finish();
//
// In texts $role is the name of a role, $T the element's type, $zero and $one its numbers.
#pragma once

#include "dataset/generate/dice.h"
#include "dataset/generate/element.h"
#include "dataset/generate/expression_maker.h"
#include "dataset/generate/extents.h"
#include "dataset/generate/generator.h"
#include "dataset/generate/naming.h"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace regraph::dataset {

enum class Direction : unsigned char { in, out, inout };

struct Buffer {
  std::string role;
  Direction direction = Direction::in;
  std::vector<std::string> shape;                 // texts, outermost extent first
  std::string init = {};                          // empty: the manifest's default
  std::optional<Element> element = std::nullopt;  // none: the draft's
};

// Which kernel is written.
struct KernelPlace {
  std::string_view family;
  std::uint64_t seed = 0;
  std::uint64_t index = 0;
};

// Numbers of all kinds, most of them single precision.
inline constexpr std::initializer_list<Element> kAnyElement = {
    Element::float32, Element::float32, Element::float32, Element::float32,
    Element::float32, Element::float64, Element::int32};
inline constexpr std::initializer_list<Element> kFloatingElement = {
    Element::float32, Element::float32, Element::float32, Element::float32, Element::float64};

// `text` without the parentheses around all of it, where there are such.
[[nodiscard]] std::string bare(const std::string& text);

class KernelDraft {
 public:
  // `stems` are what such a function may be called, `elements` what it may compute with; repeat
  // what is likelier.
  KernelDraft(const KernelPlace& place, std::initializer_list<std::string_view> stems,
              std::initializer_list<Element> elements = kAnyElement);

  [[nodiscard]] const Dice& dice() const { return dice_; }
  [[nodiscard]] Element element() const { return element_; }
  [[nodiscard]] bool floating() const { return is_floating(element_); }

  // `text` with names and types put in.
  [[nodiscard]] std::string say(std::string_view text);
  [[nodiscard]] std::string literal(double value) const { return number(element_, value); }
  // A call of a function that floating types and int have (function_name).
  [[nodiscard]] std::string call(std::string_view function, std::string_view arguments);
  // How inputs are filled, one of those that suit the type.
  [[nodiscard]] std::string init(std::string_view site = "init") const;
  // An expression over operands, whose texts may hold roles; in parentheses where it binds looser
  // than `around`, what it is going to stand next to.
  [[nodiscard]] std::string expression(std::string_view site, std::vector<Operand> operands,
                                       int operations, Binding around = Binding::choice);

  // Parameters. Sizes are passed as int and are symbols of the manifest.
  void size(std::string_view role, const Extent& extent);
  void buffer(const Buffer& buffer);
  void scalar(std::string_view role, double value);

  // The launch: `grid` in sizes and bx, by, bz.
  void launch(std::vector<int> block, std::vector<std::string> grid);

  // Text in front of the kernel: macros, functions of the device.
  void preamble(std::string_view text);
  // One statement.
  void line(std::string_view text);
  // "int NAME = value;", const where the author writes that.
  void index(std::string_view role, std::string_view value);
  // A block that close() or finish() ends; without braces where the author leaves them out.
  void open(std::string_view head);
  void close();
  // Closes an if and opens what is done else.
  void otherwise();
  // for (int counter = begin; counter < end; counter += step), opened.
  void loop(std::string_view counter, std::string_view begin, std::string_view end, int step = 1);
  // "target += value;" in the author's way; `value` may bind as loosely as it likes.
  void add(std::string_view target, std::string_view value);

  // Closes what is open.
  [[nodiscard]] GeneratedKernel finish();

 private:
  struct Style {
    bool braces = true;
    bool const_locals = false;
    bool const_inputs = true;
    bool spelled_sums = false;  // s = s + x
    std::size_t restricts = 0;  // 0 none, 1 all, 2 inputs
    std::size_t counting = 0;   // ++i, i++, i += 1
    std::size_t parameters = 0;
    int indentation = 2;
  };
  struct Line {
    std::size_t depth = 0;
    std::string text;
  };
  struct Size {
    std::string name;
    Extent extent;
  };

  [[nodiscard]] std::string source() const;
  [[nodiscard]] std::string parameter_list(std::size_t column) const;
  [[nodiscard]] std::string manifest() const;

  std::string family_;
  Dice dice_;
  Element element_;
  std::string function_;
  Names names_;
  Style style_;
  std::vector<Size> sizes_;
  std::vector<std::string> buffers_;    // declarations
  std::vector<std::string> scalars_;    // declarations
  std::vector<std::string> arguments_;  // lines of the manifest
  std::string bytes_;                   // of all buffers, an expression
  std::string launch_;
  std::string preamble_;
  std::vector<Line> lines_;
  std::vector<std::size_t> open_;  // lines that opened blocks
};

}  // namespace regraph::dataset
