#include "infer/infer_launches.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace regraph::infer {
namespace {

// What the launch before left and the next one does with it, taken together.
Direction then(Direction first, Direction next) {
  if (first == Direction::out || next == first) return first;
  return Direction::inout;
}

class LaunchInferrer {
 public:
  LaunchInferrer(const Manifest& given, const std::vector<source::ParsedKernel>& kernels)
      : given_(given), kernels_(kernels) {
    result_.manifest = given;
  }

  InferredManifest run() {
    for (const ManifestLaunch& entry : given_.launches) {
      const auto kernel =
          std::find_if(kernels_.begin(), kernels_.end(), [&](const source::ParsedKernel& one) {
            return one.signature.name == entry.launch.kernel;
          });
      if (kernel != kernels_.end()) infer(entry.launch, *kernel);
    }
    for (auto& [name, found] : buffers_) {
      ManifestArgument& said = argument(name);
      if (!said.direction) said.direction = found.direction;
      if (said.shape) continue;
      if (found.reason.empty() && found.shape) {
        said.shape = std::move(found.shape);
      } else {
        result_.unknown.emplace_back(name, found.reason);
      }
    }
    return std::move(result_);
  }

 private:
  struct Buffer {
    std::optional<Direction> direction;
    std::optional<std::vector<IntegerExpression>> shape;
    std::string reason;  // why there is no shape
  };

  static const ManifestArgument* find(const Manifest& manifest, const std::string& name) {
    for (const auto& [known, one] : manifest.arguments) {
      if (known == name) return &one;
    }
    return nullptr;
  }
  ManifestArgument& argument(const std::string& name) {
    auto& arguments = result_.manifest.arguments;
    for (auto& [known, one] : arguments) {
      if (known == name) return one;
    }
    arguments.emplace_back(name, ManifestArgument{});
    return arguments.back().second;
  }
  [[nodiscard]] const ManifestScratch* scratch(const std::string& name) const {
    for (const auto& [known, one] : given_.scratch) {
      if (known == name) return &one;
    }
    return nullptr;
  }

  void infer(const Launch& launch, const source::ParsedKernel& kernel) {
    std::vector<std::pair<Parameter, std::string>> passed;  // and what is passed for it
    for (const Parameter& parameter : kernel.signature.parameters) {
      if (!parameter.is_passed()) continue;
      if (!launch.arguments.empty() && passed.size() >= launch.arguments.size()) return;
      passed.emplace_back(
          parameter, launch.arguments.empty() ? parameter.name : launch.arguments[passed.size()]);
    }
    const InferredManifest inferred =
        infer_manifest(seen_by(launch, passed), kernel.signature, kernel.unit, std::nullopt);
    result_.manifest.sizes = inferred.manifest.sizes;
    for (const std::string& note : inferred.notes)
      result_.notes.push_back(fmt::format("{}: {}", launch.kernel, note));
    for (const auto& [parameter, name] : passed) {
      const ManifestArgument* const found = find(inferred.manifest, parameter.name);
      if (found == nullptr || scratch(name) != nullptr) continue;
      if (!parameter.is_pointer) {
        if (name == parameter.name && found->value) argument(name).value = found->value;
        continue;
      }
      merge(passed, *found, buffers_[name]);
      for (const auto& [unknown, reason] : inferred.unknown) {
        if (unknown == parameter.name) buffers_[name].reason = reason;
      }
    }
  }

  // The manifest of this launch alone, in terms of its kernel's parameters.
  Manifest seen_by(const Launch& launch,
                   const std::vector<std::pair<Parameter, std::string>>& passed) const {
    Manifest view;
    view.sizes = result_.manifest.sizes;
    view.tests = given_.tests;
    view.bench = given_.bench;
    view.launch = launch;
    for (const auto& [parameter, name] : passed) {
      ManifestArgument said;
      if (const ManifestScratch* const buffer = scratch(name)) {
        said.direction = Direction::inout;
        said.shape = buffer->shape;
      } else if (!parameter.is_pointer && name != parameter.name) {
        said.value = 1.0;  // not this launch's to find out
      } else if (const ManifestArgument* const one = find(given_, name)) {
        said = *one;
      }
      view.arguments.emplace_back(parameter.name, said);
    }
    return view;
  }

  // "M * N" and "N * M" are the same at all sizes there are.
  [[nodiscard]] bool same_length(const std::vector<IntegerExpression>& a,
                                 const std::vector<IntegerExpression>& b) const {
    if (a == b) return true;
    std::vector<Symbols> sizes = given_.tests;
    sizes.insert(sizes.end(), given_.bench.begin(), given_.bench.end());
    sizes.emplace_back();
    Argument first;
    Argument second;
    first.shape = a;
    second.shape = b;
    return std::all_of(sizes.begin(), sizes.end(), [&](Symbols symbols) {
      symbols.insert(result_.manifest.sizes.begin(), result_.manifest.sizes.end());
      const auto one = first.element_count(symbols);
      const auto other = second.element_count(symbols);
      return one.ok() && other.ok() && *one == *other;
    });
  }

  void merge(const std::vector<std::pair<Parameter, std::string>>& passed,
             const ManifestArgument& found, Buffer& buffer) const {
    if (found.direction) {
      buffer.direction =
          buffer.direction ? then(*buffer.direction, *found.direction) : *found.direction;
    }
    if (!found.shape) return;
    for (const IntegerExpression& extent : *found.shape) {
      for (const std::string& symbol : extent.symbols()) {
        const bool renamed = std::any_of(passed.begin(), passed.end(), [&](const auto& one) {
          return one.first.name == symbol && one.second != symbol;
        });
        if (!renamed) continue;
        buffer.reason =
            fmt::format("its length depends on '{}', which is passed as another name", symbol);
        return;
      }
    }
    if (buffer.shape && !same_length(*buffer.shape, *found.shape)) {
      auto both = longer(*buffer.shape, *found.shape);
      if (both) {
        buffer.shape = std::move(both);
      } else {
        buffer.reason = "the launches use different lengths of it";
      }
    }
    if (!buffer.shape) buffer.shape = found.shape;
  }

  // What is long enough for both; sizes are at least 1. Nothing for several extents.
  static std::optional<std::vector<IntegerExpression>> longer(
      const std::vector<IntegerExpression>& a, const std::vector<IntegerExpression>& b) {
    if (a.size() != 1 || b.size() != 1) return std::nullopt;
    const IntegerExpression one(1);
    if (a.front() == one) return b;
    if (b.front() == one) return a;
    auto both =
        IntegerExpression::parse(fmt::format("max({}, {})", a.front().text(), b.front().text()));
    if (!both) return std::nullopt;
    return std::vector{*std::move(both)};
  }

  const Manifest& given_;
  const std::vector<source::ParsedKernel>& kernels_;
  InferredManifest result_;
  std::map<std::string, Buffer> buffers_;
};

}  // namespace

InferredManifest infer_launches(const Manifest& given,
                                const std::vector<source::ParsedKernel>& kernels) {
  return LaunchInferrer(given, kernels).run();
}

}  // namespace regraph::infer
