#include "handback/hand_back.h"

#include "handback/buffer_arguments.h"
#include "handback/kernel_change.h"
#include "handback/specialisation.h"
#include "handback/text_edits.h"
#include "source/top_level.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace regraph::handback {
namespace {

Error refuse(std::string why) {
  return fail(ErrorCode::unsupported, std::move(why));
}

bool has_word(const std::string& text, std::string_view word) {
  return std::ranges::any_of(source::tokenize(text),
                             [&](const source::Token& token) { return token.in(text) == word; });
}

// The words of a parameter list that make its type.
std::vector<std::string> typing_words(std::string_view parameters) {
  std::vector<std::string> words;
  for (const source::Token& token : source::tokenize(parameters)) {
    const std::string word(token.in(parameters));
    if (word.find("restrict") == std::string::npos) words.push_back(word);
  }
  return words;
}

std::vector<std::string> defines_of(std::string_view text) {
  std::vector<std::string> found;
  for (const source::Token& token : source::tokenize(text)) {
    if (token.kind != source::TokenKind::directive) continue;
    std::string directive(token.in(text));
    std::erase(directive, '\r');
    if (source::directive_name(directive) == "define") found.push_back(std::move(directive));
  }
  return found;
}

class HandBacker {
 public:
  explicit HandBacker(const HandBackRequest& request)
      : request_(request),
        full_name_(request.problem.signature.name),
        name_(source::unqualified_name(full_name_)),
        edits_(request.files.size()) {}

  Result<HandedBack> run() {
    if (Status status = find_launch(); !status) return status.error();
    auto change = kernel_change(request_.problem.source, request_.winner.source, name_);
    if (!change) return change.error();
    change_ = std::move(*change);
    if (Status status = find_definition(); !status) return status.error();
    if (Status status = check_names(); !status) return status.error();
    if (Status status = replace_kernel(); !status) return status.error();
    replace_declarations();
    if (Status status = edit_launches(); !status) return status.error();
    for (std::size_t i = 0; i < edits_.size(); ++i)
      result_.texts.push_back(apply_edits(request_.files[i].text, std::move(edits_[i])));
    return std::move(result_);
  }

 private:
  // The launch that changes; a plan may have others, of other kernels, that stay.
  Status find_launch() {
    const auto& before = request_.problem.launch.launches;
    const auto& after = request_.winner.plan.launches;
    if (before.size() != after.size()) {
      return refuse(
          fmt::format("the winner is {} launches where there {} {}: put them where '{}' "
                      "is launched, with the buffers between them, by hand",
                      after.size(), before.size() == 1 ? "was" : "were", before.size(), name_));
    }
    for (std::size_t i = 0; i < before.size(); ++i) {
      const bool ours = before[i].kernel == full_name_;
      if (!ours && before[i] == after[i]) continue;
      if (!ours || after[i].kernel != full_name_ || before_ != nullptr ||
          before[i].arguments != after[i].arguments)
        return refuse("the winner changes several launches, or what is passed to them");
      before_ = &before[i];
      after_ = &after[i];
    }
    if (before_ == nullptr) return refuse("the winner does not launch the kernel");
    return {};
  }

  Status find_definition() {
    for (std::size_t i = 0; i < request_.files.size(); ++i) {
      for (KernelDefinition& one : find_definitions(request_.files[i].text, name_)) {
        if (!one.has_body) continue;
        if (definition_) {
          return refuse(fmt::format("'{}' is defined more than once, in {} and {}", name_,
                                    request_.files[file_].name, request_.files[i].name));
        }
        definition_ = std::move(one);
        file_ = i;
      }
    }
    if (!definition_) {
      return fail(ErrorCode::not_found,
                  fmt::format("{} does not define '{}' in so many words: a macro does, or a header "
                              "that is not the file's own",
                              request_.files.front().name, name_));
    }
    const std::string& original = change_.original_head;
    if (definition_->tokens != original &&
        definition_->tokens != without_shared_of_file(original, request_.files[file_].text)) {
      return fail(ErrorCode::not_found,
                  fmt::format("{} has changed since the search began: '{}' is another there",
                              request_.files[file_].name, name_));
    }
    if (definition_->is_template) {
      auto bound = bound_parameters(definition_->template_list, request_.problem.source);
      if (!bound) return refuse(bound.error().message);
      instance_ = *std::move(bound);
    }
    note_defines();
    if (change_.had_conditionals) {
      result_.notes.push_back(
          fmt::format("the conditionals (#if) inside of '{}' are decided as in the search", name_));
    }
    return {};
  }

