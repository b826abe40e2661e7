#include "source/extract.h"

#include "source/host_members.h"
#include "source/library_headers.h"
#include "source/namespaces.h"
#include "source/prelude_notes.h"
#include "source/reachable.h"
#include "source/template_instance.h"
#include "source/top_level.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace regraph::source {
namespace {

std::string join(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names)
    text += (text.empty() ? "" : ", ") + name;
  return text;
}

// "filters::scale<float>" -> "scale"
std::string plain_name(const std::string& wanted) {
  const std::string name = wanted.substr(0, wanted.find('<'));
  const std::size_t end = name.find_last_not_of(" \t") + 1;
  const std::size_t qualifier = name.rfind("::", end);
  const std::size_t begin = qualifier == std::string::npos ? 0 : qualifier + 2;
  return name.substr(begin, end - begin);
}

// The name that a namespace without one gets.
constexpr const char* kNameless = "file_scope";

class Extractor {
 public:
  Extractor(std::string_view source, const ExtractionRequest& request)
      : source_(source),
        request_(request),
        tokens_(tokenize(source)),
        declarations_(split_top_level(source, tokens_)),
        namespaces_(namespaces_of(source, tokens_, declarations_)) {}

  Result<DeviceCode> run() {
    for (const TopLevelDeclaration& declaration : declarations_) {
      if (declaration.is_kernel() && !declaration.names.empty())
        code_.file_kernels.push_back(declaration.names.front());
    }
    if (Status status = choose_kernels(); !status) return status.error();
    if (Status status = instantiate(); !status) return status.error();
    mark_host_code();
    if (has_host_code_) {
      mark_reachable();
    } else {
      keep_.assign(declarations_.size(), true);
    }
    use_libraries();
    if (Status status = require_no_textures(); !status) return status.error();
    drop_uses_as_template();
    drop_namesakes();
    for (std::string& note :
         prelude_notes(source_, tokens_, declarations_, keep_, request_.file_name))
      code_.notes.push_back(std::move(note));
    write();
    return std::move(code_);
  }

 private:
  [[nodiscard]] std::string_view word(std::size_t token) const {
    return tokens_[token].in(source_);
  }

  [[nodiscard]] std::string at_line(const TopLevelDeclaration& declaration) const {
    return fmt::format("{}:{}: ", request_.file_name, tokens_[declaration.first].line);
  }

  // The kernels that "v2::scale<float>" may mean, whose namespaces end so. Of a template the
  // template itself, not what it is specialised to.
  [[nodiscard]] std::vector<const TopLevelDeclaration*> kernels_called(
      const std::string& wanted) const {
    const std::string name = plain_name(wanted);
    std::string qualifier = wanted.substr(0, wanted.find('<'));
    qualifier = qualifier.substr(0, qualifier.rfind(name));
    if (qualifier.starts_with("::")) qualifier.erase(0, 2);
    std::vector<const TopLevelDeclaration*> found;
    for (std::size_t i = 0; i < declarations_.size(); ++i) {
      const TopLevelDeclaration& declaration = declarations_[i];
      const std::string& own = namespaces_[i];
      const bool fits = own == qualifier || own.ends_with("::" + qualifier);
      if (declaration.is_kernel() && !is_specialisation(declaration) &&
          !declaration.names.empty() && declaration.names.front() == name &&
          (qualifier.empty() || fits))
        found.push_back(&declaration);
    }
    return found;
  }

  // "template <> __global__ void scale<float>(...)"
  [[nodiscard]] static bool is_specialisation(const TopLevelDeclaration& declaration) {
    return declaration.is_global && declaration.template_closer == declaration.first + 2;
  }

  // The "<" behind a specialisation's name; its parameters' begin where there is none.
  [[nodiscard]] std::size_t arguments_begin(const TopLevelDeclaration& specialisation) const {
    for (std::size_t token = specialisation.first; token < *specialisation.parameters; ++token) {
      if (word(token) == specialisation.names.front() && word(token + 1) == "<") return token + 1;
    }
    return *specialisation.parameters;
  }

  // What the file says of these arguments in particular; null: nothing.
  [[nodiscard]] const TopLevelDeclaration* specialisation_for(
      const std::string& name, const std::vector<std::string>& arguments) const {
    for (const TopLevelDeclaration& declaration : declarations_) {
      if (!declaration.is_kernel() || !is_specialisation(declaration) ||
          declaration.names.front() != name)
        continue;
      const std::size_t open = arguments_begin(declaration);
      if (open < *declaration.parameters && template_arguments(source_, tokens_, open) == arguments)
        return &declaration;
    }
    return nullptr;
  }

