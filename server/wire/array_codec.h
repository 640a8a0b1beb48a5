#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/plan/call.h"
#include "shoal/v1/array.pb.h"

// Arrays between the contract's messages and the planner's values. Decoding checks everything
// that can be judged from the message alone.

namespace shoal::wire {

inline constexpr size_t kNameBytesMax = 255;

/// Errors: INVALID_ARGUMENT  unknown dtype, or a shape that plan::Shape refuses.
absl::StatusOr<plan::ArrayType> DecodeSpec(const v1::ArraySpec& spec, absl::string_view field);

/// Errors: INVALID_ARGUMENT  neither id nor name, or a name of more than 255 bytes.
absl::StatusOr<plan::StoredRef> DecodeRef(const v1::ArrayRef& ref, absl::string_view field);

/// Errors: INVALID_ARGUMENT  a bad name, an unknown kind of distribution, repeated workers, or
///   KIND_SINGLE with more than one.
absl::StatusOr<plan::StoreAs> DecodeStore(const v1::Store& store, absl::string_view field);
absl::StatusOr<plan::Distribution> DecodeDistribution(const v1::Distribution& distribution,
                                                      absl::string_view field);

void EncodeSpec(const plan::ArrayType& type, v1::ArraySpec* spec);
void EncodeDistribution(const plan::Distribution& distribution, v1::Distribution* message);

/// "x" or "#7": an array reference for messages.
std::string RefText(const plan::StoredRef& ref);

}  // namespace shoal::wire
