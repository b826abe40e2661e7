#include "rewrite/transform/halo_code.h"

#include "source/printer.h"

namespace regraph::rewrite {

HaloCode::HaloCode(const KernelForm& form, const Launch& launch, const ImplicitGemm& gemm,
                   const TensorTile& tile, const HaloTile& halo)
    : form(form),
      launch(launch),
      gemm(gemm),
      product(gemm.product),
      tile(tile),
      halo(halo),
      fresh(form.kernel),
      names(fresh, gemm.product),
      elements(text, form, launch, gemm, fresh),
      rows(rows_in_memory(gemm.product)),
      input(halo.factor),
      other(1 - halo.factor) {
  for (std::size_t i = 0; i < 2; ++i) {
    const std::string& array = factor(i).array;
    fresh.take(factor(i).axis.coordinate);
    loaded[i] = fresh.fresh(array + "_loaded");
    load[i] = fresh.fresh("load_" + array);
    store[i] = fresh.fresh("store_" + array);
  }
}

std::vector<std::size_t> HaloCode::outer_loops() const {
  std::vector<std::size_t> result;
  for (std::size_t at = gemm.loops.size(); at-- > 0;) {
    if (at != gemm.chunked && halo.axes[0].loop != at && halo.axes[1].loop != at)
      result.push_back(at);
  }
  return result;
}

std::string HaloCode::counter_from(std::size_t loop, const std::string& iteration) const {
  const std::string first = elements.text_of(gemm.loops[loop].first);
  return first == "0" ? iteration : fmt::format("{} + {}", first, iteration);
}

void HaloCode::declare_counters() {
  std::string rest = names.strip;
  for (const std::size_t at : outer_loops()) {
    text.line("const int {} = {};", gemm.loops[at].counter,
              counter_from(at, fmt::format("{} % {}", rest, trips[at])));
    rest = fmt::format("{} / {}", rest, trips[at]);
  }
  text.line("const int {} = {};", begin,
            counter_from(*gemm.chunked, fmt::format("{} * {}", rest, HaloTile::kChunks * kChunk)));
}

void HaloCode::declare_item(std::size_t i, const std::string& first) {
  const int behind = steps(i) * tile.threads();
  text.line("const int {} = {} + {} * {};", item, first, names.step, tile.threads());
  // Threads without a chunk load and store nothing.
  has_item = behind == chunks(i) ? "" : fmt::format("{} < {}", item, chunks(i));
}

void HaloCode::declare_thread_again() {
  text.line("unsigned int {};", again);
  text.line("asm volatile(\"mov.u32 %0, %%tid.x;\" : \"=r\"({}));", again);
}

std::string HaloCode::wanted_element(std::size_t i) const {
  const std::string of_element = elements.conditions(i, Asked::of_element);
  return fmt::format("{} & ({} < {}){}", wanted, chunked().counter,
                     elements.text_of(chunked().limit),
                     of_element.empty() ? "" : " & " + of_element);
}

void HaloCode::declare_iteration(const std::string& chunk) {
  text.line("const int {} = {} + {} * {} + {};", chunked().counter, begin, chunk, kChunk, names.e);
}

void HaloCode::write_copy(const std::string& to, const std::string& from) {
  text.line("asm volatile(\"cp.async.cg.shared.global.L2::128B [%0], [%1], 16;\" ::");
  text.line("             \"r\"((unsigned int)__cvta_generic_to_shared({})), \"l\"({})", to, from);
  text.line("             : \"memory\");");
}

void HaloCode::declare_taps(const std::string& tap) {
  const int across = halo.axes[0].trips;
  const std::array number = {fmt::format("{} % {}", tap, across),
                             fmt::format("{} / {}", tap, across)};
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const TapAxis& one = halo.axes[axis];
    if (!one.loop) continue;
    text.line(
        "const int {} = {};", gemm.loops[*one.loop].counter,
        counter_from(*one.loop, one.reversed ? fmt::format("{} - {}", one.trips - 1, number[axis])
                                             : number[axis]));
  }
}

}  // namespace regraph::rewrite
