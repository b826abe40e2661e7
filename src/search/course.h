// One way a search may go on from where it stands: a copy of its searcher, with what it was told.
#pragma once

#include "kernel/candidate.h"
#include "kernel/evaluation.h"
#include "regraph/step_graph.h"
#include "search/budget_meter.h"
#include "search/known_states.h"
#include "search/lookahead.h"
#include "search/searcher.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace regraph {

// How a state was judged, or is taken to be.
struct Judgement {
  bool correct = false;
  bool guessed = false;
  double log_speedup = 0.0;
  Facts facts;
  std::vector<StepProposal> proposals;
};

// A state that the search does not know yet.
struct Imagined {
  std::uint32_t parent = 0;
  StepProposal step;
  std::vector<std::string> history;
  std::shared_ptr<const Candidate> candidate;  // null: its step has not been applied yet
};

// As in a TicketTable.
struct Issued {
  Ticket ticket;
};

// One way the search may go on.
struct Course {
  Course(const SearchPosition& position)
      : searcher(position.searcher.clone()),
        budget(position.budget),
        numbers(position.states.step_numbers()),
        experience(position.states.experience()) {
    for (const auto& [number, entry] : position.tickets.entries())
      tickets.emplace(number, Issued{entry.ticket});
  }
  Course(const Course& other)
      : probability(other.probability),
        searcher(other.searcher->clone()),
        tickets(other.tickets),
        budget(other.budget),
        numbers(other.numbers),
        experience(other.experience),
        imagined(other.imagined),
        judged(other.judged) {}
  Course& operator=(const Course&) = delete;

  double probability = 1.0;
  std::unique_ptr<Searcher> searcher;
  std::map<std::uint64_t, Issued> tickets;
  BudgetMeter budget;
  StepNumbers numbers;
  RunExperience experience;
  std::vector<std::shared_ptr<const Imagined>> imagined;             // after the states known
  std::map<std::uint32_t, std::shared_ptr<const Judgement>> judged;  // since, by state
};

}  // namespace regraph
