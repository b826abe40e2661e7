#include "eval/model/access_facts.h"

#include <algorithm>
#include <cstddef>

namespace regraph {
namespace {

using ptx::InstructionClass;
using ptx::InstructionProfile;

constexpr double kSectorsOfAWavefront = 4.0;  // 128 bytes

struct Counted {
  double taken = 0.0;
  double ideal = 0.0;

  void add(double more_taken, double more_ideal) {
    taken += more_taken;
    ideal += more_ideal;
  }
  void write(const char* fact, Facts& facts) const {
    if (ideal > 0.0) facts[fact] = taken / ideal;
  }
};

// Accesses that become one wider access take the passes of that: `share` of what each counted. What
// they could not do better than is the more of what the hardware takes for an access of that width
// and of what the words wanted need.
void add_shared(const InstructionProfile& access, double share, Counted& wavefronts) {
  const auto counted = static_cast<double>(access.wavefronts);
  const double words = static_cast<double>(access.ideal_sectors) / share / kSectorsOfAWavefront;
  const double ideal = std::max(static_cast<double>(access.ideal_wavefronts), words);
  wavefronts.add(share * counted, share * std::min(counted, ideal));
}

}  // namespace

void fill_access_facts(const ptx::Profile& profile, const std::vector<double>& merged,
                       Facts& facts) {
  Counted loads;
  Counted stores;
  Counted wavefronts;
  double load_requests = 0.0;
  double uniform = 0.0;
  double read_only = 0.0;
  double shared_requests = 0.0;
  double shared_bytes = 0.0;
  for (std::size_t index = 0; index < profile.instructions.size(); ++index) {
    const InstructionProfile& access = profile.instructions[index];
    const auto requests = static_cast<double>(access.requests);
    const auto sectors = static_cast<double>(access.sectors);
    const auto ideal = static_cast<double>(access.ideal_sectors);
    const double share = index < merged.size() ? merged[index] : 1.0;
    switch (access.instruction_class) {
      case InstructionClass::load_global:
        loads.add(sectors, ideal);
        load_requests += requests;
        uniform += static_cast<double>(access.uniform_requests);
        if (access.reads_only_cache) read_only += requests;
        break;
      case InstructionClass::store_global:
        stores.add(sectors, ideal);
        break;
      case InstructionClass::load_shared:
      case InstructionClass::store_shared:
        add_shared(access, share, wavefronts);
        shared_requests += share * requests;
        shared_bytes += requests * access.access_bytes;
        break;
      default:
        break;
    }
  }
  loads.write("global_load_sectors_over_ideal", facts);
  stores.write("global_store_sectors_over_ideal", facts);
  Counted both = loads;
  both.add(stores.taken, stores.ideal);
  both.write("global_sectors_over_ideal", facts);
  wavefronts.write("shared_wavefronts_over_ideal", facts);
  if (load_requests > 0.0) {
    facts["uniform_load_share"] = uniform / load_requests;
    facts["read_only_load_share"] = read_only / load_requests;
  }
  if (shared_requests > 0.0)
    facts["shared_access_bytes_per_thread"] = shared_bytes / shared_requests;
}

}  // namespace regraph
