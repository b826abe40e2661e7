#include "dataset/generate/dice.h"

#include "base/hash.h"
#include "base/random.h"

namespace regraph::dataset {

Dice::Dice(std::string_view family, std::uint64_t seed, std::uint64_t index)
    : family_(hash_text(family).low), seed_(seed), index_(index) {}

std::uint64_t Dice::bits(std::string_view site) const {
  return random_bits(seed_, family_, index_, hash_text(site).low);
}

std::size_t Dice::below(std::string_view site, std::size_t count) const {
  return static_cast<std::size_t>(bits(site) % count);
}

std::int64_t Dice::between(std::string_view site, std::int64_t low, std::int64_t high) const {
  return low + static_cast<std::int64_t>(below(site, static_cast<std::size_t>(high - low + 1)));
}

bool Dice::chance(std::string_view site, double probability) const {
  return to_unit_interval(bits(site)) < probability;
}

std::string Dice::word(std::string_view site, std::initializer_list<std::string_view> words) const {
  return std::string(words.begin()[below(site, words.size())]);
}

}  // namespace regraph::dataset
