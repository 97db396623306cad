// Decode attention with grouped queries over a cache in tokens x KV heads x width, split over the tokens.
//
// A warp owns 16 query rows (verified rows x heads of a group) and every so many blocks of 16 tokens. Keys and values go
// from memory straight to registers: the order of the inner dimension of a product is free, so a lane takes 16 bytes of
// a key, and the order of the output columns is free, so it takes 16 bytes of a value and pairs tokens by byte
// permutation. Online softmax in float; parts meet in attention_merge.
INLINE u32 pick(const uint4& v, int i) { return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w; }

template <int D>
INLINE void attend(const u16* q, const u16* keys, const u16* values, float* out, float2* stats, u32 heads, u32 kv_heads,
                   u32 rows, u32 context, float scale) {
  constexpr int C = D / 32, H = D / 64;
  const u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5, g = lane >> 2, t = lane & 3;
  const u32 group = heads / kv_heads, queries = rows * group, batch = blockIdx.z, head = blockIdx.y % kv_heads;
  const u32 tiles = (queries + 15) / 16, beside = tiles >= 3 ? 4 : tiles, parts = 4 / beside;
  const u32 tile = (blockIdx.y / kv_heads) * beside + warp % beside;
  if (tile >= tiles) return;  // only where no warps meet: parts is 1
  const u32 part = blockIdx.x * parts + warp / beside, all = gridDim.x * parts;

  u32 a[D / 16][4];
  u32 limit[2];
#pragma unroll
  for (int r = 0; r < 2; r++) {
    u32 query = tile * 16 + r * 8 + g;
    bool real = query < queries;
    u32 row = real ? query / group : 0;
    limit[r] = context - rows + row;
    const uint4* from =
        (const uint4*)(q + (((u64)batch * rows + row) * heads + head * group + (real ? query % group : 0)) * D) + t;
#pragma unroll
    for (int c = 0; c < C; c++) {
      uint4 v = from[c * 4];
      a[2 * c][r] = v.x; a[2 * c][2 + r] = v.y;
      a[2 * c + 1][r] = v.z; a[2 * c + 1][2 + r] = v.w;
    }
  }
  float o[D / 8][4] = {};
  float most[2] = {MINUS_INFINITY, MINUS_INFINITY}, total[2] = {0.0f, 0.0f};
  const u64 step = (u64)kv_heads * D / 8;  // in 16 bytes, from token to token
  const uint4* k = (const uint4*)(keys + ((u64)batch * context * kv_heads + head) * D);
  const uint4* v = (const uint4*)(values + ((u64)batch * context * kv_heads + head) * D);
  const u32 blocks = (context + 15) / 16;
  const u32 from = (u64)blocks * part / all, to = (u64)blocks * (part + 1) / all;
  for (u32 block = from; block < to; block++) {
    const u32 base = block * 16, last = context - 1;
    uint4 kk[2][C], vv[H][4];
#pragma unroll
    for (int i = 0; i < 2; i++) {
      const uint4* token = k + min(base + i * 8 + g, last) * step + t;
#pragma unroll
      for (int c = 0; c < C; c++) kk[i][c] = token[c * 4];
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const uint4* token = v + min(base + (i >> 1) * 8 + 2 * t + (i & 1), last) * step + g;
#pragma unroll
      for (int h = 0; h < H; h++) vv[h][i] = token[h * 8];
    }
    float s[2][4] = {};
#pragma unroll
    for (int c = 0; c < C; c++)
#pragma unroll
      for (int i = 0; i < 2; i++) {
        mma(s[i], a[2 * c], kk[i][c].x, kk[i][c].y);
        mma(s[i], a[2 * c + 1], kk[i][c].z, kk[i][c].w);
      }
    if (base + 15 > context - rows) {
#pragma unroll
      for (int i = 0; i < 2; i++)
#pragma unroll
        for (int e = 0; e < 4; e++)
          if (base + i * 8 + 2 * t + (e & 1) > limit[e >> 1]) s[i][e] = MINUS_INFINITY;
    }
    float shrink[2];
#pragma unroll
    for (int r = 0; r < 2; r++) {
      float m = fmaxf(fmaxf(s[0][2 * r], s[0][2 * r + 1]), fmaxf(s[1][2 * r], s[1][2 * r + 1]));
      m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, 1));
      m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, 2));
      m = fmaxf(most[r], m);
      float zero = m == MINUS_INFINITY ? 0.0f : m;
      shrink[r] = exp2_((most[r] - zero) * scale);
      most[r] = m;
      float sum = 0.0f;
