#include "rewrite/transform/exchange_axes.h"

#include "source/build.h"
#include "source/mutator.h"

#include <string>

namespace regraph::rewrite {

namespace {

class AxisExchanger final : public Mutator {
  using Mutator::mutate;

  ExprPtr mutate(const ExprPtr& expr, const Builtin& builtin) override {
    const std::string object = builtin.name.substr(0, builtin.name.size() - 1);
    if (builtin.name.ends_with(".x")) return source::builtin(object + "y");
    return builtin.name.ends_with(".y") ? source::builtin(object + "x") : expr;
  }
};

}  // namespace

Block with_axes_exchanged(const Block& body) {
  return AxisExchanger().run(body);
}

}  // namespace regraph::rewrite
