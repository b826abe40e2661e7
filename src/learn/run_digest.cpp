#include "learn/run_digest.h"

#include "base/hash.h"
#include "regraph/combined_steps.h"
#include "regraph/step_graph.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <deque>
#include <map>

namespace regraph::learn {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "regraph-digest/1";

ExpansionContext context_of(const std::vector<StateRecord>& states, const StateRecord& state) {
  ExpansionContext context;
  context.evaluation = state.evaluation;
  context.original_seconds = states.front().evaluation.time.median_seconds;
  for (const StateRecord* at = &state; at->parent; at = &states[*at->parent]) {
    const std::vector<std::string> steps = steps_of(at->step);
    context.history.insert(context.history.begin(), steps.begin(), steps.end());
  }
  return context;
}

std::optional<std::size_t> place_of(const StepProposal& step,
                                    const std::vector<StepProposal>& proposals) {
  for (std::size_t at = 0; at < proposals.size(); ++at) {
    if (proposals[at].step == step.step && proposals[at].parameters == step.parameters) return at;
  }
  return std::nullopt;
}

// Numbers are kept to six digits: far beyond what a network tells apart.
double short_number(double value) {
  if (value == 0.0 || !std::isfinite(value)) return value;
  constexpr double kDigits = 6.0;
  const double scale = std::pow(10.0, kDigits - std::ceil(std::log10(std::fabs(value))));
  return std::isfinite(scale) ? std::round(value * scale) / scale : value;
}

Json json_of(const std::optional<policy::KernelShape>& shape) {
  if (!shape) return nullptr;
  Json list = Json::array();
  for (const float value : shape->values)
    list.push_back(short_number(value));
  return list;
}

Json json_of(const DigestState& state) {
  const policy::StateView& view = state.view;
  Json facts = Json::object();
  // JSON has no number for the others, and a policy takes them for unknown anyway.
  for (const auto& [name, value] : view.facts) {
    if (std::isfinite(value)) facts[name] = short_number(value);
  }
  Json proposals = Json::array();
  for (const StepProposal& proposal : view.proposals) {
    proposals.push_back({proposal.step, proposal.parameters});
    if (proposal.advice.title.empty()) continue;
    proposals.back().push_back(proposal.advice.title);
    proposals.back().push_back(proposal.advice.reason);
  }
  Json edges = Json::array();
  for (const DigestEdge& edge : state.edges) {
    Json entry = {{"proposal", edge.proposal}};
    if (edge.variant != 0) entry["variant"] = edge.variant;
    if (edge.child) entry["child"] = *edge.child;
    if (edge.verified) entry["log_gain"] = edge.log_gain;
    if (edge.repeats) entry["repeats"] = true;
    if (!edge.reason.empty()) entry["reason"] = edge.reason;
    if (const auto& after = view.after[edge.proposal]) entry["after"] = json_of(after);
    edges.push_back(std::move(entry));
  }
  return {{"id", state.id},
          {"identity", state.identity},
          {"history", view.history},
          {"log_speedup", view.log_speedup},
          {"facts", std::move(facts)},
          {"shape", json_of(view.shape)},
          {"proposals", std::move(proposals)},
          {"edges", std::move(edges)}};
}

std::optional<policy::KernelShape> read_shape(const Json& json) {
  if (json.is_null()) return std::nullopt;
  policy::KernelShape shape;
  if (json.size() != shape.values.size()) throw std::runtime_error("a shape of another size");
  for (std::size_t at = 0; at < shape.values.size(); ++at)
    shape.values[at] = json.at(at).get<float>();
  return shape;
}

DigestState read_state(const Json& json) {
  DigestState state;
  state.id = json.at("id").get<std::uint32_t>();
  state.identity = json.at("identity").get<std::string>();
  policy::StateView& view = state.view;
  view.history = json.at("history").get<std::vector<std::string>>();
  view.log_speedup = json.at("log_speedup").get<double>();
  for (const auto& [name, value] : json.at("facts").items())
    view.facts.emplace(name, value.get<double>());
  view.shape = read_shape(json.at("shape"));
  for (const Json& entry : json.at("proposals")) {
    StepProposal proposal;
    proposal.step = entry.at(0).get<std::string>();
    proposal.parameters = entry.at(1).get<StepParameters>();
    if (entry.size() > 2) {
      proposal.advice.title = entry.at(2).get<std::string>();
      proposal.advice.reason = entry.at(3).get<std::string>();
    }
    view.proposals.push_back(std::move(proposal));
  }
  view.after.resize(view.proposals.size());
  for (const Json& entry : json.at("edges")) {
    DigestEdge edge;
    edge.proposal = entry.at("proposal").get<std::size_t>();
    if (edge.proposal >= view.proposals.size()) throw std::runtime_error("an edge of no proposal");
    edge.variant = entry.value("variant", 0);
    if (entry.contains("child")) edge.child = entry.at("child").get<std::uint32_t>();
    edge.verified = entry.contains("log_gain");
    edge.log_gain = entry.value("log_gain", 0.0);
    edge.repeats = entry.value("repeats", false);
    edge.reason = entry.value("reason", std::string());
    if (!std::isfinite(edge.log_gain)) throw std::runtime_error("a gain that is not a number");
    if (entry.contains("after")) view.after[edge.proposal] = read_shape(entry.at("after"));
    state.edges.push_back(std::move(edge));
  }
  return state;
}

}  // namespace

