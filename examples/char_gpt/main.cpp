// A small GPT that is trained on the characters of a text, and then generates text.

#include <iostream>

#include "ladon/examples/char_gpt/page.h"
#include "ladon/examples/char_gpt/picture.h"
#include "ladon/examples/common/interrupt.h"
#include "ladon/examples/common/options.h"
#include "ladon/examples/common/program.h"
#include "ladon/examples/common/text.h"

namespace ladon::example {
namespace {

constexpr const char* summary = "A small GPT learns a text by its characters, and continues it";
constexpr const char* duration = "about 30 s on 2 cores";
constexpr const char* lesson =
    "A Transformer learns to predict the next character of a text. It is trained on the first nine "
    "tenths of the text (by default of Ladon's own sources) and evaluated on the last tenth, in "
    "nats per character; the baseline counts pairs of characters. Then it generates text: each "
    "character is drawn from the predicted distribution. Keys and values are cached; the context "
    "is read again only when it is full. The run is saved in a file: if it is killed at any "
    "moment, --resume continues from there with the same results.";
const std::vector<Trial> trials = {
    {"char_gpt --text shakespeare.txt --steps 2000",
     "validation, and the sample, which imitates the text: any text file will do"},
    {"char_gpt --particles svgd", "validation: do heads that repel each other learn more?"},
    {"char_gpt --resume char_gpt.out/char_gpt.safetensors --steps 2000",
     "the first rows: they are those of the run that is resumed"},
    {"char_gpt --temperature 0.3", "the sample: only likely characters, which soon repeat"}};

void add_options(Program& program, Settings& s) {
  const Check size = whole_number<std::int64_t>(1, 100'000);
  program.option("--text", s.text, "A text file, UTF-8 (default: Ladon's own sources)",
                 "A million characters or more; it may be compressed by gzip", name_of("a file"));
  program.option("--layers", s.layers, "Layers of the model",
                 "More layers learn more, and take longer", size);
  program.option("--heads", s.heads, "Heads per layer; must divide --dim",
                 "1 shows what several heads contribute", size);
  program.option("--dim", s.dim, "Width of the model", "Twice as wide: four times the work", size);
  program.option("--context", s.context, "Context length in characters",
                 "With few characters the model is little more than a table of letter groups",
                 whole_number<std::int64_t>(2, 100'000));
  program.option("--batch", s.batch, "Windows of text per step", "More make gradients less noisy",
                 size);
  program.option("--steps", s.steps, "Training steps in total",
                 "Raise it until the validation loss no longer falls", size);
  program.option("--rate", s.rate, "Highest learning rate", "Lower it where the loss jumps",
                 number_above(0));
  program.option(
      "--dropout", s.dropout, "Probability with which activations are dropped in training",
      "Try 0.1 if the training loss falls far below the validation loss", number(0, 0.9));
  program.option("--particles", s.particles,
                 "Particle method that also moves the heads of each layer: none, svgd",
                 "See what repulsion between heads costs and brings", one_of({"none", "svgd"}));
  program.option("--every", s.every, "Steps between evaluations on the validation text",
                 "Each evaluation reads the whole validation text, and saves the run", size);
  program.option("--resume", s.resume, "File of a run to resume",
                 "Give the options of that run; only --steps may be larger", name_of("a file"));
  program.option("--sample", s.sample, "Characters to generate at the end", "0 generates none",
                 whole_number<std::int64_t>(0, 100'000));
  program.option("--prompt", s.prompt, "Text that the sample continues",
                 "Its characters must be in the text", name_of("a text"));
  program.option("--temperature", s.temperature,
                 "Sampling temperature; 0: always the most likely character",
                 "1 draws from the model's distribution; lower values prefer likely characters",
                 number(0, 100));
  program.page_option();
}

Table table_of(const std::vector<Look>& looks, double bigram) {
  Table table("step", {{.name = "train",
                        .meaning = "mean loss of the steps since the last look, nats a character",
                        .better = Better::lower},
                       {.name = "validation",
                        .meaning = join("loss on the last tenth of the text, each character after "
                                        "at most a context; counted pairs of characters give ",
                                        bigram),
                        .better = Better::lower},
                       {.name = "seconds",
                        .meaning = "for the steps since the last look, without the look"}});
  for (const Look& look : looks)
    table.add({.method = std::to_string(look.step),
               .figures = {{look.train}, {look.validation}, {look.seconds}}});
  return table;
}

/// Training speed up to each evaluation, in characters per second.
nlohmann::json speeds(const Settings& s, const std::vector<Look>& looks) {
  nlohmann::json all = nlohmann::json::array();
  std::int64_t before = 0;
  for (const Look& look : looks) {
    all.push_back(static_cast<double>((look.step - before) * s.batch * s.context) / look.seconds);
    before = look.step;
  }
  return all;
}

/// Tokens of the prompt. Throws Error, naming --prompt, if a character does not occur in the text.
std::vector<std::int64_t> encoded_prompt(const Settings& s, const Corpus& corpus) {
  try {
    return corpus.characters.encode(s.prompt);
  } catch (const Error& error) {
    throw Error(
        std::string(
            "[char_gpt] --prompt (default: a newline) must consist of characters of the text: ") +
        error.what());
  }
}

void write_sample(const Settings& s, const Corpus& corpus, LanguageModel& model) {
  if (s.sample == 0) return;
  model.eval();
  const std::vector<std::int64_t> prompt = encoded_prompt(s, corpus);
  // No position after the first s.context ones was trained, so the model reads only the last
  // s.context / 2 tokens of a text that fills the context.
  std::vector<std::int64_t> text = prompt;
  Generator rng = Generator(s.common.seed).split(3);
  while (static_cast<std::int64_t>(text.size() - prompt.size()) < s.sample) {
    const auto length = static_cast<std::int64_t>(text.size());
    const std::int64_t keep = length < s.context ? length : s.context / 2;
    const std::vector<std::int64_t> last(text.end() - keep, text.end());
    const std::int64_t open = s.sample + static_cast<std::int64_t>(prompt.size() - text.size());
    const auto written =
        generate(next_token(model), from_vector(last, {1, keep}),
                 {.length = std::min(open, s.context - keep), .temperature = s.temperature}, rng);
    text.insert(text.end(), written[0].tokens.begin(), written[0].tokens.end());
  }
  std::cout << "\nIt writes:\n" << corpus.characters.decode(text) << '\n';
}

bool teach(Program& program, const Settings& s) {
  const Corpus corpus = read_corpus(s.text, s.context);
  const double bigram = bigram_loss(corpus);
  LanguageModel model = make_model(s, corpus);
  if (s.sample > 0) encoded_prompt(s, corpus);  // an unsuitable prompt fails before training
  std::cout << corpus.name << ": " << corpus.text.train.count() + corpus.text.validation.count()
            << " characters, " << corpus.characters.size() << " of them different; "
            << model.parameter_count() << " weights" << std::endl;
  std::vector<Look> looks;
  const bool complete = ran_to_the_end([&] { looks = train(s, corpus, model); });
  if (!complete) return false;
  const Table table = table_of(looks, bigram);
  std::cout << '\n' << table.text() << '\n' << table.explained();
  write_sample(s, corpus, model);
  program.write({.tables = {{"models", table}}, .more = {{"tokens_per_second", speeds(s, looks)}}});
  program.write_page([&] { return page(model, corpus, s.context); });
  const std::filesystem::path picture = draw(s, corpus.name, looks, bigram);
  if (!picture.empty()) std::cout << "\npicture: " << picture.string() << '\n';
  std::cout << "run: " << run_file(s).string() << '\n';
  return true;
}

}  // namespace
}  // namespace ladon::example

int main(int argc, char** argv) {
  using namespace ladon::example;
  Settings settings;
  Program program("char_gpt", {summary, duration, lesson, trials}, settings.common);
  add_options(program, settings);
  return program.run(argc, argv, [&] { return teach(program, settings); });
}
