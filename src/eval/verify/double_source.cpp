#include "eval/verify/double_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

namespace regraph::verify {

namespace {

// In front of the source: what has no function of its own in double.
constexpr std::string_view kPrelude =
    "static __device__ inline double regraph_divide(double a, double b) { return a / b; }\n";

const std::map<std::string_view, std::string_view>& renamed() {
  static const std::map<std::string_view, std::string_view> names = {
      {"float", "double"},
      {"float1", "double1"},
      {"float2", "double2"},
      {"float3", "double3"},
      {"float4", "double4"},
      {"make_float1", "make_double1"},
      {"make_float2", "make_double2"},
      {"make_float3", "make_double3"},
      {"make_float4", "make_double4"},
      {"__expf", "exp"},
      {"__exp10f", "exp10"},
      {"__logf", "log"},
      {"__log2f", "log2"},
      {"__log10f", "log10"},
      {"__sinf", "sin"},
      {"__cosf", "cos"},
      {"__tanf", "tan"},
      {"__sincosf", "sincos"},
      {"__powf", "pow"},
      {"__fdividef", "regraph_divide"},
      {"__fadd_rn", "__dadd_rn"},
      {"__fsub_rn", "__dsub_rn"},
      {"__fmul_rn", "__dmul_rn"},
      {"__fmaf_rn", "__fma_rn"},
      {"__fdiv_rn", "__ddiv_rn"},
      {"__frcp_rn", "__drcp_rn"},
      {"__fsqrt_rn", "__dsqrt_rn"},
      {"__frsqrt_rn", "rsqrt"},
  };
  return names;
}

// With an f at the end in single precision, without one in double.
const std::set<std::string_view>& math_functions() {
  static const std::set<std::string_view> names = {
      "acos",     "acosh",  "asin",   "asinh", "atan",  "atan2",  "atanh",     "cbrt",  "ceil",
      "copysign", "cos",    "cosh",   "cospi", "erf",   "erfc",   "exp",       "exp10", "exp2",
      "expm1",    "fabs",   "fdim",   "floor", "fma",   "fmax",   "fmin",      "fmod",  "hypot",
      "ldexp",    "lgamma", "log",    "log10", "log1p", "log2",   "nearbyint", "pow",   "rcbrt",
      "rhypot",   "rint",   "round",  "rsqrt", "sin",   "sincos", "sinh",      "sinpi", "sqrt",
      "tan",      "tanh",   "tgamma", "trunc"};
  return names;
}

// What looks at the bits of floats, or has another precision than both.
bool has_no_counterpart(std::string_view name) {
  static const std::set<std::string_view> names = {"asm",
                                                   "__asm__",
                                                   "__asm",
                                                   "__half",
                                                   "half",
                                                   "half2",
                                                   "__half2",
                                                   "__nv_bfloat16",
                                                   "nv_bfloat16",
                                                   "__nv_bfloat162",
                                                   "bfloat16",
                                                   "union",
                                                   "memcpy",
                                                   "wmma",
                                                   "nvcuda",
                                                   "__float_as_int",
                                                   "__float_as_uint",
                                                   "__int_as_float",
                                                   "__uint_as_float",
                                                   "__saturatef"};
  return names.count(name) != 0 || name.starts_with("__float2") || name.starts_with("__nv_fp8");
}

bool starts_identifier(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}
bool continues_identifier(char c) {
  return starts_identifier(c) || std::isdigit(static_cast<unsigned char>(c)) != 0;
}

class Translator {
 public:
  explicit Translator(std::string_view source) : source_(source) {}

  Result<std::string> run() {
    out_ = kPrelude;
    while (at_ < source_.size()) {
      const char c = source_[at_];
      if (source_.substr(at_, 2) == "//") {
        copy_to(source_.find('\n', at_));
      } else if (source_.substr(at_, 2) == "/*") {
        copy_past("*/", 2);
      } else if (c == '"' || c == '\'') {
        copy_literal(c);
      } else if (c == '#' && is_include()) {
        copy_to(source_.find('\n', at_));
      } else if (starts_identifier(c)) {
        if (Status status = identifier(); !status.ok()) return status.error();
      } else if (std::isdigit(static_cast<unsigned char>(c)) != 0 ||
                 (c == '.' && at_ + 1 < source_.size() &&
                  std::isdigit(static_cast<unsigned char>(source_[at_ + 1])) != 0)) {
        number();
      } else {
        out_ += c;
        ++at_;
      }
    }
    return std::move(out_);
  }

 private:
  void copy_to(std::size_t end) {
    end = std::min(end, source_.size());
    out_.append(source_.substr(at_, end - at_));
    at_ = end;
  }
  void copy_past(std::string_view mark, std::size_t from) {
    const std::size_t found = source_.find(mark, at_ + from);
    copy_to(found == std::string_view::npos ? source_.size() : found + mark.size());
  }
  void copy_literal(char quote) {
    std::size_t end = at_ + 1;
    while (end < source_.size() && source_[end] != quote && source_[end] != '\n')
      end += source_[end] == '\\' ? 2 : 1;
    copy_to(end + 1);
  }

  bool is_include() const {
    std::size_t at = at_ + 1;
    while (at < source_.size() && (source_[at] == ' ' || source_[at] == '\t'))
      ++at;
    return source_.substr(at, 7) == "include";
  }

  Status identifier() {
    std::size_t end = at_;
    while (end < source_.size() && continues_identifier(source_[end]))
      ++end;
    const std::string_view name = source_.substr(at_, end - at_);
    if (has_no_counterpart(name)) {
      return fail(ErrorCode::unsupported, fmt::format("'{}' has no counterpart in double", name));
    }
    const auto other = renamed().find(name);
    if (other != renamed().end()) {
      out_ += other->second;
    } else if (name.size() > 1 && name.back() == 'f' &&
               math_functions().count(name.substr(0, name.size() - 1)) != 0) {
      out_ += name.substr(0, name.size() - 1);
    } else {
      out_ += name;
    }
    at_ = end;
    return {};
  }

  // 0.1f becomes ((double)0.1f): the same value, and what is computed with it is in double.
  void number() {
    std::size_t end = at_;
    const bool hexadecimal = source_.substr(at_, 2) == "0x" || source_.substr(at_, 2) == "0X";
    while (end < source_.size()) {
      const char c = source_[end];
      const char before = end > at_ ? source_[end - 1] : ' ';
      const bool exponent =
          hexadecimal ? before == 'p' || before == 'P' : before == 'e' || before == 'E';
      if (!continues_identifier(c) && c != '.' && c != '\'' &&
          !((c == '+' || c == '-') && exponent))
        break;
      ++end;
    }
    const std::string_view text = source_.substr(at_, end - at_);
    const bool single = (text.back() == 'f' || text.back() == 'F') &&
                        (!hexadecimal || text.find_first_of("pP") != std::string_view::npos);
    out_ += single ? fmt::format("((double){})", text) : std::string(text);
    at_ = end;
  }

  std::string_view source_;
  std::size_t at_ = 0;
  std::string out_;
};

}  // namespace

Result<std::string> in_double(std::string_view source) {
  return Translator(source).run();
}

}  // namespace regraph::verify
