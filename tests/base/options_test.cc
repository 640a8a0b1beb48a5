#include "base/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

OptionTable Service() {
  return {.name = "shoald",
          .summary = "Serves.",
          .options =
              {
                  {.name = "host", .default_text = "127.0.0.1", .help = "Where to listen"},
                  {.name = "http-port",
                   .type = OptionType::kInt,
                   .default_text = "8080",
                   .min = 0,
                   .max = 65535},
                  {.name = "verbose", .type = OptionType::kBool, .short_name = 'v'},
                  {.name = "quiet", .type = OptionType::kBool, .short_name = 'q'},
                  {.name = "checksum", .type = OptionType::kBool, .default_text = "true"},
                  {.name = "memory",
                   .type = OptionType::kBytes,
                   .default_text = "64MiB",
                   .short_name = 'm',
                   .min = 1},
                  {.name = "drain-timeout", .type = OptionType::kDuration, .default_text = "30s"},
                  {.name = "backend",
                   .type = OptionType::kEnum,
                   .default_text = "auto",
                   .choices = {"auto", "cpu", "cuda"}},
                  {.name = "label", .repeated = true},
                  {.name = "sizes",
                   .type = OptionType::kBytes,
                   .default_text = "8,1KiB",
                   .repeated = true},
                  {.name = "limit", .type = OptionType::kInt},
              },
          .positionals = {{.name = "FILE", .min_count = 0, .max_count = 2}}};
}

OptionTable Client() {
  return {.name = "shoal",
          .options = {{.name = "address", .default_text = "localhost:50051"}},
          .commands = {{.name = "apply",
                        .options = {{.name = "output", .short_name = 'o'}},
                        .positionals = {{.name = "OP"}, {.name = "INPUT", .max_count = -1}}},
                       {.name = "info"}}};
}

using Variables = std::map<std::string, std::string>;

absl::StatusOr<ParsedOptions> Parse(const OptionTable& table, std::vector<std::string> arguments,
                                    const Variables& variables = {}) {
  return ParseOptions(table, arguments, [&](const std::string& name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  });
}

std::string Error(const OptionTable& table, std::vector<std::string> arguments,
                  const Variables& variables = {}) {
  const auto parsed = Parse(table, std::move(arguments), variables);
  if (parsed.ok()) return "no error";
  EXPECT_EQ(parsed.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(parsed.status().message());
}

TEST(OptionsTest, DefaultsHoldWhenNothingIsGiven) {
  const auto parsed = Parse(Service(), {});
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->String("host"), "127.0.0.1");
  EXPECT_EQ(parsed->Int("http-port"), 8080);
  EXPECT_FALSE(parsed->Bool("verbose"));
  EXPECT_TRUE(parsed->Bool("checksum"));
  EXPECT_EQ(parsed->Bytes("memory"), 64 << 20);
  EXPECT_EQ(parsed->Time("drain-timeout"), std::chrono::seconds(30));
  EXPECT_EQ(parsed->String("backend"), "auto");
  EXPECT_TRUE(parsed->Strings("label").empty());
  EXPECT_THAT(parsed->Ints("sizes"), ElementsAre(8, 1024));
  EXPECT_FALSE(parsed->Has("limit"));
  EXPECT_TRUE(parsed->Has("host"));
  EXPECT_EQ(parsed->Source("host"), OptionSource::kDefault);
}

TEST(OptionsTest, EveryFormOfALongOptionIsRead) {
  const auto parsed =
      Parse(Service(), {"--host", "::1", "--http-port=0", "--verbose", "--no-checksum",
                        "--quiet=false", "--drain-timeout", "1m30s", "--backend=cpu"});
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->String("host"), "::1");
  EXPECT_EQ(parsed->Int("http-port"), 0);
  EXPECT_TRUE(parsed->Bool("verbose"));
  EXPECT_FALSE(parsed->Bool("checksum"));
  EXPECT_FALSE(parsed->Bool("quiet"));
  EXPECT_EQ(parsed->Time("drain-timeout"), std::chrono::seconds(90));
  EXPECT_EQ(parsed->String("backend"), "cpu");
  EXPECT_EQ(parsed->Source("host"), OptionSource::kCommandLine);
}

TEST(OptionsTest, ShortOptionsTakeTheirValueBesideOrAfterThem) {
  const auto beside = Parse(Service(), {"-m2KiB"});
  const auto after = Parse(Service(), {"-vqm", "2KiB"});
  ASSERT_TRUE(beside.ok() && after.ok());
  EXPECT_EQ(beside->Bytes("memory"), 2048);
  EXPECT_EQ(after->Bytes("memory"), 2048);
  EXPECT_TRUE(after->Bool("verbose"));
  EXPECT_TRUE(after->Bool("quiet"));
}

TEST(OptionsTest, ARepeatedOptionKeepsAllAndAnotherTheLast) {
  const auto parsed = Parse(Service(), {"--label", "a", "--label=b,c", "--host", "x", "--host", "y",
                                        "--sizes", "1MiB", "--sizes", "7"});
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_THAT(parsed->Strings("label"), ElementsAre("a", "b,c"));
  EXPECT_THAT(parsed->Ints("sizes"), ElementsAre(1 << 20, 7));
  EXPECT_EQ(parsed->String("host"), "y");
}

