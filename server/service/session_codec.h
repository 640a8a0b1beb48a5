#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace shoal::service {

/// One task of a session's message, not yet looked into.
struct SessionTaskView {
  uint64_t id = 0;
  absl::string_view call;  ///< A serialised ApplyRequest.
  int64_t timeout_us = 0;  ///< 0: none.
};

/// A SessionRequest, taken apart: views into its bytes.
///
/// By hand, since a flood's message holds a thousand tasks that differ only in their ids: a
/// protobuf object for each would cost more than everything else that is done for it.
struct SessionBatch {
  bool has_open = false;
  bool ordered = false;
  std::vector<SessionTaskView> tasks;
  std::vector<uint64_t> cancel;

  /// Forgets the contents and keeps the storage.
  void Clear() {
    has_open = false;
    ordered = false;
    tasks.clear();
    cancel.clear();
  }
};

/// Errors:
///   INVALID_ARGUMENT  not a valid SessionRequest.
absl::Status DecodeSessionRequest(absl::string_view bytes, SessionBatch* batch);

/// A serialised SessionResponse of `done` ids and results that are serialised already, each as its
/// field of the response (AppendResult).
std::string EncodeSessionResponse(int64_t credits, absl::Span<const uint64_t> done,
                                  absl::string_view results);

/// Appends a serialised SessionResult to the results of a response.
void AppendResult(absl::string_view result, std::string* results);

}  // namespace shoal::service
