#include "llm/prompt/prompt_file.h"

#include "base/utf8.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <exception>
#include <set>
#include <utility>
#include <vector>

namespace regraph::llm {

namespace {

using Names = std::vector<std::string_view>;

Names joined(Names names, const Names& more) {
  names.insert(names.end(), more.begin(), more.end());
  return names;
}

const Names& state_names() {
  static const Names kNames = {"kernel.name",          "kernel.arguments",
                               "kernel.sizes",         "kernel.grants",
                               "kernel.tolerance",     "candidate.source",
                               "candidate.launch",     "candidate.launches",
                               "candidate.time",       "device",
                               "candidate.bottleneck", "counters",
                               "candidate.verdict",    "candidate.message",
                               "candidate.floor",      "story.original",
                               "story.best",           "story.path",
                               "story.tried"};
  return kNames;
}

const Names& step_names() {
  static const Names kNames = {"step.id",          "step.name",     "step.what",
                               "step.instruction", "step.legality", "step.parameters",
                               "step.values",      "step.reason",   "step.counters"};
  return kNames;
}

// yaml-cpp reports by exceptions; this one carries ours to the room's border, parse_prompt.
struct Malformed {
  int line = 0;
  std::string message;
};

int line_of(const YAML::Node& node) {
  return node.Mark().line + 1;
}

class Reader {
 public:
  Reader(std::string_view text, std::string_view name) : text_(text), name_(name) {}

  Result<PromptFile> read(const YAML::Node& root) {
    require_keys(root);
    PromptFile file;
    file.format = format_of(root);
    file.kind = kind_of(root);
    if (file.format == 1 && is_optional(file.kind))
      reject(root["format"], "prompts of this kind have the format 'regraph-prompt/2'");
    file.id = word(root, "id");
    if (!YAML::convert<int>::decode(field(root, "version"), file.version) || file.version < 1) {
      reject(root["version"], "version must be a number of at least 1");
    }
    const bool has_system = file.format == 1 || file.kind == PromptKind::common;
    if (!has_system && root["system"].IsDefined())
      reject(root["system"], "'system' belongs to the prompt of the kind 'common'");
    for (const auto& [key, target] : {std::pair{"system", &file.system}, {"user", &file.user}}) {
      if (target == &file.system && !has_system) continue;
      Result<PromptTemplate> parsed = PromptTemplate::parse(
          word(root, key), name_, literal_line(root, key), placeholders_of(file, key));
      if (!parsed) return parsed.error();
      *target = std::move(*parsed);
    }
    require_placeholders(root, file);
    read_schema(root, file);
    return file;
  }

 private:
  [[noreturn]] static void reject(const YAML::Node& where, std::string message) {
    throw Malformed{line_of(where), std::move(message)};
  }

  static void require_keys(const YAML::Node& root) {
    constexpr auto kKnown = std::to_array<std::string_view>(
        {"format", "kind", "id", "version", "system", "user", "schema"});
    if (!root.IsMap()) reject(root, "a prompt must be a mapping");
    std::set<std::string> seen;
    for (const auto& entry : root) {
      const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "";
      if (std::ranges::find(kKnown, key) == kKnown.end()) {
        reject(entry.first, fmt::format("unknown key '{}'", key));
      }
      if (!seen.insert(key).second) reject(entry.first, fmt::format("'{}' is given twice", key));
    }
  }

  static YAML::Node field(const YAML::Node& root, const char* key) {
    const YAML::Node value = root[key];
    if (!value.IsDefined()) reject(root, fmt::format("missing key '{}'", key));
    return value;
  }

  static std::string word(const YAML::Node& root, const char* key) {
    const YAML::Node value = field(root, key);
    if (!value.IsScalar() || value.Scalar().empty())
      reject(value, fmt::format("{} must be text", key));
    return value.Scalar();
  }

  static int format_of(const YAML::Node& root) {
    const std::string format = word(root, "format");
    if (format == "regraph-prompt/1") return 1;
    if (format == "regraph-prompt/2") return 2;
    reject(root["format"],
           "unknown format, this version reads 'regraph-prompt/1' and 'regraph-prompt/2'");
  }

  // What all requests begin with must be the same text in all of them.
  static std::span<const std::string_view> placeholders_of(const PromptFile& file,
                                                           std::string_view key) {
    if (file.kind == PromptKind::common && key == "system") return {};
    return placeholders(file.kind);
  }

  static PromptKind kind_of(const YAML::Node& root) {
    const std::string wanted = word(root, "kind");
    std::vector<std::string_view> known;
    for (int index = 0; index < kPromptKindCount; ++index) {
      const auto kind = static_cast<PromptKind>(index);
      if (wanted == llm::name(kind)) return kind;
      known.emplace_back(llm::name(kind));
    }
    reject(root["kind"],
           fmt::format("unknown kind '{}' (known: {})", wanted, fmt::join(known, ", ")));
  }

