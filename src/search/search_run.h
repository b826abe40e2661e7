// One run of a search: the owner's side. Internal to the driver.
//
//   SearchWork     jobs, waiting, work ahead          KnownStates    what is known of each state
//   SearchRecords  the journal                        TicketTable    tickets under way, their order
//   BudgetMeter    what may still be started          Answer         the end: finalists, the winner
#pragma once

#include "search/answer.h"
#include "search/budget_meter.h"
#include "search/driver.h"
#include "search/known_states.h"
#include "search/lookahead.h"
#include "search/search_jobs.h"
#include "search/search_records.h"
#include "search/search_work.h"
#include "search/searcher.h"
#include "search/ticket_table.h"

#include <map>
#include <memory>
#include <string>
#include <utility>

namespace regraph {

class SearchRun {
 public:
  SearchRun(const SearchInputs& inputs, std::unique_ptr<Searcher> searcher);

  // Does everything run_search promises, once.
  [[nodiscard]] Result<SearchOutcome> run(const Candidate& baseline);

 private:
  [[nodiscard]] Status judge_baseline(const Candidate& baseline);
  [[nodiscard]] Result<MeasurementRecord> evaluate_baseline();
  void search();
  // Why the search ends now, if it does.
  [[nodiscard]] std::optional<StopReason> over();
  void issue_tickets();
  void submit_expansion(const Ticket& ticket);
  void submit_measurement(const Ticket& ticket);
  // A result has come in: it is recorded, also if it has to wait before it is committed.
  void expanded(std::uint64_t ticket, Applied applied);
  void measured(std::uint64_t ticket, Judged judged);
  void require_same(const ExpansionRecord& expected, const Applied& applied);
  void commit(TicketTable::Entry entry);
  void commit(const Ticket& ticket, ExpansionRecord record);
  void commit(const Ticket& ticket, MeasurementRecord record, bool recalled);
  void note(const Resolution& resolution);
  void adopt(const Ticket& ticket);
  void note_new_steps(const std::string& id);
  void announce(std::uint32_t state, bool improved, bool recalled);
  [[nodiscard]] SearchOutcome summary();

  SearchInputs inputs_;
  std::unique_ptr<Searcher> searcher_;
  BudgetMeter budget_;
  SearchRecords records_;
  KnownStates states_;
  TicketTable tickets_;
  OutcomeRates rates_;
  SearchOutcome outcome_;
  std::size_t noted_new_steps_ = 0;
  // Of expansions that came to nothing, until that is noted, by ticket: reason and message.
  std::map<std::uint64_t, std::pair<std::string, std::string>> refusals_;
  SearchWork work_;  // last: its end waits for jobs that use the inputs
};

}  // namespace regraph
