// What a search is doing, as text for standard error.
#pragma once

#include "search/config.h"
#include "search/observer.h"

#include <chrono>
#include <functional>
#include <string>
#include <utility>

namespace regraph {

// On a terminal: one line that is rewritten. Otherwise: a plain line for every improvement (every
// evaluation when verbose).
class ProgressReporter final : public SearchObserver {
 public:
  enum class Style { terminal, lines, verbose_lines };
  using Sink = std::function<void(const std::string&)>;

  // `sink` receives the text, with its line breaks or carriage returns.
  ProgressReporter(Style style, const SearchBudget& budget, Sink sink);

  void on_evaluated(const SearchEvent& event) override;
  void on_final_selection(int finalists) override;
  // Adds to the live line, and to each line, what `words` returns then.
  void show_also(std::function<std::string()> words) { words_ = std::move(words); }
  // Whenever something changes, `status` is told how far the search is: "12 of 60 evaluated, best
  // 1.52x". On the thread that searches.
  void tell_also(std::function<void(const std::string&)> status) { status_ = std::move(status); }
  // Ends the live line.
  void finish();

 private:
  [[nodiscard]] double elapsed_seconds() const;

  Style style_;
  SearchBudget budget_;
  Sink sink_;
  std::function<std::string()> words_;
  std::function<void(const std::string&)> status_;
  std::chrono::steady_clock::time_point start_;
  std::size_t line_length_ = 0;
};

}  // namespace regraph
