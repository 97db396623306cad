// Fills a buffer: mode 0 raw bits, 1 bf16 in [-0.5, 0.5), 2 bf16 whole numbers 0 to 7, 3 fp8 from
// 0.5 to 0.9375 of both signs.
KERNEL void fill(u32* to, u64 words, u32 seed, u32 mode) {
  u64 step = (u64)gridDim.x * blockDim.x;
  for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < words; i += step) {
    u32 h = hash((u32)i * 0x9e3779b9u + seed);
    if (mode == 1)
      h = pack(((float)(h & 0xffffu) - 32768.0f) / 65536.0f, ((float)(h >> 16) - 32768.0f) / 65536.0f);
    else if (mode == 2)
      h = pack((float)(h & 7u), (float)((h >> 3) & 7u));
    else if (mode == 3)
      h = (h & 0x87878787u) | 0x30303030u;
    to[i] = h;
  }
}

// Reads everything once, 8 loads of 16 bytes in flight a thread; the sum of all words proves it.
KERNEL void __launch_bounds__(512) stream_read(const uint4* from, u64 count, u32* sum) {
  u64 step = (u64)gridDim.x * blockDim.x;
  u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  u32 total = 0;
  for (; i + 7 * step < count; i += 8 * step) {
    uint4 v[8];
#pragma unroll
    for (int u = 0; u < 8; u++) v[u] = stream_load(from + i + u * step);
#pragma unroll
    for (int u = 0; u < 8; u++) total += v[u].x + v[u].y + v[u].z + v[u].w;
  }
  for (; i < count; i += step) {
    uint4 v = stream_load(from + i);
    total += v.x + v.y + v.z + v.w;
  }
#pragma unroll
  for (int lane = 16; lane > 0; lane >>= 1) total += __shfl_xor_sync(0xffffffffu, total, lane);
  if ((threadIdx.x & 31) == 0) atomicAdd(sum, total);
}

KERNEL void empty() {}

// residual += x; out = residual * rsqrt(mean(residual^2) + 1e-6) * weight; one block a row, 8 values a thread and turn.
KERNEL void __launch_bounds__(512) add_rms_norm(const uint4* x, uint4* residual, const uint4* weight, uint4* out, u32 hidden) {
  __shared__ float parts[16];
  u32 chunks = hidden / 8;
  const uint4* a = x + (u64)blockIdx.x * chunks;
  uint4* r = residual + (u64)blockIdx.x * chunks;
  float squares = 0.0f;
  for (u32 c = threadIdx.x; c < chunks; c += blockDim.x) {
    uint4 p = a[c], q = r[c], s;
    s.x = pack(low(p.x) + low(q.x), high(p.x) + high(q.x));
    s.y = pack(low(p.y) + low(q.y), high(p.y) + high(q.y));
    s.z = pack(low(p.z) + low(q.z), high(p.z) + high(q.z));
    s.w = pack(low(p.w) + low(q.w), high(p.w) + high(q.w));
    r[c] = s;
    const u32 w[4] = {s.x, s.y, s.z, s.w};
#pragma unroll
    for (int i = 0; i < 4; i++) squares += low(w[i]) * low(w[i]) + high(w[i]) * high(w[i]);
  }
  squares = warp_sum(squares);
  if ((threadIdx.x & 31) == 0) parts[threadIdx.x >> 5] = squares;
  __syncthreads();
  float total = 0.0f;
  for (u32 i = 0; i < blockDim.x / 32; i++) total += parts[i];
  float scale = rsqrtf(total / (float)hidden + 1e-6f);
  for (u32 c = threadIdx.x; c < chunks; c += blockDim.x) {
    uint4 s = r[c], g = weight[c], o;
    o.x = pack(low(s.x) * scale * low(g.x), high(s.x) * scale * high(g.x));
    o.y = pack(low(s.y) * scale * low(g.y), high(s.y) * scale * high(g.y));
    o.z = pack(low(s.z) * scale * low(g.z), high(s.z) * scale * high(g.z));
    o.w = pack(low(s.w) * scale * low(g.w), high(s.w) * scale * high(g.w));
    out[(u64)blockIdx.x * chunks + c] = o;
  }
}

// out = 2 x, one read and one write.
KERNEL void __launch_bounds__(256) twice(const uint4* x, uint4* out, u64 count) {
  u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  uint4 v = x[i];
  v.x = pack(2 * low(v.x), 2 * high(v.x));
  v.y = pack(2 * low(v.y), 2 * high(v.y));
  v.z = pack(2 * low(v.z), 2 * high(v.z));
  v.w = pack(2 * low(v.w), 2 * high(v.w));
  out[i] = v;
}

INLINE float silu(float x) { return x / (1.0f + __expf(-x)); }

// x[row][2 width] holds gate, then up; out[row][width] = silu(gate) * up.
KERNEL void __launch_bounds__(256) silu_mul(const u32* x, u32* out, u64 rows, u32 width) {
  u32 pairs = width / 2;
  u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows * pairs) return;
  u64 row = i / pairs, c = i % pairs;
  u32 gate = x[row * width + c], up = x[row * width + pairs + c];
  out[i] = pack(silu(low(gate)) * low(up), silu(high(gate)) * high(up));
}

// The first place of the largest of each row; one block of 1024 threads a row.
KERNEL void __launch_bounds__(1024) arg_max(const u32* x, u32* out, u32 columns) {
  __shared__ float best_value[32];
  __shared__ u32 best_place[32];
  const uint4* row = (const uint4*)x + (u64)blockIdx.x * (columns / 8);
  float value = -3.0e38f;
  u32 place = 0xffffffffu;
#pragma unroll 4
  for (u32 c = threadIdx.x; c < columns / 8; c += blockDim.x) {
    const uint4 v = row[c];
    const u32 pairs[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int i = 0; i < 4; i++) {
      if (low(pairs[i]) > value) { value = low(pairs[i]); place = 8 * c + 2 * i; }
      if (high(pairs[i]) > value) { value = high(pairs[i]); place = 8 * c + 2 * i + 1; }
    }
  }
  for (int turn = 0; turn < 2; turn++) {
#pragma unroll
    for (int lane = 16; lane > 0; lane >>= 1) {
      float v = __shfl_xor_sync(0xffffffffu, value, lane);
      u32 p = __shfl_xor_sync(0xffffffffu, place, lane);
      if (v > value || (v == value && p < place)) { value = v; place = p; }
    }
    if (turn == 1) break;
    if ((threadIdx.x & 31) == 0) { best_value[threadIdx.x >> 5] = value; best_place[threadIdx.x >> 5] = place; }
    __syncthreads();
    value = best_value[threadIdx.x & 31];
    place = best_place[threadIdx.x & 31];
  }
  if (threadIdx.x == 0) out[blockIdx.x] = place;
}