  // The line on which the text of a literal block begins.
  [[nodiscard]] int literal_line(const YAML::Node& root, const char* key) const {
    const YAML::Node value = field(root, key);
    std::string_view rest = text_;
    for (int line = 0; line < value.Mark().line; ++line)
      rest.remove_prefix(std::min(rest.find('\n') + 1, rest.size()));
    const std::string_view line = rest.substr(0, rest.find('\n'));
    const std::size_t colon = line.find(':');
    const std::size_t first =
        colon == std::string_view::npos ? colon : line.find_first_not_of(" \t", colon + 1);
    if (first == std::string_view::npos || line[first] != '|') {
      reject(value, fmt::format("{} must be a literal block: '{}: |'", key, key));
    }
    return line_of(value) + 1;
  }

  static Names needed_of(const PromptFile& file) {
    Names needed;
    if (file.format == 1 || file.kind == PromptKind::common)
      needed = {"candidate.source", "kernel.name"};
    switch (file.kind) {
      case PromptKind::judge_correction:
      case PromptKind::repair:
        if (file.format == 1) return joined(needed, {"candidate.message", "parent.source"});
        return {"failing.message"};
      case PromptKind::leap:
        return {"plan"};
      case PromptKind::combine:
        return {"other.source"};
      default:
        return needed;
    }
  }

  // A prompt without these could not be answered.
  static void require_placeholders(const YAML::Node& root, const PromptFile& file) {
    Names needed = needed_of(file);
    // A model that was trained on the steps needs their names alone, or not even those.
    const auto uses = [&](std::string_view name) {
      return file.user.uses(name) || file.system.uses(name);
    };
    if (file.kind == PromptKind::apply && !uses("step.id")) needed.emplace_back("step.instruction");
    for (const std::string_view wanted : needed) {
      if (uses(wanted)) continue;
      reject(root["user"], fmt::format("a prompt of this kind must use '{}'", wanted));
    }
  }

  void read_schema(const YAML::Node& root, PromptFile& file) const {
    const bool wanted =
        file.kind == PromptKind::propose || file.kind == PromptKind::judge_correction ||
        file.kind == PromptKind::judge_optimisation || file.kind == PromptKind::together;
    if (root["schema"].IsDefined() != wanted) {
      reject(root, wanted ? "missing key 'schema': answers of this kind are JSON"
                          : "'schema' does not belong here: answers of this kind are no JSON");
    }
    if (!wanted) return;
    (void)literal_line(root, "schema");
    Result<JsonSchema> schema = JsonSchema::parse(word(root, "schema"));
    if (!schema) reject(root["schema"], schema.error().message);
    file.schema = std::move(*schema);
  }

  std::string_view text_;
  std::string_view name_;
};

}  // namespace

const char* name(PromptKind kind) {
  switch (kind) {
    case PromptKind::apply:
      return "apply";
    case PromptKind::propose:
      return "propose";
    case PromptKind::judge_correction:
      return "judge_correction";
    case PromptKind::judge_optimisation:
      return "judge_optimisation";
    case PromptKind::repair:
      return "repair";
    case PromptKind::common:
      return "common";
    case PromptKind::leap:
      return "leap";
    case PromptKind::combine:
      return "combine";
    case PromptKind::together:
      return "together";
  }
  return "?";
}

std::span<const std::string_view> placeholders(PromptKind kind) {
  static const Names kOfSteps = joined(state_names(), step_names());
  static const Names kApply =
      joined(kOfSteps, {"example.from", "example.kernel", "example.before", "example.after",
                        "example.change", "example.speedup", "failed"});
  static const Names kPropose =
      joined(state_names(), {"catalogue", "done", "limit", "leaps", "others"});
  static const Names kCorrection =
      joined(kOfSteps, {"parent.source", "parent.launch", "failing.source", "failing.launch",
                        "failing.verdict", "failing.message"});
  static const Names kOptimisation = joined(state_names(), {"catalogue", "done"});
  static const Names kRepair = joined(kCorrection, {"advice"});
  static const Names kLeaps = joined(state_names(), {"plan", "step.reason", "failed"});
  static const Names kCombinations = joined(
      state_names(), {"other.source", "other.launch", "other.path", "step.reason", "failed"});
  switch (kind) {
    case PromptKind::apply:
      return kApply;
    case PromptKind::propose:
      return kPropose;
    case PromptKind::judge_correction:
      return kCorrection;
    case PromptKind::judge_optimisation:
      return kOptimisation;
    case PromptKind::repair:
      return kRepair;
    case PromptKind::common:
      return state_names();
    case PromptKind::leap:
      return kLeaps;
    case PromptKind::combine:
      return kCombinations;
    case PromptKind::together:
      return kPropose;
  }
  return {};
}

Result<PromptFile> parse_prompt(std::string_view text, std::string_view name) {
  const auto error = [&](int line, const std::string& message) {
    return fail(ErrorCode::parse, fmt::format("{}:{}: {}", name, std::max(line, 1), message));
  };
  if (const auto wrong = find_invalid_utf8(text)) {
    const auto line = 1 + std::ranges::count(text.substr(0, *wrong), '\n');
    return error(static_cast<int>(line), "this is not UTF-8 text");
  }
  try {
    return Reader(text, name).read(YAML::Load(std::string(text)));
  } catch (const Malformed& malformed) {
    return error(malformed.line, malformed.message);
  } catch (const YAML::Exception& exception) {
    return error(exception.mark.line + 1, exception.msg);
  } catch (const std::exception& exception) {
    return error(1, exception.what());
  }
}

}  // namespace regraph::llm