std::string RunDigest::run() const {
  Hasher hasher;
  hasher.add(kernel_hash).add(device).add(name(method)).add(program);
  for (const DigestState& state : states) {
    for (const DigestEdge& edge : state.edges) {
      hasher.add(state.identity).add(state.view.proposals[edge.proposal].text());
      hasher.add(static_cast<std::uint64_t>(edge.variant));
      hasher.add(edge.verified ? std::to_string(edge.log_gain) : edge.reason);
    }
  }
  return hasher.finish().hex();
}

std::vector<std::string> RunDigest::path_to_fastest() const {
  struct Arrival {
    std::uint32_t parent;
    std::string step;
  };
  std::map<std::uint32_t, const DigestState*> known;
  const DigestState* fastest = nullptr;
  for (const DigestState& state : states) {
    known[state.id] = &state;
    if (fastest == nullptr || state.view.log_speedup > fastest->view.log_speedup) fastest = &state;
  }
  if (fastest == nullptr) return {};
  std::map<std::uint32_t, Arrival> arrivals;
  std::deque<std::uint32_t> ahead = {0};
  while (!ahead.empty() && !arrivals.contains(fastest->id)) {
    const std::uint32_t at = ahead.front();
    ahead.pop_front();
    const auto state = known.find(at);
    if (state == known.end()) continue;  // an alias, or wrong
    for (const DigestEdge& edge : state->second->edges) {
      const bool new_way = edge.verified && edge.child && edge.variant == 0 && *edge.child != 0;
      if (!new_way) continue;
      const auto& step = state->second->view.proposals[edge.proposal];
      if (arrivals.try_emplace(*edge.child, Arrival{at, step.text()}).second)
        ahead.push_back(*edge.child);
    }
  }
  std::vector<std::string> path;
  for (std::uint32_t at = fastest->id; at != 0;) {
    const auto arrival = arrivals.find(at);
    if (arrival == arrivals.end()) return {};
    path.insert(path.begin(), arrival->second.step);
    at = arrival->second.parent;
  }
  return path;
}

