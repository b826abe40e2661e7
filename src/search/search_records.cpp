#include "search/search_records.h"

namespace regraph {

void SearchRecords::require(const Status& status) {
  if (status || failure_) return;
  // What a caller has to tell apart: what is stored cannot be used, or nothing more can be stored.
  const bool unreadable = status.error().code == ErrorCode::parse;
  failure_ = fail(unreadable ? ErrorCode::parse : ErrorCode::io, status.error().message);
}

void SearchRecords::record_end(StopReason reason) {
  SearchJournal& journal = up_to_date();
  if (!over_already()) require(journal.record_end(reason));
}

double SearchRecords::share_at_issue() {
  if (budget_.by_clock()) {
    if (const auto known = read(journal_.issue(budget_.issue_count()))) return *known;
  }
  return budget_.fraction();
}

void SearchRecords::record_issue(double share) {
  if (budget_.by_clock()) journal_.record_issue(budget_.issue_count(), share);
}

}  // namespace regraph
