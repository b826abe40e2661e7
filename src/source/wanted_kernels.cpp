#include "source/wanted_kernels.h"

#include "source/template_specialisation.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

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

// Whether the namespaces `own` ("ops::v1::") end as `qualifier` does; namespaces of `own` may be
// left out of it after the first that it names, as inline ones are in C++.
bool fits_namespaces(std::string_view own, std::string_view qualifier) {
  const auto last_of = [](std::string_view text) {
    const std::size_t before = text.rfind("::", text.size() - 3);
    return before == std::string_view::npos ? text : text.substr(before + 2);
  };
  while (!qualifier.empty()) {
    if (own.empty()) return false;
    const std::string_view last = last_of(own);
    if (last == last_of(qualifier)) qualifier.remove_suffix(last.size());
    own.remove_suffix(last.size());
  }
  return true;
}

class KernelChooser {
 public:
  KernelChooser(const std::vector<TopLevelDeclaration>& declarations,
                const std::vector<std::string>& namespaces,
                const std::vector<std::string>& file_kernels, std::vector<std::string> wanted,
                const std::string& file_name)
      : declarations_(declarations),
        namespaces_(namespaces),
        file_kernels_(file_kernels),
        wanted_(std::move(wanted)),
        file_name_(file_name) {}

  Result<std::vector<WantedKernel>> choose() {
    std::vector<std::string> distinct = file_kernels_;
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    if (distinct.empty()) {
      return fail(ErrorCode::not_found, file_name_ + ": no __global__ function in this file");
    }
    if (wanted_.empty()) {
      if (distinct.size() > 1) {
        return fail(ErrorCode::not_found,
                    fmt::format("{}: several kernels ({}); name one with --kernel or with "
                                "'kernel:' in the manifest",
                                file_name_, join(file_kernels_)));
      }
      wanted_ = distinct;
    }
    std::vector<WantedKernel> result;
    for (const std::string& wanted : wanted_) {
      const auto found = kernels_called(wanted);
      if (found.empty()) {
        return fail(ErrorCode::not_found,
                    fmt::format("{}: no kernel '{}'; the file defines: {}", file_name_,
                                wanted.substr(0, wanted.find('<')), join(file_kernels_)));
      }
      if (Status status = require_one_namespace(wanted, found); !status.ok()) return status.error();
      result.push_back({wanted, plain_name(wanted), found.front()});
    }
    return result;
  }

 private:
  // The kernels that "v2::scale<float>" may mean, whose namespaces end so; where there are none,
  // those with further namespaces in between. Of a template the template itself, not what it is
  // specialised to.
  std::vector<const TopLevelDeclaration*> kernels_called(const std::string& wanted) const {
    const std::string name = plain_name(wanted);
    std::string qualifier = wanted.substr(0, wanted.find('<'));
    qualifier = qualifier.substr(0, qualifier.rfind(name));
    if (qualifier.starts_with("::")) qualifier.erase(0, 2);
    auto found = kernels_where(name, [&](const std::string& own) {
      return qualifier.empty() || own == qualifier || own.ends_with("::" + qualifier);
    });
    if (found.empty()) {
      found = kernels_where(
          name, [&](const std::string& own) { return fits_namespaces(own, qualifier); });
    }
    return found;
  }

  template <typename Fits>
  std::vector<const TopLevelDeclaration*> kernels_where(const std::string& name,
                                                        const Fits& fits) const {
    std::vector<const TopLevelDeclaration*> found;
    for (std::size_t i = 0; i < declarations_.size(); ++i) {
      const TopLevelDeclaration& declaration = declarations_[i];
      if (declaration.is_kernel() && !is_specialisation(declaration) &&
          !declaration.names.empty() && declaration.names.front() == name && fits(namespaces_[i]))
        found.push_back(&declaration);
    }
    return found;
  }

  // Overloads stand in one namespace; of several namespaces one has to be named.
  Status require_one_namespace(const std::string& wanted,
                               const std::vector<const TopLevelDeclaration*>& found) const {
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
                            file_name_, wanted, join(places)));
  }

  const std::vector<TopLevelDeclaration>& declarations_;
  const std::vector<std::string>& namespaces_;
  const std::vector<std::string>& file_kernels_;
  std::vector<std::string> wanted_;
  const std::string& file_name_;
};

}  // namespace

Result<std::vector<WantedKernel>> wanted_kernels(
    const std::vector<TopLevelDeclaration>& declarations,
    const std::vector<std::string>& namespaces, const std::vector<std::string>& file_kernels,
    const std::vector<std::string>& wanted, const std::string& file_name) {
  return KernelChooser(declarations, namespaces, file_kernels, wanted, file_name).choose();
}

}  // namespace regraph::source