RunDigest digest_of(const DigestSource& source, const DigestLabels& labels,
                    std::vector<double> curve) {
  const std::vector<StateRecord>& states = source.outcome.states;
  RunDigest digest;
  digest.kernel = source.kernel;
  digest.kernel_hash = labels.kernel_hash;
  digest.family = labels.family;
  digest.label = labels.label;
  digest.derived = labels.derived;
  digest.settings = labels.settings;
  digest.device = source.device;
  digest.program = source.program;
  digest.method = states.front().evaluation.time.method;
  digest.evaluations = source.outcome.evaluations;
  digest.curve = std::move(curve);
  digest.best_log_speedup = source.outcome.log_speedup;
  for (const PathStep& step : source.outcome.path)
    digest.best_path.push_back(step.step.text());

  std::map<std::uint32_t, std::vector<const AttemptRecord*>> attempts;
  for (const AttemptRecord& attempt : source.outcome.attempts)
    attempts[attempt.parent].push_back(&attempt);
  for (const StateRecord& state : states) {
    if (!state.evaluation.correct() || state.same_as) continue;
    DigestState kept;
    kept.id = state.id;
    kept.identity = state.candidate->identity.hex();
    std::vector<bool> tried(state.proposals.size(), false);
    for (const AttemptRecord* attempt : attempts[state.id]) {
      const auto place = place_of(attempt->step, state.proposals);
      if (!place) continue;
      tried[*place] = true;
      kept.edges.push_back({*place, attempt->variant, attempt->child, attempt->verified,
                            attempt->log_gain, attempt->repeats, attempt->reason});
      if (!attempt->verified) kept.edges.back().child.reset();
    }
    kept.view = policy::view_of(*state.candidate, context_of(states, state), state.proposals,
                                source.rewriter, tried);
    digest.states.push_back(std::move(kept));
  }
  return digest;
}

std::string digest_text(const RunDigest& digest) {
  Json states = Json::array();
  for (const DigestState& state : digest.states)
    states.push_back(json_of(state));
  Json json = {{"format", kFormat},
               {"kernel", digest.kernel},
               {"kernel_hash", digest.kernel_hash},
               {"family", digest.family},
               {"label", digest.label},
               {"device", digest.device},
               {"method", name(digest.method)},
               {"program", digest.program},
               {"evaluations", digest.evaluations},
               {"curve", digest.curve},
               {"best_log_speedup", digest.best_log_speedup},
               {"best_path", digest.best_path},
               {"states", std::move(states)}};
  // Of most kernels there is nothing to say.
  if (digest.derived) json["derived"] = true;
  if (!digest.settings.empty()) json["settings"] = digest.settings;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<RunDigest> read_digest(std::string_view text, std::string_view file) {
  const auto damaged = [&](const std::string& why) {
    return fail(ErrorCode::parse, std::string(file) + ": not a digest of a search: " + why);
  };
  constexpr int kDeepest = 8;
  const auto shallow = [](int depth, Json::parse_event_t, Json&) { return depth <= kDeepest; };
  const Json json = Json::parse(text.begin(), text.end(), shallow, false);
  if (!json.is_object()) return damaged("it is not JSON");
  RunDigest digest;
  try {
    if (json.at("format") != kFormat) return damaged("unknown format");
    digest.kernel = json.at("kernel").get<std::string>();
    digest.kernel_hash = json.at("kernel_hash").get<std::string>();
    digest.family = json.at("family").get<std::string>();
    digest.label = json.at("label").get<std::string>();
    digest.device = json.at("device").get<std::string>();
    digest.derived = json.value("derived", false);
    digest.program = json.at("program").get<std::string>();
    digest.settings = json.value("settings", std::string());
    const auto method = json.at("method").get<std::string>();
    if (method != name(TimeMethod::predicted) && method != name(TimeMethod::measured))
      return damaged("unknown way of timing '" + method + "'");
    digest.method =
        method == name(TimeMethod::predicted) ? TimeMethod::predicted : TimeMethod::measured;
    digest.evaluations = json.at("evaluations").get<int>();
    digest.curve = json.at("curve").get<std::vector<double>>();
    digest.best_log_speedup = json.at("best_log_speedup").get<double>();
    digest.best_path = json.at("best_path").get<std::vector<std::string>>();
    for (const Json& entry : json.at("states")) {
      digest.states.push_back(read_state(entry));
      digest.states.back().view.method = digest.method;
    }
  } catch (const std::exception& exception) {
    return damaged(exception.what());
  }
  return digest;
}

}  // namespace regraph::learn
