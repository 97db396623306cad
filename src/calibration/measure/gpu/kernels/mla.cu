// Absorbed latent decode attention: every head reads the same cache line of 512 latent and 64 rotary values of a token;
// the values are its first 512. Queries are rows x heads of 576.
//
// A block of 8 warps owns M x 16 query rows and a range of tokens, in tiles of 32 that come by cp.async, STAGES deep.
// Scores of a tile are shared out over the warps by (16 rows, 8 or 16 tokens), meet in shared memory for the softmax, and
// each warp adds to 64 of the 512 output columns.
#define MLA_STRIDE 584  // of a line in shared memory, in bf16: 73 x 16 bytes, an odd count, so no bank conflicts

INLINE u32 shared_at(const void* p) { return (u32)__cvta_generic_to_shared(p); }
INLINE void load4(u32* r, const u16* at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(shared_at(at)));
}
INLINE void load4_turned(u32* r, const u16* at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(shared_at(at)));
}
// 16 bytes to shared memory without registers; zeros where there is no token.
INLINE void copy16(u16* to, const u16* from, bool real) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_at(to)), "l"(from), "r"(real ? 16 : 0));
}

template <int M, int STAGES>
INLINE void latent(const u16* q, const u16* cache, float* out, float2* stats, u32 heads, u32 rows, u32 context, float scale) {
  extern __shared__ __align__(16) u16 lines[];
  constexpr int R = M * 16, T = 32, PER_ROW = 256 / R, NT = M == 4 ? 2 : 1;
  u16* qs = lines;
  u16* ks = qs + R * MLA_STRIDE;
  u16* ps = ks + STAGES * T * MLA_STRIDE;  // probabilities, R x 40
  float* ss = (float*)(ps + R * 40);       // scores, R x 33
  float* shrinks = ss + R * 33;
  const u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5, g = lane >> 2, t = lane & 3;
  const u32 queries = rows * heads, first = blockIdx.y * R;
  const u64 batch = blockIdx.z;
  const u16* keys = cache + batch * context * 576;
  const u32 tiles = (context + T - 1) / T;
  const u32 from = (u64)tiles * blockIdx.x / gridDim.x, to = (u64)tiles * (blockIdx.x + 1) / gridDim.x;

  for (u32 i = threadIdx.x; i < R * 72; i += 256) {
    u32 row = i / 72, c = i % 72;
    bool real = first + row < queries;
    copy16(qs + row * MLA_STRIDE + c * 8, q + (batch * queries + (real ? first + row : 0)) * 576 + c * 8, real);
  }
  auto fetch = [&](u32 tile) {
    if (tile < to) {
      u16* slot = ks + (tile % STAGES) * T * MLA_STRIDE;
#pragma unroll
      for (u32 i = 0; i < 9; i++) {
        u32 chunk = i * 256 + threadIdx.x, line = chunk / 72, c = chunk % 72, token = tile * T + line;
        bool real = token < context;
        copy16(slot + line * MLA_STRIDE + c * 8, keys + (u64)(real ? token : 0) * 576 + c * 8, real);
      }
    }
    asm volatile("cp.async.commit_group;");
  };
#pragma unroll
  for (u32 i = 0; i < STAGES - 1; i++) fetch(from + i);

  float o[M][8][4] = {};
  const u32 row = threadIdx.x / PER_ROW, part = threadIdx.x % PER_ROW;
  const u32 limit = context - rows + min(first + row, queries - 1) / heads;
  float most = MINUS_INFINITY, total = 0.0f;
  for (u32 tile = from; tile < to; tile++) {
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2));
    __syncthreads();
    fetch(tile + STAGES - 1);
    const u16* k = ks + (tile % STAGES) * T * MLA_STRIDE;

    const u32 mine = warp % M, column = (warp / M) * NT;  // in tiles of 16 rows and 8 tokens
    if (column < 4) {
      float s[NT][2][4] = {};
#pragma unroll
      for (int step = 0; step < 18; step++) {
        u32 a[2][4];
#pragma unroll
        for (int i = 0; i < 2; i++)
          load4(a[i], qs + (mine * 16 + (lane & 15)) * MLA_STRIDE + step * 32 + i * 16 + (lane >> 4) * 8);
#pragma unroll
        for (int n = 0; n < NT; n++) {
          u32 b[4];
          load4(b, k + ((column + n) * 8 + (lane & 7)) * MLA_STRIDE + step * 32 + (lane >> 3) * 8);
          mma(s[n][0], a[0], b[0], b[1]);
          mma(s[n][1], a[1], b[2], b[3]);
        }
      }
#pragma unroll
      for (int n = 0; n < NT; n++)
#pragma unroll
        for (int e = 0; e < 4; e++)
          ss[(mine * 16 + g + (e >> 1) * 8) * 33 + (column + n) * 8 + t * 2 + (e & 1)] = s[n][0][e] + s[n][1][e];
    }
    __syncthreads();
    {
      constexpr int MINE = T / PER_ROW;
      float x[MINE], m = MINUS_INFINITY;
#pragma unroll
      for (int i = 0; i < MINE; i++) {
        u32 token = tile * T + part * MINE + i;
        x[i] = token > limit ? MINUS_INFINITY : ss[row * 33 + part * MINE + i];
        m = fmaxf(m, x[i]);
      }
#pragma unroll
      for (int d = 1; d < PER_ROW; d <<= 1) m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, d));
      m = fmaxf(m, most);
      float zero = m == MINUS_INFINITY ? 0.0f : m, shrink = exp2_((most - zero) * scale);
      most = m;
      total *= shrink;
