// The bin of a sample is what the mapping says; samples it has no bin for are left out.
template <typename Sample, int kBins>
struct IdentityMapping {
  __device__ __forceinline__ int operator()(Sample sample) const {
    const int bin = static_cast<int>(sample);
    return bin < kBins ? bin : -1;
  }
};

template <typename Sample, typename Counter, typename Mapping>
__device__ void count_samples(const Sample* __restrict__ samples, Counter* __restrict__ counters, size_t n,
                              Mapping mapping) {
  const size_t stride = static_cast<size_t>(gridDim.x) * blockDim.x;
  for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) {
    const int bin = mapping(samples[i]);
    if (bin >= 0) atomicAdd(counters + bin, Counter(1));
  }
}

__global__ void histogram(const unsigned char* __restrict__ data, unsigned int* __restrict__ bins, int n) {
  count_samples(data, bins, n, IdentityMapping<unsigned char, 256>());
}
