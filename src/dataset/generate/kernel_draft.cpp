#include "dataset/generate/kernel_draft.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <iterator>

namespace regraph::dataset {

namespace {

constexpr std::size_t kLongestLine = 96;

bool belongs_to_role(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}

// YAML cuts flow text at commas and braces.
std::string quoted(const std::string& text) {
  const bool plain = std::ranges::all_of(text, belongs_to_role);
  return plain ? text : "\"" + text + "\"";
}

std::string quoted_list(const std::vector<std::string>& texts) {
  std::vector<std::string> parts;
  std::ranges::transform(texts, std::back_inserter(parts), quoted);
  return fmt::format("[{}]", fmt::join(parts, ", "));
}

// Lines of one statement, broken behind operators and commas.
std::string wrapped(std::string_view text, std::size_t indentation) {
  constexpr std::size_t kContinuation = 4;
  std::string result;
  std::size_t column = indentation;
  while (column + text.size() > kLongestLine) {
    std::size_t end = kLongestLine - column;
    while (end > 1 && !(text[end] == ' ' && std::string_view(",+-*/?:|&=").find(text[end - 1]) !=
                                                std::string_view::npos))
      --end;
    if (end <= 1) break;
    result += std::string(column, ' ') + std::string(text.substr(0, end)) + "\n";
    text.remove_prefix(end + 1);
    column = indentation + kContinuation;
  }
  return result + std::string(column, ' ') + std::string(text) + "\n";
}

}  // namespace

std::string bare(const std::string& text) {
  if (!text.starts_with("(")) return text;
  std::size_t depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '(') ++depth;
    if (text[at] == ')') --depth;
    if (depth == 0) return at + 1 == text.size() ? text.substr(1, at - 1) : text;
  }
  return text;
}

KernelDraft::KernelDraft(const KernelPlace& place, std::initializer_list<std::string_view> stems,
                         std::initializer_list<Element> elements)
    : family_(place.family),
      dice_(place.family, place.seed, place.index),
      element_(dice_.one_of("element", elements)),
      function_(fmt::format("{}_{}", dice_.word("stem", stems), place.index)),
      names_(dice_) {
  const Dice& dice = dice_;
  style_.braces = dice.chance("braces", 0.6);
  style_.const_locals = dice.chance("const locals", 0.3);
  style_.const_inputs = dice.chance("const inputs", 0.75);
  style_.spelled_sums = dice.chance("spelled sums", 0.2);
  style_.restricts = dice.one_of<std::size_t>("restricts", {0, 0, 0, 0, 0, 0, 0, 1, 2});
  style_.counting = dice.below("counting", 3);
  style_.parameters = dice.below("parameters", 4);
  style_.indentation = dice.one_of("indentation", {2, 2, 4});
}

std::string KernelDraft::say(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] != '$') {
      result += text[at++];
      continue;
    }
    std::size_t end = at + 1;
    while (end < text.size() && belongs_to_role(text[end]))
      ++end;
    const std::string_view role = text.substr(at + 1, end - at - 1);
    if (role == "T") {
      result += type_name(element_);
    } else if (role == "zero" || role == "one") {
      result += literal(role == "one" ? 1.0 : 0.0);
    } else {
      result += names_.of(role);
    }
    at = end;
  }
  return result;
}

std::string KernelDraft::call(std::string_view function, std::string_view arguments) {
  return function_name(element_, function) + "(" + say(arguments) + ")";
}

std::string KernelDraft::init(std::string_view site) const {
  const std::string name(site);
  if (!floating())
    return dice_.word(name, {"int(-9,9)", "int(0,99)", "int(-100,100)", "int(0,255)"});
  return dice_.word(name, {"normal", "normal", "uniform(-1,1)", "uniform(0,1)", "uniform(-2,2)"});
}

std::string KernelDraft::expression(std::string_view site, std::vector<Operand> operands,
                                    int operations, Binding around) {
  for (Operand& operand : operands)
    operand.text = say(operand.text);
  const Operand made = ExpressionMaker(dice_, element_).make(site, std::move(operands), operations);
  return made.binding < around ? "(" + made.text + ")" : made.text;
}

void KernelDraft::size(std::string_view role, const Extent& extent) {
  sizes_.push_back({names_.of(role), extent});
}

void KernelDraft::buffer(const Buffer& buffer) {
  const Element element = buffer.element.value_or(element_);
  const bool input = buffer.direction == Direction::in;
  const std::string& name = names_.of(buffer.role);
  const bool restricted = style_.restricts == 1 || (style_.restricts == 2 && input);
  buffers_.push_back(fmt::format("{}{}*{} {}", input && style_.const_inputs ? "const " : "",
                                 type_name(element), restricted ? " __restrict__" : "", name));
  std::vector<std::string> shape;
  for (const std::string& extent : buffer.shape)
    shape.push_back(bare(say(extent)));
  constexpr std::string_view kDirections[] = {"in", "out", "inout"};
  std::string text =
      fmt::format("  {}: {{dir: {}, shape: {}", name,
                  kDirections[static_cast<std::size_t>(buffer.direction)], quoted_list(shape));
  if (!buffer.init.empty()) text += ", init: " + quoted(buffer.init);
  arguments_.push_back(text + "}");
  const int moves = buffer.direction == Direction::inout ? 2 : 1;
  if (!bytes_.empty()) bytes_ += " + ";
  bytes_ += fmt::format("{}*({})", moves * byte_size(element), fmt::join(shape, ")*("));
}

