#pragma once

#include "kernels/cpu/op_code.h"
#include "kernels/dtype.h"

namespace shoal::kernels::cpu {

/// The loop that converts elements of `from` to elements of `to`, for the best instruction set of
/// this machine; halves are float32 on both sides, rounded to the half's values where they come
/// out.
///
/// Integers wrap; a float that an integer dtype does not hold becomes its nearest value, NaN 0 (C++
/// leaves both undefined, and processors differ); to bool: whether it is not 0; from complex: the
/// real part; floats round to nearest, ties to even, once.
MapLoop CastLoop(DType from, DType to);

}  // namespace shoal::kernels::cpu
