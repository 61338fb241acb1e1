// Builds the file that KERNELS names for each SIMD level, in namespaces `base` and `avx2`, so that the linker never
// takes one for the other. AVX2_CODE says which it is.
namespace base {
#define AVX2_CODE 0
#include KERNELS
#undef AVX2_CODE
}  // namespace base

#if PIXELMILL_AVX2
BEGIN_AVX2_CODE
namespace avx2 {
#define AVX2_CODE 1
#include KERNELS
#undef AVX2_CODE
}  // namespace avx2
END_AVX2_CODE
#endif

#undef KERNELS
