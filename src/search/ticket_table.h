// Tickets that are being worked on, or whose results wait for their turn.
#pragma once

#include "search/journal.h"
#include "search/searcher.h"

#include <cstdint>
#include <map>
#include <utility>
#include <variant>

namespace regraph {

// The ticket whose result is committed next, of a map by number whose values have a `ticket`; its
// end when there is none. The order depends on ticket numbers only. Expansions go first when they
// are cheap: the evaluation that follows can start while others run. Otherwise strictly by number.
template <typename Tickets>
[[nodiscard]] auto next_in_order(Tickets& tickets, bool expansions_first) {
  if (expansions_first) {
    for (auto entry = tickets.begin(); entry != tickets.end(); ++entry) {
      if (entry->second.ticket.kind == TicketKind::expand) return entry;
    }
  }
  return tickets.begin();
}

class TicketTable {
 public:
  struct Entry {
    Ticket ticket;
    bool complete = false;
    bool recalled = false;   // the journal knows the result
    bool under_way = false;  // somebody works on it
    // By the ticket's kind. Once complete its result; before, what an expansion that is done again
    // is expected to give.
    std::variant<ExpansionRecord, MeasurementRecord> result;
  };

  // The entry of a new ticket.
  Entry& add(const Ticket& ticket);
  // Null when the ticket was taken out.
  [[nodiscard]] Entry* find(std::uint64_t number);
  [[nodiscard]] const Entry* find(std::uint64_t number) const;
  // Whether the next ticket in order is complete.
  [[nodiscard]] bool ready(bool expansions_first) const {
    const auto next = next_in_order(entries_, expansions_first);
    return next != entries_.end() && next->second.complete;
  }
  // Takes the next ticket in order out; there must be one.
  [[nodiscard]] Entry take(bool expansions_first);
  [[nodiscard]] bool anything_under_way() const;
  [[nodiscard]] int size() const { return static_cast<int>(entries_.size()); }
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  [[nodiscard]] const std::map<std::uint64_t, Entry>& entries() const { return entries_; }
  void clear() { entries_.clear(); }

 private:
  std::map<std::uint64_t, Entry> entries_;
};

inline TicketTable::Entry& TicketTable::add(const Ticket& ticket) {
  Entry entry;
  entry.ticket = ticket;
  if (ticket.kind == TicketKind::measure) entry.result = MeasurementRecord{};
  return entries_.emplace(ticket.number, std::move(entry)).first->second;
}

inline const TicketTable::Entry* TicketTable::find(std::uint64_t number) const {
  const auto found = entries_.find(number);
  return found == entries_.end() ? nullptr : &found->second;
}

inline TicketTable::Entry* TicketTable::find(std::uint64_t number) {
  const auto found = entries_.find(number);
  return found == entries_.end() ? nullptr : &found->second;
}

inline TicketTable::Entry TicketTable::take(bool expansions_first) {
  return std::move(entries_.extract(next_in_order(entries_, expansions_first)).mapped());
}

inline bool TicketTable::anything_under_way() const {
  for (const auto& [number, entry] : entries_) {
    if (entry.under_way && !entry.complete) return true;
  }
  return false;
}

}  // namespace regraph
