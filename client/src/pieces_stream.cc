#include "client/src/pieces_stream.h"

namespace shoal::internal {

bool PiecesStream::Next(const void** data, int* size) {
  // An empty piece would be allowed, but may not come for ever.
  while (piece_ < pieces_.size() && position_ == pieces_[piece_].size()) {
    ++piece_;
    position_ = 0;
  }
  if (piece_ == pieces_.size()) return false;
  const wire::ConstBytes rest = pieces_[piece_].subspan(position_);
  *data = rest.data();
  *size = static_cast<int>(rest.size());
  position_ += rest.size();
  read_ += *size;
  return true;
}

// After a Next, and no further than that went: so within the piece.
void PiecesStream::BackUp(int count) {
  position_ -= static_cast<size_t>(count);
  read_ -= count;
}

bool PiecesStream::Skip(int count) {
  const void* data = nullptr;
  int size = 0;
  while (count > 0) {
    if (!Next(&data, &size)) return false;
    if (size > count) BackUp(size - count);
    count -= size;
  }
  return true;
}

absl::Status ParseMessage(const wire::Pieces& pieces, google::protobuf::MessageLite* message) {
  PiecesStream stream(pieces);
  if (message->ParseFromZeroCopyStream(&stream)) return absl::OkStatus();
  return absl::InternalError("the server sent a malformed message");
}

}  // namespace shoal::internal
