#include "source/nesting.h"

#include "source/visitor.h"

#include <algorithm>

namespace regraph::source {
namespace {

class Depth final : public Visitor {
 public:
  [[nodiscard]] int most() const { return most_; }

 protected:
  void visit(const Unary& node) override { deeper(node); }
  void visit(const Binary& node) override { deeper(node); }
  void visit(const Conditional& node) override { deeper(node); }
  void visit(const Subscript& node) override { deeper(node); }
  void visit(const Call& node) override { deeper(node); }
  void visit(const Cast& node) override { deeper(node); }
  void visit(const Member& node) override { deeper(node); }
  void visit(const InitializerList& node) override { deeper(node); }
  void visit(const Declaration& node) override { deeper(node); }
  void visit(const Assignment& node) override { deeper(node); }
  void visit(const Evaluation& node) override { deeper(node); }
  void visit(const Branch& node) override { deeper(node); }
  void visit(const ForLoop& node) override { deeper(node); }
  void visit(const WhileLoop& node) override { deeper(node); }
  void visit(const Scope& node) override { deeper(node); }

 private:
  template <typename Node>
  void deeper(const Node& node) {
    most_ = std::max(most_, ++depth_);
    Visitor::visit(node);
    --depth_;
  }

  int depth_ = 0;
  int most_ = 0;
};

}  // namespace

int nesting_of(const Block& body) {
  Depth depth;
  depth.go(body);
  return depth.most();
}

}  // namespace regraph::source
