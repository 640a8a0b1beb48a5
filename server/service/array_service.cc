#include "server/service/array_service.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "server/service/get_stream.h"
#include "server/service/put_stream.h"
#include "server/service/reply.h"
#include "server/service/result_codec.h"
#include "server/wire/array_codec.h"
#include "shoal/v1/array_service.pb.h"

namespace shoal::service {
namespace {

constexpr int kPageMax = 1000;

void Describe(runtime::Engine& engine, const std::shared_ptr<v1::DescribeRequest>& request,
              const Reply& reply) {
  const auto ref = wire::DecodeRef(request->array(), "array");
  if (!ref.ok()) return reply.Fail(ref.status());
  const auto array = engine.catalogue->Peek(*ref);
  if (!array.ok()) return reply.Fail(array.status());
  v1::DescribeResponse response;
  EncodeArrayInfo(**array, response.mutable_array());
  reply.Send(response);
}

void List(runtime::Engine& engine, const std::shared_ptr<v1::ListRequest>& request,
          const Reply& reply) {
  uint64_t after = 0;
  const std::string& token = request->page_token();
  if (!token.empty() && (!absl::SimpleAtoi(token, &after) || absl::StrCat(after) != token)) {
    return reply.Fail(absl::InvalidArgumentError("page_token: not one that List gave"));
  }
  if (request->page_size() < 0) {
    return reply.Fail(absl::InvalidArgumentError("page_size: negative"));
  }
  const int page = request->page_size() == 0 ? kPageMax : std::min(request->page_size(), kPageMax);
  const auto arrays = engine.catalogue->List(ArrayId{after}, request->name_prefix(), page + 1);
  v1::ListResponse response;
  for (size_t i = 0; i < arrays.size() && i < static_cast<size_t>(page); ++i) {
    EncodeArrayInfo(*arrays[i], response.add_arrays());
  }
  if (arrays.size() > static_cast<size_t>(page)) {
    response.set_next_page_token(absl::StrCat(response.arrays(page - 1).id()));
  }
  reply.Send(response);
}

void Free(runtime::Engine& engine, const std::shared_ptr<v1::FreeRequest>& request,
          const Reply& reply) {
  std::vector<plan::StoredRef> refs;
  for (const v1::ArrayRef& array : request->arrays()) {
    auto ref = wire::DecodeRef(array, absl::StrCat("arrays[", refs.size(), "]"));
    if (!ref.ok()) return reply.Fail(ref.status());
    refs.push_back(*std::move(ref));
  }
  const auto freed = engine.catalogue->Free(refs, request->missing_ok());
  if (!freed.ok()) return reply.Fail(freed.status());
  engine.ReportStored();
  v1::FreeResponse response;
  response.set_freed_bytes(*freed);
  reply.Send(response);
}

/// What a Redistribute has in hand while the bytes move.
struct Moving {
  runtime::DrainSignal::Ticket ticket;
  runtime::ArrayUse source;
  std::shared_ptr<runtime::StoredArray> fresh;
  int64_t moved_bytes = 0;
};

void FinishMove(runtime::Engine& engine, Moving& moving, const absl::Status& moved,
                const Reply& reply) {
  if (!moved.ok()) return reply.Fail(moved);
  const absl::Status replaced = engine.catalogue->Replace(moving.source, moving.fresh);
  if (!replaced.ok()) return reply.Fail(replaced);
  v1::RedistributeResponse response;
  EncodeArrayInfo(*moving.fresh, response.mutable_array());
  response.set_moved_bytes(moving.moved_bytes);
  moving.source = runtime::ArrayUse();  // The old shards go before the scheduler is told.
  engine.ReportStored();
  reply.Send(response);
}

absl::StatusOr<std::shared_ptr<Moving>> PrepareMove(runtime::Engine& engine,
                                                    const v1::RedistributeRequest& request) {
  SHOAL_ASSIGN_OR_RETURN(const auto ref, wire::DecodeRef(request.array(), "array"));
  SHOAL_ASSIGN_OR_RETURN(auto distribution,
                         wire::DecodeDistribution(request.distribution(), "distribution"));
  auto moving = std::make_shared<Moving>();
  SHOAL_ASSIGN_OR_RETURN(moving->ticket, engine.drain.Admit());
  SHOAL_RETURN_IF_ERROR(engine.workers->Complete(&distribution));
  SHOAL_ASSIGN_OR_RETURN(moving->source, engine.catalogue->Find(ref));
  SHOAL_ASSIGN_OR_RETURN(moving->fresh,
                         engine.workers->NewArray(moving->source->type, std::move(distribution)));
  return moving;
}

void Redistribute(runtime::Engine& engine, const std::shared_ptr<v1::RedistributeRequest>& request,
                  const Reply& reply) {
  auto prepared = PrepareMove(engine, *request);
  if (!prepared.ok()) return reply.Fail(prepared.status());
  Moving& moving = **prepared;
  // Counted before the move: its end may come, and answer, before Copy returns.
  moving.moved_bytes = runtime::Mover::MovedBytes(*moving.source, *moving.fresh);
  engine.mover->Copy(*moving.source, moving.fresh.get(),
                     [&engine, held = *std::move(prepared), reply](const absl::Status& moved) {
                       FinishMove(engine, *held, moved, reply);
                     });
}

}  // namespace

transport::ServiceTable ArrayService(runtime::Engine* engine) {
  return {"shoal.v1.ArrayService",
          {{"Put", nullptr,
            [engine](transport::StreamCall* call) { return NewPutStream(engine, call); }},
           {"Get", nullptr,
            [engine](transport::StreamCall* call) { return NewGetStream(engine, call); }},
           UnaryMethod<v1::DescribeRequest>(engine, "Describe", Describe),
           UnaryMethod<v1::ListRequest>(engine, "List", List),
           UnaryMethod<v1::FreeRequest>(engine, "Free", Free),
           UnaryMethod<v1::RedistributeRequest>(engine, "Redistribute", Redistribute)}};
}

}  // namespace shoal::service
