// Fills a handler table from everything that is well-formed. Included inside a handler set's
// namespace.

template <Operation O, LaneType T>
constexpr Handler arithmetic_handler() {
  using L = Lane<T>;
  using F = Function<O>;
  using V = typename L::Value;
  if constexpr (requires(V v) { F::template apply<L>(v); }) {
    return &unary<O, L>;
  } else if constexpr (requires(V v) { F::template apply<L>(v, v); }) {
    return &binary<O, L>;
  } else if constexpr (requires(V v) { F::template apply<L>(v, v, v); }) {
    return &ternary<O, L>;
  } else if constexpr (requires(V v) { F::template apply_shift<L>(v, 0U); }) {
    return &shift<O, L>;
  } else if constexpr (requires(V v) { F::template apply_field<L>(v, 0U, 0U); }) {
    return &field<O, L>;
  } else if constexpr (requires(V v) { F::template apply_insert<L>(v, v, 0U, 0U); }) {
    return &insert<O, L>;
  } else if constexpr (requires(V v) { F::template apply_count<L>(v); }) {
    return &count_bits<O, L>;
  } else if constexpr (O >= Operation::equal && O <= Operation::greater_equal) {
    return &compare_lanes<O, L>;
  } else if constexpr (O >= Operation::equal_unordered && O <= Operation::test_subnormal &&
                       Real<L>) {
    return &compare_lanes<O, L>;
  } else if constexpr (O >= Operation::add_rounded && O <= Operation::square_root_rounded &&
                       Full<L>) {
    return &rounded_lanes<O, L>;
  } else if constexpr (O == Operation::mul_wide && L::is_integer && sizeof(V) <= 4) {
    return &multiply_wide<L, false>;
  } else if constexpr (O == Operation::multiply_add_wide && L::is_integer && sizeof(V) <= 4) {
    return &multiply_wide<L, true>;
  } else {
    return nullptr;
  }
}

template <Operation O, typename H>
constexpr Handler paired_handler() {
  using F = Function<O>;
  if constexpr (requires(double v) { F::template apply<H>(v); }) {
    return &paired<O, H, 1>;
  } else if constexpr (requires(double v) { F::template apply<H>(v, v); }) {
    return &paired<O, H, 2>;
  } else if constexpr (requires(double v) { F::template apply<H>(v, v, v); }) {
    return &paired<O, H, 3>;
  } else {
    return nullptr;
  }
}

template <Operation O, LaneType T>
void fill_one(Handler* table) {
  Handler handler = nullptr;
  if constexpr (T == LaneType::f16x2) {
    handler = paired_handler<O, Lane<LaneType::f16>>();
  } else if constexpr (T == LaneType::bf16x2) {
    handler = paired_handler<O, Lane<LaneType::bf16>>();
  } else {
    handler = arithmetic_handler<O, T>();
  }
  if (handler != nullptr) table[handler_id(O, T)] = handler;
}
template <Operation O, std::size_t... T>
void fill_types(Handler* table, std::index_sequence<T...> /*types*/) {
  (fill_one<O, static_cast<LaneType>(T)>(table), ...);
}
template <std::size_t... O>
void fill_operations(Handler* table, std::index_sequence<O...> /*operations*/) {
  (fill_types<static_cast<Operation>(O)>(table, std::make_index_sequence<kLaneTypes>()), ...);
}

template <LaneType To>
void fill_conversions(Handler* table) {
  using L = Lane<To>;
  const auto put = [&](Operation operation, Handler handler) {
    table[handler_id(operation, To)] = handler;
  };
  put(Operation::from_u32, &convert<L, Lane<LaneType::u32>, false>);
  put(Operation::from_s32, &convert<L, Lane<LaneType::s32>, false>);
  put(Operation::from_u64, &convert<L, Lane<LaneType::u64>, false>);
  put(Operation::from_s64, &convert<L, Lane<LaneType::s64>, false>);
  put(Operation::from_f32, &convert<L, Lane<LaneType::f32>, false>);
  put(Operation::from_f64, &convert<L, Lane<LaneType::f64>, false>);
  put(Operation::from_f16, &convert<L, Lane<LaneType::f16>, false>);
  put(Operation::from_bf16, &convert<L, Lane<LaneType::bf16>, false>);
  if constexpr (L::is_integer) {
    put(Operation::from_u32_saturate, &convert<L, Lane<LaneType::u32>, true>);
    put(Operation::from_s32_saturate, &convert<L, Lane<LaneType::s32>, true>);
    put(Operation::from_u64_saturate, &convert<L, Lane<LaneType::u64>, true>);
    put(Operation::from_s64_saturate, &convert<L, Lane<LaneType::s64>, true>);
  }
}

template <MemoryType M, int kElements, int kLog2>
void fill_memory(Handler* table) {
  table[memory_handler_id(false, false, M, kLog2)] = &load<LaneU64, M, kElements>;
  table[memory_handler_id(false, true, M, kLog2)] = &load<LaneU32, M, kElements>;
  table[memory_handler_id(true, false, M, kLog2)] = &store<LaneU64, M, kElements>;
  table[memory_handler_id(true, true, M, kLog2)] = &store<LaneU32, M, kElements>;
}
template <MemoryType M>
void fill_memory_type(Handler* table) {
  fill_memory<M, 1, 0>(table);
  fill_memory<M, 2, 1>(table);
  fill_memory<M, 4, 2>(table);
}

void fill_all(Handler* table) {
  constexpr auto kFirstWithoutFunction = static_cast<std::size_t>(Operation::carry);
  fill_operations(table, std::make_index_sequence<kFirstWithoutFunction>());
  fill_conversions<LaneType::u16>(table);
  fill_conversions<LaneType::s16>(table);
  fill_conversions<LaneType::u32>(table);
  fill_conversions<LaneType::s32>(table);
  fill_conversions<LaneType::u64>(table);
  fill_conversions<LaneType::s64>(table);
  fill_conversions<LaneType::f16>(table);
  fill_conversions<LaneType::bf16>(table);
  fill_conversions<LaneType::f32>(table);
  fill_conversions<LaneType::f64>(table);
  table[handler_id(Operation::move, LaneType::u32)] = &move<LaneU32>;
  table[handler_id(Operation::move, LaneType::u64)] = &move<LaneU64>;
  table[handler_id(Operation::select, LaneType::u32)] = &select<LaneU32>;
  table[handler_id(Operation::select, LaneType::u64)] = &select<LaneU64>;
  table[handler_id(Operation::trace_access, LaneType::u32)] = &trace<LaneU32>;
  table[handler_id(Operation::trace_access, LaneType::u64)] = &trace<LaneU64>;
  table[handler_id(Operation::check_access, LaneType::u32)] = &check<LaneU32>;
  table[handler_id(Operation::check_access, LaneType::u64)] = &check<LaneU64>;
  fill_memory_type<MemoryType::u8>(table);
  fill_memory_type<MemoryType::s8>(table);
  fill_memory_type<MemoryType::u16>(table);
  fill_memory_type<MemoryType::s16>(table);
  fill_memory_type<MemoryType::b32>(table);
  fill_memory_type<MemoryType::b64>(table);
}
