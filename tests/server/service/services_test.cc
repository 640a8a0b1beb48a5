#include "server/service/services.h"

#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
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
  for (const std::string& name : std::vector<std::string>(absl::StrSplit(SHOAL_PROTOS, ','))) {
    const auto* file = google::protobuf::DescriptorPool::generated_pool()->FindFileByName(name);
    ASSERT_NE(file, nullptr) << name << ": nothing of it is linked, so nothing serves it";
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
    if (table.built) continue;
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
      EXPECT_NE(status.message().find("is not built yet; "), absl::string_view::npos) << status;
      ++refused;
    }
  }
  EXPECT_GT(refused, 8);
}

}  // namespace
}  // namespace shoal::service
