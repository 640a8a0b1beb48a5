// Calls as they come from clients: what is taken keeps every promise that the planner relies on;
// what is refused is refused with a code of the contract and with details that clients can read.

#include <cstdint>
#include <string>
#include <variant>

#include "base/check.h"
#include "kernels/registry.h"
#include "server/plan/typing.h"
#include "server/wire/array_codec.h"
#include "server/wire/call_codec.h"
#include "server/wire/status_details.h"
#include "shoal/v1/compute.pb.h"

namespace shoal::wire {
namespace {

constexpr CallLimits kLimits{.inline_bytes_max = 4096, .arguments_max = 8, .may_stream = true};

void CheckRefusal(const absl::Status& status) {
  SHOAL_CHECK(status.code() == absl::StatusCode::kInvalidArgument ||
              status.code() == absl::StatusCode::kUnimplemented ||
              status.code() == absl::StatusCode::kResourceExhausted);
  SHOAL_CHECK(!status.message().empty());
  v1::TaskStatus told;
  SHOAL_CHECK(told.ParseFromString(ToTaskStatus(status).SerializeAsString()));  // It is UTF-8.
}

void CheckType(const plan::ArrayType& type) {
  SHOAL_CHECK(type.shape.rank() <= kernels::kRankMax);
  SHOAL_CHECK(type.shape.element_count() >= 0);
  SHOAL_CHECK(type.shape.ByteCount(type.dtype).ok());
  v1::ArraySpec spec;
  EncodeSpec(type, &spec);
  const auto again = DecodeSpec(spec, "spec");
  SHOAL_CHECK(again.ok() && again->dtype == type.dtype && again->shape == type.shape);
}

void CheckCall(const plan::Call& call) {
  SHOAL_CHECK((call.op != nullptr) != (call.program != nullptr));
  if (call.op != nullptr) {
    SHOAL_CHECK(call.arguments.size() >= static_cast<size_t>(call.op->inputs_min));
    SHOAL_CHECK(call.arguments.size() <= static_cast<size_t>(call.op->inputs_max));
  }
  int64_t inline_bytes = 0;
  absl::InlinedVector<plan::ArrayType, 2> types;
  for (const plan::Argument& argument : call.arguments) {
    if (const auto* inlined = std::get_if<plan::InlineBytes>(&argument.value)) {
      const int64_t bytes = *inlined->type.shape.ByteCount(inlined->type.dtype);
      SHOAL_CHECK(bytes == static_cast<int64_t>(inlined->bytes.size()));
      inline_bytes += bytes;
      types.push_back(inlined->type);
    } else if (const auto* leased = std::get_if<plan::LeasedBytes>(&argument.value)) {
      types.push_back(leased->type);
    } else if (const auto* streamed = std::get_if<plan::StreamedBytes>(&argument.value)) {
      types.push_back(streamed->type);
    }
  }
  SHOAL_CHECK(inline_bytes <= kLimits.inline_bytes_max);
  for (const plan::ArrayType& type : types) CheckType(type);
  if (types.size() != call.arguments.size()) return;  // Stored arrays have no type yet.
  const auto typed = plan::TypeCall(call, types);
  if (!typed.ok()) return CheckRefusal(typed.status());
  for (const plan::ArrayType& type : typed->outputs) CheckType(type);
}

}  // namespace
}  // namespace shoal::wire

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  shoal::v1::ApplyRequest request;
  if (!request.ParseFromArray(data, static_cast<int>(size))) return 0;
  const auto call = shoal::wire::DecodeCall(request, shoal::wire::kLimits);
  if (!call.ok()) {
    shoal::wire::CheckRefusal(call.status());
    return 0;
  }
  shoal::wire::CheckCall(*call);
  return 0;
}
