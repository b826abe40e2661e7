// The k nearest points of every query, by squared distance, nearest first.
//
// First version: one thread a query, its list of neighbours kept sorted in global memory.

#define NEIGHBOURS 8
#define FAR 3.402823466e38f
#define IMPLIES(a, b) (!(a) || (b))

// Distances alone, for debugging.
__global__ void all_distances(const float* queries, const float* points, float* distances,
                              int query_count, int point_count) {
  int query = blockIdx.x * blockDim.x + threadIdx.x;
  if (query >= query_count) return;
  for (int point = 0; point < point_count; ++point) {
    float dx = queries[3 * query] - points[3 * point];
    distances[query * point_count + point] = dx * dx;
  }
}

__global__ void nearest_neighbours(const float* queries, const float* points, float* distances,
                                   int* neighbours, int query_count, int point_count) {
  int query = blockIdx.x * blockDim.x + threadIdx.x;
  if (query >= query_count) return;
  for (int rank = 0; rank < NEIGHBOURS; ++rank) {
    distances[query * NEIGHBOURS + rank] = FAR;
    neighbours[query * NEIGHBOURS + rank] = -1;
  }
  for (int point = 0; point < point_count; ++point) {
    float dx = queries[3 * query] - points[3 * point];
    float dy = queries[3 * query + 1] - points[3 * point + 1];
    float dz = queries[3 * query + 2] - points[3 * point + 2];
    float distance = dx * dx + dy * dy + dz * dz;
    if (distance >= distances[query * NEIGHBOURS + NEIGHBOURS - 1]) continue;
    // Insertion: later ones move up a place.
    int rank = NEIGHBOURS - 1;
    while (rank > 0 && distances[query * NEIGHBOURS + rank - 1] > distance) {
      distances[query * NEIGHBOURS + rank] = distances[query * NEIGHBOURS + rank - 1];
      neighbours[query * NEIGHBOURS + rank] = neighbours[query * NEIGHBOURS + rank - 1];
      --rank;
    }
    distances[query * NEIGHBOURS + rank] = distance;
    neighbours[query * NEIGHBOURS + rank] = point;
  }
}
