#include "rewrite/transform/exchange_axes.h"

#include "source/build.h"
#include "source/mutator.h"

#include <string>

namespace regraph::rewrite {

namespace {

class AxisExchanger final : public source::Mutator {
  using Mutator::mutate;

  source::ExprPtr mutate(const source::ExprPtr& expr, const source::Builtin& builtin) override {
    const std::string object = builtin.name.substr(0, builtin.name.size() - 1);
    if (builtin.name.ends_with(".x")) return source::builtin(object + "y");
    return builtin.name.ends_with(".y") ? source::builtin(object + "x") : expr;
  }
};

}  // namespace

source::Block with_axes_exchanged(const source::Block& body) {
  return AxisExchanger().run(body);
}

}  // namespace regraph::rewrite
