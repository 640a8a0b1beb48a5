#include "base/option_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace shoal {
namespace {

using ::testing::HasSubstr;

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

}  // namespace
}  // namespace shoal
