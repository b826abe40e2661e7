#include "source/device_text.h"

#include "source/host_members.h"
#include "source/library_headers.h"
#include "source/namespaces.h"
#include "source/template_specialisation.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

namespace regraph::source {
namespace {

// The name that a namespace without one gets.
constexpr const char* kNameless = "file_scope";

class TextWriter {
 public:
  TextWriter(const KeptDeclarations& kept, const ExtractionRequest& request, DeviceCode& code)
      : kept_(kept), request_(request), code_(code) {}

  void write() {
    for (const auto& [name, replacement] : request_.defines)
      code_.text += fmt::format("#define {} {}\n", name, replacement);
    for (const std::string& header : kept_.headers)
      code_.text += fmt::format("#include <{}>\n", header);
    bool in_step = code_.text.empty();  // lines of the text and of the file are the same
    std::size_t copied = 0;             // bytes of the file dealt with
    std::size_t left_out = 0;
    std::string headers;
    for (std::size_t i = 0; i < kept_.declarations.size(); ++i) {
      const TopLevelDeclaration& declaration = kept_.declarations[i];
      const std::size_t end = kept_.tokens[declaration.last - 1].end;
      if (!kept_.keep[i]) {
        // Of the libraries' headers those come back that are needed; others may be missed.
        const std::string_view header = included_header(word(declaration.first));
        if (!header.empty() && !is_library_header(header) && !is_device_header(header))
          headers += fmt::format("{}<{}>", headers.empty() ? "" : ", ", header);
        in_step = false;
        copied = end;
        write_open_conditionals(declaration);
        const bool is_moved = declaration.is_shared && kept_.moved[i];
        if (declaration.kind != DeclarationKind::directive &&
            declaration.kind != DeclarationKind::other && !is_moved)
          ++left_out;
        continue;
      }
      std::size_t begin = copied;
      if (const auto front = kept_.in_front.find(i); front != kept_.in_front.end()) {
        if (!code_.text.empty() && code_.text.back() != '\n') code_.text += '\n';
        code_.text += front->second + "\n";
        in_step = false;
      }
      if (!in_step) {
        // A comment in front of something belongs to it, blank lines do not.
        const std::size_t visible = kept_.source.find_first_not_of(" \t\r\n", begin);
        begin = visible;
        // A macro may end with a line that only its continuation mark announces.
        if (!code_.text.empty() && (code_.text.back() != '\n' || code_.text.ends_with("\\\n")))
          code_.text += '\n';
        const auto line = 1 + std::count(kept_.source.begin(), kept_.source.begin() + begin, '\n');
        code_.text += fmt::format("#line {} \"{}\"\n", line, request_.file_name);
        in_step = true;
      }
      if (is_nameless_namespace(kept_.source, kept_.tokens, declaration)) {
        // What stands in it must have a name for the compiler, and keeps its own for all others.
        code_.text += kept_.source.substr(begin, kept_.tokens[declaration.first].begin - begin);
        code_.text += fmt::format("inline namespace {} {{", kNameless);
        copied = end;
        continue;
      }
      if (const auto bound = kept_.bindings.find(&declaration); bound != kept_.bindings.end()) {
        const std::size_t header = kept_.tokens[declaration.first].begin;
        const std::size_t rest = kept_.tokens[*declaration.template_closer].end;
        code_.text += kept_.source.substr(begin, header - begin);
        code_.text += bound->second;
        // Lines that the header took are kept.
        const std::string_view removed = kept_.source.substr(header, rest - header);
        code_.text.append(std::count(removed.begin(), removed.end(), '\n'), '\n');
        write_without_arguments(declaration, rest, end);
      } else if (is_of_kernel(declaration)) {
        write_without_linkage(declaration, begin, end);
      } else {
        write_without_host_members(declaration, begin, end);
      }
      copied = end;
    }
    if (in_step) code_.text += kept_.source.substr(copied);
    if (!code_.text.empty() && code_.text.back() != '\n') code_.text += '\n';
    if (left_out > 0) {
      code_.notes.push_back(fmt::format(
          "{}: {} declaration{} of host code or without use to the kernel {} left out",
          request_.file_name, left_out, left_out == 1 ? "" : "s", left_out == 1 ? "was" : "were"));
    }
    if (!headers.empty()) {
      code_.notes.push_back(
          fmt::format("{}: left out, as headers for the host: {}", request_.file_name, headers));
    }
  }

 private:
  [[nodiscard]] std::string_view word(std::size_t token) const {
    return kept_.tokens[token].in(kept_.source);
  }

