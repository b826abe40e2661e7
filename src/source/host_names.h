// What the names of a file's host code stand for, as far as one definition says it.
#pragma once

#include "source/top_level.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace regraph::source {

class HostNames {
 public:
  // Both must outlive this.
  HostNames(std::string_view source, const std::vector<Token>& tokens);

  // Text of what each name is set to, seen from a token: "dim3 ( 16 , 16 )", "n / 256"; tokens are
  // one blank apart. Names of the function around the token count before those of the file, and
  // these before those of other functions; device code says nothing. Of several values in the
  // function around the token the last before it counts where no branch or loop leads past it.
  // Empty: something that is no constant, or two different things.
  using Definitions = std::map<std::string, std::string, std::less<>>;
  [[nodiscard]] Definitions seen_from(std::size_t token) const;

  // Text of tokens [first, last), one blank apart, without directives.
  [[nodiscard]] std::string join(std::size_t first, std::size_t last) const;

 private:
  struct Definition {
    std::size_t token = 0;
    std::string_view name;
    std::string value;
  };
  struct Function {
    std::size_t first = 0;
    std::size_t last = 0;
    bool is_device = false;
  };
  [[nodiscard]] std::string_view word(std::size_t token) const;
  void define(std::size_t token, std::string_view name, std::string value);
  [[nodiscard]] const Function* function_at(std::size_t token) const;
  [[nodiscard]] bool is_dim3(std::size_t at) const;
  [[nodiscard]] bool is_assignment(std::size_t at) const;
  [[nodiscard]] std::size_t end_of_value(std::size_t at) const;
  [[nodiscard]] std::size_t block_around(std::size_t token, const Function& function) const;
  [[nodiscard]] bool is_conditional(std::size_t at) const;
  [[nodiscard]] const Definition* last_before(std::size_t token, std::string_view name,
                                              const Function& function) const;

  std::string_view source_;
  const std::vector<Token>& tokens_;
  std::vector<Function> functions_;
  std::vector<Definition> definitions_;
};

}  // namespace regraph::source
