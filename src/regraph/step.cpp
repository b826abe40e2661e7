#include "regraph/step.h"

#include <algorithm>

namespace regraph {

const char* name(Comparison comparison) {
  switch (comparison) {
    case Comparison::less:
      return "<";
    case Comparison::less_equal:
      return "<=";
    case Comparison::greater:
      return ">";
    case Comparison::greater_equal:
      return ">=";
  }
  return "?";
}

bool EvidenceCondition::holds(double measured) const {
  switch (comparison) {
    case Comparison::less:
      return measured < value;
    case Comparison::less_equal:
      return measured <= value;
    case Comparison::greater:
      return measured > value;
    case Comparison::greater_equal:
      return measured >= value;
  }
  return false;
}

bool Step::possible(const Facts& facts) const {
  return std::ranges::all_of(evidence, [&](const EvidenceCondition& condition) {
    if (!condition.required) return true;
    const auto fact = facts.find(condition.fact);
    return fact == facts.end() || condition.holds(fact->second);
  });
}

double Step::evidence_match(const Facts& facts) const {
  constexpr double kNeutral = 0.5;
  if (!possible(facts)) return 0.0;
  double fulfilled = 0.0;
  double total = 0.0;
  for (const EvidenceCondition& condition : evidence) {
    total += condition.weight;
    const auto fact = facts.find(condition.fact);
    if (fact == facts.end()) {
      fulfilled += kNeutral * condition.weight;
    } else if (condition.holds(fact->second)) {
      fulfilled += condition.weight;
    }
  }
  return total > 0.0 ? fulfilled / total : kNeutral;
}

bool Step::granted(const Assumptions& assume) const {
  return std::ranges::all_of(needs, [&](const std::string& need) {
    if (need == "noalias") return assume.noalias;
    if (need == "reassociate") return assume.reassociate;
    if (need == "fast_math") return assume.fast_math;
    if (need == "lower_precision") return assume.lets_precision_go();
    return false;
  });
}

std::string normalised_name(std::string_view text) {
  std::string normalised;
  for (const char character : text) {
    if (character >= 'A' && character <= 'Z') {
      normalised.push_back(static_cast<char>(character - 'A' + 'a'));
    } else if ((character >= 'a' && character <= 'z') || (character >= '0' && character <= '9') ||
               (static_cast<unsigned char>(character) & 0x80U) != 0) {
      normalised.push_back(character);
    }
  }
  return normalised;
}

}  // namespace regraph
