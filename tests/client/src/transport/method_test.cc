#include "client/src/transport/method.h"

#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "shoal/v1/array_service.pb.h"
#include "shoal/v1/cluster.pb.h"
#include "shoal/v1/compute.pb.h"

namespace shoal::internal::transport {
namespace {

TEST(MethodTest, EveryPathIsOfTheContractAndTheUnaryOnesComeFirst) {
  // Each file's descriptors are there once something of it was used.
  v1::PutRequest::descriptor();
  v1::DrainRequest::descriptor();
  v1::ApplyRequest::descriptor();
  for (size_t i = 0; i <= static_cast<size_t>(Method::kSession); ++i) {
    std::string name = std::string(MethodPath(static_cast<Method>(i))).substr(1);
    std::replace(name.begin(), name.end(), '/', '.');
    const auto* method = google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(name);
    ASSERT_NE(method, nullptr) << name;
    EXPECT_EQ(method->server_streaming(), i >= kUnaryMethodCount) << name;
  }
}

}  // namespace
}  // namespace shoal::internal::transport
