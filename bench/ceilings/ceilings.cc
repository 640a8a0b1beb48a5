#include "bench/ceilings/ceilings.h"

#include "absl/strings/str_cat.h"
#include "bench/ceilings/grpc_subject.h"
#include "bench/ceilings/local.h"
#include "bench/ceilings/raw_subject.h"

namespace shoal::bench {

std::vector<std::string> CeilingNames() {
  return {"grpc_stream", "grpc_unary", "protobuf", "raw_tcp", "raw_unix", "signal", "memcpy"};
}

absl::StatusOr<std::unique_ptr<Subject>> NewCeiling(const std::string& name,
                                                    const std::string& plane) {
  const std::string transport = plane == "tcp" ? "tcp" : "unix";
  if (name == "memcpy") return NewMemcpySubject();
  if (name == "raw_tcp") return NewRawSubject("tcp");
  if (name == "raw_unix") return NewRawSubject("unix");
  if (name == "signal") return NewSignalSubject();
  if (name == "grpc_stream") return NewGrpcSubject(GrpcWay::kStream, transport);
  if (name == "grpc_unary") return NewGrpcSubject(GrpcWay::kUnary, transport);
  if (name == "grpc_messages") return NewGrpcSubject(GrpcWay::kMessages, transport);
  if (name == "protobuf") return NewGrpcSubject(GrpcWay::kProtobuf, transport);
  return absl::InvalidArgumentError(absl::StrCat("no ceiling '", name, "'"));
}

}  // namespace shoal::bench
