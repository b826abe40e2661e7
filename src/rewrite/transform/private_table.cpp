#include "rewrite/transform/private_table.h"

#include "rewrite/analysis/atomic_updates.h"
#include "rewrite/analysis/block_geometry.h"
#include "rewrite/transform/names.h"
#include "rewrite/transform/warp_shuffle.h"
#include "source/build.h"
#include "source/walk.h"

#include <memory>
#include <string>
#include <utility>

namespace regraph::rewrite {

using source::Block;
using source::ExprPtr;
using source::Kernel;
using source::StmtPtr;

namespace {

// Emits the kernel with the block's copies of the table.
class Privatizer {
 public:
  Privatizer(const Kernel& kernel, const AtomicTable& table, int copies, const Dim3& block)
      : kernel_(kernel),
        table_(table),
        names_(kernel),
        copies_(copies),
        block_(block),
        scalar_(*table.parameter->scalar),
        local_(names_.fresh(table.parameter->name + "_of_block")),
        thread_(names_.fresh("thread")) {}

  Block run() {
    Block result = {source::declare(copies_variable(), nullptr),
                    source::declare_integer(thread_, linear_thread(block_)), clear(),
                    source::barrier()};
    const Block body = with_local_updates();
    result.insert(result.end(), body.begin(), body.end());
    result.push_back(source::barrier());
    result.push_back(merge());
    return result;
  }

 private:
  source::Variable copies_variable() const {
    const auto* length = source::as<source::IntegerLiteral>(table_.length_in_kernel);
    source::Variable array = source::local_variable(
        local_, table_.parameter->type, scalar_, {length != nullptr ? length->value * copies_ : 0});
    array.storage = length != nullptr ? source::Storage::shared : source::Storage::dynamic_shared;
    return array;
  }

  ExprPtr local_slot(const ExprPtr& index) const {
    return source::element(source::variable(local_, scalar_), {index});
  }

  // The block's threads go through `count` numbers in turn.
  StmtPtr for_all(const std::string& name, const ExprPtr& count, Block body) const {
    return source::counted_loop(name, source::variable(thread_), count,
                                static_cast<std::int64_t>(block_.count()), std::move(body));
  }

  StmtPtr clear() {
    const std::string slot = names_.fresh(table_.parameter->name + "_slot");
    return for_all(slot, source::multiply(table_.length_in_kernel, source::integer(copies_)),
                   {source::assign(local_slot(source::variable(slot)),
                                   neutral_value(table_.function, scalar_))});
  }

  Block with_local_updates() const {
    // Neighbouring warps use different copies, so that they meet less often.
    const ExprPtr warp = source::divide(source::variable(thread_), source::integer(kWarpLanes));
    const ExprPtr copy_start = source::multiply(source::remainder(warp, source::integer(copies_)),
                                                table_.length_in_kernel);
    return source::rewrite_statements(
        kernel_.body, [&](const StmtPtr& stmt) -> std::optional<Block> {
          const auto update = atomic_update_of(*stmt);
          if (!update || update->table != table_.parameter->name) return std::nullopt;
          const ExprPtr index =
              copies_ > 1 ? source::add(copy_start, update->index) : update->index;
          auto local = std::make_shared<source::Evaluation>(
              source::call(table_.function, {source::address(local_slot(index)), update->value}));
          local->line = stmt->line;
          return Block{local};
        });
  }

  StmtPtr merge() {
    const std::string merged = names_.fresh(table_.parameter->name + "_bin");
    const ExprPtr bin = source::variable(merged);
    const ExprPtr global =
        source::element(source::variable(table_.parameter->name, scalar_), {bin});
    // What was subtracted from a copy of zeros is negative already.
    const std::string function = table_.function == "atomicSub" ? "atomicAdd" : table_.function;
    const auto slot_of = [&](int copy) {
      return local_slot(copy == 0 ? bin
                                  : source::add(bin, source::multiply(table_.length_in_kernel,
                                                                      source::integer(copy))));
    };
    const auto update = [&](const ExprPtr& value) {
      return source::evaluate(source::call(function, {source::address(global), value}));
    };
    Block merges;
    if (function == "atomicAdd") {
      ExprPtr sum = slot_of(0);
      for (int copy = 1; copy < copies_; ++copy)
        sum = source::add(sum, slot_of(copy));
      merges.push_back(update(sum));
    } else {
      for (int copy = 0; copy < copies_; ++copy)
        merges.push_back(update(slot_of(copy)));
    }
    return for_all(merged, table_.length_in_kernel, std::move(merges));
  }

  const Kernel& kernel_;
  const AtomicTable& table_;
  Names names_;
  int copies_;
  Dim3 block_;
  ScalarType scalar_;
  std::string local_;
  std::string thread_;
};

}  // namespace

Block with_private_table(const Kernel& kernel, const AtomicTable& table, int copies,
                         const Dim3& block) {
  return Privatizer(kernel, table, copies, block).run();
}

}  // namespace regraph::rewrite
