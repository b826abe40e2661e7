#include "triton_expander/triton_expander.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <set>
#include <sstream>
#include <string_view>

namespace regraph::triton {
namespace {

// Of a tile's extent. tl.dot wants 16; more than 2^17 elements in a program spill.
constexpr std::int64_t kLeastTile = 16;
constexpr std::int64_t kMostTile = 1 << 17;
constexpr int kMostProposedWarps = 32;
constexpr int kMostProposedStages = 6;
constexpr int kMostProposedCtas = 4;

std::optional<std::int64_t> integer(const std::string& text) {
  std::int64_t value = 0;
  const char* const last = text.data() + text.size();
  if (std::from_chars(text.data(), last, value).ptr != last || text.empty()) return std::nullopt;
  return value;
}

bool is_letter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool mentions(std::string_view text, std::string_view name) {
  for (std::size_t at = 0; (at = text.find(name, at)) != std::string_view::npos; ++at) {
    const std::size_t end = at + name.size();
    const bool begins = at == 0 || !is_letter(text[at - 1]);
    if (begins && (end == text.size() || !is_letter(text[end]))) return true;
  }
  return false;
}

bool has_loop(const KernelText& text) {
  return mentions(text.module, "for") || mentions(text.module, "while");
}

class ValueProposer {
 public:
  ValueProposer(const KernelText& text, bool has_clusters)
      : text_(text), has_clusters_(has_clusters) {}

  std::vector<StepProposal> run() {
    for (const auto& [name, value] : text_.constants) {
      const auto number = integer(value);
      const bool is_power = number && *number > 0 && (*number & (*number - 1)) == 0;
      if (is_power && is_tile(text_, name)) {
        for (const std::int64_t next : {*number * 2, *number / 2, *number * 4, *number / 4}) {
          if (next >= kLeastTile && next <= kMostTile) add("tile", name, std::to_string(next));
        }
      }
    }
    for (const int next : {text_.warps * 2, text_.warps / 2}) {
      if (next >= 1 && next <= kMostProposedWarps) add("warps", "", std::to_string(next));
    }
    if (has_loop(text_)) {
      for (const int next : {text_.stages + 1, text_.stages - 1}) {
        if (next >= 1 && next <= kMostProposedStages) add("stages", "", std::to_string(next));
      }
    }
    // Blocks that share a program can share a product's operands alone.
    if (has_clusters_ && mentions(text_.module, "dot")) {
      for (const int next : {text_.ctas * 2, text_.ctas / 2}) {
        if (next >= 1 && next <= kMostProposedCtas) add("ctas", "", std::to_string(next));
      }
    }
    for (const auto& [name, values] : text_.choices) {
      for (const std::string& value : values) {
        if (name == "num_warps") {
          add("warps", "", value);
        } else if (name == "num_ctas") {
          if (has_clusters_) add("ctas", "", value);
        } else if (name == "num_stages") {
          add("stages", "", value);
        } else if (text_.constants.contains(name)) {
          add(is_tile(text_, name) ? "tile" : "constant", name, value);
        }
      }
    }
    return std::move(proposals_);
  }

 private:
  // Once, and not the present value.
  void add(const std::string& step, const std::string& name, const std::string& value) {
    const std::string now = step == "warps"    ? std::to_string(text_.warps)
                            : step == "stages" ? std::to_string(text_.stages)
                            : step == "ctas"   ? std::to_string(text_.ctas)
                                               : text_.constants.at(name);
    if (value == now || !known_.insert(step + " " + name + " " + value).second) return;
    StepProposal proposal;
    proposal.step = step;
    if (!name.empty()) proposal.parameters["name"] = name;
    proposal.parameters["value"] = value;
    proposals_.push_back(std::move(proposal));
  }

  const KernelText& text_;
  bool has_clusters_;
  std::set<std::string> known_;
  std::vector<StepProposal> proposals_;
};

}  // namespace

bool is_tile(const KernelText& text, const std::string& constant) {
  for (const std::string& extent : text.grid) {
    if (mentions(extent, constant)) return true;
  }
  std::istringstream lines(text.module);
  for (std::string line; std::getline(lines, line);) {
    if (mentions(line, "for") && mentions(line, "range") && mentions(line, constant)) return true;
  }
  return false;
}

std::vector<StepProposal> value_proposals(const KernelText& text, bool has_clusters) {
  return ValueProposer(text, has_clusters).run();
}

}  // namespace regraph::triton