  Status choose_kernels() {
    std::vector<std::string> distinct = code_.file_kernels;
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    if (distinct.empty()) {
      return fail(ErrorCode::not_found,
                  request_.file_name + ": no __global__ function in this file");
    }
    wanted_ = request_.kernels;
    if (wanted_.empty()) {
      if (distinct.size() > 1) {
        return fail(ErrorCode::not_found,
                    fmt::format("{}: several kernels ({}); name one with --kernel or with "
                                "'kernel:' in the manifest",
                                request_.file_name, join(code_.file_kernels)));
      }
      wanted_ = distinct;
    }
    for (const std::string& wanted : wanted_) {
      const auto found = kernels_called(wanted);
      if (found.empty()) {
        return fail(ErrorCode::not_found,
                    fmt::format("{}: no kernel '{}'; the file defines: {}", request_.file_name,
                                wanted.substr(0, wanted.find('<')), join(code_.file_kernels)));
      }
      if (Status status = require_one_namespace(wanted, found); !status.ok()) return status;
      code_.kernels.push_back(plain_name(wanted));
      chosen_.push_back(found.front());
    }
    return {};
  }

  // Overloads stand in one namespace; of several namespaces one has to be named.
  [[nodiscard]] Status require_one_namespace(
      const std::string& wanted, const std::vector<const TopLevelDeclaration*>& found) const {
    std::vector<std::string> places;
    for (const TopLevelDeclaration* one : found) {
      const std::string place =
          namespaces_[static_cast<std::size_t>(one - declarations_.data())] + one->names.front();
      if (std::ranges::find(places, place) == places.end()) places.push_back(place);
    }
    if (places.size() < 2) return {};
    return fail(ErrorCode::not_found,
                fmt::format("{}: '{}' may be each of {}; name one with --kernel or with 'kernel:' "
                            "in the manifest",
                            request_.file_name, wanted, join(places)));
  }

  // What the device compiler cannot take whatever it is used for.
  void mark_host_code() {
    host_.assign(declarations_.size(), false);
    for (std::size_t i = 0; i < declarations_.size(); ++i) {
      host_[i] = is_host_code(declarations_[i]);
      has_host_code_ = has_host_code_ || host_[i];
    }
  }

  [[nodiscard]] bool is_host_code(const TopLevelDeclaration& declaration) const {
    switch (declaration.kind) {
      case DeclarationKind::function:
        return !declaration.is_global && !declaration.is_device && !declaration.is_constexpr &&
               !is_texture(declaration) && !mentions(declaration, "__CUDACC_RTC__");
      case DeclarationKind::variable:
        return !declaration.is_device && !declaration.is_constant_memory &&
               !declaration.is_constant && !is_texture(declaration);
      case DeclarationKind::using_directive:
        return word(declaration.first + 2) == "std";
      case DeclarationKind::directive:
        return is_host_directive(word(declaration.first));
      default:
        return false;
    }
  }

  [[nodiscard]] bool is_host_directive(std::string_view directive) const {
    if (directive_name(directive) != "include") return false;
    const std::string_view header = included_header(directive);
    return !is_device_header(header) &&
           !(request_.keep_library_headers && is_library_header(header));
  }

  // Adds the headers that the kept code needs, and keeps "using namespace" of libraries where
  // something is taken from them: the namespace exists only then.
  void use_libraries() {
    LibraryUse use = library_use(source_, tokens_, declarations_, keep_);
    headers_ = std::move(use.headers);
    for (std::size_t i = 0; i < declarations_.size(); ++i) {
      const TopLevelDeclaration& declaration = declarations_[i];
      if (declaration.kind != DeclarationKind::using_directive) continue;
      const std::string_view name = word(declaration.last - 2);
      const bool whole = declaration.last - declaration.first == 4;  // using namespace name ;
      if (whole && (name == "std" || name == "cub" || name == "thrust"))
        keep_[i] = use.namespaces.contains(name);
    }
  }

  [[nodiscard]] bool mentions(const TopLevelDeclaration& declaration, std::string_view name) const {
    for (std::size_t token = declaration.first; token < declaration.last; ++token) {
      if (word(token) == name) return true;
    }
    return false;
  }

  [[nodiscard]] bool is_texture(const TopLevelDeclaration& declaration) const {
    for (std::size_t token = declaration.first; token + 1 < declaration.last; ++token) {
      if ((word(token) == "texture" || word(token) == "surface") && word(token + 1) == "<") {
        return true;
      }
      if (word(token) == "{" || word(token) == "(") return false;
    }
    return false;
  }