  // A wanted kernel or another declaration of it.
  [[nodiscard]] bool is_of_kernel(const TopLevelDeclaration& declaration) const {
    if (declaration.kind != DeclarationKind::function || !declaration.is_global) return false;
    return std::ranges::any_of(kept_.kernels, [&](const TopLevelDeclaration* kernel) {
      return kernel == &declaration || kernel->names == declaration.names;
    });
  }

  // Conditionals that begin or end in something left out, a declaration whose end was not found:
  // without them the rest would hang in the air.
  void write_open_conditionals(const TopLevelDeclaration& declaration) {
    if (declaration.kind == DeclarationKind::directive) return;
    std::vector<std::string_view> unmatched;
    for (std::size_t token = declaration.first; token < declaration.last; ++token) {
      if (kept_.tokens[token].kind != TokenKind::directive) continue;
      const std::string_view name = directive_name(word(token));
      if (name.starts_with("if")) unmatched.push_back(word(token));
      if (name.starts_with("el") && unmatched.empty()) unmatched.push_back(word(token));
      if (name != "endif") continue;
      if (!unmatched.empty() && directive_name(unmatched.back()).starts_with("if")) {
        unmatched.pop_back();
      } else {
        unmatched.push_back(word(token));
      }
    }
    for (const std::string_view directive : unmatched) {
      if (!code_.text.empty() && code_.text.back() != '\n') code_.text += '\n';
      code_.text += fmt::format("{}\n", directive);
    }
  }

  // Bytes [begin, end) of the file, which hold the declaration.
  void write_without_host_members(const TopLevelDeclaration& declaration, std::size_t begin,
                                  std::size_t end) {
    const bool may_be_class = declaration.kind == DeclarationKind::type ||
                              declaration.kind == DeclarationKind::alias;  // typedef struct
    if (may_be_class) {
      if (!left_out_) {
        left_out_ = names_left_out(kept_.source, kept_.tokens, kept_.declarations, kept_.keep);
      }
      for (const auto& [first, last] :
           host_members(kept_.source, kept_.tokens, declaration, *left_out_)) {
        const std::size_t from = kept_.tokens[first].begin;
        const std::size_t to = kept_.tokens[last - 1].end;
        code_.text += kept_.source.substr(begin, from - begin);
        code_.text.append(std::count(kept_.source.begin() + from, kept_.source.begin() + to, '\n'),
                          '\n');
        begin = to;
      }
    }
    code_.text += kept_.source.substr(begin, end - begin);
  }

  // Bytes [begin, end) of the file with a kernel, which the compiler is to give a name to the
  // outside.
  void write_without_linkage(const TopLevelDeclaration& kernel, std::size_t begin,
                             std::size_t end) {
    for (std::size_t token = kernel.first; token < *kernel.parameters; ++token) {
      if (word(token) != "static" && word(token) != "inline") continue;
      code_.text += kept_.source.substr(begin, kept_.tokens[token].begin - begin);
      begin = kept_.tokens[token].end;
    }
    write_with_own(kernel, begin, end);
  }

  // Bytes [begin, end) of a kernel, with what it declares first in its body.
  void write_with_own(const TopLevelDeclaration& kernel, std::size_t begin, std::size_t end) {
    if (const auto own = kept_.in_body.find(&kernel); own != kept_.in_body.end()) {
      const std::size_t inside = kept_.tokens[*kernel.body].end;
      code_.text += kept_.source.substr(begin, inside - begin);
      code_.text += own->second;
      begin = inside;
    }
    code_.text += kept_.source.substr(begin, end - begin);
  }

  // Bytes [begin, end) of a kernel that was a template's, or its specialisation's.
  void write_without_arguments(const TopLevelDeclaration& kernel, std::size_t begin,
                               std::size_t end) {
    const std::size_t open =
        is_specialisation(kernel) ? arguments_begin(kept_.source, kept_.tokens, kernel) : 0;
    if (open > 0 && open < *kernel.parameters) {
      code_.text += kept_.source.substr(begin, kept_.tokens[open].begin - begin);
      begin = kept_.tokens[after_angle(kept_.source, kept_.tokens, open) - 1].end;
    }
    write_with_own(kernel, begin, end);
  }

  const KeptDeclarations& kept_;
  const ExtractionRequest& request_;
  DeviceCode& code_;
  std::optional<std::set<std::string_view>> left_out_;  // names, once they are asked for
};

}  // namespace

void write_device_text(const KeptDeclarations& kept, const ExtractionRequest& request,
                       DeviceCode& code) {
  TextWriter(kept, request, code).write();
}

}  // namespace regraph::source
