// What a tool is and what a call of one comes to: plain data.
#pragma once

#include <nlohmann/json.hpp>

#include <functional>
#include <string>
#include <string_view>

namespace regraph::agent {

// Which tools there are, and how they answer.
enum class Interface : unsigned char {
  regraph,
  triton_gym,  // three calls with rewards, by the names that another system gave them
};

struct Tool {
  std::string_view name;
  std::string_view title;
  std::string_view description;  // for the model that is to choose it
  std::string_view schema;       // JSON Schema of its arguments
  bool read_only = true;         // it changes nothing but its own records
};

struct ToolResult {
  std::string text;                   // for the model: all that matters
  nlohmann::ordered_json structured;  // the same as data; an object, or null where there is none
  bool is_error = false;              // the call itself could not be done
};

// How far a call is; `done` grows from 0 to 1.
struct CallProgress {
  double done = 0.0;
  std::string message;  // what happens, in words
};
// May be empty: nobody wants to know.
using ProgressReport = std::function<void(const CallProgress&)>;

// A call that could not be done: what is wrong, where, and what to do.
[[nodiscard]] inline ToolResult failed_call(std::string message) {
  return {std::move(message), nullptr, true};
}

}  // namespace regraph::agent
