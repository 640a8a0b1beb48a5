#pragma once

#include <google/protobuf/io/zero_copy_stream.h>
#include <google/protobuf/message_lite.h>

#include <cstdint>

#include "absl/status/status.h"
#include "wire/chunk.h"

namespace shoal::internal {

/// A received message as protobuf reads it, where it lies. `pieces`, none of which reaches 2 GiB,
/// outlive the stream.
class PiecesStream final : public google::protobuf::io::ZeroCopyInputStream {
 public:
  explicit PiecesStream(const wire::Pieces& pieces) : pieces_(pieces) {}

  bool Next(const void** data, int* size) override;
  void BackUp(int count) override;
  bool Skip(int count) override;
  int64_t ByteCount() const override { return read_; }

 private:
  const wire::Pieces& pieces_;
  size_t piece_ = 0;     // The one that is read next,
  size_t position_ = 0;  // from this byte on.
  int64_t read_ = 0;
};

/// Reads a whole message. Errors: INTERNAL  it is not one.
absl::Status ParseMessage(const wire::Pieces& pieces, google::protobuf::MessageLite* message);

}  // namespace shoal::internal
