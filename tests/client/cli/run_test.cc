#include "client/cli/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

namespace shoal::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Outcome {
  ExitCode code;
  std::string out, err;
};

Outcome Shoal(std::vector<std::string> arguments,
              const std::map<std::string, std::string>& variables = {}) {
  std::ostringstream out, err;
  const ExitCode code =
      RunShoal(arguments,
               [&](const std::string& name) {
                 const auto found = variables.find(name);
                 return found == variables.end() ? std::nullopt : std::optional(found->second);
               },
               {.out = out, .err = err});
  return {code, out.str(), err.str()};
}

TEST(RunShoalTest, HelpVersionAndConfigNeedNoServer) {
  EXPECT_THAT(Shoal({"--help"}).out, StartsWith("Usage: shoal [OPTION...] COMMAND"));
  EXPECT_THAT(Shoal({"apply", "--help"}).out,
              StartsWith("Usage: shoal apply [OPTION...] FUNCTION"));
  EXPECT_THAT(Shoal({"--version"}).out, StartsWith("shoal 0."));
  const Outcome config = Shoal({"--show-config", "ls"}, {{"SHOAL_ADDRESS", "h:1"}});
  EXPECT_EQ(config.code, ExitCode::kOk);
  EXPECT_THAT(config.out, HasSubstr("address = h:1"));
  EXPECT_THAT(config.out, HasSubstr("# environment SHOAL_ADDRESS"));
}

TEST(RunShoalTest, AWrongCommandLineIsTwoAndPrintsNothingToStandardOutput) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{},
                                                    {"aply"},
                                                    {"apply"},
                                                    {"ls", "--nonsense"},
                                                    {"rm"},
                                                    {"completion", "fish"},
                                                    {"put", "x.npy", "--timeout", "soon"}}) {
    const Outcome outcome = Shoal(arguments);
    EXPECT_EQ(outcome.code, ExitCode::kUsage) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr("Try 'shoal --help'"));
  }
  EXPECT_THAT(Shoal({"aply"}).err, HasSubstr("did you mean 'apply'?"));
}

TEST(RunShoalTest, CommandsToComeSayWhatToUse) {
  for (const char* command : {"tasks", "top", "dump"}) {
    const Outcome outcome = Shoal({command});
    EXPECT_EQ(outcome.code, ExitCode::kFailure);
    EXPECT_THAT(outcome.err, HasSubstr("not built yet"));
    EXPECT_THAT(outcome.err, HasSubstr("shoal "));
  }
}

TEST(RunShoalTest, CompletionPrintsAScript) {
  EXPECT_THAT(Shoal({"completion", "bash"}).out,
              HasSubstr("complete -o filenames -F _shoal_complete"));
  EXPECT_THAT(Shoal({"completion", "zsh"}).out, StartsWith("#compdef shoal"));
}

TEST(RunShoalTest, ErrorsAreJsonWhereJsonIsWanted) {
  const Outcome outcome = Shoal({"tasks", "--json"});
  EXPECT_EQ(outcome.code, ExitCode::kFailure);
  EXPECT_EQ(outcome.out, "");
  const auto parsed = nlohmann::json::parse(outcome.err, nullptr, false);
  ASSERT_TRUE(parsed.is_object()) << outcome.err;
  EXPECT_EQ(parsed["error"]["code"], "UNIMPLEMENTED");
}

}  // namespace
}  // namespace shoal::cli
