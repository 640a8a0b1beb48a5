// The examples of the public headers, word for word, so that they compile and do what they say.
#include <gtest/gtest.h>

#include "shoal/array.h"
#include "shoal/call.h"
#include "shoal/client.h"
#include "shoal/session.h"
#include "tests/client/support/fixture.h"

namespace {

absl::Status ArrayExample() {
  absl::StatusOr<shoal::Array> x = shoal::Array::From<float>({1, 2, 3, 4}, {2, 2});
  if (!x.ok()) return x.status();
  absl::StatusOr<absl::Span<const float>> values = x->As<float>();  // OK: it is float32
  return values.status();
}

TEST(ExamplesTest, AnArray) { EXPECT_TRUE(ArrayExample().ok()); }

TEST(ExamplesTest, ACall) {
  const shoal::Array x = shoal::testing::Ramp(3);
  const shoal::Array y = shoal::testing::Ramp(3);
  shoal::Call call{.op = "axpy", .params = {{"a", 2.0}}, .arguments = {x, y}};
  EXPECT_EQ(call.arguments.size(), 2U);
}

absl::Status ClientExample(const shoal::Array& x, const shoal::ClientOptions& options) {
  absl::StatusOr<std::unique_ptr<shoal::Client>> client = shoal::Client::Connect(options);
  if (!client.ok()) return client.status();
  absl::StatusOr<shoal::Result> sum = (*client)->Apply({.op = "sum", .arguments = {x}});
  return sum.status();
}

TEST(ExamplesTest, AClient) {
  const shoal::testing::FakeServer server;
  EXPECT_TRUE(ClientExample(shoal::testing::Ramp(9), shoal::testing::EagerOptions(server)).ok());
}

TEST(ExamplesTest, ASession) {
  const shoal::testing::FakeServer server;
  const auto client = shoal::testing::Connected(shoal::testing::EagerOptions(server));
  auto call = shoal::PreparedCall::Make({.op = "echo"});
  auto session = client->OpenSession();
  auto report = (*session)->Flood(*call, 10'000);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->ok_count, 10'000);
}

}  // namespace