  Status require_no_textures() const {
    for (std::size_t i = 0; i < declarations_.size(); ++i) {
      if (!keep_[i] || declarations_[i].kind != DeclarationKind::variable) continue;
      if (!is_texture(declarations_[i])) continue;
      return fail(ErrorCode::unsupported,
                  at_line(declarations_[i]) +
                      "texture and surface references were removed in CUDA 12; read the data "
                      "through a pointer argument instead (const T* __restrict__)");
    }
    return {};
  }

  // Keeps what the wanted kernels mention, directly or through what they mention.
  void mark_reachable() {
    std::vector<std::string_view> roots(code_.kernels.begin(), code_.kernels.end());
    for (const auto& [kernel, text] : bindings_) {
      for (const Token& token : tokenize(text))
        roots.push_back(token.in(text));
    }
    keep_ = reachable_declarations({source_, tokens_, declarations_, host_}, code_.kernels, roots);
  }

  Status instantiate() {
    for (std::size_t which = 0; which < wanted_.size(); ++which) {
      const TopLevelDeclaration& kernel = *chosen_[which];
      if (!kernel.template_closer) {
        if (wanted_[which].find('<') != std::string::npos) {
          return fail(ErrorCode::not_found,
                      at_line(kernel) + "kernel '" + code_.kernels[which] + "' is not a template");
        }
        continue;
      }
      auto instance = instantiate_template(source_, tokens_, declarations_, kernel, wanted_[which]);
      if (!instance) {
        return fail(instance.error().code, at_line(kernel) + instance.error().message);
      }
      if (!instance->note.empty()) code_.notes.push_back(instance->note);
      if (which == 0) code_.template_arguments = instance->arguments;
      if (const auto* special = specialisation_for(code_.kernels[which], instance->arguments)) {
        bindings_[special] = "";
      } else {
        bindings_[&kernel] = std::move(instance->bindings);
      }
    }
    return {};
  }

  // "template __global__ void scale<float>(...);", the template's declarations in front of its
  // definition and its other definitions have no meaning once scale is a plain function.
  void drop_uses_as_template() {
    for (std::size_t i = 0; i < declarations_.size(); ++i) {
      const TopLevelDeclaration& declaration = declarations_[i];
      const bool instantiates =
          word(declaration.first) == "template" && !declaration.template_closer;
      const bool is_other = declaration.kind == DeclarationKind::function &&
                            declaration.is_global && declaration.template_closer &&
                            !bindings_.contains(&declaration);
      for (const auto& [kernel, text] : bindings_) {
        const std::string& name = kernel->names.front();
        const bool same = !declaration.names.empty() && declaration.names.front() == name;
        if ((instantiates && mentions(declaration, name)) || (is_other && same)) keep_[i] = false;
      }
    }
  }

  // Kernels of the same name in other namespaces.
  void drop_namesakes() {
    for (const TopLevelDeclaration* kernel : chosen_) {
      const auto place = static_cast<std::size_t>(kernel - declarations_.data());
      for (std::size_t i = 0; i < declarations_.size(); ++i) {
        const TopLevelDeclaration& other = declarations_[i];
        const bool same = other.kind == DeclarationKind::function && other.is_global &&
                          !other.names.empty() && other.names.front() == kernel->names.front();
        if (same && namespaces_[i] != namespaces_[place]) keep_[i] = false;
      }
    }
  }

  // Conditionals that begin or end in something left out, a declaration whose end was not found:
  // without them the rest would hang in the air.
  void write_open_conditionals(const TopLevelDeclaration& declaration) {
    if (declaration.kind == DeclarationKind::directive) return;
    std::vector<std::string_view> unmatched;
    for (std::size_t token = declaration.first; token < declaration.last; ++token) {
      if (tokens_[token].kind != TokenKind::directive) continue;
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
      for (const auto& [first, last] : host_members(source_, tokens_, declaration)) {
        const std::size_t from = tokens_[first].begin;
        const std::size_t to = tokens_[last - 1].end;
        code_.text += source_.substr(begin, from - begin);
        code_.text.append(std::count(source_.begin() + from, source_.begin() + to, '\n'), '\n');
        begin = to;
      }
    }
    code_.text += source_.substr(begin, end - begin);
  }

  // Bytes [begin, end) of the file with a kernel, which the compiler is to give a name to the
  // outside.
  void write_without_linkage(const TopLevelDeclaration& kernel, std::size_t begin,
                             std::size_t end) {
    for (std::size_t token = kernel.first; token < *kernel.parameters; ++token) {
      if (word(token) != "static" && word(token) != "inline") continue;
      code_.text += source_.substr(begin, tokens_[token].begin - begin);
      begin = tokens_[token].end;
    }
    code_.text += source_.substr(begin, end - begin);
  }

