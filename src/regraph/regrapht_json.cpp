#include "regraph/regrapht_json.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace regraph {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kInitialState = "init state";
constexpr std::size_t kMostNodes = 100'000;

// Carries an error to the room's border, parse_regrapht.
struct MalformedJson {
  std::string place;
  std::string message;
};

std::string element(const char* list, std::size_t index, const char* key) {
  return std::string(list) + "[" + std::to_string(index) + "]" + (*key == '\0' ? "" : ".") + key;
}

const Json& field(const Json& object, const char* key, const std::string& place) {
  const auto found = object.find(key);
  if (found == object.end()) throw MalformedJson{place, "is missing"};
  return *found;
}

std::string text_field(const Json& object, const char* key, const std::string& place) {
  const Json& value = field(object, key, place);
  if (!value.is_string()) throw MalformedJson{place, "must be text"};
  return value.get<std::string>();
}

std::size_t index_of(const Json& value, const std::string& place) {
  if (!value.is_number_unsigned()) throw MalformedJson{place, "must be the index of a node"};
  const auto index = value.get<std::uint64_t>();
  if (index >= kMostNodes) throw MalformedJson{place, "is beyond any node"};
  return static_cast<std::size_t>(index);
}

const Json& list_field(const Json& object, const char* key, const std::string& place) {
  const Json& value = field(object, key, place);
  if (!value.is_array()) throw MalformedJson{place, "must be a list"};
  return value;
}

class Reader {
 public:
  explicit Reader(const Json& root) : root_(root) {}

  ReGraphTGraph read() {
    if (!root_.is_object()) throw MalformedJson{"the document", "must be an object"};
    read_nodes();
    read_edges();
    restore_edges();
    return std::move(graph_);
  }

 private:
  void read_nodes() {
    const Json& nodes = list_field(root_, "node", "node");
    if (nodes.empty()) throw MalformedJson{"node", "holds no initial state"};
    if (nodes.size() > kMostNodes) throw MalformedJson{"node", "holds too many nodes"};
    graph_.names.resize(nodes.size());
    std::vector<bool> seen(nodes.size());
    std::set<std::string> names;
    for (std::size_t at = 0; at < nodes.size(); ++at) {
      const Json& node = nodes[at];
      if (!node.is_object()) throw MalformedJson{element("node", at, ""), "must be an object"};
      const std::string place = element("node", at, "index");
      const std::size_t index = index_of(field(node, "index", place), place);
      if (index >= nodes.size()) throw MalformedJson{place, "is beyond the last node"};
      if (seen[index]) throw MalformedJson{place, "is taken by another node"};
      seen[index] = true;
      std::string name = text_field(node, "name", element("node", at, "name"));
      if (!names.insert(name).second) {
        throw MalformedJson{element("node", at, "name"), "'" + name + "' names another node"};
      }
      graph_.names[index] = std::move(name);
    }
  }

  std::uint32_t node_at(const Json& value, const std::string& place) const {
    const std::size_t index = index_of(value, place);
    if (index >= graph_.names.size()) {
      throw MalformedJson{place, "there is no node " + std::to_string(index)};
    }
    return static_cast<std::uint32_t>(index);
  }

  void read_edges() {
    const Json& edges = list_field(root_, "edge", "edge");
    for (std::size_t at = 0; at < edges.size(); ++at) {
      const Json& json = edges[at];
      if (!json.is_object()) throw MalformedJson{element("edge", at, ""), "must be an object"};
      ReGraphTEdge edge;
      edge.source =
          node_at(field(json, "src", element("edge", at, "src")), element("edge", at, "src"));
      edge.target =
          node_at(field(json, "tgt", element("edge", at, "tgt")), element("edge", at, "tgt"));
      if (!known_.emplace(edge.source, edge.target).second) {
        throw MalformedJson{element("edge", at, "tgt"), "the edge is given twice"};
      }
      const Json& examples = list_field(json, "examples", element("edge", at, "examples"));
      for (std::size_t place = 0; place < examples.size(); ++place) {
        const std::string where =
            element("edge", at, "examples") + "[" + std::to_string(place) + "]";
        edge.examples.push_back(read_example(examples[place], where));
      }
      graph_.edges.push_back(std::move(edge));
    }
  }

  static ReGraphTExample read_example(const Json& json, const std::string& where) {
    if (!json.is_object()) throw MalformedJson{where, "must be an object"};
    ReGraphTExample example;
    const std::pair<const char*, std::string*> texts[] = {{"name", &example.name},
                                                          {"think", &example.think},
                                                          {"detail", &example.detail},
                                                          {"before", &example.before},
                                                          {"after", &example.after}};
    for (const auto& [key, text] : texts)
      *text = text_field(json, key, where + "." + key);
    return example;
  }

  // Edges that only the nodes name.
  void restore_edges() {
    const Json& nodes = root_["node"];
    for (std::size_t at = 0; at < nodes.size(); ++at) {
      const std::uint32_t own = node_at(nodes[at]["index"], element("node", at, "index"));
      for (const char* key : {"in", "out"}) {
        const std::string place = element("node", at, key);
        for (const Json& other : list_field(nodes[at], key, place)) {
          const std::uint32_t index = node_at(other, place);
          const bool in = std::string_view(key) == "in";
          const std::uint32_t source = in ? index : own;
          const std::uint32_t target = in ? own : index;
          if (known_.emplace(source, target).second) graph_.edges.push_back({source, target, {}});
        }
      }
    }
  }

