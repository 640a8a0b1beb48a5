#include "client/cli/cli_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "base/option_text.h"

namespace shoal::cli {
namespace {

TEST(ShoalTableTest, EveryCommandHasAHelpWithin100ColumnsAndAnExampleWhereItTakesAnything) {
  const OptionTable table = ShoalTable();
  for (const OptionTable& command : table.commands) {
    EXPECT_FALSE(command.summary.empty()) << command.name;
    EXPECT_TRUE(command.positionals.empty() || !command.examples.empty()) << command.name;
    std::istringstream lines(HelpText(table, command.name));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
  }
  std::istringstream lines(HelpText(table, ""));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
}

TEST(ShoalTableTest, TheCommandsOfTheDesignAreThere) {
  std::vector<std::string> names;
  for (const OptionTable& command : ShoalTable().commands) names.push_back(command.name);
  for (const char* name : {"apply", "echo", "put", "get", "ls", "rm", "tasks", "stats", "workers",
                           "info", "top", "dump", "completion"}) {
    EXPECT_THAT(names, ::testing::Contains(name));
  }
}

TEST(ShoalTableTest, EveryExampleParses) {
  const EnvironmentLookup nothing = [](const std::string&) { return std::nullopt; };
  for (const OptionTable& command : ShoalTable().commands) {
    for (const std::string& example : command.examples) {
      if (!example.starts_with("shoal " + command.name)) continue;
      std::vector<std::string> words;
      std::istringstream text(example.substr(6));
      for (std::string word; text >> word && word != "|";) words.push_back(word);
      const auto parsed = ParseOptions(ShoalTable(), words, nothing);
      EXPECT_TRUE(parsed.ok()) << example << ": " << parsed.status();
    }
  }
}

}  // namespace
}  // namespace shoal::cli