#pragma unroll
      for (int i = 0; i < 2; i++)
#pragma unroll
        for (int e = 0; e < 2; e++) {
          float& x = s[i][2 * r + e];
          x = exp2_((x - zero) * scale);
          sum += x;
        }
      total[r] = total[r] * shrink[r] + sum;
    }
#pragma unroll
    for (int i = 0; i < D / 8; i++) {
      o[i][0] *= shrink[0]; o[i][1] *= shrink[0];
      o[i][2] *= shrink[1]; o[i][3] *= shrink[1];
    }
    const u32 p[4] = {pack(s[0][0], s[0][1]), pack(s[0][2], s[0][3]), pack(s[1][0], s[1][1]), pack(s[1][2], s[1][3])};
#pragma unroll
    for (int h = 0; h < H; h++)
#pragma unroll
      for (int j = 0; j < 8; j++) {
        const u32 order = j & 1 ? 0x7632 : 0x5410;
        u32 b0 = __byte_perm(pick(vv[h][0], j / 2), pick(vv[h][1], j / 2), order);
        u32 b1 = __byte_perm(pick(vv[h][2], j / 2), pick(vv[h][3], j / 2), order);
        mma(o[h * 8 + j], p, b0, b1);
      }
  }
#pragma unroll
  for (int r = 0; r < 2; r++) {
    total[r] += __shfl_xor_sync(0xffffffffu, total[r], 1);
    total[r] += __shfl_xor_sync(0xffffffffu, total[r], 2);
  }
  // The parts of a block meet two by two: the second half of the warps hands over, the first takes.
  __shared__ float meeting[2][32][D / 2 + 4];
  for (u32 half = parts / 2; half > 0; half /= 2) {
    const u32 mine = warp / beside;
    if (mine >= half && mine < 2 * half) {
      float* to = &meeting[(mine - half) * beside + warp % beside][0][0] + lane;
#pragma unroll
      for (int i = 0; i < D / 2; i++) to[32 * i] = o[i / 4][i % 4];
#pragma unroll
      for (int r = 0; r < 2; r++) { to[32 * (D / 2 + r)] = most[r]; to[32 * (D / 2 + 2 + r)] = total[r]; }
    }
    __syncthreads();
    if (mine < half) {
      const float* from = &meeting[mine * beside + warp % beside][0][0] + lane;
      float ours[2], theirs[2];
#pragma unroll
      for (int r = 0; r < 2; r++) {
        const float other = from[32 * (D / 2 + r)], m = fmaxf(most[r], other), zero = m == MINUS_INFINITY ? 0.0f : m;
        ours[r] = exp2_((most[r] - zero) * scale);
        theirs[r] = exp2_((other - zero) * scale);
        total[r] = total[r] * ours[r] + from[32 * (D / 2 + 2 + r)] * theirs[r];
        most[r] = m;
      }
#pragma unroll
      for (int i = 0; i < D / 2; i++)
        o[i / 4][i % 4] = o[i / 4][i % 4] * ours[i % 4 / 2] + from[32 * i] * theirs[i % 4 / 2];
    }
    __syncthreads();
  }
  if (warp / beside > 0) return;