  const Json& root_;
  ReGraphTGraph graph_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> known_;
};

// "Shared Memory Tiling" -> "shared_memory_tiling"; empty when nothing is left.
std::string id_of(const std::string& name) {
  std::string id;
  for (const char c : name) {
    const bool upper = c >= 'A' && c <= 'Z';
    const bool plain = upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (plain) {
      id += upper ? static_cast<char>(c - 'A' + 'a') : c;
    } else if (!id.empty() && id.back() != '_') {
      id += '_';
    }
  }
  while (!id.empty() && id.back() == '_')
    id.pop_back();
  return id;
}

}  // namespace

Result<ReGraphTGraph> parse_regrapht(std::string_view text, std::string_view name) {
  const auto error = [&](const std::string& place, const std::string& message) {
    return fail(ErrorCode::parse, std::string(name) + ":" + place + message);
  };
  try {
    return Reader(Json::parse(text)).read();
  } catch (const MalformedJson& malformed) {
    return error(" ", malformed.place + " " + malformed.message);
  } catch (const nlohmann::json::parse_error& wrong) {
    const auto read = text.substr(0, std::min(wrong.byte, text.size()));
    const auto line = 1 + std::count(read.begin(), read.end(), '\n');
    return error(std::to_string(line) + ": ", "this is no JSON");
  } catch (const std::exception& other) {
    return error(" ", other.what());
  }
}

std::string regrapht_text(const ReGraphTGraph& graph) {
  std::vector<std::vector<std::uint32_t>> in(graph.names.size());
  std::vector<std::vector<std::uint32_t>> out(graph.names.size());
  Json edges = Json::array();
  for (const ReGraphTEdge& edge : graph.edges) {
    in[edge.target].push_back(edge.source);
    out[edge.source].push_back(edge.target);
    Json examples = Json::array();
    for (const ReGraphTExample& example : edge.examples) {
      examples.push_back({{"name", example.name},
                          {"think", example.think},
                          {"detail", example.detail},
                          {"before", example.before},
                          {"after", example.after}});
    }
    edges.push_back(
        {{"src", edge.source}, {"tgt", edge.target}, {"examples", std::move(examples)}});
  }
  Json nodes = Json::array();
  for (std::size_t index = 0; index < graph.names.size(); ++index) {
    nodes.push_back(
        {{"index", index}, {"name", graph.names[index]}, {"in", in[index]}, {"out", out[index]}});
  }
  const Json root = {{"node", std::move(nodes)}, {"edge", std::move(edges)}};
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<StepGraph> to_regraph(const ReGraphTGraph& graph, const StepGraph& vocabulary) {
  StepGraph result;
  std::vector<std::string> ids;
  for (std::size_t index = 0; index < graph.names.size(); ++index) {
    const std::string& name = graph.names[index];
    if (index == 0) {
      ids.emplace_back(StepGraph::kInit);
      continue;
    }
    const Step* known = vocabulary.find_by_any_name(name);
    if (known == nullptr) known = result.find_by_any_name(name);
    Step step;
    if (known != nullptr) {
      step = *known;
    } else {
      step.id = id_of(name);
      if (step.id.empty() || step.id == StepGraph::kInit) {
        return fail(ErrorCode::invalid_argument, "a method cannot be called '" + name + "'");
      }
      step.name = name;
      step.what = name;
      step.legality = "not stated";
      step.instruction = name;
      const auto edge = std::ranges::find_if(graph.edges, [&](const ReGraphTEdge& one) {
        return one.target == index && !one.examples.empty();
      });
      if (edge != graph.edges.end()) step.instruction = edge->examples.front().detail;
    }
    ids.push_back(step.id);
    if (result.find(step.id) != nullptr) continue;
    if (Status added = result.add_step(std::move(step)); !added) return added.error();
  }

  std::map<std::pair<std::string, std::string>, double> weights;
  std::vector<std::pair<std::string, std::string>> order;
  for (const ReGraphTEdge& edge : graph.edges) {
    const std::pair<std::string, std::string> ends = {ids[edge.source], ids[edge.target]};
    if (ends.second == StepGraph::kInit) continue;
    if (!weights.contains(ends)) order.push_back(ends);
    weights[ends] += static_cast<double>(edge.examples.size());
  }
  for (const auto& ends : order) {
    Transition transition;
    const Transition* known = vocabulary.transition(ends.first, ends.second);
    transition.expected_speedup = known == nullptr ? kUnknownGain : known->expected_speedup;
    transition.prior_weight = std::max(weights[ends], 1.0);
    if (Status added = result.add_transition(ends.first, ends.second, transition); !added) {
      return added.error();
    }
  }
  return result;
}

ReGraphTGraph from_regraph(const StepGraph& graph) {
  ReGraphTGraph result;
  result.names.emplace_back(kInitialState);
  std::map<std::string, std::uint32_t, std::less<>> indices = {{std::string(StepGraph::kInit), 0}};
  for (const Step* step : graph.steps()) {
    indices.emplace(step->id, static_cast<std::uint32_t>(result.names.size()));
    result.names.push_back(step->id);
  }
  for (const StepGraph::TransitionView& transition : graph.transitions()) {
    result.edges.push_back(
        {indices.find(transition.from)->second, indices.find(transition.to)->second, {}});
  }
  return result;
}

}  // namespace regraph
