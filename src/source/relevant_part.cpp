#include "source/relevant_part.h"

#include "source/code_items.h"
#include "source/extract.h"
#include "source/item_reach.h"
#include "source/outer_comments.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace regraph::source {
namespace {

using Kind = CodeItem::Kind;

// Nothing: all are to be kept.
std::optional<std::vector<bool>> kept_items(const std::vector<CodeItem>& items,
                                            std::span<const std::string> kernels) {
  ItemReach reach(items);
  for (std::size_t at = 0; at < items.size(); ++at) {
    if (items[at].kind == Kind::surrounding && !items[at].scope) reach.keep(at);
  }
  for (const std::string& kernel : kernels) {
    if (!reach.declares(kernel)) return std::nullopt;
    reach.mention(kernel);
  }
  reach.follow();
  std::vector<bool> kept = reach.kept();
  for (std::size_t at = 0; at < items.size(); ++at) {
    if (kept[at] && items[at].pastes) return std::nullopt;
  }
  return kept;
}

class PartWriter {
 public:
  PartWriter(std::string_view text, const std::vector<CodeItem>& items,
             const std::vector<bool>& kept)
      : text_(text), items_(items), kept_(kept) {}

  // Fills in all but the words.
  void write(RelevantPart& part) {
    for (std::size_t at = 0; at < items_.size(); ++at) {
      const std::size_t begin = at == 0 ? 0 : items_[at - 1].end;
      const OuterComments comments = outer_comments(text_, begin, items_[at].begin, at == 0, false);
      if (at == 0 && comments.has_strays) part.head = text_.substr(0, comments.lead_begin);
      between(at, begin, comments);
      if (kept_[at]) {
        show(at, begin, comments);
      } else {
        leave_out(at, comments);
      }
    }
    if (!items_.empty()) finish(items_.back().end);
    part.shown = std::move(shown_);
    part.left_out = std::move(left_out_);
  }

 private:
  // What stands behind the item before on its line.
  void between(std::size_t at, std::size_t begin, const OuterComments& comments) {
    const bool follows_kept = at > 0 && kept_[at - 1];
    is_gap_whole_ = kept_[at] && !comments.has_strays && (at == 0 || follows_kept);
    has_blank_line_ = has_blank_line_ || comments.has_blank_line;
    if (follows_kept && !is_gap_whole_) shown_ += text_.substr(begin, comments.tail_end - begin);
  }

  void show(std::size_t at, std::size_t begin, const OuterComments& comments) {
    if (is_gap_whole_) {
      shown_ += text_.substr(begin, items_[at].end - begin);
    } else {
      if (!shown_.empty()) shown_ += has_blank_line_ ? "\n\n" : "\n";
      shown_ += text_.substr(comments.lead_begin, items_[at].end - comments.lead_begin);
    }
    has_blank_line_ = false;
  }

  void leave_out(std::size_t at, const OuterComments& comments) {
    const CodeItem& item = items_[at];
    const bool is_scope = item.kind == Kind::scope_begin || item.kind == Kind::scope_end;
    if (is_scope || item.words.empty()) return;
    enter(item.scope);
    if (left_out_.empty()) left_out_ += '\n';
    left_out_ += text_.substr(comments.lead_begin, item.end - comments.lead_begin);
    left_out_ += '\n';
  }

  // Ends scopes of what is left out and begins others, until `scope` is the innermost one.
  void enter(std::optional<std::size_t> scope) {
    std::vector<std::size_t> path;
    for (; scope; scope = items_[*scope].scope)
      path.insert(path.begin(), *scope);
    const auto common = std::ranges::mismatch(path, path_).in1 - path.begin();
    for (; path_.size() > static_cast<std::size_t>(common); path_.pop_back())
      left_out_ += "}\n";
    for (; path_.size() < path.size(); path_.push_back(path[path_.size()]))
      left_out_ += "\n" + std::string(own_text(path[path_.size()])) + "\n";
  }

  [[nodiscard]] std::string_view own_text(std::size_t at) const {
    return text_.substr(items_[at].begin, items_[at].end - items_[at].begin);
  }

  void finish(std::size_t end) {
    const OuterComments comments = outer_comments(text_, end, text_.size(), false, true);
    if (kept_.back()) {
      const std::size_t last = comments.has_strays ? comments.tail_end : text_.size();
      shown_ += text_.substr(end, last - end);
    }
    if (!shown_.empty() && shown_.back() != '\n') shown_ += '\n';
    enter(std::nullopt);
  }

  std::string_view text_;
  const std::vector<CodeItem>& items_;
  const std::vector<bool>& kept_;
  std::string shown_;
  std::string left_out_;
  std::vector<std::size_t> path_;  // the scopes that are open there
  bool is_gap_whole_ = false;      // between the item and the one before all is shown
  bool has_blank_line_ = false;    // since what was shown last
};

}  // namespace

RelevantPart relevant_part(std::string_view source, std::span<const std::string> kernels) {
  RelevantPart part;
  part.whole = without_line_directives(source);
  part.shown = part.whole;
  const auto items = code_items(part.whole);
  if (!items || kernels.empty()) return part;
  const auto kept = kept_items(*items, kernels);
  if (!kept) return part;
  PartWriter(part.whole, *items, *kept).write(part);
  ItemReach used(*items);
  for (std::size_t at = 0; at < items->size(); ++at) {
    const bool is_scope = (*items)[at].kind == Kind::scope_begin;
    if (!(*kept)[at] && !is_scope) used.keep(at);
  }
  used.follow();
  for (const std::string_view word : used.mentioned())
    part.words.emplace_back(word);
  return part;
}

}  // namespace regraph::source
