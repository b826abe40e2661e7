#include "sass/loop_entries.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace regraph::sass {

std::vector<double> entered_shares(const ptx::ControlFlow& flow,
                                   const std::vector<double>& executions) {
  std::vector<std::int32_t> headed(flow.blocks.size(), -1);
  for (std::size_t s = 0; s < flow.loops.size(); ++s)
    headed[flow.loops[s].header] = static_cast<std::int32_t>(s);
  std::vector<double> shares(flow.loops.size(), 0.0);
  for (std::size_t b = 0; b < flow.blocks.size(); ++b) {
    for (const std::uint32_t next : flow.blocks[b].successors) {
      const std::int32_t loop = headed[next];
      if (loop >= 0 && !flow.inside(flow.blocks[b].loop, loop))
        shares[static_cast<std::size_t>(loop)] += executions[b];
    }
  }
  for (std::size_t s = 0; s < shares.size(); ++s) {
    const double header = executions[flow.loops[s].header];
    shares[s] = header > 0.0 ? std::min(1.0, shares[s] / header) : 0.0;
  }
  return shares;
}

}  // namespace regraph::sass
