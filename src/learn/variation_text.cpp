// Requests for variants and reports of them as JSON.
#include "base/files.h"
#include "base/hash.h"
#include "learn/kernel_variation.h"
#include "session/problem_source.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <utility>

namespace regraph::learn {

namespace {

using VariantJson = nlohmann::ordered_json;

constexpr const char* kVariantsFormat = "regraph-variants/1";
// Not .json: those are digests.
constexpr const char* kReportFile = "slow.variants";
constexpr std::size_t kLargestReport = std::size_t{64} << 20;
constexpr std::size_t kLargestKernel = std::size_t{1} << 24;

VariantJson json_of(const KernelVariant& variant) {
  return {{"label", variant.label},
          {"taken_away", variant.taken_away},
          {"slowdown", variant.slowdown},
          {"source", variant.source},
          {"manifest", variant.manifest},
          {"identity", variant.identity},
          {"machine_code", variant.machine_code}};
}

KernelVariant read_variant(const VariantJson& json) {
  KernelVariant variant;
  variant.label = json.at("label").get<std::string>();
  variant.taken_away = json.at("taken_away").get<std::string>();
  variant.slowdown = json.at("slowdown").get<double>();
  variant.source = json.at("source").get<std::string>();
  variant.manifest = json.at("manifest").get<std::string>();
  variant.identity = json.at("identity").get<std::string>();
  variant.machine_code = json.at("machine_code").get<std::string>();
  return variant;
}

}  // namespace

std::string variation_text(const VariationRequest& request) {
  const StudyPlace& place = request.place;
  return VariantJson({{"kernel", place.kernel.string()},
                      {"device", place.device},
                      {"evaluator", place.evaluator},
                      {"folder", place.folder.string()},
                      {"any_build", place.any_build},
                      {"paths", request.paths}})
      .dump();
}

Result<VariationRequest> read_variation(std::string_view text) {
  const VariantJson json = VariantJson::parse(text.begin(), text.end(), nullptr, false);
  VariationRequest request;
  try {
    request.place.kernel = json.at("kernel").get<std::string>();
    request.place.device = json.at("device").get<std::string>();
    request.place.evaluator = json.at("evaluator").get<std::string>();
    request.place.folder = json.at("folder").get<std::string>();
    request.place.any_build = json.at("any_build").get<bool>();
    request.paths = json.at("paths").get<std::vector<std::vector<std::string>>>();
  } catch (const std::exception& exception) {
    return fail(ErrorCode::parse, std::string("no request for variants: ") + exception.what());
  }
  return request;
}

std::string variation_key(const VariationRequest& request) {
  Hasher hasher;
  hasher.add(kVariantsFormat).add(variation_text(request));
  hasher.add(request.place.any_build ? std::string("any") : program_identity());
  const std::string kernel = request.place.kernel.string();
  for (const std::string& file : {kernel, sidecar_of(kernel)}) {
    const auto content = read_file(file, kLargestKernel);
    hasher.add(content ? *content : std::string("none"));
  }
  return hasher.finish().hex();
}

std::string report_text(const VariationReport& report) {
  VariantJson variants = VariantJson::array();
  for (const KernelVariant& variant : report.variants)
    variants.push_back(json_of(variant));
  const VariantJson json = {{"format", kVariantsFormat},   {"key", report.key},
                            {"device", report.device},     {"method", name(report.method)},
                            {"identity", report.identity}, {"tried", report.tried},
                            {"dropped", report.dropped},   {"variants", std::move(variants)}};
  return json.dump(1, ' ', false, VariantJson::error_handler_t::replace) + "\n";
}

Result<VariationReport> read_variation_report(std::string_view text, std::string_view file) {
  const auto damaged = [&](const std::string& why) {
    return fail(ErrorCode::parse, std::string(file) + ": not a report of variants: " + why);
  };
  const VariantJson json = VariantJson::parse(text.begin(), text.end(), nullptr, false);
  VariationReport report;
  try {
    if (json.at("format") != kVariantsFormat) return damaged("unknown format");
    report.key = json.at("key").get<std::string>();
    report.device = json.at("device").get<std::string>();
    const auto method = json.at("method").get<std::string>();
    report.method =
        method == name(TimeMethod::measured) ? TimeMethod::measured : TimeMethod::predicted;
    report.identity = json.at("identity").get<std::string>();
    report.tried = json.at("tried").get<int>();
    report.dropped = json.at("dropped").get<std::map<std::string, int>>();
    for (const VariantJson& entry : json.at("variants"))
      report.variants.push_back(read_variant(entry));
  } catch (const std::exception& exception) {
    return damaged(exception.what());
  }
  return report;
}

std::filesystem::path variation_path(const VariationRequest& request) {
  return request.place.folder / kReportFile;
}

std::optional<VariationReport> kept_report(const VariationRequest& request) {
  const std::filesystem::path file = variation_path(request);
  const auto text = read_file(file, kLargestReport);
  if (!text) return std::nullopt;
  auto report = read_variation_report(*text, file.string());
  if (!report || report->key != variation_key(request)) return std::nullopt;
  return std::move(*report);
}

}  // namespace regraph::learn
