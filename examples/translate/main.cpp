// An encoder and a decoder, trained on sentences and their translations.

#include <iostream>

#include "ladon/autograd/ops/shape.h"
#include "ladon/examples/common/interrupt.h"
#include "ladon/examples/common/options.h"
#include "ladon/examples/common/program.h"
#include "ladon/examples/translate/study.h"

namespace ladon::example {
namespace {

constexpr const char* summary = "An encoder and a decoder learn to translate, word order included";
constexpr const char* duration = "about 20 s on 2 cores";
constexpr const char* lesson =
    "A Transformer reads a sentence and generates its translation token by token, with "
    "cross-attention to the source. By default the pairs are English and German from a small "
    "grammar, in which verbs change position, and articles agree with gender, number and case: "
    "more than words has to be learned, and BLEU on unseen sentences is compared with that of "
    "word-for-word translation. The picture shows how attention follows the word order. Any two "
    "files of aligned lines can be used. The run is saved in a file: if it is killed at any "
    "moment, --resume continues from there, and --translate translates a sentence with it.";
const std::vector<Trial> trials = {
    {"translate --pairs 300", "exact: words are learned from fewer pairs than agreement"},
    {"translate --resume translate.out/translate.safetensors --translate 'a man sees a dog'",
     "the translation: is the object's article in the accusative?"},
    {"translate --source train.en --target train.de --dim 128 --tokens 5000 --steps 4000",
     "BLEU on your own files, with one sentence per line"},
    {"translate --heads 1", "BLEU: does one head learn the word order, too?"}};

void add_model_options(Program& program, Settings& s) {
  const Check size = whole_number<std::int64_t>(1, 100'000);
  program.option("--layers", s.layers, "Layers of the encoder, and as many of the decoder",
                 "More layers learn more, and take longer", size);
  program.option("--heads", s.heads, "Heads per layer; must divide --dim",
                 "1 shows what several heads contribute", size);
  program.option("--dim", s.dim, "Width of the model", "Twice as wide: four times the work", size);
  program.option("--tokens", s.tokens,
                 "Largest size of the vocabulary, byte pairs of both languages",
                 "A larger one makes sentences shorter, and the last layer larger",
                 whole_number<std::int64_t>(259, 1'000'000));
  program.option("--dropout", s.dropout,
                 "Probability with which activations are dropped in training",
                 "Try 0.3 for real sentences", number(0, 0.9));
}

void add_options(Program& program, Settings& s) {
  const Check size = whole_number<std::int64_t>(1, 10'000'000);
  add_corpus_options(program, s);
  add_model_options(program, s);
  program.option("--batch", s.batch, "Pairs per step", "More make gradients less noisy", size);
  program.option("--steps", s.steps, "Training steps in total",
                 "Raise it until the validation loss no longer falls", size);
  program.option("--rate", s.rate, "Highest learning rate", "Lower it where the loss jumps",
                 number_above(0));
  program.option("--every", s.every, "Steps between evaluations on the validation pairs",
                 "Each evaluation translates up to 200 pairs, and saves the run", size);
  Option resume =
      program.option("--resume", s.resume, "File of a run to resume",
                     "Give the options of that run; only --steps may be larger", name_of("a file"));
  program
      .option("--translate", s.translate, "A sentence to translate with the model of --resume",
              "The model is not trained further; no other option is needed", name_of("a sentence"))
      .needs(resume);
  program.option("--beams", s.beams, "Number of beams of beam search; 0: no beam search",
                 "More beams find likelier translations, which are soon no better",
                 whole_number<std::int64_t>(0, 1000));
  program.page_option();
}

void translate_one(const Settings& s) {
  std::cout << translate(saved_translator(s.resume), {s.translate}, s.beams)[0] << '\n';
}

void teach(Program& program, const Settings& s) {
  const Corpus corpus = read_corpus(s);
  Translator translator = new_translator(s, corpus.train);
  std::cout << corpus.name << ": " << corpus.train.sources.size() << " pairs, "
            << corpus.validation.sources.size() << " for validation, " << corpus.test.sources.size()
            << " for the test; " << translator.tokens.size() << " tokens, "
            << translator.model.parameter_count() << " weights" << std::endl;
  const Course course = train(s, corpus, translator);
  const Table looks = table_of(course);
  std::cout << '\n' << looks.text() << '\n' << looks.explained() << std::endl;
  const std::vector<Translations> all = translate_test(s, corpus, translator);
  const Table test = judged("test", all, corpus.test);
  std::cout << test.text() << '\n' << test.explained() << shown(all, corpus.test);
  const std::vector<double> speeds = select(course.looks, 1, Course::speed).to_vector();
  program.write(
      {.tables = {{"test", test}, {"looks", looks}}, .more = {{"tokens_per_second", speeds}}});
  program.write_page([&] { return page(translator, corpus); });
  draw(s, corpus.name, course, shown_attention(translator, corpus),
       test.rows()[0].figures[0].value);
  std::cout << "\nrun: " << run_file(s).string() << '\n';
}

}  // namespace
}  // namespace ladon::example

int main(int argc, char** argv) {
  using namespace ladon::example;
  Settings settings;
  Program program("translate", {summary, duration, lesson, trials}, settings.common);
  add_options(program, settings);
  return program.run(argc, argv, [&] {
    return ran_to_the_end(
        [&] { settings.translate.empty() ? teach(program, settings) : translate_one(settings); });
  });
}
