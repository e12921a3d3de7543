#include "client/trainer/demo/demo_options.h"

#include "absl/strings/numbers.h"

namespace blazed::trainer {

std::variant<DemoOptions, Ending> ParseDemoCommandLine(int argc, const char* const* argv) {
  DemoOptions options;
  bool keep = false;
  // The library's range takes what is no number at all.
  const CLI::Validator minutes(
      [](std::string& text) {
        double value = 0;
        const bool good = absl::SimpleAtod(text, &value) && value >= 0.2 && value <= 600;
        return good ? std::string() : absl::StrCat("value ", text, " is not between 0.2 and 600");
      },
      "");
  CLI::App app(
      "Starts a private blazed, trains a small model while its plan is tuned, then trains it again "
      "in a second process that is served from the store",
      "blaze-demo");
  app.add_option("--workload", options.workload, "what to train")
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--text", options.texts, "text to train on, several are joined")
      ->check(flags::NotEmpty())
      ->type_name("PATH");
  app.add_option("--contract", options.contract,
                 "how strictly a plan's numbers must agree with the default plan's")
      ->check(CLI::IsMember({"bitwise", "rounding", "prediction"}))
      ->type_name("bitwise|rounding|prediction")
      ->capture_default_str();
  AddCount(app, "--seed", &options.seed, "start of parameters and batches");
  app.add_option("--steps", options.steps, "steps a job trains, at most")
      ->check(CLI::Range(int64_t{1}, int64_t{1'000'000'000}))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--minutes", options.minutes, "time for both jobs, at most")
      ->check(minutes)
      ->type_name("N:FLOAT in [0.2 - 600]")
      ->capture_default_str();
  app.add_option("--report", options.report, "write both jobs' report as JSON")
      ->check(flags::NotEmpty())
      ->type_name("FILE.json");
  app.add_flag("--keep", keep, "keep the daemon's store and log and say where they are");
  Ending ending;
  if (!ReadCommandLine(app, argc, argv, &ending)) return ending;
  options.keep = keep ? Keep::kYes : Keep::kNo;
  return options;
}

}  // namespace blazed::trainer
