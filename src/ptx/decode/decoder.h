// Turns one parsed function into bytecode. One instance decodes one kernel.
#pragma once

#include "ptx/decode/atomic_operation.h"
#include "ptx/decode/code.h"
#include "ptx/decode/opcode.h"
#include "ptx/decode/rare_function.h"
#include "ptx/decode/register_allocation.h"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace regraph::ptx {

// Of the types in a matrix product's mnemonic; and whether there is such a product.
// decode_matrix.cpp
[[nodiscard]] std::optional<MatrixInput> matrix_input(std::string_view type);
[[nodiscard]] std::optional<MatrixSum> matrix_sum(std::string_view type);
[[nodiscard]] bool multiplies(MatrixInput a, MatrixInput b, MatrixSum sum);
[[nodiscard]] MatrixRate matrix_rate(MatrixInput input);

// What an access's mnemonic names; nothing where that is another block's memory. decode_memory.cpp
[[nodiscard]] std::optional<StateSpace> space_of(const Opcode& opcode);
[[nodiscard]] InstructionClass access_class(bool store, StateSpace space);

class Decoder {
 public:
  Decoder(Program::Code& code, const DecodeOptions& options) : code_(code), options_(options) {}
  // Fills the code. On failure error() says why.
  [[nodiscard]] bool decode();
  [[nodiscard]] const Error& error() const { return error_; }

 private:
  struct Slot {
    std::uint32_t offset = 0;
    bool wide = false;
  };

  bool fail(ErrorCode code, std::string_view what);
  bool unsupported(std::string_view what);
  bool malformed(std::string_view what) { return fail(ErrorCode::parse, what); }

  // decoder.cpp: the frame around the instructions.
  void place_parameters();  // and the next two: decode_variables.cpp
  bool place_variables();
  bool place_frames();
  // Whether the instruction belongs to a function that the kernel calls.
  [[nodiscard]] bool in_callee() const { return instruction_->segment != 0; }
  bool flow_effects(std::vector<FlowEffect>& effects);
  bool flow_effect(const Instruction& instruction, FlowEffect& effect);
  std::optional<std::uint32_t> label(std::string_view name) const;
  const Function::BranchTargets* branch_targets(std::string_view name) const;
  bool decode_block(std::uint32_t block);
  bool decode_guarded(std::uint32_t index);
  bool check_handlers();
  void link();
  void mark_mergeable();

  // decode_operands.cpp: registers, constants, addresses.
  Slot allocate(bool wide);
  // A slot for values inside one instruction; the next instruction may use it again.
  Slot temporary(bool wide);
  std::uint32_t allocate_predicate();
  Slot register_slot(std::uint32_t reg);
  std::uint32_t constant(std::uint64_t bits, bool wide);
  const Operand& operand(std::size_t index) const;
  std::size_t operand_count() const { return instruction_->operand_count; }
  std::optional<DataType> register_type(const Operand& operand) const;
  bool source(const Operand& operand, DataType type, std::uint32_t* offset);
  bool destination(const Operand& operand, DataType type, std::uint32_t* offset);
  bool predicate_source(const Operand& operand, std::uint32_t* offset);
  bool predicate_destination(const Operand& operand, std::uint32_t* offset);
  bool special(std::string_view name, DataType type, std::uint32_t* offset);
  bool variable_address(const Operand& operand, std::uint64_t* address, StateSpace* space);
  Record& emit(Operation operation, LaneType type, std::uint32_t d = 0, std::uint32_t a = 0,
               std::uint32_t b = 0, std::uint32_t c = 0, std::uint32_t e = 0);
  void classify(InstructionClass instruction_class);

