#pragma once

#include <cstddef>
#include <cstdint>

// A second build of Highway's vqsort for 32-bit keys, limited to AVX2.
//
// vqsort's AVX-512 build stores compressed vectors to memory, which Zen 4 executes in microcode:
// 16 Mi keys took 1.2 s there, against 0.13 s with AVX2. (64-bit keys are faster with AVX-512 even
// so.) Later releases of Highway avoid the instruction; Debian 12 has 1.0.3.
namespace shoal::kernels::cpu {

/// True on processors with AVX-512 on which SortWithoutCompressStore beats vqsort.
bool CompressStoreIsSlow();

/// Sorts ascending, in place.
void SortWithoutCompressStore(uint32_t* keys, size_t count);
void SortWithoutCompressStore(int32_t* keys, size_t count);

}  // namespace shoal::kernels::cpu