void KernelDraft::scalar(std::string_view role, double value) {
  const std::string& name = names_.of(role);
  scalars_.push_back(fmt::format("{} {}", type_name(element_), name));
  arguments_.push_back(
      fmt::format("  {}: {}", name,
                  number(element_ == Element::int32 ? Element::int32 : Element::float64, value)));
}

void KernelDraft::launch(std::vector<int> block, std::vector<std::string> grid) {
  for (std::string& extent : grid)
    extent = bare(say(extent));
  launch_ =
      fmt::format("launch: {{block: [{}], grid: {}}}\n", fmt::join(block, ", "), quoted_list(grid));
}

void KernelDraft::preamble(std::string_view text) {
  preamble_ += say(text) + "\n";
}

void KernelDraft::line(std::string_view text) {
  lines_.push_back({open_.size(), say(text)});
}

void KernelDraft::index(std::string_view role, std::string_view value) {
  const std::string text = say(value);  // names of what stands on the right come first
  line(fmt::format("{}int {} = {};", style_.const_locals ? "const " : "", names_.of(role), text));
}

void KernelDraft::open(std::string_view head) {
  lines_.push_back({open_.size(), say(head)});
  open_.push_back(lines_.size() - 1);
}

void KernelDraft::close() {
  const std::size_t head = open_.back();
  open_.pop_back();
  const bool single = lines_.size() == head + 2 && lines_.back().text.ends_with(";");
  if (single && !style_.braces) return;
  lines_[head].text += " {";
  lines_.push_back({open_.size(), "}"});
}

void KernelDraft::otherwise() {
  close();
  if (lines_.back().text == "}") {
    lines_.pop_back();
    open("} else");
  } else {
    open("else");
  }
}

void KernelDraft::loop(std::string_view counter, std::string_view begin, std::string_view end,
                       int step) {
  const std::string from = say(begin);
  const std::string to = say(end);
  const std::string& name = names_.of(counter);
  std::string count = fmt::format("{} += {}", name, step);
  if (step == 1 && style_.counting == 0) count = "++" + name;
  if (step == 1 && style_.counting == 1) count = name + "++";
  open(fmt::format("for (int {0} = {1}; {0} < {2}; {3})", name, from, to, count));
}

void KernelDraft::add(std::string_view target, std::string_view value) {
  if (style_.spelled_sums) {
    const bool loose = value.find_first_of("?&|^>") != std::string_view::npos;
    line(fmt::format(fmt::runtime(loose ? "{0} = {0} + ({1});" : "{0} = {0} + {1};"), target,
                     value));
  } else {
    line(fmt::format("{} += {};", target, value));
  }
}

GeneratedKernel KernelDraft::finish() {
  while (!open_.empty())
    close();
  return {family_, function_, source(), manifest()};
}

std::string KernelDraft::parameter_list(std::size_t column) const {
  std::vector<std::string> sizes;
  for (const Size& size : sizes_)
    sizes.push_back("int " + size.name);
  std::vector<std::vector<std::string>> groups = {buffers_, scalars_, sizes};
  if (style_.parameters == 1) std::swap(groups[1], groups[2]);
  if (style_.parameters == 2) std::rotate(groups.begin(), groups.begin() + 2, groups.end());
  std::string result;
  for (const std::vector<std::string>& group : groups) {
    for (const std::string& parameter : group) {
      if (!result.empty()) result += ", ";
      const std::size_t line = result.rfind('\n');
      const std::size_t width =
          line == std::string::npos ? column + result.size() : result.size() - line;
      if (width + parameter.size() > kLongestLine) {
        result.back() = '\n';
        result.append(column, ' ');
      }
      result += parameter;
    }
  }
  return result;
}

std::string KernelDraft::source() const {
  const std::string head = fmt::format("__global__ void {}(", function_);
  std::string result = preamble_ + head + parameter_list(head.size()) + ") {\n";
  for (const Line& line : lines_) {
    result += wrapped(line.text, (line.depth + 1) * static_cast<std::size_t>(style_.indentation));
  }
  return result + "}\n";
}

std::string KernelDraft::manifest() const {
  const auto values = [&](auto value) {
    std::vector<std::string> parts;
    for (const Size& size : sizes_)
      parts.push_back(fmt::format("{}: {}", size.name, value(size.extent)));
    return fmt::format("{{{}}}", fmt::join(parts, ", "));
  };
  const auto bench = [](const Extent& extent) { return extent.bench; };
  std::string result = "sizes: " + values(bench) + "\nargs:\n";
  for (const std::string& argument : arguments_)
    result += argument + "\n";
  result += launch_ + "tests:\n";
  // The smallest one is not always worth a compilation's wait.
  const std::size_t tests = dice_.chance("smallest test", 0.6) ? kTests : kTests - 1;
  for (std::size_t test = 0; test < tests; ++test)
    result += "  - " + values([&](const Extent& extent) { return extent.tests[test]; }) + "\n";
  result += "bench:\n  - " + values(bench) + "\n";
  if (element_ == Element::float32 && dice_.chance("fast math", 0.25))
    result += "assume: {fast_math: true}\n";
  return result + fmt::format("counters: {{bytes: \"{}\"}}\n", bytes_);
}

}  // namespace regraph::dataset
