#include "client/src/method.h"

#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "shoal/v1/array_service.pb.h"
#include "shoal/v1/cluster.pb.h"
#include "shoal/v1/compute.pb.h"

namespace shoal::internal {
namespace {

TEST(MethodTest, EveryPathIsOfTheContract) {
  // Each file's descriptors are there once something of it was used.
  v1::PutRequest::descriptor();
  v1::DrainRequest::descriptor();
  v1::ApplyRequest::descriptor();
  for (const char* path : MethodPaths()) {
    std::string name = std::string(path).substr(1);
    std::replace(name.begin(), name.end(), '/', '.');
    const auto* method = google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(name);
    EXPECT_NE(method, nullptr) << name;
  }
  EXPECT_STREQ(MethodPaths()[IndexOf(Method::kDrain)], "/shoal.v1.ClusterService/Drain");
  EXPECT_STREQ(MethodPaths()[IndexOf(Method::kSession)], "/shoal.v1.ComputeService/Session");
}

}  // namespace
}  // namespace shoal::internal
