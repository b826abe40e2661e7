// Reads several parameters of a step, of which the first that cannot be read is told.
#pragma once

#include "rewrite/forms/ir.h"
#include "rewrite/steps/step_rewriter.h"

#include <string>
#include <utility>

namespace regraph::rewrite {

class ParameterReader {
 public:
  // `parameters` must outlive this.
  explicit ParameterReader(const StepParameters& parameters) : parameters_(parameters) {}

  // The values, as integer_parameter and text_parameter read them; 0 and "" where they cannot.
  [[nodiscard]] int integer(const std::string& name) {
    return value(integer_parameter(parameters_, name));
  }
  [[nodiscard]] std::string text(const std::string& name) {
    return value(text_parameter(parameters_, name));
  }

  // Error: invalid_argument, of the first that could not be read.
  [[nodiscard]] const Status& status() const { return status_; }

 private:
  template <typename Value>
  Value value(Result<Value> read) {
    if (read) return std::move(*read);
    if (status_) status_ = read.error();
    return Value();
  }

  const StepParameters& parameters_;
  Status status_;
};

}  // namespace regraph::rewrite
