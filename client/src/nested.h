#pragma once

#include <google/protobuf/io/coded_stream.h>

#include <cstdint>

namespace shoal::internal {

/// Reads the length of a nested message (or bytes) and makes that the limit; `LeaveNested` takes it
/// back. False: the length is malformed, or goes beyond the present limit, which must exist.
///
/// CodedInputStream itself would silently shorten such a length, and a message that was cut short
/// would pass for a whole one.
inline bool EnterNested(google::protobuf::io::CodedInputStream* input,
                        google::protobuf::io::CodedInputStream::Limit* outer) {
  uint32_t length = 0;
  if (!input->ReadVarint32(&length)) return false;
  if (static_cast<int64_t>(length) > input->BytesUntilLimit()) return false;
  *outer = input->PushLimit(static_cast<int>(length));
  return true;
}

inline void LeaveNested(google::protobuf::io::CodedInputStream* input,
                        google::protobuf::io::CodedInputStream::Limit outer) {
  input->PopLimit(outer);
}

}  // namespace shoal::internal
