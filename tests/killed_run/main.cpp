// Trains in a process that is killed (SIGKILL) at 20 random moments, and started again each time.
// The result must equal that of an uninterrupted run in every bit, and the file of the run must be
// complete at every moment.
//
//   killed_run               the test: exit status 0, or 1 and what was wrong
//   killed_run train FILE N  process that is killed: goes on from FILE, saved every N steps,
//                            and says each step in one byte
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <iostream>
#include <thread>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/extra/data/loader.h"
#include "ladon/core/io/file.h"
#include "ladon/core/io/tensors/safetensors.h"
#include "ladon/layers/layers.h"
#include "ladon/optim/extra/training/average.h"
#include "ladon/optim/extra/training/training_run.h"
#include "ladon/optim/optim.h"
#include "ladon/tests/temporary_folder.h"

namespace {

using namespace ladon;
namespace fs = std::filesystem;

constexpr std::int64_t steps = 300;
constexpr int kills = 20;

/// Dropout, noise, shuffled batches, Adam with a schedule and an average.
int train(const fs::path& file, std::int64_t every) {
  Generator rng(1);
  const Tensor x = normal({50, 8}, rng), y = normal({50, 1}, rng);
  Sequential model(Linear({.in = 8, .out = 16}, rng), Activation(Nonlinearity::gelu),
                   Dropout(0.3, rng), Linear({.in = 16, .out = 1}, rng));
  Adam adam(model.parameters(), {.lr = 0.01});
  adam.set_schedule(schedule::one_cycle({.steps = steps}));
  WeightAverage average(model, {.decay = 0.9});
  Generator order = rng.split(0);
  auto data = tensor_loader({x, y}, {.batch_size = 8}, order);
  double losses = 0;
  TrainingRun run;
  run.add("model", model);
  run.add("adam", adam);
  run.add("average", average);
  run.add("data", data);
  run.add("noise", rng);
  run.add("losses", losses);
  if (fs::exists(file)) run.load(file);
  while (adam.steps() < steps) {
    const std::vector<Tensor> batch = data.next();
    adam.zero_grad();
    const Tensor noisy = batch[0] + 0.1 * normal(batch[0].shape(), rng);
    const Tensor loss = mse_loss(model(noisy), batch[1]);
    backward(loss);
    adam.step();
    average.update();
    losses += loss.item();
    if (adam.steps() % every == 0) run.save(file);
    if (write(STDOUT_FILENO, ".", 1) != 1) return 1;
  }
  return 0;
}

/// A child that trains, and the pipe in which it counts its steps.
struct Child {
  pid_t process;
  int reads;
};

Child start(const fs::path& file, std::int64_t every) {
  int ends[2];
  detail::require(pipe2(ends, O_CLOEXEC) == 0, "a pipe can be made");
  const pid_t process = fork();
  if (process == 0) {
    dup2(ends[1], STDOUT_FILENO);
    execl("/proc/self/exe", "killed_run", "train", file.c_str(), std::to_string(every).c_str(),
          nullptr);
    _exit(127);
  }
  close(ends[1]);
  return {process, ends[0]};
}

/// Lets it make so many steps at least.
void wait_for(const Child& child, std::int64_t made) {
  char step;
  while (made > 0 && read(child.reads, &step, 1) == 1) --made;
}

int status_of(const Child& child) {
  int status = 0;
  waitpid(child.process, &status, 0);
  close(child.reads);
  return status;
}

std::int64_t steps_in(const fs::path& file) {
  return load_safetensors(file.string()).at("adam/steps").item<std::int64_t>();
}

/// Kills after up to 5 steps and a moment, which falls anywhere in a step or a save.
void kill_once(const fs::path& file, Generator& rng) {
  const Child child = start(file, 1);
  wait_for(child, rng.below(6));
  std::this_thread::sleep_for(std::chrono::microseconds(rng.below(1500)));
  kill(child.process, SIGKILL);
  const int status = status_of(child);
  LADON_CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "killed_run",
              "the child ended by itself, with status ", status);
}

void run_test(const fs::path& folder) {
  const fs::path whole = folder / "whole" / "run", killed = folder / "killed" / "run";
  for (const fs::path& file : {whole, killed}) fs::create_directories(file.parent_path());
  const Child child = start(whole, steps);
  wait_for(child, steps);
  LADON_CHECK(status_of(child) == 0, "killed_run", "the run that nobody killed failed");
  Generator rng(2);
  std::int64_t before = 0;
  for (int i = 0; i < kills; ++i) {
    kill_once(killed, rng);
    const std::int64_t now = fs::exists(killed) ? steps_in(killed) : 0;
    LADON_CHECK(now >= before && now < steps, "killed_run", "kill ", i, " left ", now,
                " steps, where there had been ", before);
    before = now;
  }
  LADON_CHECK(before > 0, "killed_run", "no kill came after a save, so nothing was resumed");
  const Child last = start(killed, 1);
  wait_for(last, steps);
  LADON_CHECK(status_of(last) == 0, "killed_run", "the last resume failed");
  LADON_CHECK(read_file(killed.string()) == read_file(whole.string()), "killed_run",
              "the files differ after ", kills, " kills");
  const auto entries = fs::directory_iterator(killed.parent_path());
  LADON_CHECK(std::distance(begin(entries), end(entries)) == 1, "killed_run",
              "the folder holds more than the run");
  std::cout << kills << " kills within the first " << before << " of " << steps
            << " steps: the same bits" << std::endl;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc == 4 && std::string(argv[1]) == "train") return train(argv[2], std::stoll(argv[3]));
  const ladon::test::TemporaryFolder folder;
  run_test(folder.path());
} catch (const std::exception& error) {
  std::cerr << error.what() << std::endl;
  return 1;
}
