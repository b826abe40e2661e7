// What PTX's special registers hold: a thread's place in its block, the block's in its grid and
// cluster, the launch's extents.
#include "base/random.h"
#include "ptx/execute/block_runner.h"

#include <algorithm>
#include <array>

namespace regraph::ptx {
namespace {

std::uint32_t block_value(SpecialRegister which, const Dim3& block_index,
                          const std::array<std::uint32_t, 3>& cluster) {
  using S = SpecialRegister;
  const std::array<std::uint32_t, 3> at = {block_index.x, block_index.y, block_index.z};
  const auto axis = [&](S first) {
    return static_cast<std::size_t>(which) - static_cast<std::size_t>(first);
  };
  if (which == S::cluster_ctarank) {
    return at[0] % cluster[0] +
           cluster[0] * (at[1] % cluster[1] + cluster[1] * (at[2] % cluster[2]));
  }
  if (which <= S::ctaid_z) return at[axis(S::ctaid_x)];
  if (which <= S::clusterid_z) return at[axis(S::clusterid_x)] / cluster[axis(S::clusterid_x)];
  return at[axis(S::cluster_ctaid_x)] % cluster[axis(S::cluster_ctaid_x)];
}

}  // namespace

std::uint32_t BlockRunner::special_value(const Warp& warp, SpecialRegister which, int lane) const {
  using S = SpecialRegister;
  const Dim3& block = context_.block;
  const Dim3& grid = context_.grid;
  const std::array<std::uint32_t, 3>& cluster = code_.function->cluster;
  const Dim3 thread = context_.thread_of(warp, lane);
  const auto l = static_cast<std::uint32_t>(lane);
  const auto dynamic_shared =
      static_cast<std::uint32_t>(shared_.size() - (code_.dynamic_shared_address - kSharedBase));
  switch (which) {
    case S::tid_x:
      return thread.x;
    case S::tid_y:
      return thread.y;
    case S::tid_z:
      return thread.z;
    case S::ntid_x:
      return block.x;
    case S::ntid_y:
      return block.y;
    case S::ntid_z:
      return block.z;
    case S::ctaid_x:
    case S::ctaid_y:
    case S::ctaid_z:
    case S::clusterid_x:
    case S::clusterid_y:
    case S::clusterid_z:
    case S::cluster_ctaid_x:
    case S::cluster_ctaid_y:
    case S::cluster_ctaid_z:
    case S::cluster_ctarank:
      break;  // they change from block to block
    case S::nclusterid_x:
      return grid.x / cluster[0];
    case S::nclusterid_y:
      return grid.y / cluster[1];
    case S::nclusterid_z:
      return grid.z / cluster[2];
    case S::cluster_nctaid_x:
      return cluster[0];
    case S::cluster_nctaid_y:
      return cluster[1];
    case S::cluster_nctaid_z:
      return cluster[2];
    case S::cluster_nctarank:
      return cluster[0] * cluster[1] * cluster[2];
    case S::nctaid_x:
      return grid.x;
    case S::nctaid_y:
      return grid.y;
    case S::nctaid_z:
      return grid.z;
    case S::laneid:
      return l;
    case S::warpid:
      return warp_slots_[warp.index];
    case S::nwarpid:
      return kWarpSlots;
    case S::lanemask_eq:
      return 1U << l;
    case S::lanemask_lt:
      return (1U << l) - 1U;
    case S::lanemask_le:
      return ((1U << l) - 1U) | (1U << l);
    case S::lanemask_gt:
      return ~(((1U << l) - 1U) | (1U << l));
    case S::lanemask_ge:
      return ~((1U << l) - 1U);
    case S::zero:
      return 0;
    case S::one:
      return 1;
    case S::warp_size:
      return kWarpLanes;
    case S::dynamic_shared_bytes:
      return dynamic_shared;
    case S::total_shared_bytes:
      return static_cast<std::uint32_t>(code_.static_shared_bytes) + dynamic_shared;
  }
  return 0;
}

// Warps have different slots of their multiprocessor, in no order.
void BlockRunner::draw_warp_slots() {
  for (std::uint32_t slot = 0; slot < kWarpSlots; ++slot)
    warp_slots_[slot] = static_cast<std::uint8_t>(slot);
  if (hardware_seed_ == 0) return;
  const Dim3& at = context_.block_index;
  for (std::uint32_t left = kWarpSlots; left > 1; --left) {
    const std::uint64_t bits = random_bits(hardware_seed_, at.x, at.y, at.z, left);
    std::swap(warp_slots_[left - 1], warp_slots_[bits % left]);
  }
}

void BlockRunner::write_special(Warp& warp, const SpecialSlot& slot) {
  if (depends_on_block(slot.which)) {
    const std::uint32_t value =
        block_value(slot.which, context_.block_index, code_.function->cluster);
    if (slot.wide) {
      std::fill_n(lanes<std::uint64_t>(warp, slot.offset), kWarpLanes, std::uint64_t{value});
    } else {
      std::fill_n(lanes<std::uint32_t>(warp, slot.offset), kWarpLanes, value);
    }
    return;
  }
  for (int l = 0; l < kWarpLanes; ++l) {
    const std::uint32_t value = special_value(warp, slot.which, l);
    if (slot.wide) {
      lanes<std::uint64_t>(warp, slot.offset)[l] = value;
    } else {
      lanes<std::uint32_t>(warp, slot.offset)[l] = value;
    }
  }
}

}  // namespace regraph::ptx
