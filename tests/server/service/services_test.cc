#include "server/service/services.h"

#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>

#include "shoal/v1/array_service.pb.h"
#include "shoal/v1/cluster.pb.h"
#include "shoal/v1/compute.pb.h"
#include "shoal/v1/task.pb.h"
#include "shoal/v1/worker.pb.h"
#include "tests/support/details.h"
#include "tests/support/engine.h"
#include "tests/support/stream.h"
#include "tests/support/unary.h"

namespace shoal::service {
namespace {

class ServicesTest : public ::testing::Test {
 protected:
  support::TestEngine engine_;
  ServerFacts facts_;
  const std::vector<transport::ServiceTable> tables_ = AllServices(engine_.get(), &facts_);
};

TEST_F(ServicesTest, EveryRpcOfTheContractIsServedInItsShape) {
  std::set<std::string> contract;
  for (const google::protobuf::FileDescriptor* file :
       {v1::PutRequest::descriptor()->file(), v1::DumpRequest::descriptor()->file(),
        v1::EchoRequest::descriptor()->file(), v1::SubmitRequest::descriptor()->file(),
        v1::ConnectRequest::descriptor()->file()}) {
    for (int s = 0; s < file->service_count(); ++s) {
      for (int m = 0; m < file->service(s)->method_count(); ++m) {
        const auto& method = *file->service(s)->method(m);
        const bool streams = method.client_streaming() || method.server_streaming();
        contract.insert(method.full_name() + (streams ? " streams" : ""));
      }
    }
  }
  std::set<std::string> served;
  for (const transport::ServiceTable& table : tables_) {
    for (const transport::Method& method : table.methods) {
      EXPECT_NE(method.unary == nullptr, method.stream == nullptr);
      const std::string shape = method.stream == nullptr ? "" : " streams";
      EXPECT_TRUE(served.insert(table.name + "." + method.name + shape).second);
    }
  }
  EXPECT_EQ(served, contract);
}

TEST_F(ServicesTest, WhatIsNotBuiltSaysWhatToUseInstead) {
  int refused = 0;
  for (const transport::ServiceTable& table : tables_) {
    if (table.name != "shoal.v1.TaskService" && table.name != "shoal.v1.WorkerService") continue;
    for (const transport::Method& method : table.methods) {
      absl::Status status;
      if (method.unary != nullptr) {
        const auto call = std::make_shared<support::TestUnary>("\xff");
        method.unary(call);
        status = call->Answer().status();
      } else {
        support::TestStream stream(method.stream);
        status = stream.AwaitFinish();
      }
      EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << method.name;
      EXPECT_EQ(support::ReasonOf(status), "NOT_BUILT");
      EXPECT_NE(status.message().find("use "), absl::string_view::npos) << status;
      ++refused;
    }
  }
  EXPECT_GT(refused, 8);
}

}  // namespace
}  // namespace shoal::service