  // Bytes [begin, end) of a kernel that was a template's, or its specialisation's.
  void write_without_arguments(const TopLevelDeclaration& kernel, std::size_t begin,
                               std::size_t end) {
    const std::size_t open = is_specialisation(kernel) ? arguments_begin(kernel) : 0;
    if (open > 0 && open < *kernel.parameters) {
      code_.text += source_.substr(begin, tokens_[open].begin - begin);
      begin = tokens_[after_angle(source_, tokens_, open) - 1].end;
    }
    code_.text += source_.substr(begin, end - begin);
  }

  // The text that stands for tokens [first, last), and the byte it begins at.
  void write() {
    for (const auto& [name, replacement] : request_.defines)
      code_.text += fmt::format("#define {} {}\n", name, replacement);
    for (const std::string& header : headers_)
      code_.text += fmt::format("#include <{}>\n", header);
    bool in_step = code_.text.empty();  // lines of the text and of the file are the same
    std::size_t copied = 0;             // bytes of the file dealt with
    std::size_t left_out = 0;
    std::string headers;
    for (std::size_t i = 0; i < declarations_.size(); ++i) {
      const TopLevelDeclaration& declaration = declarations_[i];
      const std::size_t end = tokens_[declaration.last - 1].end;
      if (!keep_[i]) {
        // Of the libraries' headers those come back that are needed; others may be missed.
        const std::string_view header = included_header(word(declaration.first));
        if (!header.empty() && !is_library_header(header) && !is_device_header(header))
          headers += fmt::format("{}<{}>", headers.empty() ? "" : ", ", header);
        in_step = false;
        copied = end;
        write_open_conditionals(declaration);
        if (declaration.kind != DeclarationKind::directive &&
            declaration.kind != DeclarationKind::other)
          ++left_out;
        continue;
      }
      std::size_t begin = copied;
      if (!in_step) {
        // A comment in front of something belongs to it, blank lines do not.
        const std::size_t visible = source_.find_first_not_of(" \t\r\n", begin);
        begin = visible;
        // A macro may end with a line that only its continuation mark announces.
        if (!code_.text.empty() && (code_.text.back() != '\n' || code_.text.ends_with("\\\n")))
          code_.text += '\n';
        const auto line = 1 + std::count(source_.begin(), source_.begin() + begin, '\n');
        code_.text += fmt::format("#line {} \"{}\"\n", line, request_.file_name);
        in_step = true;
      }
      if (is_nameless_namespace(source_, tokens_, declaration)) {
        // What stands in it must have a name for the compiler, and keeps its own for all others.
        code_.text += source_.substr(begin, tokens_[declaration.first].begin - begin);
        code_.text += fmt::format("inline namespace {} {{", kNameless);
        copied = end;
        continue;
      }
      if (const auto bound = bindings_.find(&declaration); bound != bindings_.end()) {
        const std::size_t header = tokens_[declaration.first].begin;
        const std::size_t rest = tokens_[*declaration.template_closer].end;
        code_.text += source_.substr(begin, header - begin);
        code_.text += bound->second;
        // Lines that the header took are kept.
        const std::string_view removed = source_.substr(header, rest - header);
        code_.text.append(std::count(removed.begin(), removed.end(), '\n'), '\n');
        write_without_arguments(declaration, rest, end);
      } else if (std::ranges::find(chosen_, &declaration) != chosen_.end()) {
        write_without_linkage(declaration, begin, end);
      } else {
        write_without_host_members(declaration, begin, end);
      }
      copied = end;
    }
    if (in_step) code_.text += source_.substr(copied);
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

  std::string_view source_;
  const ExtractionRequest& request_;
  std::vector<Token> tokens_;
  std::vector<TopLevelDeclaration> declarations_;
  std::vector<std::string> namespaces_;  // of each declaration
  std::vector<std::string> wanted_;
  std::vector<const TopLevelDeclaration*> chosen_;  // the wanted kernels
  std::vector<bool> host_;
  std::vector<bool> keep_;
  std::vector<std::string> headers_;  // needed and not included
  bool has_host_code_ = false;
  std::map<const TopLevelDeclaration*, std::string> bindings_;  // what stands for a template header
  DeviceCode code_;
};

}  // namespace

Result<DeviceCode> extract_device_code(std::string_view source, const ExtractionRequest& request) {
  return Extractor(source, request).run();
}

std::string without_line_directives(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view line = text.substr(0, end);
    if (line.substr(0, 6) != "#line ") result += line;
    text.remove_prefix(end);
  }
  return result;
}

}  // namespace regraph::source
