// Index and value types are parameters; rows are ranges.
template <typename Index, typename Value>
struct CsrView {
  const Index* __restrict__ offsets;
  const Index* __restrict__ columns;
  const Value* __restrict__ values;

  template <typename Function>
  __device__ __forceinline__ void for_each_in_row(size_t row, Function function) const {
    for (Index entry = offsets[row]; entry != offsets[row + 1]; ++entry) function(columns[entry], values[entry]);
  }
};

template <typename Index, typename Value>
__global__ void csr_spmv(const Index* __restrict__ offsets, const Index* __restrict__ columns,
                         const Value* __restrict__ values, const Value* __restrict__ x, Value* __restrict__ y,
                         int rows) {
  const size_t row = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= static_cast<size_t>(rows)) return;
  const CsrView<Index, Value> matrix{offsets, columns, values};
  Value sum = Value(0);
  matrix.for_each_in_row(row, [&](Index column, Value value) { sum += value * x[column]; });
  y[row] = sum;
}

template __global__ void csr_spmv<int, float>(const int*, const int*, const float*, const float*, float*, int);