  // What was defined for the search alone is in the winner's kernel.
  void note_defines() {
    std::set<std::string> written;
    for (const UserFile& file : request_.files) {
      for (std::string& define : defines_of(file.text))
        written.insert(std::move(define));
    }
    for (const std::string& define : defines_of(request_.problem.source)) {
      if (!written.contains(define))
        result_.notes.push_back(
            fmt::format("the winner was searched with '{}', and is right with that alone", define));
    }
  }

  // A new name must not be one that a file has already.
  Status check_names() {
    const std::set<std::string> names(change_.new_names.begin(), change_.new_names.end());
    for (const UserFile& file : request_.files) {
      for (const source::Token& token : source::tokenize(file.text)) {
        const std::string word(token.in(file.text));
        if (names.contains(word)) {
          return refuse(fmt::format("the winner needs '{}', and {} has something else of that name",
                                    word, file.name));
        }
      }
    }
    return {};
  }

  Status replace_kernel() {
    const std::string& text = request_.files[file_].text;
    const std::string indentation = indentation_at(text, definition_->begin);
    std::string block;
    for (const std::string& helper : change_.helpers)
      block += helper + "\n\n";
    for (const std::string& remark : request_.remarks)
      block += "// " + remark + "\n";
    if (definition_->is_template) {
      const std::string_view declared = std::string_view(text).substr(
          definition_->parameters_begin,
          definition_->parameters_end - definition_->parameters_begin);
      auto special = as_specialisation(change_.definition, name_, declared, instance_);
      if (!special) return refuse(special.error().message);
      block += *special;
      edit(file_, {definition_->end, definition_->end,
                   with_line_ends_of(text, "\n\n" + indentation + indented(block, indentation))});
    } else {
      // Linkage is the user's.
      for (const char* linkage : {"static", "inline"}) {
        if (has_word(definition_->head, linkage) && !has_word(change_.definition, linkage))
          block += std::string(linkage) + " ";
      }
      block += change_.definition;
      edit(file_, {definition_->begin, definition_->end,
                   with_line_ends_of(text, indented(block, indentation))});
    }
    std::string includes;
    for (const std::string& include : change_.includes) {
      if (text.find(include) == std::string::npos) includes += include + "\n";
    }
    if (includes.empty()) return {};
    const std::size_t place = place_for_includes(text);
    edit(file_, {place, place, with_line_ends_of(text, includes)});
    return {};
  }

  // Parameters may have become const: what is declared must be what is defined.
  void replace_declarations() {
    if (definition_->is_template) return;
    const std::string& own = request_.files[file_].text;
    const std::string_view defined = std::string_view(own).substr(
        definition_->parameters_begin, definition_->parameters_end - definition_->parameters_begin);
    if (typing_words(defined) == typing_words(change_.parameters)) return;
    for (std::size_t i = 0; i < request_.files.size(); ++i) {
      const std::string& text = request_.files[i].text;
      for (const KernelDefinition& one : find_definitions(text, name_)) {
        if (one.has_body || one.is_template) continue;
        edit(i, {one.parameters_begin, one.parameters_end,
                 with_line_ends_of(text, change_.parameters)});
      }
    }
  }

