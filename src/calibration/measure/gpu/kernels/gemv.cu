// out[row][n] = sum over k of x[row][k] * w[n][k], weights in bf16 or INT4 with a bf16 scale per group, for one matrix or
// for the matrices of several experts. The weights are the A operand of the tensor cores (16 outputs each), packed in
// the order in which lanes want them (gpu/packing.rs), so that every load is 16 bytes a lane and 512 a warp.
//
// A warp owns 32 outputs and a part of k; 8 warps a block, `across` of them beside one another over the outputs.
struct Gemv {
  const uint4* weights;    // of expert 0
  const u32* scales;       // pairs (row g, row g + 8) of a tile of 16; null: bf16
  const u16* x;
  u16* out;                // bf16, where z is not split
  float* partial;          // [z][row][n], where it is
  const u32* expert;       // of each group of rows; null: one group, expert 0
  const u32* first;        // first place of a group in `pairs`, groups + 1 of them; null: rows 0 to `rows`
  const u32* pairs;        // token * per_token + choice
  u32 divide;              // row of x = pair / divide; row of out = pair
  u32 n, k, group, rows, across, chunks;
  u64 out_rows;
};

INLINE u32 sub136(u32 v) {
  u32 r;
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(v), "r"(0x3f803f80u), "r"(0xc308c308u));
  return r;
}

template <int NT, bool INT4>
INLINE void gemv(const Gemv& p) {
  extern __shared__ float parts[];
  constexpr int U = INT4 && NT <= 2 ? 2 : 1;  // blocks of 64 k whose loads are issued together
  constexpr int LOADS = INT4 ? 1 : 4;             // 16-byte loads of a tile for 64 k
  const u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5, g = lane >> 2, t = lane & 3;
  const u32 along = 8 / p.across, group = blockIdx.y / p.chunks, chunk = blockIdx.y % p.chunks;
  const u32 begin = p.first ? p.first[group] : 0, rows = p.first ? p.first[group + 1] - begin : p.rows;
  if (chunk * NT * 8 >= rows) return;
  const u32 expert = p.expert ? p.expert[group] : 0;
  const u32 tile = (blockIdx.x * p.across + warp % p.across) * 2;
  const u32 blocks = p.k / 64, shares = gridDim.z * along, share = blockIdx.z * along + warp / p.across;
  const u32 from = (u64)blocks * share / shares, to = (u64)blocks * (share + 1) / shares;
  const u32 tiles = p.n / 16;
  const uint4* w = p.weights + (u64)expert * tiles * blocks * LOADS * 32 + (u64)tile * blocks * LOADS * 32 + lane;
  const u32* scales = p.scales + (u64)expert * (p.k / (INT4 ? p.group : 64)) * tiles * 8 + tile * 8 + g;

  // Group of a piece of 32 k: division by pieces in a group, exact for k below 2^21.
  const u32 pieces = p.group / 32, magic = pieces > 1 ? 0xffffffffu / pieces + 1 : 0;
  auto group_of = [&](u32 piece) { return pieces > 1 ? __umulhi(piece, magic) : piece; };

  const uint4* x[NT];
#pragma unroll
  for (int j = 0; j < NT; j++) {
    u32 row = chunk * NT * 8 + j * 8 + g;
    u32 pair = row < rows ? (p.pairs ? p.pairs[begin + row] : row) : 0xffffffffu;
    x[j] = pair == 0xffffffffu ? nullptr : (const uint4*)(p.x + (u64)(pair / p.divide) * p.k) + t;
  }
  // INT4: 0x4300 | q is the bf16 number 128 + q. With few rows the products are taken of that, and 136 times the sum of
  // the activations, a product with ones, is taken off their sum; with many rows 136 is taken off the weights. The sums
  // of a group are scaled, not its weights.
  constexpr bool LATE = INT4 && NT <= 2;
  float c[2][NT][4] = {};
  for (u32 kb = from; kb < to; kb += U) {
    uint4 v[2][U * LOADS];
    u32 s[2][U][2];
    uint4 xs[NT][U][2];
#pragma unroll
    for (int m = 0; m < 2; m++)
#pragma unroll
      for (int u = 0; u < U * LOADS; u++)
        if (kb + u / LOADS < to) v[m][u] = stream_load(w + ((u64)m * blocks + kb) * LOADS * 32 + u * 32);
#pragma unroll
    for (int j = 0; j < NT; j++)
#pragma unroll
      for (int i = 0; i < 2 * U; i++)
        xs[j][i / 2][i % 2] = x[j] && kb + i / 2 < to ? x[j][kb * 8 + i * 4] : make_uint4(0, 0, 0, 0);
    if (INT4) {
#pragma unroll
      for (int u = 0; u < U; u++) {
        if (kb + u >= to) break;
        const u32 first = group_of((kb + u) * 2), second = group_of((kb + u) * 2 + 1);
#pragma unroll
        for (int m = 0; m < 2; m++) {
          s[m][u][0] = scales[first * tiles * 8 + m * 8];
          s[m][u][1] = second == first ? s[m][u][0] : scales[second * tiles * 8 + m * 8];
        }
      }
    }
#pragma unroll
    for (int u = 0; u < U; u++) {
      if (kb + u >= to) break;
      float sum[2][NT][4] = {}, ones[NT][4] = {};
#pragma unroll
      for (int half = 0; half < 2; half++) {
        u32 b[NT][4];
#pragma unroll
        for (int j = 0; j < NT; j++) {
          const uint4& e = xs[j][u][half];
          b[j][0] = e.x; b[j][1] = e.y; b[j][2] = e.z; b[j][3] = e.w;
        }
#pragma unroll
        for (int q = 0; q < 2; q++) {
          const int step = half * 2 + q;
#pragma unroll
          for (int m = 0; m < 2; m++) {
            u32 a[4];
            if (INT4) {
              const uint4& four = v[m][u];
              const u32 word = step == 0 ? four.x : step == 1 ? four.y : step == 2 ? four.z : four.w;
#pragma unroll
              for (int i = 0; i < 4; i++) {
                a[i] = ((word >> (4 * i)) & 0x000f000fu) | 0x43004300u;
                if (!LATE) a[i] = sub136(a[i]);
              }
            } else {
              const uint4& one = v[m][step % (U * LOADS)];
              a[0] = one.x; a[1] = one.y; a[2] = one.z; a[3] = one.w;
            }
#pragma unroll
            for (int j = 0; j < NT; j++) mma(INT4 ? sum[m][j] : c[m][j], a, b[j][2 * q], b[j][2 * q + 1]);
          }
          if (LATE) {
            const u32 one[4] = {0x3f803f80u, 0x3f803f80u, 0x3f803f80u, 0x3f803f80u};
#pragma unroll
            for (int j = 0; j < NT; j++) mma(ones[j], one, b[j][2 * q], b[j][2 * q + 1]);
          }
        }
        // A group that ends between the halves of a block is scaled here, any other behind the block.
        if (INT4 && (half == 1 || p.group % 64 != 0)) {
#pragma unroll
          for (int m = 0; m < 2; m++) {
            const float s0 = low(s[m][u][half]), s1 = high(s[m][u][half]);
#pragma unroll
            for (int j = 0; j < NT; j++)
#pragma unroll
              for (int e = 0; e < 4; e++) {
                c[m][j][e] += (e < 2 ? s0 : s1) * (LATE ? fmaf(-136.0f, ones[j][e], sum[m][j][e]) : sum[m][j][e]);
                sum[m][j][e] = 0.0f;
              }
          }
#pragma unroll
          for (int j = 0; j < NT; j++)
#pragma unroll
            for (int e = 0; e < 4; e++) ones[j][e] = 0.0f;
        }
      }
    }
  }

  // The parts of k of this block meet in shared memory.
  if (along > 1) {
    if (warp >= p.across) {
#pragma unroll
      for (int i = 0; i < 8 * NT; i++) parts[(warp * 8 * NT + i) * 32 + lane] = c[i / (4 * NT)][i / 4 % NT][i % 4];
    }
    __syncthreads();
    if (warp >= p.across) return;
    for (u32 other = warp + p.across; other < 8; other += p.across)
#pragma unroll
      for (int i = 0; i < 8 * NT; i++) c[i / (4 * NT)][i / 4 % NT][i % 4] += parts[(other * 8 * NT + i) * 32 + lane];
  }
#pragma unroll
  for (int j = 0; j < NT; j++)
#pragma unroll
    for (int r = 0; r < 2; r++) {
      u32 row = chunk * NT * 8 + j * 8 + t * 2 + r;
      if (row >= rows) continue;
      u64 pair = p.pairs ? p.pairs[begin + row] : row;
#pragma unroll
      for (int m = 0; m < 2; m++)
#pragma unroll
        for (int h = 0; h < 2; h++) {
          u32 column = (tile + m) * 16 + h * 8 + g;
          float value = c[m][j][h * 2 + r];
          if (gridDim.z > 1)
            p.partial[((u64)blockIdx.z * p.out_rows + pair) * p.n + column] = value;
          else
            p.out[pair * p.n + column] = (u16)pack(value, 0.0f);
        }
    }
}

