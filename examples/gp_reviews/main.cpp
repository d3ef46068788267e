// Reviews classified by networks on word vectors, compared with naive Bayes, which counts words.

#include "ladon/examples/common/options.h"
#include "ladon/examples/gp_reviews/reviews.h"

namespace ladon::example {
namespace {

constexpr const char* summary = "Reviews classified by networks on word vectors and naive Bayes";
constexpr const char* duration = "about 5 s on 2 cores";
constexpr const char* lesson =
    "The models of gp_classify see a review as a set of tokens, each the sum of a few word "
    "vectors, and average the tokens, with or without attention before, as infinitely wide limits "
    "and as trained networks. They are compared with naive Bayes, which counts words. Without "
    "files, reviews are generated from words that tend to praise or to blame.";
const std::vector<Trial> trials = {
    {"gp_reviews --train 1600 --no-finite",
     "accuracy of naive Bayes: how many reviews do counts need to learn all words?"},
    {"gp_reviews --models pool,attention --sharpness 4 --no-finite",
     "accuracy of attention's and of pool's kernels: does sharper attention find the words that "
     "matter?"}};

void add_options(Program& program, ReviewSettings& s) {
  Option reviews = program.option("--reviews", s.reviews, "Label-TSV files: train, test",
                                  "Real text; naive Bayes is the baseline for every model");
  Option glove =
      program.option("--glove", s.glove, "Word vectors: GloVe's text format, or a JSON object",
                     "Words without a vector are left out: a larger file keeps more words");
  reviews.expected(2).needs(glove);
  glove.needs(reviews);
  add_model_options(program, s);
}

bool study(Program& program, const ReviewSettings& s) {
  const auto [task, naive_bayes] = review_task(s);
  return compare_models(program, "gp_reviews", task, s, {naive_bayes});
}

}  // namespace
}  // namespace ladon::example

int main(int argc, char** argv) {
  using namespace ladon::example;
  ReviewSettings settings;
  Program program("gp_reviews", {summary, duration, lesson, trials}, settings.common);
  add_options(program, settings);
  return program.run(argc, argv, [&] { return study(program, settings); });
}
