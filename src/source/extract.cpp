#include "source/extract.h"

#include "kernel/pytorch_headers.h"
#include "source/device_text.h"
#include "source/file_scope_shared.h"
#include "source/forward_declarations.h"
#include "source/host_code.h"
#include "source/kernel_macros.h"
#include "source/library_headers.h"
#include "source/namespaces.h"
#include "source/prelude_notes.h"
#include "source/reachable.h"
#include "source/template_instance.h"
#include "source/template_specialisation.h"
#include "source/top_level.h"
#include "source/wanted_kernels.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace regraph::source {
namespace {

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
    if (code_.file_kernels.empty()) {
      if (Status status = require_no_hidden_kernel(); !status) return status.error();
    }
    auto wanted = wanted_kernels(declarations_, namespaces_, code_.file_kernels, request_.kernels,
                                 request_.file_name);
    if (!wanted) return wanted.error();
    for (WantedKernel& kernel : *wanted) {
      const auto place = static_cast<std::size_t>(kernel.declaration - declarations_.data());
      code_.qualified_kernels.push_back(namespaces_[place] + kernel.name);
      code_.kernels.push_back(std::move(kernel.name));
      chosen_.push_back(kernel.declaration);
      wanted_.push_back(std::move(kernel.wanted));
    }
    if (Status status = instantiate(); !status) return status.error();
    mark_host_code();
    if (has_host_code_) {
      mark_reachable();
    } else {
      keep_.assign(declarations_.size(), true);
    }
    use_libraries();
    drop_uses_as_template();
    drop_namesakes();
    if (Status status = require_no_textures(); !status) return status.error();
    OwnSharedMemory own = own_shared_memory(source_, tokens_, declarations_, keep_,
                                            kernel_definitions(), namespaces_);
    for (std::size_t i = 0; i < declarations_.size(); ++i)
      keep_[i] = keep_[i] && !own.moved[i];
    const auto in_front =
        forward_declarations(source_, tokens_, declarations_, keep_, request_.undefined, bindings_);
    for (std::string& note :
         prelude_notes(source_, tokens_, declarations_, keep_, request_.file_name))
      code_.notes.push_back(std::move(note));
    write_device_text({source_, tokens_, declarations_, keep_, chosen_, bindings_, headers_,
                       own.texts, own.moved, in_front},
                      request_, code_);
    return std::move(code_);
  }

 private:
  [[nodiscard]] std::string_view word(std::size_t token) const {
    return tokens_[token].in(source_);
  }

  [[nodiscard]] std::string at_line(const TopLevelDeclaration& declaration) const {
    return fmt::format("{}:{}: ", request_.file_name, tokens_[declaration.first].line);
  }

  // Whether anything that is kept declares the namespace of a using directive, as headers that were
  // left out do not.
  [[nodiscard]] bool is_namespace_here(const TopLevelDeclaration& directive) const {
    const std::size_t first = directive.first + (word(directive.first + 2) == "::" ? 3 : 2);
    const std::string name(word(first));
    constexpr std::string_view kOfToolkit[] = {"std",  "cub",    "thrust",
                                               "cuda", "nvcuda", "cooperative_groups"};
    if (std::ranges::find(kOfToolkit, name) != std::end(kOfToolkit)) return true;
    for (std::size_t i = 0; i < declarations_.size(); ++i) {
      const TopLevelDeclaration& one = declarations_[i];
      const bool is_alias = one.kind == DeclarationKind::alias && word(one.first) == "namespace";
      if (is_alias && std::ranges::find(one.names, name) != one.names.end()) return true;
      const std::string& inside = namespaces_[i];
      if (inside.starts_with(name + "::") || inside.find("::" + name + "::") != std::string::npos)
        return true;
    }
    const bool is_of_pytorch = name == "at" || name == "c10" || name == "torch";
    return is_of_pytorch && has_pytorch_header();
  }

  [[nodiscard]] bool has_pytorch_header() const {
    if (std::ranges::any_of(headers_, [](const auto& header) { return is_pytorch_header(header); }))
      return true;
    for (std::size_t i = 0; i < declarations_.size(); ++i) {
      const bool is_include = keep_[i] && declarations_[i].kind == DeclarationKind::directive;
      if (is_include && is_pytorch_header(included_header(word(declarations_[i].first))))
        return true;
    }
    return false;
  }

  // A kernel that only a macro knows of, which was not written out.
  [[nodiscard]] Status require_no_hidden_kernel() const {
    const std::string_view macro = macro_with_kernel(source_);
    if (macro.empty()) return {};
    return fail(ErrorCode::not_found,
                fmt::format("{}: no __global__ function in this file, and the macro '{}', which "
                            "makes one, is not used outside of directives; write the kernel out as "
                            "a function, or give the file that uses the macro",
                            request_.file_name, macro));
  }

  // Of the wanted kernels, as they are written.
  [[nodiscard]] std::vector<const TopLevelDeclaration*> kernel_definitions() const {
    std::vector<const TopLevelDeclaration*> definitions = templates();
    for (const TopLevelDeclaration* kernel : chosen_) {
      if (!kernel->template_closer) definitions.push_back(kernel);
    }
    return definitions;
  }

  [[nodiscard]] std::vector<const TopLevelDeclaration*> templates() const {
    std::vector<const TopLevelDeclaration*> definitions;
    for (const auto& [kernel, text] : bindings_)
      definitions.push_back(kernel);
    return definitions;
  }

  // What the device compiler cannot take whatever it is used for.
  void mark_host_code() {
    host_.assign(declarations_.size(), false);
    for (std::size_t i = 0; i < declarations_.size(); ++i) {
      host_[i] = is_host_code(source_, tokens_, declarations_[i], request_.keep_library_headers);
      has_host_code_ = has_host_code_ || host_[i];
    }
  }

  // Adds the headers that the kept code needs, and keeps "using namespace" of libraries where
  // something is taken from them: the namespace exists only then.
  void use_libraries() {
    std::vector<std::string> arguments;
    for (const auto& [kernel, text] : bindings_)
      arguments.push_back(text);
    LibraryUse use =
        library_use(source_, tokens_, declarations_, keep_, arguments, request_.undefined);
    headers_ = std::move(use.headers);
    for (std::size_t i = 0; i < declarations_.size(); ++i) {
      const TopLevelDeclaration& declaration = declarations_[i];
      if (declaration.kind != DeclarationKind::using_directive) continue;
      const std::string_view name = word(declaration.last - 2);
      const bool whole = declaration.last - declaration.first == 4;  // using namespace name ;
      if (whole && (name == "std" || name == "cub" || name == "thrust")) {
        keep_[i] = use.namespaces.contains(name);
      } else {
        keep_[i] = keep_[i] && is_namespace_here(declaration);
      }
    }
  }

  Status require_no_textures() const {
    for (std::size_t i = 0; i < declarations_.size(); ++i) {
      if (!keep_[i] || declarations_[i].kind != DeclarationKind::variable) continue;
      if (!is_texture(source_, tokens_, declarations_[i])) continue;
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
      if (const auto* special = specialisation_for(source_, tokens_, declarations_,
                                                   code_.kernels[which], instance->arguments)) {
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
        if ((instantiates && mentions(source_, tokens_, declaration, name)) || (is_other && same))
          keep_[i] = false;
      }
    }
  }

  [[nodiscard]] bool has_body(const TopLevelDeclaration& declaration) const {
    return declaration.last > declaration.first && word(declaration.last - 1) == "}";
  }

  // Other kernels of the same name: in other namespaces, and overloads.
  void drop_namesakes() {
    for (const TopLevelDeclaration* kernel : chosen_) {
      const auto place = static_cast<std::size_t>(kernel - declarations_.data());
      for (std::size_t i = 0; i < declarations_.size(); ++i) {
        const TopLevelDeclaration& other = declarations_[i];
        const bool same = other.kind == DeclarationKind::function && other.is_global &&
                          !other.names.empty() && other.names.front() == kernel->names.front();
        if (!same || i == place) continue;
        // Which of several overloads is meant the compiler could not tell by the name.
        const bool overload = has_body(other) && !other.template_closer;
        if (namespaces_[i] != namespaces_[place] || overload) keep_[i] = false;
      }
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

// Without the storage class that C++17 took away, and that never meant anything to a GPU; places
// stay.
std::string without_register(std::string text) {
  constexpr std::string_view kWord = "register";
  if (text.find(kWord) == std::string::npos) return text;
  const std::vector<Token> tokens = tokenize(text);
  for (const Token& token : tokens) {
    if (token.kind == TokenKind::identifier && token.in(text) == kWord)
      text.replace(token.begin, kWord.size(), kWord.size(), ' ');
  }
  return text;
}

}  // namespace

Result<DeviceCode> extract_device_code(std::string_view source, const ExtractionRequest& request) {
  WrittenOutMacros written = write_out_kernel_macros(source);
  written.text = without_register(std::move(written.text));
  auto code = Extractor(written.text, request).run();
  if (code && !written.macros.empty()) {
    code->notes.insert(
        code->notes.begin(),
        fmt::format("{}: what the macro{} {} stand{} for is written out, since "
                    "kernels are made by {}",
                    request.file_name, written.macros.size() == 1 ? "" : "s",
                    fmt::join(written.macros, ", "), written.macros.size() == 1 ? "s" : "",
                    written.macros.size() == 1 ? "it" : "them"));
  }
  return code;
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
