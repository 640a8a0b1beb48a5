#include "server/service/compute_service.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status.h"
#include "kernels/registry.h"
#include "server/runtime/call_run.h"
#include "server/service/apply_stream.h"
#include "server/service/call_record.h"
#include "server/service/reply.h"
#include "server/service/result_codec.h"
#include "server/service/session.h"
#include "server/wire/call_codec.h"
#include "server/wire/status_details.h"
#include "shoal/v1/compute.pb.h"
#include "wire/field.h"

namespace shoal::service {
namespace {

/// An echo as a call of the op, so that there is one way through the workers.
absl::StatusOr<plan::Call> EchoCall(const v1::EchoRequest& request, int64_t inline_bytes_max) {
  const std::string& payload = request.payload();
  const auto bytes = static_cast<int64_t>(payload.size());
  if (bytes > inline_bytes_max) {
    return wire::WithReason(
        absl::ResourceExhaustedError(absl::StrCat(bytes, " bytes inline; the limit is ",
                                                  inline_bytes_max, ": use ApplyStream")),
        "INLINE_LIMIT");
  }
  plan::Call call;
  call.op = kernels::FindOp("echo");
  SHOAL_ASSIGN_OR_RETURN(call.route, wire::DecodeRoute(request.route()));
  call.arguments.push_back(
      {"",
       plan::InlineBytes{{kernels::DType::kUint8, *plan::Shape::Create({bytes})},
                         {reinterpret_cast<const std::byte*>(payload.data()), payload.size()}}});
  return call;
}

/// An EchoResponse around bytes that stay where they lie.
transport::Frame EchoFrame(const runtime::Operand& data) {
  constexpr uint32_t kTag =
      wire::FieldTag(v1::EchoResponse::kPayloadFieldNumber, wire::kLengthDelimited);
  if (data.bytes() == 0) return {};
  std::string head;
  wire::AppendVarint(&head, kTag);
  wire::AppendVarint(&head, static_cast<uint64_t>(data.bytes()));
  transport::Frame frame = transport::FrameOf(std::move(head));
  for (const runtime::Extent& extent : data.extents) {
    SHOAL_CHECK(extent.way == nullptr);
    frame.Append({{extent.data, static_cast<size_t>(extent.elements.size())}, data.owner});
  }
  return frame;
}

/// Runs a unary call and answers it with what `answer` makes of the result.
template <typename Answer>
void RunUnary(runtime::Engine& engine, runtime::CallSetup setup, const Reply& reply,
              Answer answer) {
  auto ticket = engine.drain.Admit();
  if (!ticket.ok()) return reply.Fail(ticket.status());
  setup.return_bytes_max = engine.limits.inline_bytes;
  setup.deadline = DeadlineOf(*reply.call());
  CallRecord record;
  record.key = KeyOf(ThroughputIndex(setup.call), setup.call.route, PlaneOf(setup.call));
  record.begun = reply.begun();
  record.bytes_in = ArgumentBytes(setup.call);
  auto run = runtime::CallRun::Start(
      &engine, std::move(setup),
      [&engine, reply, record, answer, ticket = *std::move(ticket)](
          absl::StatusOr<runtime::CallResult> result, absl::Span<const TaskId> tasks) mutable {
        record.code = result.status().code();
        record.tasks = tasks;
        if (result.ok()) {
          record.bytes_out = ReturnedBytes(*result);
          record.phases = result->phases;
        }
        Record(engine, record);
        if (!result.ok()) return reply.Fail(result.status());
        answer(reply, *result);
      });
  if (run != nullptr) reply.call()->OnCancel([run] { run->Cancel(); });
}

void Echo(runtime::Engine& engine, std::shared_ptr<v1::EchoRequest> request, const Reply& reply) {
  auto call = EchoCall(*request, engine.limits.inline_bytes);
  if (!call.ok()) return reply.Fail(call.status());
  runtime::CallSetup setup;
  setup.call = *std::move(call);
  setup.request = std::move(request);
  RunUnary(engine, std::move(setup), reply, [](const Reply& to, const runtime::CallResult& result) {
    to.Send(EchoFrame(result.outputs[0].data));
  });
}

void Apply(runtime::Engine& engine, std::shared_ptr<v1::ApplyRequest> request, const Reply& reply) {
  auto call = wire::DecodeCall(*request, engine.limits.call(/*may_stream=*/false));
  if (!call.ok()) return reply.Fail(call.status());
  const bool want_timing = call->want_timing;
  runtime::CallSetup setup;
  setup.call = *std::move(call);
  setup.request = std::move(request);
  RunUnary(engine, std::move(setup), reply,
           [&engine, want_timing](const Reply& to, const runtime::CallResult& result) {
             v1::ApplyResponse response;
             EncodeResult(engine, result, {.want_timing = want_timing}, &response);
             to.Send(response);
           });
}

}  // namespace

transport::ServiceTable ComputeService(runtime::Engine* engine) {
  return {"shoal.v1.ComputeService",
          {UnaryMethod<v1::EchoRequest>(engine, "Echo", Echo),
           UnaryMethod<v1::ApplyRequest>(engine, "Apply", Apply),
           {"ApplyStream", nullptr,
            [engine](transport::StreamCall* call) { return NewApplyStream(engine, call); }},
           {"Session", nullptr,
            [engine](transport::StreamCall* call) { return NewSession(engine, call); }}}};
}

}  // namespace shoal::service
