// Random damage to headers: whatever the bytes, the decoder answers, and what it accepts is sound.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "client/cli/npy_header.h"

namespace shoal::cli {
namespace {

constexpr int kRounds = 100000;

std::string Damage(std::string text, std::mt19937_64& random) {
  static constexpr std::string_view kBits = "{}(),:' \"\\0123456789L<>=|VfciubOTrueFals\n\x93\xff";
  const uint64_t changes = 1 + random() % 4;
  for (uint64_t i = 0; i < changes && !text.empty(); ++i) {
    const size_t at = random() % text.size();
    const char c = kBits[random() % kBits.size()];
    switch (random() % 5) {
      case 0:
        text[at] = c;
        break;
      case 1:
        text[at] = static_cast<char>(random());
        break;
      case 2:
        text.erase(at, 1 + random() % 8);
        break;
      case 3:
        text.insert(at, 1 + random() % 3, c);
        break;
      default:
        text.insert(at, text.substr(random() % text.size(), random() % 12));
        break;
    }
  }
  return text;
}

TEST(NpyMutationTest, HeadersThatAreAcceptedAreSound) {
  const uint64_t seed = std::random_device{}();
  std::mt19937_64 random(seed);
  const std::string base = "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }     \n";
  int accepted = 0;
  for (int round = 0; round < kRounds; ++round) {
    const std::string text = Damage(base, random);
    const absl::StatusOr<NpyHeader> header = ParseNpyHeader(text);
    if (!header.ok()) continue;
    ++accepted;
    const absl::StatusOr<int64_t> bytes = ByteCount(header->dtype, header->shape);
    ASSERT_TRUE(bytes.ok()) << "seed " << seed << ": " << text;
    ASSERT_EQ(*bytes, header->byte_count) << "seed " << seed << ": " << text;
  }
  EXPECT_GT(accepted, 0) << "seed " << seed;
  EXPECT_LT(accepted, kRounds / 2) << "seed " << seed;
}

TEST(NpyMutationTest, PreamblesThatAreAcceptedAreSound) {
  const uint64_t seed = std::random_device{}();
  std::mt19937_64 random(seed);
  const std::string base = FormatNpyHeader(Dtype::kFloat32, {3}).substr(0, 12);
  for (int round = 0; round < kRounds; ++round) {
    const absl::StatusOr<NpyPreamble> preamble = ParseNpyPreamble(Damage(base, random));
    if (!preamble.ok()) continue;
    ASSERT_GE(preamble->header_bytes, 0) << "seed " << seed;
    ASSERT_LE(preamble->header_bytes, kNpyHeaderMax) << "seed " << seed;
  }
}

}  // namespace
}  // namespace shoal::cli
