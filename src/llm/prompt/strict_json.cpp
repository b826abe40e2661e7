#include "llm/prompt/strict_json.h"

#include "llm/prompt/prompt_text.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace regraph::llm {

namespace {

using Json = nlohmann::json;

// Looks at the events of a parse before anything is built. Returning false ends the parse.
class Examiner final : public nlohmann::json_sax<Json> {
 public:
  Examiner(std::string_view text, const JsonLimits& limits) : text_(text), limits_(limits) {}

  [[nodiscard]] const std::string& complaint() const { return complaint_; }

  bool null() override { return count(); }
  bool boolean(bool) override { return count(); }
  bool number_integer(number_integer_t) override { return count(); }
  bool number_unsigned(number_unsigned_t) override { return count(); }
  bool number_float(number_float_t, const string_t&) override { return count(); }
  bool string(string_t&) override { return count(); }
  bool binary(binary_t&) override { return count(); }
  bool start_object(std::size_t) override { return open(); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(); }
  bool end_array() override { return close(); }
  bool key(string_t& key) override {
    if (keys_.back().insert(key).second) return true;
    return complain(fmt::format("key '{}' is given twice", one_line(key, kShown)));
  }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    const std::string_view before = text_.substr(0, position == 0 ? 0 : position - 1);
    const auto line = 1 + std::ranges::count(before, '\n');
    const std::size_t column = before.size() - (before.rfind('\n') + 1) + 1;
    return complain(fmt::format("not valid JSON at line {}, column {}", line, column));
  }

 private:
  static constexpr std::size_t kShown = 60;

  bool complain(std::string what) {
    if (complaint_.empty()) complaint_ = std::move(what);
    return false;
  }
  bool count() {
    if (++values_ <= limits_.values) return true;
    return complain(fmt::format("more than {} values in the JSON", limits_.values));
  }
  bool open() {
    keys_.emplace_back();
    if (keys_.size() <= limits_.depth) return count();
    return complain(fmt::format("JSON nested deeper than {} levels", limits_.depth));
  }
  bool close() {
    keys_.pop_back();
    return true;
  }

  std::string_view text_;
  const JsonLimits& limits_;
  std::size_t values_ = 0;
  std::vector<std::set<std::string>> keys_;
  std::string complaint_;
};

}  // namespace

Result<Json> parse_strict_json(std::string_view text, const JsonLimits& limits) {
  if (text.size() > limits.bytes) {
    return fail(ErrorCode::parse,
                fmt::format("{} bytes of JSON, at most {} are read", text.size(), limits.bytes));
  }
  Examiner examiner(text, limits);
  if (!Json::sax_parse(text.begin(), text.end(), &examiner)) {
    return fail(ErrorCode::parse, examiner.complaint().empty() ? std::string("not valid JSON")
                                                               : examiner.complaint());
  }
  Json value = Json::parse(text.begin(), text.end(), nullptr, false);
  if (value.is_discarded()) return fail(ErrorCode::parse, "not valid JSON");
  return value;
}

}  // namespace regraph::llm
