#pragma once

#include <cstddef>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "shoal/array.h"
#include "shoal/call.h"
#include "transport/message.h"
#include "wire/chunk.h"

// Echo's messages by hand, so that their payload is copied once, from the wire to its place.
namespace shoal::internal {

transport::Frame EncodeEcho(const Array& payload, Route route);

/// Reads the payload of an EchoResponse into `target`.
///
/// Errors: INTERNAL  malformed, or a payload of another length.
absl::Status DecodeEcho(const wire::Pieces& message, absl::Span<std::byte> target);

}  // namespace shoal::internal
