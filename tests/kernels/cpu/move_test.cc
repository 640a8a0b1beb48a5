#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "kernels/cpu/op_code.h"
#include "kernels/half.h"
#include "tests/kernels/cpu/arrays.h"

// The conversions of whole blocks, which use the processor's own instructions where it has them,
// against the definitions in kernels/half.h, on every instruction set.
namespace shoal::kernels::cpu {
namespace {

std::vector<uint16_t> AllPatterns() {
  std::vector<uint16_t> patterns(65'536 + 3);  // Three more: not a multiple of any vector.
  for (size_t i = 0; i < patterns.size(); ++i) patterns[i] = static_cast<uint16_t>(i);
  return patterns;
}

/// Every midpoint of float16 neighbours with the float32 on either side of it, and random bits.
std::vector<float> TrickyFloats() {
  std::vector<float> floats;
  for (uint32_t bits = 0; bits < 0x7bff; ++bits) {
    const float low = Float16ToFloat(static_cast<uint16_t>(bits));
    const float middle = (low + Float16ToFloat(static_cast<uint16_t>(bits + 1))) / 2;
    for (const float x : {middle, std::nextafter(middle, 0.0F), std::nextafter(middle, 1e9F)}) {
      floats.push_back(x);
      floats.push_back(-x);
    }
  }
  std::mt19937 random(1);
  for (int i = 0; i < 100'001; ++i)
    floats.push_back(std::bit_cast<float>(static_cast<uint32_t>(random())));
  return floats;
}

TEST(MoveTest, BlocksWidenAsTheDefinitionSays) {
  const std::vector<uint16_t> patterns = AllPatterns();
  const auto count = static_cast<int64_t>(patterns.size());
  ForEachInstructionSet([&](const std::string& name) {
    std::vector<float> floats(patterns.size());
    BlockCodeOfMachine().widen(DType::kFloat16, patterns.data(), floats.data(), count);
    for (size_t i = 0; i < patterns.size(); ++i) {
      ASSERT_EQ(std::bit_cast<uint32_t>(floats[i]),
                std::bit_cast<uint32_t>(Float16ToFloat(patterns[i])))
          << name << " " << i;
    }
    BlockCodeOfMachine().widen(DType::kBfloat16, patterns.data(), floats.data(), count);
    for (size_t i = 0; i < patterns.size(); ++i) {
      ASSERT_EQ(std::bit_cast<uint32_t>(floats[i]),
                std::bit_cast<uint32_t>(Bfloat16ToFloat(patterns[i])))
          << name << " " << i;
    }
  });
}

TEST(MoveTest, BlocksNarrowAsTheDefinitionSays) {
  const std::vector<float> floats = TrickyFloats();
  const auto count = static_cast<int64_t>(floats.size());
  ForEachInstructionSet([&](const std::string& name) {
    std::vector<uint16_t> halves(floats.size());
    BlockCodeOfMachine().narrow(DType::kFloat16, floats.data(), halves.data(), count);
    for (size_t i = 0; i < floats.size(); ++i) {
      ASSERT_EQ(halves[i], FloatToFloat16(floats[i])) << name << " " << floats[i];
    }
    BlockCodeOfMachine().narrow(DType::kBfloat16, floats.data(), halves.data(), count);
    for (size_t i = 0; i < floats.size(); ++i) {
      ASSERT_EQ(halves[i], FloatToBfloat16(floats[i])) << name << " " << floats[i];
    }
  });
}

TEST(MoveTest, StreamedBytesArriveAndNoOthersAreWritten) {
  ForEachInstructionSet([](const std::string& name) {
    for (const int64_t bytes : {0, 1, 15, 16, 63, 64, 65, 200, 4096, 4100}) {
      const Bytes from = RandomArray(DType::kUint8, bytes, Fill::kFinite, 1);
      Placed to(Bytes(from.size()), DType::kUint8, 0);
      BlockCodeOfMachine().stream(from.data(), to.data(), bytes);
      EXPECT_TRUE(to.Read() == from && to.GuardsHold()) << name << " " << bytes;
    }
  });
}

}  // namespace
}  // namespace shoal::kernels::cpu
