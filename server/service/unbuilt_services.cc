#include "server/service/unbuilt_services.h"

#include <google/protobuf/descriptor.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/wire/status_details.h"
#include "shoal/v1/task.pb.h"
#include "shoal/v1/worker.pb.h"

namespace shoal::service {
namespace {

absl::Status NotBuilt(const std::string& method, absl::string_view instead) {
  return wire::WithReason(
      absl::UnimplementedError(absl::StrCat(method, " is not built yet; ", instead)), "NOT_BUILT");
}

/// Refuses a stream at once.
class RefusingStream final : public transport::StreamHandler {
 public:
  RefusingStream(transport::StreamCall* call, absl::Status status)
      : call_(call), status_(std::move(status)) {}

  void OnStart() override { call_->Finish(status_); }
  void OnMessage(transport::Message) override {}
  void OnHalfClose() override {}
  void OnWritten(bool) override {}
  void OnCancelled() override {}
  void OnDone() override {}

 private:
  transport::StreamCall* const call_;
  const absl::Status status_;
};

/// A refusing method for each of the service's in the contract.
transport::ServiceTable Refuse(const google::protobuf::ServiceDescriptor& service,
                               const std::string& instead) {
  transport::ServiceTable table{service.full_name(), {}, /*built=*/false};
  for (int i = 0; i < service.method_count(); ++i) {
    const google::protobuf::MethodDescriptor& method = *service.method(i);
    const absl::Status status = NotBuilt(method.full_name(), instead);
    transport::Method& row = table.methods.emplace_back();
    row.name = method.name();
    if (method.client_streaming() || method.server_streaming()) {
      row.stream = [status](transport::StreamCall* call) {
        return std::make_unique<RefusingStream>(call, status);
      };
    } else {
      row.unary = [status](const std::shared_ptr<transport::UnaryCall>& call) {
        call->Finish(status);
      };
    }
  }
  return table;
}

}  // namespace

std::vector<transport::ServiceTable> UnbuiltServices() {
  return {Refuse(*v1::SubmitRequest::descriptor()->file()->FindServiceByName("TaskService"),
                 "use ComputeService.Session for tasks, ArrayService for results that stay"),
          Refuse(*v1::ConnectRequest::descriptor()->file()->FindServiceByName("WorkerService"),
                 "start shoald with embedded workers (--workers N)")};
}

}  // namespace shoal::service
