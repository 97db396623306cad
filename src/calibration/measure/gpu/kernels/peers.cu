// All-reduce by kernels that read their peers' memory, as servers do on boxes with few GPUs, and a flag back and forth.
//
// `peers` is a table in device memory: for each rank the address of its input, then for each rank that of its scratch
// (two-shot), then for each rank that of its flags. Flags are counts that only grow: [slot][block][rank].
#define MOST_BLOCKS 64
#define MOST_RANKS 8

INLINE void tell(u32* flag, u32 value) { asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(flag), "r"(value) : "memory"); }
INLINE u32 hear(const u32* flag) {
  u32 value;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
  return value;
}

// This block has met the same block of every rank.
INLINE void meet(const u64* flags, u32 rank, u32 ranks, u32 slot, u32 count) {
  __syncthreads();
  if (threadIdx.x < ranks) {
    u32 place = (slot * MOST_BLOCKS + blockIdx.x) * MOST_RANKS;
    tell((u32*)flags[threadIdx.x] + place + rank, count);
    while ((int)(hear((u32*)flags[rank] + place + threadIdx.x) - count) < 0) {}
  }
  __syncthreads();
}

INLINE uint4 load_peer(const uint4* from) {
  uint4 v;
  asm volatile("ld.volatile.global.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(from));
  return v;
}

template <int RANKS>
INLINE uint4 sum_of(const uint4* const* inputs, u64 i) {
  uint4 v[RANKS];
#pragma unroll
  for (int r = 0; r < RANKS; r++) v[r] = load_peer(inputs[r] + i);
  float s[8] = {};
#pragma unroll
  for (int r = 0; r < RANKS; r++) {
    s[0] += low(v[r].x); s[1] += high(v[r].x); s[2] += low(v[r].y); s[3] += high(v[r].y);
    s[4] += low(v[r].z); s[5] += high(v[r].z); s[6] += low(v[r].w); s[7] += high(v[r].w);
  }
  return make_uint4(pack(s[0], s[1]), pack(s[2], s[3]), pack(s[4], s[5]), pack(s[6], s[7]));
}

template <int RANKS, bool TWO_SHOT>
INLINE void all_reduce(const u64* peers, uint4* out, u32* counter, u32 rank, u64 count) {
  const u64 *flags = peers + 2 * RANKS;
  const uint4* inputs[RANKS];
#pragma unroll
  for (int r = 0; r < RANKS; r++) inputs[r] = (const uint4*)peers[r];
  u32 turn = counter[blockIdx.x] + 1;
  meet(flags, rank, RANKS, 0, turn);
  const u64 step = (u64)gridDim.x * blockDim.x, me = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (!TWO_SHOT) {
    for (u64 i = me; i < count; i += step) out[i] = sum_of<RANKS>(inputs, i);
    meet(flags, rank, RANKS, 1, turn);  // nobody overwrites what another still reads
  } else {
    // The same threads of every rank handle the same places of a share, so that block-wise meeting suffices.
    const u64 share = (count + RANKS - 1) / RANKS;
    uint4* mine = (uint4*)peers[RANKS + rank];
    for (u64 i = me; i < share && rank * share + i < count; i += step) mine[i] = sum_of<RANKS>(inputs, rank * share + i);
    meet(flags, rank, RANKS, 1, turn);
    for (u64 i = me; i < share; i += step)
#pragma unroll
      for (int r = 0; r < RANKS; r++)
        if (r * share + i < count) out[r * share + i] = load_peer((const uint4*)peers[RANKS + r] + i);
  }
  if (threadIdx.x == 0) counter[blockIdx.x] = turn;
}

#define ALL_REDUCE(RANKS)                                                                                              \
  KERNEL void __launch_bounds__(512) one_shot_##RANKS(const u64* peers, uint4* out, u32* counter, u32 rank, u64 count) { \
    all_reduce<RANKS, false>(peers, out, counter, rank, count);                                                        \
  }                                                                                                                    \
  KERNEL void __launch_bounds__(512) two_shot_##RANKS(const u64* peers, uint4* out, u32* counter, u32 rank, u64 count) { \
    all_reduce<RANKS, true>(peers, out, counter, rank, count);                                                         \
  }
ALL_REDUCE(2)
ALL_REDUCE(3)
ALL_REDUCE(4)
ALL_REDUCE(5)
ALL_REDUCE(6)
ALL_REDUCE(7)
ALL_REDUCE(8)

// One thread: `turns` times tells the peer and waits for its answer; the second player waits first.
KERNEL void ping_pong(u32* mine, u32* theirs, u32 turns, u32 second, u32 start) {
  for (u32 i = 1; i <= turns; i++) {
    if (!second) tell(theirs, start + i);
    while (hear(mine) != start + i) {}
    if (second) tell(theirs, start + i);
  }
}