TEST(OptionsTest, TheEnvironmentStandsBetweenDefaultAndCommandLine) {
  const Variables variables = {{"SHOAL_HTTP_PORT", "9"},
                               {"SHOAL_HOST", "h"},
                               {"SHOAL_LABEL", "a,b"},
                               {"SHOAL_VERBOSE", "yes"},
                               {"SHOAL_BACKEND", ""}};
  const auto parsed = Parse(Service(), {"--host=mine"}, variables);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->Int("http-port"), 9);
  EXPECT_EQ(parsed->Source("http-port"), OptionSource::kEnvironment);
  EXPECT_EQ(parsed->String("host"), "mine");
  EXPECT_THAT(parsed->Strings("label"), ElementsAre("a", "b"));
  EXPECT_TRUE(parsed->Bool("verbose"));
  EXPECT_EQ(parsed->String("backend"), "auto") << "an empty variable counts as unset";
}

TEST(OptionsTest, PositionalsMixWithOptionsAndDashesEndThem) {
  const auto parsed = Parse(Service(), {"-", "--host", "x", "--", "--verbose"});
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_THAT(parsed->positionals(), ElementsAre("-", "--verbose"));
  EXPECT_FALSE(parsed->Bool("verbose"));
}

TEST(OptionsTest, ErrorsNameTheOptionAndTheNearestKnownOne) {
  EXPECT_EQ(Error(Service(), {"--htp-port", "1"}),
            "unknown option --htp-port; did you mean '--http-port'?");
  EXPECT_EQ(Error(Service(), {"--nonsense"}), "unknown option --nonsense");
  EXPECT_EQ(Error(Service(), {"--no-host"}), "unknown option --no-host");
  EXPECT_EQ(Error(Service(), {"-x"}), "unknown option -x");
  EXPECT_EQ(Error(Service(), {"--host"}), "--host needs a value");
  EXPECT_EQ(Error(Service(), {"-m"}), "-m needs a value");
  EXPECT_EQ(Error(Service(), {"--http-port", "80x"}), "--http-port: not a whole number: '80x'");
  EXPECT_EQ(Error(Service(), {"--http-port", "65536"}), "--http-port: 65536 is above 65535");
  EXPECT_EQ(Error(Service(), {"--http-port=-1"}), "--http-port: -1 is below 0");
  EXPECT_THAT(Error(Service(), {"-m", "0"}), HasSubstr("-m: 0 is below 1"));
  EXPECT_THAT(Error(Service(), {"--memory", "many"}), HasSubstr("--memory: not a size"));
  EXPECT_THAT(Error(Service(), {"--drain-timeout", "5"}),
              HasSubstr("--drain-timeout: not a duration: '5'"));
  EXPECT_THAT(Error(Service(), {"--drain-timeout", "-1s"}), HasSubstr("not a duration"));
  EXPECT_EQ(Error(Service(), {"--backend", "cdua"}),
            "--backend: 'cdua' is not one of auto, cpu, cuda; did you mean 'cuda'?");
  EXPECT_EQ(Error(Service(), {"--verbose=perhaps"}), "--verbose: not true or false: 'perhaps'");
  EXPECT_EQ(Error(Service(), {"a", "b", "c"}), "unexpected argument 'c'");
  EXPECT_EQ(Error(Service(), {}, {{"SHOAL_HTTP_PORT", "x"}}),
            "SHOAL_HTTP_PORT: not a whole number: 'x'");
}

TEST(OptionsTest, ACommandTakesItsOwnOptionsAndThoseOfTheProgram) {
  const auto parsed =
      Parse(Client(), {"--address=a:1", "apply", "axpy", "-o", "out", "x=1", "y=2"});
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->command(), "apply");
  EXPECT_EQ(parsed->String("address"), "a:1");
  EXPECT_EQ(parsed->String("output"), "out");
  EXPECT_THAT(parsed->positionals(), ElementsAre("axpy", "x=1", "y=2"));

  const auto after = Parse(Client(), {"info", "--address=b:2"});
  ASSERT_TRUE(after.ok());
  EXPECT_EQ(after->String("address"), "b:2");
  EXPECT_FALSE(after->Has("output"));

  EXPECT_EQ(Error(Client(), {}), "a command is missing");
  EXPECT_EQ(Error(Client(), {"aply"}), "no such command: 'aply'; did you mean 'apply'?");
  EXPECT_EQ(Error(Client(), {"apply", "axpy"}), "apply: INPUT is missing");
  EXPECT_EQ(Error(Client(), {"info", "--output", "x"}), "unknown option --output");
  EXPECT_EQ(Error(Client(), {"info", "x"}), "info: unexpected argument 'x'");
}

TEST(OptionsTest, HelpIsReachedWhateverElseIsWrong) {
  const auto missing = Parse(Client(), {"apply", "--help"});
  ASSERT_TRUE(missing.ok()) << missing.status();
  EXPECT_TRUE(missing->help_wanted());
  EXPECT_EQ(missing->command(), "apply");
  EXPECT_TRUE(Parse(Service(), {"-h", "--nonsense"}, {{"SHOAL_HTTP_PORT", "x"}}).ok());
  EXPECT_TRUE(Parse(Client(), {"--version"})->version_wanted());
  EXPECT_TRUE(Parse(Client(), {"--show-config"})->show_config_wanted());
}

TEST(OptionsTest, DurationsReachFromNothingToForever) {
  EXPECT_EQ(Parse(Service(), {"--drain-timeout=0"})->Time("drain-timeout"), Duration::zero());
  EXPECT_EQ(Parse(Service(), {"--drain-timeout=inf"})->Time("drain-timeout"), Duration::max());
}

TEST(OptionsDeathTest, AskingForWhatTheTableLacksEndsTheProgram) {
  const auto parsed = Parse(Service(), {});
  EXPECT_DEATH(parsed->String("nothing"), "check failed");
  EXPECT_DEATH(parsed->Int("host"), "check failed");
  EXPECT_DEATH(parsed->Int("limit"), "check failed");
  EXPECT_DEATH(parsed->Strings("host"), "check failed");
}

}  // namespace
}  // namespace shoal
