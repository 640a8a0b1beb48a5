#pragma once

#include <string>

#include "base/check.h"
#include "server/runtime/staging.h"
#include "tests/support/inbox.h"

namespace shoal::support {

/// The bytes of an array, wherever they lie.
inline std::string ReadBytes(const runtime::Operand& array) {
  std::string bytes(static_cast<size_t>(array.bytes()), '\0');
  Inbox<absl::Status> ends;
  runtime::StageOut(array, {0, array.bytes()}, reinterpret_cast<std::byte*>(bytes.data()),
                    [&](const absl::Status& status) { ends.Put(status); });
  SHOAL_CHECK(ends.Take().ok());
  return bytes;
}

/// Fills an array, wherever it lies.
inline void WriteBytes(const std::string& bytes, const runtime::Operand& array) {
  SHOAL_CHECK(static_cast<int64_t>(bytes.size()) == array.bytes());
  Inbox<absl::Status> ends;
  const wire::Pieces pieces = {{reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()}};
  runtime::StageIn(pieces, array, {0, array.bytes()},
                   [&](const absl::Status& status) { ends.Put(status); });
  SHOAL_CHECK(ends.Take().ok());
}

/// One shard of an array.
inline runtime::Operand ShardOperand(const runtime::StoredArray& array,
                                     const runtime::Shard& shard) {
  runtime::Operand operand{
      {array.type.dtype, *plan::Shape::Create({shard.elements.size()})}, {}, nullptr};
  operand.extents.push_back(
      {{0, shard.elements.size()}, shard.buffer.data(), shard.worker, shard.way});
  return operand;
}

}  // namespace shoal::support