#pragma unroll
  for (int r = 0; r < 2; r++) {
    u32 query = tile * 16 + r * 8 + g;
    if (query >= queries) continue;
    u64 place = ((u64)batch * rows + query / group) * heads + head * group + query % group;
    u64 row = (u64)blockIdx.x * gridDim.z * rows * heads + place;
    if (t == 0) stats[row] = make_float2(most[r] * scale, total[r]);
    float* to = out + row * D;
#pragma unroll
    for (int h = 0; h < H; h++)
#pragma unroll
      for (int e = 0; e < 2; e++)
#pragma unroll
        for (int four = 0; four < 2; four++)
          *(float4*)(to + h * 64 + (2 * t + e) * 8 + four * 4) =
              make_float4(o[h * 8 + four * 4][2 * r + e], o[h * 8 + four * 4 + 1][2 * r + e],
                          o[h * 8 + four * 4 + 2][2 * r + e], o[h * 8 + four * 4 + 3][2 * r + e]);
  }
}

#define ATTENTION(D)                                                                                                   \
  KERNEL void __launch_bounds__(128, 2)                                                                                \
      attention_##D(const u16* q, const u16* keys, const u16* values, float* out, float2* stats, u32 heads,            \
                    u32 kv_heads, u32 rows, u32 context, float scale) {                                                \
    attend<D>(q, keys, values, out, stats, heads, kv_heads, rows, context, scale);                                     \
  }
ATTENTION(64)
ATTENTION(128)

// out = sum of parts * 2^(their maximum) over the sum of totals. A block of 256 threads has up to 128 columns of a query: a
// thread two of them, and groups of threads share out the parts.
KERNEL void __launch_bounds__(256)
    attention_merge(const float* parts, const float2* stats, u32* out, u32 count, u64 queries, u32 width) {
  __shared__ float weights[1024];
  __shared__ float sums[8], tops[8];
  __shared__ float2 rest[256];
  const u64 query = blockIdx.x;
  const u32 pairs = min(width, 128u) / 2, groups = 256 / pairs, group = threadIdx.x / pairs;
  const u32 column = threadIdx.x % pairs, place = blockIdx.y * pairs + column;
  float most = MINUS_INFINITY, total = 0.0f;
  for (u32 i = threadIdx.x; i < count; i += 256) most = fmaxf(most, stats[i * queries + query].x);
#pragma unroll
  for (int lane = 16; lane > 0; lane >>= 1) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, lane));
  if ((threadIdx.x & 31) == 0) tops[threadIdx.x >> 5] = most;
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 8; i++) most = fmaxf(most, tops[i]);
  for (u32 i = threadIdx.x; i < count; i += 256) {
    float2 s = stats[i * queries + query];
    weights[i] = exp2_(s.x - most);
    total += weights[i] * s.y;
  }
  total = warp_sum(total);
  if ((threadIdx.x & 31) == 0) sums[threadIdx.x >> 5] = total;
  __syncthreads();
  total = 0.0f;
#pragma unroll
  for (int i = 0; i < 8; i++) total += sums[i];
  const float2* from = (const float2*)parts + query * (width / 2) + place;
  const u64 step = queries * (width / 2);
  float2 sum = make_float2(0.0f, 0.0f);
  u32 i = group;
  // Loads first: eight parts are on their way at once.
  for (; i + 7 * groups < count; i += 8 * groups) {
    float2 v[8];
#pragma unroll
    for (int u = 0; u < 8; u++) v[u] = from[(i + u * groups) * step];
#pragma unroll
    for (int u = 0; u < 8; u++) {
      sum.x += weights[i + u * groups] * v[u].x;
      sum.y += weights[i + u * groups] * v[u].y;
    }
  }
  for (; i < count; i += groups) {
    float2 v = from[i * step];
    sum.x += weights[i] * v.x;
    sum.y += weights[i] * v.y;
  }
  rest[threadIdx.x] = sum;
  __syncthreads();
  if (group > 0) return;
  for (u32 other = 1; other < groups; other++) {
    sum.x += rest[other * pairs + column].x;
    sum.y += rest[other * pairs + column].y;
  }
  out[query * (width / 2) + place] = pack(sum.x / total, sum.y / total);
}
