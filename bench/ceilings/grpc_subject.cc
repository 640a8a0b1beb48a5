#include "bench/ceilings/grpc_subject.h"

#include <utility>

#include "base/check.h"
#include "base/status.h"
#include "bench/ceilings/grpc_lanes.h"
#include "bench/ceilings/server_process.h"

namespace shoal::bench {
namespace {

// Message lengths are 32-bit, and protobuf's are signed.
constexpr int64_t kMessageBytesMax = int64_t{1} << 30;

std::string NameOf(GrpcWay way) {
  switch (way) {
    case GrpcWay::kUnary:
      return "grpc_unary";
    case GrpcWay::kStream:
      return "grpc_stream";
    case GrpcWay::kMessages:
      return "grpc_messages";
    case GrpcWay::kProtobuf:
      return "protobuf";
  }
  SHOAL_UNREACHABLE("way out of range");
}

class GrpcSubject final : public Subject {
 public:
  GrpcSubject(GrpcWay way, std::string plane, CeilingServer server)
      : way_(way), name_(NameOf(way)), plane_(std::move(plane)), server_(std::move(server)) {}

  const std::string& Name() const override { return name_; }
  const std::string& Plane() const override { return plane_; }
  bool Carries(Op op, int64_t bytes) const override {
    if (way_ == GrpcWay::kMessages && op != Op::kEcho) return false;
    return way_ == GrpcWay::kStream || bytes <= kMessageBytesMax;
  }
  bool Overlaps() const override { return true; }
  pid_t ServerPid() const override { return server_.child->pid(); }

  absl::StatusOr<std::unique_ptr<Lane>> NewLane() override {
    switch (way_) {
      case GrpcWay::kUnary:
        return NewUnaryLane(server_.address);
      case GrpcWay::kStream:
        return NewStreamLane(server_.address);
      case GrpcWay::kMessages:
        return NewMessageLane(server_.address);
      case GrpcWay::kProtobuf:
        return NewProtobufLane(server_.address);
    }
    SHOAL_UNREACHABLE("way out of range");
  }

  absl::Status Reset() override { return ResetGrpcServer(server_.address); }

 private:
  const GrpcWay way_;
  const std::string name_;
  const std::string plane_;
  CeilingServer server_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Subject>> NewGrpcSubject(GrpcWay way, const std::string& plane) {
  SHOAL_ASSIGN_OR_RETURN(CeilingServer server, StartCeilingServer({"grpc", plane}));
  return std::make_unique<GrpcSubject>(way, plane, std::move(server));
}

}  // namespace shoal::bench
