#include "client/cli/json_view.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <vector>

namespace shoal::cli {
namespace {

template <typename T>
std::string Elements(std::initializer_list<T> values) {
  return ElementsToJson(*Array::From<T>(absl::Span<const T>(values.begin(), values.size()))).dump();
}

TEST(ElementsToJsonTest, EveryDtypeKeepsItsValues) {
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(Elements<bool>({true, false}), "[true,false]");
  EXPECT_EQ(Elements<int8_t>({-1}), "[-1]");
  EXPECT_EQ(Elements<uint8_t>({255}), "[255]");
  EXPECT_EQ(Elements<int64_t>({INT64_MIN}), "[-9223372036854775808]");
  EXPECT_EQ(Elements<uint64_t>({UINT64_MAX}), "[18446744073709551615]");
  EXPECT_EQ(Elements<double>({0.1, inf, -inf, std::nan("")}), R"([0.1,"inf","-inf","nan"])");
  EXPECT_EQ(Elements<float>({0.5f}), "[0.5]");
  EXPECT_EQ(Elements<std::complex<double>>({{1, -2}}), "[[1.0,-2.0]]");
  EXPECT_EQ(Elements<Float16>({{0x3C00}}), "[1.0]");
  EXPECT_EQ(Elements<Bfloat16>({{0x4000}}), "[2.0]");
}

TEST(JsonViewTest, ArraysTellTheirShards) {
  ArrayInfo info;
  info.id = 12;
  info.name = "x";
  info.dtype = Dtype::kFloat32;
  info.shape = {2, 3};
  info.bytes = 24;
  info.complete = true;
  info.shards = {{0, 0, 3}, {1, 3, 6}};
  EXPECT_EQ(ToJson(info).dump(),
            R"({"id":12,"name":"x","dtype":"float32","shape":[2,3],"bytes":24,)"
            R"("distribution":"block","complete":true,"acknowledged_bytes":0,)"
            R"("shards":[{"worker":0,"begin":0,"end":3},{"worker":1,"begin":3,"end":6}]})");
}

TEST(JsonViewTest, ErrorsCarryTheirCode) {
  EXPECT_EQ(ToJson(absl::NotFoundError("no array 'x'")).dump(),
            R"({"error":{"code":"NOT_FOUND","message":"no array 'x'"}})");
}

TEST(JsonViewTest, EveryReportIsAnObjectThatParses) {
  ThroughputReport report;
  report.rows.resize(1);
  report.rows[0].bytes_per_second = std::nan("");
  ServerInfo server;
  server.ops.resize(1);
  server.ops[0].dtypes = {Dtype::kInt8};
  WorkerList workers;
  workers.workers.resize(1);
  for (const Json& json : {ToJson(report), ToJson(server), ToJson(workers)}) {
    EXPECT_EQ(Json::parse(ToText(json)), json);
  }
  EXPECT_EQ(ToJson(report)["rows"][0]["bytes_per_second"], "nan");
  EXPECT_EQ(ToJson(server)["ops"][0]["dtypes"][0], "int8");
  EXPECT_EQ(ToJson(workers)["workers"][0]["state"], "unknown");
}

TEST(JsonViewTest, NamesThatAreNotUtf8DoNotEndTheProgram) {
  ArrayInfo info;
  info.name = "\xFF";
  EXPECT_NE(ToText(ToJson(info)).find("\xEF\xBF\xBD"), std::string::npos);
}

}  // namespace
}  // namespace shoal::cli