  // One member a family of instructions; each returns false after setting the error.
  bool decode_instruction();
  bool decode_arithmetic();  // decode_arithmetic.cpp
  bool decode_by_table(bool* known);
  bool decode_multiply();
  bool decode_fused();
  bool decode_divide();
  bool decode_special_function();
  bool decode_shift();
  bool decode_logic();
  bool decode_bits();
  bool decode_rare(bool* known);  // decode_rare.cpp
  bool decode_carry();
  bool decode_integer_pair(DataType type);
  bool rare(RareFunction function, std::size_t sources, std::int64_t immediate);
  Record& emit_rare(RareFunction function, std::uint32_t d, std::uint32_t a, std::uint32_t b = 0,
                    std::uint32_t c = 0, std::int64_t immediate = 0);
  // decode_mixed.cpp
  bool decode_single_pair(Operation operation, std::size_t sources);
  bool decode_mixed(Operation operation, DataType type, std::size_t sources);
  bool decode_xorsign(Operation operation);
  bool decode_compare();  // decode_compare.cpp
  bool compare_halves(Operation operation, DataType type, std::uint32_t* low, std::uint32_t* high);
  bool decode_set();
  bool decode_select();
  bool decode_test();
  bool decode_move();  // decode_move.cpp
  bool decode_address_conversion();
  bool decode_space_test();
  bool decode_conversion();  // decode_conversion.cpp
  bool decode_conversion_pair(DataType to, DataType from);
  bool decode_small_float(bool* known);
  bool convert(DataType to, DataType from, std::uint32_t a, std::uint32_t d);
  bool decode_memory(bool store);  // decode_memory.cpp
  bool decode_parameter_load(const Operand& address, DataType type, int elements);
  bool decode_access(bool store, StateSpace space, const Operand& address, const Operand& values,
                     DataType type, int elements, int first_element);
  bool decode_atomic(bool returns);
  bool decode_atomic_vector(bool returns, const SiteInfo& element, DataType type,
                            AtomicOperation operation, int elements);
  bool decode_atomic_element(bool returns, const SiteInfo& site, DataType type,
                             AtomicOperation operation, std::size_t index,
                             const std::uint32_t* old);
  bool decode_trace_of_copy(const Operand& bytes, bool whole, const Record& trace);
  bool decode_partial_copy(const Operand& bytes, const Record& load,
                           const std::array<std::uint32_t, 4>& slots, std::uint32_t elements);
  bool decode_async_copy();  // decode_async_copy.cpp
  bool decode_copy_group();
  bool address_register(const Operand& address, std::uint32_t* offset, bool* narrow,
                        std::int64_t* displacement);
  bool decode_branch();  // decode_control.cpp
  bool decode_barrier();
  bool decode_cluster_barrier();
  bool decode_call();  // decode_call.cpp
  bool decode_assertion(const CallTarget& call);
  bool call_copies(const CallTarget& call, const Function& callee, CallSite::Target& target);
  bool frame_offset(const Operand& operand, std::uint64_t* offset, std::uint64_t* bytes);
  bool decode_exchange();
  bool emit_exchange(Operation operation, const Record& operands, const Operand& members);
  bool decode_matrix_product();  // decode_matrix.cpp
  bool decode_matrix_access(bool store);
  bool decode_matrix_move();
  bool decode_mbarrier();  // decode_mbarrier.cpp
  bool decode_mbarrier_arrive(std::uint32_t flags);
  bool decode_mbarrier_test(std::uint32_t flags);
  bool emit_mbarrier(MbarrierAction action, const Operand& address, std::uint32_t value,
                     std::uint32_t d, std::uint32_t flags);
  bool decode_copies_arrive();
  bool decode_bulk_group();
  bool decode_bulk_copy();
  bool decode_tensor_copy();  // decode_tensor_map.cpp
  bool decode_tensor_map();
  bool decode_tensor_map_field();
  bool decode_tensor_map_copy();
  void emit_bulk_copy(const BulkCopy& copy);
  bool named_address(const Operand& operand, NamedAddress* to);
  bool decode_wmma();  // decode_wmma.cpp
  bool decode_wmma_access(bool store);
  bool decode_wmma_product();
  void emit_wmma_word(bool store, StateSpace space, bool wide, std::uint32_t addresses,
                      std::uint32_t value);
  bool decode_warpgroup();  // decode_warpgroup.cpp
  bool decode_warpgroup_product();
  bool flag(const Operand& operand, std::int64_t no, std::int64_t yes, bool* is);
  bool fragment(const Operand& list, bool defines, DataType type, std::uint32_t* to,
                std::size_t count);
  bool arithmetic(Operation operation, DataType type, int sources);
  bool finish_saturation(DataType type, std::uint32_t d);
  [[nodiscard]] LaneType lane_type(DataType type) const;
  bool list_element(const Operand& list, std::size_t index, Operand* element) const;

  Program::Code& code_;
  const DecodeOptions& options_;
  Error error_;
  const Instruction* instruction_ = nullptr;
  std::uint32_t instruction_index_ = 0;
  Opcode opcode_{""};
  std::vector<std::optional<Slot>> registers_;
  RegisterAllocation allocation_;
  std::map<std::pair<std::uint32_t, bool>, std::uint32_t> storage_;  // (number, wide) -> offset
  std::vector<Slot> temporaries_[2];                                 // narrow, wide
  std::size_t temporaries_used_[2] = {0, 0};
  std::map<std::pair<std::uint64_t, bool>, std::uint32_t> constants_;
  std::map<std::pair<SpecialRegister, bool>, std::uint32_t> specials_;
  std::map<std::uint32_t, std::pair<StateSpace, std::uint64_t>> placed_;  // variable -> address
  std::uint32_t predicate_next_ = 0;
  std::uint32_t predicate_end_ = 0;
  std::uint32_t carry_ = 0;  // predicate of the carry flag, 0: none yet
  std::vector<std::uint32_t> block_records_;
  bool ends_ = false;
};

}  // namespace regraph::ptx
