#include "base/completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <memory>

namespace shoal {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

OptionTable Client() {
  return {
      .name = "shoal-x",
      .options = {{.name = "address"}, {.name = "json", .type = OptionType::kBool}},
      .commands = {
          {.name = "apply",
           .options = {{.name = "output", .short_name = 'o', .names_a_file = true},
                       {.name = "plane", .type = OptionType::kEnum, .choices = {"auto", "stream"}}},
           .positionals =
               {{.name = "OP"},
                {.name = "INPUT", .min_count = 0, .max_count = -1, .names_a_file = true}}},
          {.name = "info"}}};
}

// Runs the script in the shell itself and returns what it offers for a line.
std::string Offered(const std::string& words, const std::string& last_word_index) {
  const std::string path = ::testing::TempDir() + "/completion.bash";
  std::ofstream(path) << CompletionScript(Client(), Shell::kBash) << "COMP_WORDS=(" << words
                      << ")\nCOMP_CWORD=" << last_word_index
                      << "\n_shoal_x_complete\necho \"${COMPREPLY[*]}\"\n";
  const std::unique_ptr<FILE, int (*)(FILE*)> shell(popen(("bash " + path).c_str(), "r"), pclose);
  std::array<char, 4096> text{};
  const size_t length = std::fread(text.data(), 1, text.size(), shell.get());
  return std::string(text.data(), length);
}

TEST(CompletionTest, BashOffersCommandsOptionsAndChoices) {
  EXPECT_EQ(Offered("shoal-x ap", "1"), "apply\n");
  EXPECT_EQ(Offered("shoal-x --json in", "2"), "info\n");
  EXPECT_EQ(Offered("shoal-x apply --o", "2"), "--output\n");
  EXPECT_EQ(Offered("shoal-x info --o", "2"), "\n");
  EXPECT_EQ(Offered("shoal-x apply --plane ''", "3"), "auto stream\n");
  EXPECT_EQ(Offered("shoal-x apply --plane s", "3"), "stream\n");
  EXPECT_EQ(Offered("shoal-x apply --plane = s", "4"), "stream\n");
  EXPECT_EQ(Offered("shoal-x apply --plane =", "3"), "auto stream\n");
  EXPECT_EQ(Offered("shoal-x info --j", "2"), "--json\n");
}

TEST(CompletionTest, BashOffersFilesWhereFilesAreMeant) {
  const std::string begun = ::testing::TempDir() + "/completion_offers_";
  const std::string file = begun + "this.npy";
  std::ofstream(file) << "x";
  EXPECT_EQ(Offered("shoal-x apply -o " + begun, "3"), file + "\n");
  EXPECT_EQ(Offered("shoal-x apply sum " + begun, "3"), file + "\n");
  EXPECT_EQ(Offered("shoal-x apply sum x = " + begun, "5"), file + "\n");
  std::remove(file.c_str());
}

TEST(CompletionTest, ZshRunsTheSameFunction) {
  const std::string script = CompletionScript(Client(), Shell::kZsh);
  EXPECT_TRUE(script.starts_with("#compdef shoal-x\n"));
  EXPECT_THAT(script, HasSubstr("bashcompinit"));
  EXPECT_THAT(script, HasSubstr("complete -o filenames -F _shoal_x_complete shoal-x\n"));
  EXPECT_THAT(script, Not(HasSubstr("ARMS")));
}

}  // namespace
}  // namespace shoal
