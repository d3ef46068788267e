// Llama models: loads a model from a folder and generates text, and measures what sharing keys
// between heads costs and saves.

#include <iostream>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/examples/common/options.h"
#include "ladon/examples/common/program.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/llama/folder.h"
#include "ladon/examples/llama/page.h"
#include "ladon/examples/llama/picture.h"
#include "ladon/examples/llama/write.h"

namespace ladon::example {
namespace {

constexpr const char* summary = "Loads a Llama, and shows what sharing keys between heads costs";
constexpr const char* duration = "about 30 s on 2 cores";
constexpr const char* lesson =
    "A model that generates text caches keys and values of all earlier tokens: the cache grows "
    "with the text, and dominates the cost of long texts. In Llama, groups of heads share one head "
    "of keys and values. Here small Llamas that differ only in the number of key heads learn a "
    "text (by default Ladon's own sources), and a table shows their validation loss and the size "
    "of their caches. One model is written to a folder in Llama's file format, and loaded again. "
    "--model loads a folder that you have, of Llama or of GPT-2.";
const std::vector<Trial> trials = {
    {"llama --steps 1000 --runs 4",
     "validation, with standard errors: how much do shared keys cost?"},
    {"llama --model llama.out/model --prompt 'LADON_CHECK('",
     "the text, and the time with the cache and without"},
    {"llama --model llama.out/model --temperature 0",
     "the text: always the most likely token, so it soon repeats"},
    {"llama --layers 4 --dim 256 --heads 16 --kv-heads 1,16",
     "cache_bytes and seconds: the cache of 16 heads and of one"}};

void add_model_options(Program& program, Settings& s) {
  program.option("--model", s.model,
                 "A folder with a model's config.json and model.safetensors, or its shards",
                 "With it nothing is trained", name_of("a folder"));
  program.option("--prompt", s.prompt, "Text to continue", "It shows what the model knows",
                 name_of("a text"));
  program.flag(
      "--ids", s.ids,
      "Prompt and output are token numbers. For a folder whose tokenizer is not byte-level BPE");
  program.option("--length", s.length, "Tokens to write",
                 "Prompt and output together must fit into the model's context",
                 whole_number<std::int64_t>(1, 100'000));
  program.option(
      "--temperature", s.temperature, "Sampling temperature; 0: always the most likely token",
      "1 draws from the model's distribution; lower values prefer likely tokens", number(0, 100));
  program.option("--top-k", s.top_k, "Number of most likely tokens to draw from; 0: all",
                 "Fewer exclude unlikely tokens", whole_number<std::int64_t>(0, 1'000'000));
  program.option("--top-p", s.top_p, "Probability mass of the most likely tokens to draw from",
                 "1 draws from all; lower values adapt to the model's confidence",
                 number(0.001, 1));
  program.option(
      "--again", s.again, "Tokens to generate again without the cache, for comparison",
      "0 for large models: without the cache each token takes a pass over all tokens before it",
      whole_number<std::int64_t>(0, 100'000));
}

void add_training_options(Program& program, Settings& s) {
  const Check size = whole_number<std::int64_t>(1, 100'000);
  program.option("--text", s.text, "A text file to train on (default: Ladon's own sources)",
                 "A million characters or more; it may be compressed by gzip", name_of("a file"));
  program.option("--tokens", s.tokens,
                 "Vocabulary size of the byte-pair tokenizer, which is trained on the text",
                 "A larger one makes texts shorter, and each token rarer",
                 whole_number<std::int64_t>(257, 100'000));
  program.list("--kv-heads", s.kv_heads,
               "Numbers of key and value heads, one model for each; must divide --heads",
               "1 is multi-query attention; the value of --heads is ordinary attention", size);
  program.option("--heads", s.heads, "Heads of queries; must divide --dim",
                 "With more heads, more can share keys", size);
  program.option("--layers", s.layers, "Layers of each model", "Each layer has its own cache",
                 size);
  program.option("--dim", s.dim, "Width of the models", "Twice as wide: four times the work", size);
  program.option("--context", s.context, "Context length in tokens",
                 "A longer context allows longer texts", whole_number<std::int64_t>(2, 100'000));
  program.option("--batch", s.batch, "Windows of text per step", "More make gradients less noisy",
                 size);
  program.option("--steps", s.steps, "Training steps per run",
                 "Raise it until the validation loss no longer falls", size);
  program.option("--runs", s.runs,
                 "Training runs per model, each with other initial weights and windows",
                 "Standard errors are over runs; the differences are small",
                 whole_number<std::int64_t>(1, 1000));
  program.option("--rate", s.rate, "Highest learning rate", "Lower it where the loss jumps",
                 number_above(0));
  program.page_option();
  program.check([&s] {
    if (!s.common.page.empty() && !s.model.empty())
      throw UsageError("--page",
                       "shows a model that is trained in this run, so it excludes --model");
    std::vector<std::string> listed;
    for (const std::int64_t m : s.kv_heads) listed.push_back(std::to_string(m));
    refuse_repeated("--kv-heads", listed);
  });
}

Table table_of(const Settings& s, const Study& study) {
  Table table("kv_heads",
              {{.name = "weights", .meaning = "of the model", .whole = true},
               {.name = "validation",
                .meaning = join("loss on the last tenth of the text, nats a token, over ", s.runs,
                                s.runs == 1 ? " run" : " runs"),
                .better = Better::lower},
               {.name = "cache_bytes",
                .meaning = "what the cache keeps of a token: keys and values of every layer",
                .better = Better::lower,
                .whole = true},
               {.name = "seconds",
                .meaning = join("to write 1000 tokens: ", texts_beside,
                                " texts side by side, each after ", tokens_before, " tokens"),
                .better = Better::lower}});
  for (const Sharing& row : study.rows) {
    const Measured loss = estimate(row.validation);
    table.add({.method = std::to_string(row.kv_heads),
               .figures = {{static_cast<double>(row.weights)},
                           s.runs == 1 ? Measured{loss.value} : loss,
                           {static_cast<double>(row.cache_bytes)},
                           {1000 * row.seconds}}});
  }
  return table;
}

/// Prints the largest difference in logits between the model loaded from the folder and the one
/// that was written there.
void compare(const std::string& folder, const LanguageModel& loaded, const LanguageModel& trained,
             const Lesson& learned, std::int64_t context) {
  const NoGrad no_grad;
  const Tensor x = windows_from(learned.text.validation, 0, 4, context).x;
  const Tensor difference = amax(abs(loaded(x) - trained(x)));
  std::cout << "\nwritten and loaded again: " << folder
            << "\nlargest difference of its logits to those of the model that was trained: "
            << difference.item() << '\n';
}

nlohmann::ordered_json tell(const Written& w) {
  const double speed = static_cast<double>(w.tokens.size()) / w.seconds;
  std::cout << "\nIt writes:\n"
            << w.text << "\n\nwith the cache: " << w.tokens.size() << " tokens in " << w.seconds
            << " s, " << speed << " tokens/s\n";
  if (w.again > 0)
    std::cout << "without it: " << w.again << " tokens in " << w.seconds_uncached << " s, "
              << static_cast<double>(w.again) / w.seconds_uncached << " tokens/s; "
              << (w.same ? "the same tokens" : "OTHER TOKENS") << '\n';
  return {{"written", w.tokens}, {"tokens_per_second", speed}, {"same_without_cache", w.same}};
}

bool teach(Program& program, const Settings& s) {
  Report report;
  std::string folder = s.model;
  std::filesystem::path picture;
  std::optional<Lesson> learned;
  Study study;
  if (folder.empty()) {
    learned = read_lesson(s);
    std::cout << learned->name << ": "
              << learned->text.train.count() + learned->text.validation.count() << " tokens, "
              << learned->tokenizer.size() << " of them different" << std::endl;
    study = run_study(s, *learned);
    const Table table = table_of(s, study);
    report.tables = {{"sharing", table}};
    report.interrupted = study.interrupted;
    std::cout << '\n' << table.text() << '\n' << table.explained();
    picture = draw(s, *learned, study);
  }
  if (!study.interrupted) {
    if (study.model) {
      folder = (s.common.out / "model").string();
      write_folder(folder, *study.model, learned->tokenizer, s.context);
    }
    const LanguageModel model = load_language_model(folder);
    if (study.model) compare(folder, model, *study.model, *learned, s.context);
    report.more = tell(write_on(s, folder, model));
  }
  program.write(report);
  if (study.model && !study.interrupted)
    program.write_page([&] { return page(*study.model, *learned, s.context); });
  if (!picture.empty()) std::cout << "\npicture: " << picture.string() << '\n';
  return !study.interrupted;
}

}  // namespace
}  // namespace ladon::example

int main(int argc, char** argv) {
  using namespace ladon::example;
  Settings settings;
  Program program("llama", {summary, duration, lesson, trials}, settings.common);
  add_model_options(program, settings);
  add_training_options(program, settings);
  return program.run(argc, argv, [&] { return teach(program, settings); });
}
