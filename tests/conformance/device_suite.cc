#include "tests/conformance/device_suite.h"

namespace shoal::device {

Buffer DeviceSuite::UploadBytes(ConstSpan host) {
  absl::StatusOr<Buffer> buffer = device().Allocate(host.bytes);
  if (!buffer.ok()) {
    ADD_FAILURE() << buffer.status();
    return {};
  }
  DoneFuture done;
  stream().CopyIn(host, buffer->span(), done.MakeDone());
  EXPECT_TRUE(done.Wait().ok());
  return *std::move(buffer);
}

void DeviceSuite::DownloadBytes(ConstSpan span, Span host) {
  DoneFuture done;
  stream().CopyOut(span, host, done.MakeDone());
  EXPECT_TRUE(done.Wait().ok());
}

absl::Status DeviceSuite::Run(Work work, CancelFlag cancelled) {
  DoneFuture done;
  stream().Launch(std::move(work), cancelled, done.MakeDone());
  return done.Wait();
}

}  // namespace shoal::device
