#include "rewrite/transform/tensor_boxes.h"

#include "source/build.h"
#include "source/printer.h"

#include <fmt/format.h>

#include <utility>

namespace regraph::rewrite {

namespace {

// The end of the factor's coordinate: where all conditions are of the form coordinate < end, the
// first of them. Null where there is none, or another.
ExprPtr end_of(const ProductFactor& factor) {
  ExprPtr end = factor.axis.limit;
  for (const TileGuard& guard : factor.guards) {
    const bool is_end = guard.op == BinaryOperator::less &&
                        guard.left == Polynomial::symbol(factor.axis.coordinate) &&
                        !guard.right.mentions(factor.axis.coordinate);
    if (!is_end || end) return nullptr;
    end = to_expression(guard.right, factor.is_wide);
  }
  return end;
}

// Of single precision the copies round to tf32.
int element_type(ScalarType type) {
  switch (type) {
    case ScalarType::f16:
      return 6;
    case ScalarType::bf16:
      return 10;
    case ScalarType::f32:
      return 11;
    default:
      return 0;
  }
}

}  // namespace

std::optional<FactorTensor> tensor_of(const MatrixProduct& product, std::size_t factor) {
  const ProductFactor& one = product.factors[factor];
  const ExprPtr end = end_of(one);
  const std::string& k = product.counted.name;
  const std::string& coordinate = one.axis.coordinate;
  const auto first = product.first.constant();
  const auto along_k = one.index.coefficient(k);
  const auto along = one.index.coefficient(coordinate);
  if (!end || !one.divisible || !first || *first < 0 || !along_k || !along) return std::nullopt;
  FactorTensor tensor;
  tensor.stride = one.along_k ? *along : *along_k;
  if (tensor.stride.mentions(k) || tensor.stride.mentions(coordinate)) return std::nullopt;
  const Polynomial rest = one.index.without({k, coordinate});
  if (!(rest + *along_k * Polynomial::symbol(k) + *along * Polynomial::symbol(coordinate) ==
        one.index)) {
    return std::nullopt;
  }
  tensor.first =
      element(variable(one.array, product.factor_type), {to_expression(rest, one.is_wide)});
  const ExprPtr limit = to_expression(product.limit, product.is_wide);
  tensor.extents = one.along_k ? std::array{limit, end} : std::array{end, limit};
  return tensor;
}

BoxWriter::BoxWriter(CodeLines& lines, const MatrixProduct& product, const TensorTile& tile,
                     const TensorNames& names, Names& fresh)
    : lines_(lines),
      product_(product),
      tile_(tile),
      names_(names),
      maps_(fresh.fresh("tensor_maps")),
      made_(fresh.fresh("made_maps")),
      place_(fresh.fresh("multiprocessor")),
      address_(fresh.fresh("map")) {}

std::string BoxWriter::declare() {
  lines_.line("static __device__ __align__(128) unsigned long long {}[{}][2][16];", maps_,
              kMapPlaces);
  lines_.line("__shared__ __align__(128) unsigned long long {}[2][16];", made_);
  lines_.line("unsigned int {};", place_);
  lines_.line("asm volatile(\"mov.u32 %0, %%smid;\" : \"=r\"({}));", place_);
  const std::string by_boxes = names_.wanted;
  lines_.line("const bool {} = {} && {};", by_boxes, names_.whole[0], names_.whole[1]);
  return by_boxes;
}

void BoxWriter::replace(const std::string& field, const std::string& value, bool is_wide,
                        const std::string& number) {
  const char* const bits = is_wide ? "64" : "32";
  const std::string at = number.empty() ? "" : number + ", ";
  lines_.line("asm volatile(\"tensormap.replace.tile.{}.shared::cta.b1024.b{} [%0], {}%1;\" ::",
              field, bits, at);
  lines_.line("             \"r\"({}), \"{}\"({}) : \"memory\");", address_, is_wide ? "l" : "r",
              value);
}

void BoxWriter::make_map(std::size_t factor) {
  const FactorTensor tensor = *tensor_of(product_, factor);
  const bool along_k = product_.factors[factor].along_k;
  replace("global_address", "&" + print(tensor.first), true);
  const auto fixed = [&](const std::string& field, const std::string& value) {
    lines_.line(
        "asm volatile(\"tensormap.replace.tile.{}.shared::cta.b1024.b32 [%0], {};\" :: \"r\"({}) : "
        "\"memory\");",
        field, value, address_);
  };
  fixed("rank", "1");
  fixed("box_dim", fmt::format("0, {}", tile_.panel()));
  fixed("box_dim", fmt::format("1, {}", along_k ? tile_.tile[factor] : tile_.depth));
  for (const int dimension : {0, 1}) {
    const std::string number = std::to_string(dimension);
    replace("global_dim",
            "(int)(" + print(tensor.extents[static_cast<std::size_t>(dimension)]) + ")", false,
            number);
    fixed("element_stride", number + ", 1");
  }
  replace("global_stride",
          fmt::format("(unsigned long long)({}) * {}",
                      print(to_expression(tensor.stride, product_.factors[factor].is_wide)),
                      tile_.element_bytes()),
          true, "0");
  // PTX ISA, tensormap.replace: numbers of types and modes.
  fixed("elemtype", std::to_string(element_type(tile_.element)));
  fixed("interleave_layout", "0");
  fixed("swizzle_mode", "3");
  fixed("fill_mode", "0");
}

void BoxWriter::make_maps(const std::string& lane) {
  lines_.line("{0}[{1} / 16][{1} % 16] = 0;", made_, lane);
  lines_.line("__syncwarp();");
  lines_.open("if ({} == 0)", lane);
  for (std::size_t i = 0; i < 2; ++i) {
    lines_.open();
    lines_.line("const unsigned int {} = (unsigned int)__cvta_generic_to_shared({}[{}]);", address_,
                made_, i);
    make_map(i);
    lines_.close();
  }
  lines_.close();
  lines_.line("__syncwarp();");
  for (std::size_t i = 0; i < 2; ++i) {
    lines_.line(
        "asm "
        "volatile(\"tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu\"");
    lines_.line("             \".sync.aligned [%0], [%1], 128;\" :: \"l\"({}[{}][{}]),", maps_,
                place_, i);
    lines_.line("             \"r\"((unsigned int)__cvta_generic_to_shared({}[{}])) : \"memory\");",
                made_, i);
    lines_.line("asm volatile(\"fence.proxy.tensormap::generic.acquire.gpu [%0], 128;\" ::");
    lines_.line("             \"l\"({}[{}][{}]) : \"memory\");", maps_, place_, i);
  }
}

int BoxWriter::strip_bytes() const {
  return (tile_.strip_elements(0) + tile_.strip_elements(1)) * tile_.element_bytes();
}

void BoxWriter::copy(const std::string& strip, const std::string& stage,
                     const std::string& barrier) {
  lines_.line(
      "asm volatile(\"mbarrier.arrive.expect_tx.shared.b64 _, [%0], {};\" :: \"r\"({}) : "
      "\"memory\");",
      strip_bytes(), barrier);
  for (std::size_t i = 0; i < 2; ++i) {
    const ProductFactor& factor = product_.factors[i];
    const int boxes = factor.along_k ? 1 : tile_.tile[i] / tile_.panel();
    const int box_bytes = tile_.strip_elements(i) * tile_.element_bytes() / boxes;
    if (boxes > 1) {
      lines_.unroll();
      lines_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.j, boxes);
    }
    const std::string box = boxes > 1 ? fmt::format(" + {} * {}", names_.j, box_bytes) : "";
    const std::string coordinate =
        boxes > 1 ? fmt::format("{} + {} * {}", names_.first[i], names_.j, tile_.panel())
                  : names_.first[i];
    lines_.line("asm volatile(\"cp.async.bulk.tensor.2d.shared::cluster.global\"");
    lines_.line("             \".mbarrier::complete_tx::bytes [%0], [%1, {{%3, %4}}], [%2];\" ::");
    lines_.line("             \"r\"((unsigned int)__cvta_generic_to_shared({}) + {} * {}{}),",
                names_.stages[i], stage, tile_.strip_elements(i) * tile_.element_bytes(), box);
    lines_.line("             \"l\"({}[{}][{}]), \"r\"({}),", maps_, place_, i, barrier);
    lines_.line("             \"r\"((int)({})), \"r\"((int)({})) : \"memory\");",
                factor.along_k ? strip : coordinate, factor.along_k ? coordinate : strip);
    if (boxes > 1) lines_.close();
  }
}

}  // namespace regraph::rewrite
