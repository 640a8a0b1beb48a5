#pragma once

// Which instruction sets the kernels are compiled for: the compiler's baseline (SSE2 on x86-64),
// AVX2 with F16C, and AVX-512. The best one the machine has is chosen when a kernel is called. The
// sets between cost compile time and gain nothing measurable in loops that wait for memory. To be
// included before any header of Highway.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