  Status edit_launches() {
    const LaunchBeforeAndAfter change{request_.problem, *before_, *after_};
    std::size_t sites = 0;
    for (std::size_t i = 0; i < request_.files.size(); ++i) {
      const UserFile& file = request_.files[i];
      const KernelUses uses = find_kernel_uses(file.text, request_.problem.signature);
      sites += uses.sites.size();
      for (const LaunchSite& site : uses.sites) {
        auto ours = is_ours(file, site, change);
        if (!ours) return ours.error();
        if (!*ours) continue;
        const Status buffers =
            check_buffers(site, request_.problem.signature,
                          {request_.winner.assumptions, request_.overlap_is_known});
        if (!buffers) return refuse(file.name + ", " + buffers.error().message);
        auto edited = edit_launch(site, change);
        if (!edited) return refuse(file.name + ", " + edited.error().message);
        for (const std::string& note : edited->notes)
          result_.notes.push_back(file.name + ", " + note);
        if (edited->shape.empty()) continue;
        edit(i, {site.begin, site.end, edited->shape});
        result_.launches.push_back({file.name, site.line,
                                    file.text.substr(site.begin, site.end - site.begin),
                                    edited->shape});
      }
      if (Status status = check_hidden(file, uses, change); !status) return status;
    }
    if (sites == 0 && !change.same())
      return refuse(fmt::format("no launch of '{}' is found in {}", name_, file_names()));
    return {};
  }

  // Of a template one instance alone is the winner's.
  Result<bool> is_ours(const UserFile& file, const LaunchSite& site,
                       const LaunchBeforeAndAfter& change) {
    if (!definition_->is_template) return true;
    const bool before = &file == &request_.files[file_] && site.begin < definition_->begin;
    const auto same = is_instance(site.instance, instance_);
    if (before && same != false) {
      return refuse(
          fmt::format("{}, line {}: the template is launched before it is defined, where "
                      "a specialisation is not known yet",
                      file.name, site.line));
    }
    if (same) return *same;
    if (!change.same()) {
      return refuse(
          fmt::format("{}, line {}: whether this launches {} cannot be told, and that "
                      "alone needs another launch",
                      file.name, site.line, instance_name(name_, instance_)));
    }
    return true;
  }

  // Launches that cannot be edited may stay where nothing about them changes.
  Status check_hidden(const UserFile& file, const KernelUses& uses,
                      const LaunchBeforeAndAfter& change) {
    for (const auto& [lines, what] :
         {std::pair(&uses.macro_lines, "a macro launches it"),
          std::pair(&uses.mentioned_lines,
                    "its name is handed on (to a macro, or as an address), so that it may be "
                    "launched from elsewhere")}) {
      if (lines->empty()) continue;
      const std::string where = fmt::format("{}, line {}: {}", file.name, lines->front(), what);
      if (!change.same()) return refuse(where);
      result_.notes.push_back(fmt::format("{}; the launch must be that of the search ({})", where,
                                          launch_text(*before_)));
    }
    return {};
  }

  [[nodiscard]] std::string file_names() const {
    std::string names;
    for (const UserFile& file : request_.files)
      names += (names.empty() ? "" : ", ") + file.name;
    return names;
  }

  void edit(std::size_t file, TextEdit one) { edits_[file].push_back(std::move(one)); }

  const HandBackRequest& request_;
  const std::string& full_name_;  // with its namespaces, as in plans
  const std::string name_;
  const Launch* before_ = nullptr;
  const Launch* after_ = nullptr;
  KernelChange change_;
  std::optional<KernelDefinition> definition_;
  std::vector<BoundParameter> instance_;  // of a template
  std::size_t file_ = 0;                  // that defines it
  std::vector<std::vector<TextEdit>> edits_;
  HandedBack result_;
};

}  // namespace

Result<HandedBack> hand_back(const HandBackRequest& request) {
  return HandBacker(request).run();
}

}  // namespace regraph::handback
