#include "rewrite/analysis/window_staging.h"

#include "rewrite/analysis/size_expression.h"
#include "rewrite/forms/kernel_state.h"
#include "source/build.h"

#include <algorithm>
#include <set>
#include <utility>

namespace regraph::rewrite {

using source::ExprPtr;
using source::Polynomial;

namespace {

// Staging pays when each staged element is read at least this often by the block.
constexpr std::int64_t kFewestReads = 2;
// Dimensions of a filter.
constexpr std::size_t kMostCounters = 6;

class ArrayStager {
 public:
  ArrayStager(const WindowPlan& plan, const KernelForm& form, const Problem& problem,
              const Launch& launch, const NeighbourhoodFinder& finder)
      : plan_(plan),
        kernel_(form.kernel),
        analysis_(form.analysis),
        problem_(problem),
        launch_(launch),
        finder_(finder) {}

  Result<WindowArray> stage(const std::string& name,
                            const std::vector<const WindowAccess*>& reads) {
    const source::KernelParameter* parameter = kernel_.parameter(name);
    if (parameter == nullptr || !parameter->scalar)
      return refuse("its element type is not supported in tiles");
    if (analysis_.is_written(name)) return refuse("it is written in the kernel");
    WindowArray array;
    array.name = name;
    array.type = parameter->type;
    array.scalar = *parameter->scalar;
    std::vector<ExprPtr> indices;
    for (const WindowAccess* read : reads) {
      const auto index = finder_.local_polynomial(read->index);
      if (!index) return refuse("its index is not a polynomial of known symbols");
      for (const std::string& symbol : index->symbols())
        array.follows_threads = array.follows_threads || symbol.starts_with("threadIdx.");
      indices.push_back(read->index);
      array.wide_index =
          array.wide_index || (read->index->type && size_in_bytes(*read->index->type) == 8);
    }
    Status status =
        array.follows_threads ? stage_box(array, indices) : stage_filter(array, indices);
    if (!status) return status.error();
    if (Status pitch = find_strip_pitch(array, indices); !pitch) return pitch.error();
    auto count = buffer_length(name, problem_, &launch_, kernel_, analysis_, array.wide_index);
    if (!count) return count.error();
    array.count = *count;
    return array;
  }

 private:
  Status stage_box(WindowArray& array, const std::vector<ExprPtr>& indices) {
    auto box = finder_.find(array.name, indices);
    if (!box) return box.error();
    if (box->reads < kFewestReads * box->elements())
      return refuse("its elements are read less than twice on average");
    array.strides = std::move(box->strides);
    array.lowest = std::move(box->lowest);
    array.extents = std::move(box->extents);
    array.base = std::move(box->base);
    return {};
  }

  // A dimension for each counter, in the order of the new loops, so that what is written out
  // follows in memory; where several places are read, one for their distances.
  Status stage_filter(WindowArray& array, const std::vector<ExprPtr>& indices) {
    const Polynomial first = *finder_.local_polynomial(indices.front());
    std::set<std::string> moving;
    for (const std::size_t at : plan_.order) {
      const std::string& counter = plan_.nest.loops[at].counted.name;
      const auto stride = first.coefficient(counter);
      if (!stride) return refuse("its index is not linear in " + counter);
      if (stride->is_zero()) continue;
      if (stride->mentions(counter) || mentions_counters(*stride))
        return refuse("its index multiplies counters");
      moving.insert(counter);
      array.counters.push_back(counter);
      array.strides.push_back(*stride);
      array.lowest.push_back(0);
      array.extents.push_back(finder_.count_of(counter));
      // Loops may begin elsewhere than at zero.
      const auto begin = plan_.nest.loops[at].trips
                             ? analysis_.polynomial(plan_.nest.loops[at].counted.first)
                             : std::optional(Polynomial(0));
      array.lowest.back() = *begin->constant();
    }
    array.base = first.without(moving);
    for (const std::string& symbol : array.base.symbols()) {
      const bool is_known = symbol.starts_with("blockIdx.") || kernel_.parameter(symbol) != nullptr;
      if (!is_known) return refuse("its index follows '" + symbol + "'");
    }
    std::int64_t nearest = 0;
    std::int64_t farthest = 0;
    for (const ExprPtr& index : indices) {
      const auto distance = (*finder_.local_polynomial(index) - first).constant();
      if (!distance) return refuse("it is read at places no fixed distance apart");
      nearest = std::min(nearest, *distance);
      farthest = std::max(farthest, *distance);
    }
    if (nearest < farthest) {
      array.counters.emplace_back();
      array.strides.emplace_back(1);
      array.lowest.push_back(nearest);
      array.extents.push_back(farthest - nearest + 1);
    }
    if (array.extents.empty()) {
      array.counters.emplace_back();
      array.strides.emplace_back(1);
      array.lowest.push_back(0);
      array.extents.push_back(1);
    }
    if (array.counters.size() > kMostCounters) return refuse("it is read in too many directions");
    const std::int64_t vector =
        kFilterVectorBytes / static_cast<std::int64_t>(size_in_bytes(array.scalar));
    const std::int64_t row = array.extents.back();
    if (vector > 1 && row >= vector) array.padding = (row + vector - 1) / vector * vector - row;
    return {};
  }

  bool mentions_counters(const Polynomial& polynomial) const {
    return std::any_of(
        plan_.nest.loops.begin(), plan_.nest.loops.end(),
        [&](const WindowLoop& loop) { return polynomial.mentions(loop.counted.name); });
  }

  Status find_strip_pitch(WindowArray& array, const std::vector<ExprPtr>& indices) const {
    const WindowLoop* strip = plan_.nest.strip();
    if (strip == nullptr) return {};
    for (const ExprPtr& index : indices) {
      const auto pitch = finder_.local_polynomial(index)->coefficient(strip->counted.name);
      if (!pitch || mentions_counters(*pitch)) return refuse("its index multiplies counters");
      if (index == indices.front()) array.strip_pitch = *pitch;
      if (!(array.strip_pitch == *pitch)) return refuse("its reads move apart as channels go by");
    }
    for (const std::string& symbol : array.strip_pitch.symbols()) {
      if (finder_.is_local(symbol)) return refuse("its channels are not a fixed distance apart");
    }
    return {};
  }

  const WindowPlan& plan_;
  const source::Kernel& kernel_;
  const source::Analysis& analysis_;
  const Problem& problem_;
  const Launch& launch_;
  const NeighbourhoodFinder& finder_;
};

}  // namespace

Result<WindowArray> stage_window_array(const std::string& name,
                                       const std::vector<const WindowAccess*>& reads,
                                       const WindowPlan& plan, const KernelForm& form,
                                       const Problem& problem, const Launch& launch,
                                       const NeighbourhoodFinder& finder) {
  return ArrayStager(plan, form, problem, launch, finder).stage(name, reads);
}

}  // namespace regraph::rewrite