#define GEMV_ARGS                                                                                                     \
  const uint4 *weights, const u32 *scales, const u16 *x, u16 *out, float *partial, const u32 *expert,                 \
      const u32 *first, const u32 *pairs, u32 divide, u32 n, u32 k, u32 group, u32 rows, u32 across, u32 chunks,      \
      u64 out_rows
#define GEMV(NAME, NT, INT4)                                                                                          \
  KERNEL void __launch_bounds__(256, NT == 8 ? 1 : 2) NAME(GEMV_ARGS) {                                                             \
    gemv<NT, INT4>({weights, scales, x, out, partial, expert, first, pairs, divide, n, k, group, rows, across,        \
                    chunks, out_rows});                                                                               \
  }
GEMV(gemv_int4_8, 1, true)
GEMV(gemv_int4_16, 2, true)
GEMV(gemv_int4_32, 4, true)
GEMV(gemv_int4_64, 8, true)
GEMV(gemv_bf16_8, 1, false)
GEMV(gemv_bf16_16, 2, false)
GEMV(gemv_bf16_32, 4, false)
GEMV(gemv_bf16_64, 8, false)

// Adds the parts of a k that was split over blocks.
KERNEL void __launch_bounds__(256) gemv_add(const float* partial, u32* out, u64 pairs, u32 parts) {
  u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= pairs) return;
  float2 sum = make_float2(0.0f, 0.0f);
  for (u32 z = 0; z < parts; z++) {
    float2 v = ((const float2*)partial)[z * pairs + i];
    sum.x += v.x;
    sum.y += v.y;
  }
  out[i] = pack(sum.x, sum.y);
}

// out[token] = sum over its choices of weight * y[token * per_token + choice].
KERNEL void __launch_bounds__(256) moe_combine(const u32* y, const float* weight, u32* out, u64 tokens, u32 per_token, u32 hidden) {
  u32 pairs = hidden / 2;
  u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= tokens * pairs) return;
  u64 token = i / pairs, c = i % pairs;
  float a = 0.0f, b = 0.0f;
  for (u32 e = 0; e < per_token; e++) {
    u32 v = y[(token * per_token + e) * pairs + c];
    float w = weight[token * per_token + e];
    a += w * low(v);
    b += w * high(v);
  }
  out[i] = pack(a, b);
}
