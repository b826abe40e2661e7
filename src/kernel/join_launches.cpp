#include "kernel/join_launches.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace regraph::manifest_internal {

namespace {

bool is_name(const IntegerExpression& expression) {
  const auto symbols = expression.symbols();
  return symbols.size() == 1 && *symbols.begin() == expression.text();
}

std::string type_text(const Parameter& parameter) {
  std::string text(cuda_name(parameter.type));
  if (parameter.components > 1) text += fmt::format(" x {}", parameter.components);
  return parameter.is_pointer ? text + "*" : text;
}

class LaunchJoiner {
 public:
  LaunchJoiner(const Manifest& manifest, const std::vector<KernelSignature>& signatures,
               const Symbols& sizes)
      : manifest_(manifest), signatures_(signatures), sizes_(sizes) {}

  Result<JoinedLaunches> run() {
    for (const ManifestLaunch& entry : manifest_.launches) {
      if (Status status = join(entry); !status.ok()) return status.error();
    }
    for (const KernelSignature& signature : signatures_) {
      for (const Parameter& parameter : signature.parameters) {
        if (parameter.is_symbol && find(parameter.name) == nullptr)
          result_.parameters.push_back(parameter);
      }
    }
    return std::move(result_);
  }

 private:
  Parameter* find(const std::string& name) {
    const auto found =
        std::find_if(result_.parameters.begin(), result_.parameters.end(),
                     [&](const Parameter& parameter) { return parameter.name == name; });
    return found == result_.parameters.end() ? nullptr : &*found;
  }

  Status join(const ManifestLaunch& entry) {
    const std::string& kernel = entry.launch.kernel;
    const auto signature =
        std::find_if(signatures_.begin(), signatures_.end(),
                     [&](const KernelSignature& one) { return one.name == kernel; });
    if (signature == signatures_.end()) {
      return error_in(manifest_, entry.line, fmt::format("there is no kernel '{}'", kernel),
                      ErrorCode::not_found);
    }
    std::vector<Parameter> passed;
    for (const Parameter& parameter : signature->parameters) {
      if (parameter.record_bytes > 0 || !parameter.inside.empty()) {
        return error_in(manifest_, entry.line,
                        fmt::format("kernel '{}' takes the structure '{}', and of several launches "
                                    "none may",
                                    kernel, parameter.name),
                        ErrorCode::unsupported);
      }
      if (!parameter.is_symbol) passed.push_back(parameter);
    }
    Launch launch = entry.launch;
    if (launch.arguments.empty()) {
      for (const Parameter& parameter : passed)
        launch.arguments.push_back(parameter.name);
    }
    if (launch.arguments.size() != passed.size()) {
      return error_in(manifest_, entry.line,
                      fmt::format("kernel '{}' has {} parameters, its args name {}", kernel,
                                  passed.size(), launch.arguments.size()));
    }
    for (std::size_t i = 0; i < passed.size(); ++i) {
      if (Status status = pass(entry, passed[i], launch.arguments[i]); !status.ok()) return status;
    }
    result_.plan.launches.push_back(std::move(launch));
    return {};
  }

  // `text` is passed for `parameter`.
  Status pass(const ManifestLaunch& entry, Parameter parameter, const std::string& text) {
    const auto refuse = [&](const std::string& what) {
      return error_in(manifest_, entry.line,
                      fmt::format("launch of '{}', parameter '{}': {}", entry.launch.kernel,
                                  parameter.name, what));
    };
    const auto expression = IntegerExpression::parse(text);
    if (!expression.ok()) return refuse(expression.error().message);
    const bool integer = !parameter.is_pointer && !is_floating(parameter.type);
    if (!is_name(*expression)) {
      if (!integer) return refuse(fmt::format("'{}' is not the name of an argument", text));
      const auto value = expression->evaluate(sizes_);
      return value.ok() ? Status{} : refuse(value.error().message);
    }
    Parameter* const known = find(text);
    if (known == nullptr) {
      parameter.name = text;
      result_.parameters.push_back(std::move(parameter));
      return {};
    }
    // A size fits integers of every width.
    const bool size = integer && !known->is_pointer && !is_floating(known->type) &&
                      sizes_.find(text) != sizes_.end();
    const bool agrees = known->is_pointer == parameter.is_pointer &&
                        known->type == parameter.type && known->components == parameter.components;
    if (!agrees && !size) {
      return refuse(
          fmt::format("'{}' is {} here and {} in another launch; give them two names "
                      "with args",
                      text, type_text(parameter), type_text(*known)));
    }
    known->points_to_const = known->points_to_const && parameter.points_to_const;
    return {};
  }

  const Manifest& manifest_;
  const std::vector<KernelSignature>& signatures_;
  const Symbols& sizes_;
  JoinedLaunches result_;
};

// "float4" is four floats.
std::optional<std::pair<ScalarType, std::int64_t>> element_type(const std::string& text) {
  if (const auto scalar = scalar_type_from_cuda_name(text)) return std::pair(*scalar, 1);
  if (text.empty() || text.back() < '2' || text.back() > '4') return std::nullopt;
  const auto scalar = scalar_type_from_cuda_name(text.substr(0, text.size() - 1));
  if (!scalar) return std::nullopt;
  return std::pair(*scalar, text.back() - '0');
}

}  // namespace

Error error_in(const Manifest& manifest, int line, const std::string& what, ErrorCode code) {
  const std::string path = manifest.path.empty() ? "manifest" : manifest.path;
  return fail(code, line > 0 ? fmt::format("{}:{}: {}", path, line, what)
                             : fmt::format("{}: {}", path, what));
}

Result<JoinedLaunches> join_launches(const Manifest& manifest,
                                     const std::vector<KernelSignature>& signatures,
                                     const Symbols& sizes) {
  return LaunchJoiner(manifest, signatures, sizes).run();
}

Status join_scratch(const Manifest& manifest, const ManifestScratch& said,
                    const Parameter& parameter, Argument& argument) {
  const std::string& name = parameter.name;
  if (!parameter.is_pointer || parameter.is_symbol) {
    return error_in(manifest, said.line, fmt::format("scratch '{}' is not a pointer", name));
  }
  if (!said.type.empty()) {
    const auto type = element_type(said.type);
    if (!type || type->first != parameter.type || type->second != parameter.components) {
      return error_in(manifest, said.line,
                      fmt::format("scratch '{}' is said to hold {}, the kernels take {}", name,
                                  said.type, type_text(parameter)));
    }
  }
  argument.is_scratch = true;
  argument.direction = Direction::inout;
  argument.shape = said.shape;
  return {};
}

}  // namespace regraph::manifest_internal
