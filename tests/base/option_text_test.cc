#include "base/option_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <memory>
#include <sstream>

namespace shoal {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

OptionTable Client() {
  return {
      .name = "shoal-x",
      .summary = "Applies functions to arrays.",
      .options = {{.name = "address", .default_text = "localhost:50051", .help = "Of the service"},
                  {.name = "json", .type = OptionType::kBool, .help = "Print JSON"}},
      .commands = {{.name = "apply",
                    .summary = "Apply an op.",
                    .options = {{.name = "output",
                                 .help = "Where the result goes",
                                 .short_name = 'o',
                                 .names_a_file = true},
                                {.name = "plane",
                                 .type = OptionType::kEnum,
                                 .default_text = "auto",
                                 .help = std::string(70, 'w') + " " + std::string(30, 'w'),
                                 .choices = {"auto", "stream"},
                                 .group = "Transport"}},
                    .positionals = {{.name = "OP", .help = "The op"},
                                    {.name = "INPUT",
                                     .help = "Inputs",
                                     .min_count = 0,
                                     .max_count = -1,
                                     .names_a_file = true}},
                    .examples = {"shoal-x apply sum x=x.npy"}},
                   {.name = "info", .summary = "About the server."}}};
}

ParsedOptions Parsed(std::vector<std::string> arguments) {
  const auto parsed = ParseOptions(Client(), arguments, [](const std::string& name) {
    return name == "SHOAL_PLANE" ? std::optional<std::string>("stream") : std::nullopt;
  });
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  return *parsed;
}

TEST(HelpTextTest, TheProgramListsItsCommands) {
  EXPECT_EQ(HelpText(Client(), ""),
            "Usage: shoal-x [OPTION...] COMMAND [ARGUMENT...]\n"
            "\n"
            "Applies functions to arrays.\n"
            "\n"
            "Commands:\n"
            "  apply  Apply an op.\n"
            "  info   About the server.\n"
            "\n"
            "Options:\n"
            "      --address TEXT  Of the service (default localhost:50051; $SHOAL_ADDRESS)\n"
            "      --json          Print JSON ($SHOAL_JSON)\n"
            "\n"
            "About the program:\n"
            "  -h, --help         Print this and exit\n"
            "      --version      Print the version and exit\n"
            "      --show-config  Print every value in force and where it came from, and exit\n"
            "\n"
            "'shoal-x COMMAND --help' tells more about a command.\n");
}

TEST(HelpTextTest, ACommandShowsGroupsArgumentsAndExamplesWithin100Columns) {
  const std::string help = HelpText(Client(), "apply");
  EXPECT_THAT(help, HasSubstr("Usage: shoal-x apply [OPTION...] OP [INPUT...]\n"));
  EXPECT_THAT(help, HasSubstr("\nTransport:\n      --plane auto|stream  www"));
  EXPECT_THAT(help, HasSubstr("\nArguments:\n  OP     The op\n  INPUT  Inputs\n"));
  EXPECT_THAT(help, HasSubstr("  -o, --output FILE  Where the result goes ($SHOAL_OUTPUT)\n"));
  EXPECT_THAT(help, HasSubstr("\nOptions of every command:\n"));
  EXPECT_THAT(help, HasSubstr("\nExamples:\n  shoal-x apply sum x=x.npy\n"));
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
}

TEST(ConfigTextTest, EveryValueNamesItsSource) {
  EXPECT_EQ(ConfigText(Parsed({"apply", "sum", "-o", "out.npy"})),
            "address = localhost:50051  # default\n"
            "json = false               # default\n"
            "output = out.npy           # command line\n"
            "plane = stream             # environment SHOAL_PLANE\n");
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
