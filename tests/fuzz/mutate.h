// Random damage to texts and files, repeatable by seed.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <span>
#include <string>
#include <string_view>

namespace regraph::fuzz {

using Random = std::mt19937_64;

// Seconds to run and the seed, from the command line: PROGRAM [SECONDS [SEED]].
struct Settings {
  double seconds = 2.0;
  std::uint64_t seed = 1;
};
inline Settings settings(int argc, char** argv) {
  Settings result;
  if (argc > 1) result.seconds = std::atof(argv[1]);
  if (argc > 2) result.seed = std::strtoull(argv[2], nullptr, 10);
  return result;
}

// Calls round(random, number) until the time is over; each round has a random sequence of its own,
// so that a failing one can be repeated alone: its seed is printed by fail().
class Rounds {
 public:
  explicit Rounds(const Settings& settings) : settings_(settings) {}

  template <typename Round>
  int run(Round round) {
    const auto end =
        std::chrono::steady_clock::now() + std::chrono::duration<double>(settings_.seconds);
    std::uint64_t rounds = 0;
    for (std::uint64_t seed = settings_.seed; std::chrono::steady_clock::now() < end; ++seed) {
      Random random(seed);
      current_ = seed;
      round(random);
      ++rounds;
    }
    std::printf("%llu rounds from seed %llu\n", static_cast<unsigned long long>(rounds),
                static_cast<unsigned long long>(settings_.seed));
    return 0;
  }
  // The seed of the round in hand.
  [[nodiscard]] std::uint64_t current() const { return current_; }
  // Ends the program: a property does not hold.
  [[noreturn]] void fail(const std::string& what) const {
    std::fprintf(stderr, "seed %llu: %s\n", static_cast<unsigned long long>(current_),
                 what.c_str());
    std::abort();
  }

 private:
  Settings settings_;
  std::uint64_t current_ = 0;
};

// Changes, drops, repeats, moves and inserts parts of `text`; some of what is inserted is from
// `words`.
inline void damage(std::string& text, Random& random, std::span<const std::string_view> words) {
  constexpr std::size_t kLargest = 1 << 20;
  const auto below = [&](std::size_t bound) {
    return bound == 0 ? 0 : static_cast<std::size_t>(random() % bound);
  };
  const std::size_t changes = 1 + below(8);
  for (std::size_t change = 0; change < changes; ++change) {
    const std::size_t at = below(text.size() + 1);
    const std::size_t length = std::min(below(1 + below(200)), text.size() - at);
    switch (random() % 7) {
      case 0:
        if (at < text.size()) text[at] = static_cast<char>(random());
        break;
      case 1:
        if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << random() % 8));
        break;
      case 2:
        text.erase(at, length);
        break;
      case 3:
        text.insert(below(text.size() + 1), text.substr(at, length));
        break;
      case 4:
        if (!words.empty()) text.insert(at, words[below(words.size())]);
        break;
      case 5:
        if (text.size() < kLargest)
          text.insert(at, std::string(1 + below(3000), "[{(-0 \n\t"[random() % 9]));
        break;
      default:
        if (!words.empty()) text.replace(at, length, words[below(words.size())]);
        break;
    }
  }
}

}  // namespace regraph::fuzz