#pragma unroll
      for (int i = 0; i < MINE; i += 2) {
        float p0 = exp2_((x[i] - zero) * scale), p1 = exp2_((x[i + 1] - zero) * scale);
        total += p0 + p1;
        *(u32*)(ps + row * 40 + part * MINE + i) = pack(p0, p1);
      }
      if (part == 0) shrinks[row] = shrink;
    }
    __syncthreads();
#pragma unroll
    for (int m = 0; m < M; m++) {
      float up = shrinks[m * 16 + g], down = shrinks[m * 16 + 8 + g];
#pragma unroll
      for (int j = 0; j < 8; j++) {
        o[m][j][0] *= up; o[m][j][1] *= up;
        o[m][j][2] *= down; o[m][j][3] *= down;
      }
    }
#pragma unroll
    for (int step = 0; step < 2; step++) {
      u32 a[M][4];
#pragma unroll
      for (int m = 0; m < M; m++) load4(a[m], ps + (m * 16 + (lane & 15)) * 40 + step * 16 + (lane >> 4) * 8);
#pragma unroll
      for (int j = 0; j < 4; j++) {
        u32 b[4];
        load4_turned(b, k + (step * 16 + (lane & 15)) * MLA_STRIDE + warp * 64 + j * 16 + (lane >> 4) * 8);
#pragma unroll
        for (int m = 0; m < M; m++) {
          mma(o[m][2 * j], a[m], b[0], b[1]);
          mma(o[m][2 * j + 1], a[m], b[2], b[3]);
        }
      }
    }
  }
#pragma unroll
  for (int d = 1; d < PER_ROW; d <<= 1) total += __shfl_xor_sync(0xffffffffu, total, d);
  const u64 base = (u64)blockIdx.x * gridDim.z * queries + batch * queries + first;
  if (part == 0 && first + row < queries) stats[base + row] = make_float2(most * scale, total);
#pragma unroll
  for (int m = 0; m < M; m++)
#pragma unroll
    for (int r = 0; r < 2; r++) {
      u32 mine = m * 16 + r * 8 + g;
      if (first + mine >= queries) continue;
#pragma unroll
      for (int j = 0; j < 8; j++)
        *(float2*)(out + (base + mine) * 512 + warp * 64 + j * 8 + t * 2) = make_float2(o[m][j][2 * r], o[m][j][2 * r + 1]);
    }
}

#define MLA(M, STAGES, PER_SM)                                                                                         \
  KERNEL void __launch_bounds__(256, PER_SM)                                                                           \
      mla_##M(const u16* q, const u16* cache, float* out, float2* stats, u32 heads, u32 rows, u32 context,             \
              float scale) {                                                                                           \
    latent<M, STAGES>(q, cache, out, stats, heads, rows, context, scale);                                              \
  }
MLA(1, 2, 2)
MLA(2, 2, 2)
MLA(4, 3, 1)
