#include "ladon/examples/common/plot.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <iostream>

#include "ladon/core/error.h"
#include "ladon/core/io/file.h"
#include "ladon/examples/common/text.h"

namespace ladon::example {
namespace {

/// Runs a program and waits; its exit status, or −1 when it could not be started.
int spawn(std::string program, std::string argument, const std::filesystem::path& folder) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  char* arguments[] = {program.data(), argument.data(), nullptr};
  pid_t child = 0;
  const int failed = posix_spawnp(&child, program.c_str(), &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  if (failed != 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

}  // namespace

std::filesystem::path plot(const std::filesystem::path& folder, const std::string& name,
                           const std::string& script, int width, int height) {
  const std::string head =
      join("set terminal svg size ", width, ",", height,
           " font 'Helvetica,13' background 'white'\nset output '", name, ".svg'\n");
  write_atomically(folder / (name + ".gp"), head + script);
  const int status = spawn("gnuplot", name + ".gp", folder);
  if (status == 0) return folder / (name + ".svg");
  std::cerr << (status == -1 || status == 127 ? "gnuplot is not installed" : "gnuplot failed")
            << ": the picture's data and script are in " << (folder / (name + ".gp")).string()
            << '\n';
  return {};
}

}  // namespace ladon::example
