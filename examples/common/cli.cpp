#include "ladon/examples/common/cli.h"

#include <iostream>

#include "ladon/core/parallel.h"

namespace ladon::example {

void add_common_options(CLI::App& app, CommonOptions& options) {
  app.option_defaults()->always_capture_default();
  app.add_option("--seed", options.seed, "Seed of everything random");
  app.add_option("--threads", options.threads, "Threads; 0 takes every core")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--out", options.out, "Folder for pictures and their data");
  app.add_option("--json", options.json, "Write every figure of the table to this file");
}

int run(CLI::App& app, CommonOptions& options, int argc, char** argv,
        const std::function<void()>& body) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    if (options.threads > 0) set_num_threads(options.threads);
    std::filesystem::create_directories(options.out);
    body();
    return 0;
  } catch (const std::exception& error) {
    std::cerr << app.get_name() << ": " << error.what() << '\n';
    return 1;
  }
}

}  // namespace ladon::example
