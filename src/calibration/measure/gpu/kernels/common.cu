// Shared by all kernels. No header is included: NVRTC brings none of its own that every version has.
typedef unsigned int u32;
typedef unsigned long long u64;
typedef unsigned short u16;

#define KERNEL extern "C" __global__
#define INLINE __device__ __forceinline__

INLINE float low(u32 pair) { return __uint_as_float(pair << 16); }
INLINE float high(u32 pair) { return __uint_as_float(pair & 0xffff0000u); }

// Two floats as bf16, the first in the low half, rounded to nearest even.
INLINE u32 pack(float first, float second) {
  u32 pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
  return pair;
}

// Read once: past L1, which would gain nothing.
INLINE uint4 stream_load(const uint4* from) {
  uint4 v;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(from));
  return v;
}

// c[16][8] += a[16][16] * b[16][8]; bf16 in, float out.
INLINE void mma(float* c, const u32* a, u32 b0, u32 b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// The same function in gpu/random.rs.
INLINE u32 hash(u32 x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  x ^= x >> 16;
  return x;
}

INLINE float warp_sum(float x) {
#pragma unroll
  for (int lane = 16; lane > 0; lane >>= 1) x += __shfl_xor_sync(0xffffffffu, x, lane);
  return x;
}

#define MINUS_INFINITY __int_as_float(0xff800000)

INLINE float exp2_(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
