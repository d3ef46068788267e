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
    "A Transformer reads a sentence and writes its translation, token after token, looking back at "
    "the source by cross-attention. By default the pairs are English and German from a small "
    "grammar, in which verbs move and articles agree with gender, number and case; so what was "
    "learned is more than words, and BLEU on sentences that were not seen stands beside that of "
    "translation word for word. The picture shows how attention finds the order. Any two files of "
    "aligned lines will do. The run is kept in a file: killed at any moment, it goes on from "
    "there; and it translates what it is given.";
const std::vector<Trial> trials = {
    {"translate --pairs 300", "exact: words are learned from fewer pairs than agreement"},
    {"translate --resume translate.out/translate.safetensors --translate 'a man sees a dog'",
     "which of the articles is an object's"},
    {"translate --source train.en --target train.de --dim 128 --tokens 5000 --steps 4000",
     "BLEU: files of one's own, one sentence a line"},
    {"translate --heads 1", "does one head find the order too?"}};

void add_model_options(Program& program, Settings& s) {
  const Check size = whole_number<std::int64_t>(1, 100'000);
  program.option("--layers", s.layers, "Layers of the encoder, and as many of the decoder",
                 "More learn more, and take longer", size);
  program.option("--heads", s.heads, "Heads of each layer; they divide --dim",
                 "1 shows what many heads are for", size);
  program.option("--dim", s.dim, "Width of the model", "Twice as wide: four times the work", size);
  program.option("--tokens", s.tokens,
                 "Tokens of the vocabulary at most, byte pairs of both languages",
                 "More make shorter sentences, and a larger last layer",
                 whole_number<std::int64_t>(259, 1'000'000));
  program.option("--dropout", s.dropout, "Part of the activations that is dropped in training",
                 "0.3 for real sentences, of which there are never enough", number(0, 0.9));
}

void add_options(Program& program, Settings& s) {
  const Check size = whole_number<std::int64_t>(1, 10'000'000);
  add_corpus_options(program, s);
  add_model_options(program, s);
  program.option("--batch", s.batch, "Pairs a step", "More make steps smoother", size);
  program.option("--steps", s.steps, "Steps in all", "Until validation no longer falls", size);
  program.option("--rate", s.rate, "Highest learning rate", "Lower it where the loss jumps",
                 number_above(0));
  program.option("--every", s.every, "Steps between looks at the validation pairs",
                 "Each look translates 200 of them, and saves the run", size);
  Option resume =
      program.option("--resume", s.resume, "The file of a run, to go on from",
                     "With the options of that run, or at most more --steps", name_of("a file"));
  program
      .option("--translate", s.translate, "A sentence, to be translated by the run of --resume",
              "It is not trained further, and needs no other option", name_of("a sentence"))
      .needs(resume);
  program.option("--beams", s.beams, "Translations that beam search follows; 0: none",
                 "More find what is likelier, and soon nothing better",
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
