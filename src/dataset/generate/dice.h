// What is random in a kernel. Every draw names its site, so that one more draw in a family leaves
// the others as they were, and the order of draws does not matter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace regraph::dataset {

// Immutable; every function is a pure function of what the dice were made with and of its
// arguments.
class Dice {
 public:
  Dice(std::string_view family, std::uint64_t seed, std::uint64_t index);

  // 0 to count - 1; `count` is at least 1.
  [[nodiscard]] std::size_t below(std::string_view site, std::size_t count) const;
  // Both ends are included.
  [[nodiscard]] std::int64_t between(std::string_view site, std::int64_t low,
                                     std::int64_t high) const;
  [[nodiscard]] bool chance(std::string_view site, double probability) const;
  // Repeat a value in the list to make it likelier.
  template <typename Value>
  [[nodiscard]] Value one_of(std::string_view site, std::initializer_list<Value> values) const {
    return values.begin()[below(site, values.size())];
  }
  // The same for text: one_of would deduce const char*.
  [[nodiscard]] std::string word(std::string_view site,
                                 std::initializer_list<std::string_view> words) const;

 private:
  [[nodiscard]] std::uint64_t bits(std::string_view site) const;

  std::uint64_t family_;
  std::uint64_t seed_;
  std::uint64_t index_;
};

}  // namespace regraph::dataset
