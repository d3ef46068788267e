// Options that have no effect because of the value of another option: if they are not at their
// defaults, they cause an Error that names the option, its value and what to set instead; they are
// not silently ignored.

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "ladon/optim/ladon.h"
#include "ladon/tests/support.h"
#include "ladon/tests/temporary_folder.h"

namespace ladon::test::unread_options_test {
namespace {

using infinite::Get;

constexpr auto ntk = Parameterization::ntk, standard = Parameterization::standard;

/// An option that is set in each call, in one where it is read and in one where it is not.
struct Row {
  std::string call;     ///< Name in the message.
  std::string message;  ///< Its begin.
  std::function<void(bool read)> use;
};
using Rows = std::vector<Row>;

Generator& source() {
  static Generator rng(1);
  return rng;
}

Parameterization ntk_if(bool read) { return read ? ntk : standard; }
Parameterization standard_if(bool read) { return read ? standard : ntk; }

// --- layers ---

/// Options that Linear and convolutions have in common.
template <class L, class Options>
void add_maps(Rows& rows, const char* name, const Options& plain) {
  const auto add = [&](const std::string& message, auto Options::*option, auto value,
                       auto parameterization) {
    rows.push_back({name, message, [=](bool read) {
                      Options o = plain;
                      o.*option = value;
                      o.parameterization = parameterization(read);
                      L(o, source());
                    }});
  };
  add("weight_std is 1.5, but only ntk", &Options::weight_std, 1.5, ntk_if);
  add("weight_std is 0, but only ntk", &Options::weight_std, 0.0, ntk_if);
  add("bias_std is 0.5, but only ntk", &Options::bias_std, 0.5, ntk_if);
  add("init is lecun_normal, but", &Options::init, Init::lecun_normal, standard_if);
  add("gain is 2, but weights start as N(0, 1) in ntk", &Options::gain, 2.0, standard_if);
  rows.push_back({name, "bias_std is 0.5, but bias is false", [=](bool read) {
                    Options o = plain;
                    o.parameterization = ntk;
                    o.bias = read;
                    o.bias_std = 0.5;
                    L(o, source());
                  }});
  for (const Init init : {Init::zeros, Init::ones})
    rows.push_back({"initialize", "gain is 2, but the initializers zeros and ones have no scale",
                    [=](bool read) {
                      Options o = plain;
                      o.init = read ? Init::kaiming_uniform : init;
                      o.gain = 2;
                      L(o, source());
                    }});
}

void add_attention(Rows& rows) {
  const auto add = [&](const std::string& message, auto AttentionPrior::*option, auto value,
                       auto parameterization) {
    rows.push_back({"MultiHeadAttention", message, [=](bool read) {
                      MultiHeadAttentionOptions o{.dim = 4, .heads = 2};
                      o.prior.*option = value;
                      o.prior.parameterization = parameterization(read);
                      MultiHeadAttention(o, source());
                    }});
  };
  add("prior.query_key_std is 2, but", &AttentionPrior::query_key_std, 2.0, ntk_if);
  add("prior.value_output_std is 2, but", &AttentionPrior::value_output_std, 2.0, ntk_if);
  add("prior.bias_std is 0.5, but only ntk", &AttentionPrior::bias_std, 0.5, ntk_if);
  add("prior.init is zeros, but", &AttentionPrior::init, Init::zeros, standard_if);
  rows.push_back({"MultiHeadAttention", "prior.bias_std is 0.5, but bias is false", [](bool read) {
                    MultiHeadAttention({.dim = 4,
                                        .heads = 2,
                                        .bias = read,
                                        .prior = {.parameterization = ntk, .bias_std = 0.5}},
                                       source());
                  }});
  rows.push_back({"MultiHeadAttention", "positions.encoding.in is 3, but", [](bool read) {
                    MultiHeadAttention(
                        {.dim = read ? 3 : 4,
                         .heads = 1,
                         .positions = AttentionPositions{.encoding = {.grid = {5}, .in = 3}}},
                        source());
                  }});
  rows.push_back({"RandomPositions", "channels is 3, but encodings that are added", [](bool read) {
                    RandomPositions({.grid = {5},
                                     .in = 4,
                                     .merge = read ? PositionMerge::concat : PositionMerge::sum,
                                     .channels = 3},
                                    source());
                  }});
  const Tensor x = gaussian({2, 3, 4});
  for (const bool weights : {false, true})
    rows.push_back({weights ? "attention_with_weights" : "scaled_dot_product_attention",
                    "causal_offset is 1, but attention is not causal", [=](bool read) {
                      const AttentionOptions o{.causal = read, .causal_offset = 1};
                      if (weights)
                        attention_with_weights(x, x, x, o);
                      else
                        scaled_dot_product_attention(x, x, x, o);
                    }});
}

void add_blocks(Rows& rows) {
  for (const auto& [option, name] :
       {std::pair(&TransformerEncoderLayerOptions::weight_std, "weight_std"),
        {&TransformerEncoderLayerOptions::bias_std, "bias_std"}})
    rows.push_back(
        {"FeedForward", detail::join(name, " is 0.5, but only ntk"), [option = option](bool read) {
           TransformerEncoderLayerOptions o{.dim = 4, .heads = 2};
           o.*option = 0.5;
           o.attention.prior.parameterization = ntk_if(read);
           TransformerEncoderLayer(o, source());
         }});
  const auto recurrent = [](bool read) {
    return RecurrentOptions{.in = 2, .hidden = 3, .layers = read ? 2 : 1, .dropout = 0.25};
  };
  const std::string between = "dropout is 0.25, but it acts between layers, of which there is 1";
  rows.push_back({"Lstm", between, [=](bool read) { Lstm(recurrent(read), source()); }});
  rows.push_back({"Gru", between, [=](bool read) { Gru(recurrent(read), source()); }});
  rows.push_back({"Rnn", between, [=](bool read) { Rnn(recurrent(read), source()); }});
  for (const std::optional<double> momentum : {std::optional(0.5), std::optional<double>()})
    rows.push_back({"BatchNorm",
                    detail::join("momentum is ", momentum ? "0.5" : "nullopt",
                                 ", but track_running_stats is false"),
                    [=](bool read) {
                      BatchNorm({.dim = 2, .momentum = momentum, .track_running_stats = read});
                    }});
  for (const char* operation : {"to_names", "from_names"})
    rows.push_back(
        {operation, "the model's attention has the hook RotaryPositions", [=](bool read) {
           LanguageModelOptions o = gpt2(5, 1, 4, 2, 6);
           const StateDict state = to_names(LanguageModel(o, source()));
           if (!read) o.layer.attention.hook = RotaryPositions();
           LanguageModel model(o, source());
           if (operation == std::string("to_names"))
             to_names(model);
           else
             from_names(model, state);
         }});
  const auto draw = [&](const std::string& message, const GenerateOptions& o) {
    rows.push_back({"draw_token", message, [=](bool read) {
                      const NextToken next = [](const Tensor& tokens, DecodingCache&,
                                                const Tensor&) { return one_hot(tokens, 3); };
                      if (read)
                        generate(next, ones({1, 1}, i64), o, source());
                      else
                        draw_token(ones({3}), o, source());
                    }});
  };
  draw("beams is 2, but", {.length = 2, .beams = 2});
  draw("repetition_penalty is 1.5, but", {.length = 2, .repetition_penalty = 1.5});
}

void add_windows(Rows& rows) {
  const Shape none, one{1};
  rows.push_back({"Conv1d", "padding is circular, but zeros before [1]", [=](bool read) {
                    Conv1d({.in = 2,
                            .out = 2,
                            .window = {3},
                            .padding = Padding::circular,
                            .before = read ? none : one},
                           source());
                  }});
  for (const Padding padding : {Padding::same, Padding::circular}) {
    const std::string message = detail::join("padding is ", to_string(padding), ", but the zeros");
    rows.push_back({"AveragePool", message, [=](bool read) {
                      AveragePool({.window = {3}, .padding = padding, .before = read ? none : one});
                    }});
    rows.push_back({"MaxPool", message, [=](bool read) {
                      MaxPool({.window = {3}, .padding = padding, .after = read ? none : one});
                    }});
    for (const auto& [option, name] :
         {std::pair(&SlidingWindow::in_front, "in_front"), {&SlidingWindow::behind, "behind"}})
      rows.push_back({"window", detail::join(name, " is 1, but only `valid` padding"),
                      [=, option = option](bool read) {
                        SlidingWindow w{.size = 3, .padding = read ? Padding::valid : padding};
                        w.*option = 1;
                        w.count(5);
                      }});
  }
  rows.push_back({"average_pool", "count_padding is true, but the divisor is 4", [](bool read) {
                    AveragePoolOptions o{.before = {1}, .count_padding = true};
                    if (!read) o.divisor = 4;
                    average_pool(ones({1, 6, 2}), {2}, o);
                  }});
}

// --- limits ---

void add_kernels(Rows& rows) {
  static const TemporaryFolder folder;
  static Linear network({.in = 2, .out = 2, .parameterization = ntk}, source());
  const Tensor x = gaussian({3, 2}), y = gaussian({3, 1}, 2);
  const auto empirical = [&](const std::string& message, infinite::EmpiricalOptions o) {
    rows.push_back({"empirical_kernel", message, [=](bool read) {
                      infinite::EmpiricalOptions asked = o;
                      asked.get = read ? Get::ntk : Get::nngp;
                      infinite::empirical_kernel(network, x, asked);
                    }});
  };
  empirical("method is jacobian, but", {.method = infinite::NtkMethod::jacobian});
  empirical("channels is 1, but", {.channels = 1});
  empirical("full is true, but", {.full = true});
  rows.push_back({"gram", "checkpoint_seconds is 1, but checkpoint is empty", [=](bool read) {
                    infinite::GramOptions o{.checkpoint_seconds = 1};
                    if (read) o.checkpoint = (folder / "tiles").string();
                    infinite::gram(infinite::limit(network), x, o);
                  }});
  const auto compared = [&](const std::string& message, const auto& set) {
    rows.push_back({"compare", message, [=](bool read) {
                      infinite::CompareOptions o;
                      set(o, read);
                      const auto make = [](const infinite::NetworkSize&, Generator& rng) {
                        return std::make_unique<Linear>(LinearOptions{.in = 2, .out = 2}, rng);
                      };
                      infinite::compare(make, x, {{.size = {}, .draws = 4}}, o, source());
                    }});
  };
  compared("limit.get is nngp, but networks.kernel.get is ntk",
           [](infinite::CompareOptions& o, bool read) {
             o.limit.get = Get::nngp;
             if (read) o.networks.kernel.get = Get::nngp;
           });
  compared("networks.draws is 9, but each point of the sweep has its own",
           [](infinite::CompareOptions& o, bool read) {
             if (!read) o.networks.draws = 9;
           });
  rows.push_back({"predict", "gram.get is nngp, but kernel is ntk", [=](bool read) {
                    predict(network, x, y, x,
                            {.kernel = read ? Get::nngp : Get::ntk, .gram = {.get = Get::nngp}});
                  }});
  rows.push_back({"predict", "gram.entries is diagonal, but", [=](bool read) {
                    infinite::GramOptions gram;
                    if (!read) gram.entries = infinite::Entries::diagonal;
                    predict(network, x, y, x, {.gram = gram});
                  }});
  const auto learn = [&](const std::string& message, const infinite::GramOptions& o) {
    rows.push_back({"learn_hyperparameters", message, [=](bool read) {
                      LearnOptions options{.steps = 1};
                      if (!read) options.gram = o;
                      Linear model = network;
                      learn_hyperparameters(model, x, y, options);
                    }});
  };
  learn("gram.checkpoint is \"tiles\" and gram.progress is empty, but", {.checkpoint = "tiles"});
  learn("gram.checkpoint is \"\" and gram.progress is set, but",
        {.progress = [](const infinite::GramProgress&) {}});
}

// --- optimizers and samplers ---

void add_optimizers(Rows& rows) {
  rows.push_back({"sgd", "dampening is 0.5, but momentum is 0", [](bool read) {
                    Sgd({parameter(ones({2}))}, {.momentum = read ? 0.9 : 0, .dampening = 0.5});
                  }});
  rows.push_back({"sgd", "Nesterov needs momentum > 0", [](bool read) {
                    Sgd({parameter(ones({2}))}, {.momentum = read ? 0.9 : 0, .nesterov = true});
                  }});
  const auto search = [&](const std::string& message, const WolfeOptions& o) {
    rows.push_back({"lbfgs", message, [=](bool read) {
                      Lbfgs({parameter(ones({2}))}, {.line_search = read, .wolfe = o});
                    }});
  };
  search("wolfe.decrease is 0.001, but line_search is false", {.decrease = 1e-3});
  search("wolfe.curvature is 0.5, but line_search is false", {.curvature = 0.5});
  search("wolfe.evaluations is 9, but line_search is false", {.evaluations = 9});
}

void add_samplers(Rows& rows) {
  const LogDensity normal_density(1, [](const Tensor& x) { return -0.5 * sum(square(x), 1); });
  const Tensor start = gaussian({4, 1});
  const std::string target = "target_accept is 0.6, but a step size is given";
  rows.push_back({"hmc", target, [=](bool read) {
                    hmc(normal_density, start,
                        {.draws = 2, .warmup = 60, .step = read ? 0 : 0.5, .target_accept = 0.6},
                        source());
                  }});
  rows.push_back({"nuts", target, [=](bool read) {
                    nuts(normal_density, start,
                         {.draws = 2, .warmup = 60, .step = read ? 0 : 0.5, .target_accept = 0.6},
                         source());
                  }});
  const auto temper = [&](const std::string& message, const TemperingOptions& asked) {
    rows.push_back({"parallel_tempering", message, [=](bool read) {
                      TemperingOptions o = asked;
                      o.draws = 2, o.warmup = 60;
                      if (!read) o.betas = {1, 0.5};
                      parallel_tempering(normal_density, start, o, source());
                    }});
  };
  temper("levels is 3, but betas are given", {.levels = 3});
  temper("lowest is 0.5, but betas are given", {.lowest = 0.5});
  const LogLikelihood likelihood = [](const Tensor& z) { return -sum(square(z), 1); };
  rows.push_back({"tempered_smc", "keep is 0.5, but betas are given", [=](bool read) {
                    SmcOptions o{.particles = 4, .keep = 0.5};
                    if (!read) o.betas = {0.5, 1};
                    tempered_smc(2, likelihood, o, source());
                  }});
  rows.push_back({"sample_posterior", "smc.parts is 2, but", [=](bool read) {
                    const infinite::LatentKernel kernel{
                        .dim = 2, .at = [](const Tensor& z, std::int64_t n) {
                          return expand(eye(n, f64), {z.size(0), n, n});
                        }};
                    LatentPosteriorOptions o{.noise = 1, .smc = {.particles = 4}, .replicates = 2};
                    if (!read) o.smc.parts = 2;
                    sample_posterior(kernel, 2, ones({1}, f64), o, source());
                  }});
}

Rows all_rows() {
  Rows rows;
  add_maps<Linear>(rows, "Linear", LinearOptions{.in = 3, .out = 2});
  add_maps<Conv1d>(rows, "Conv1d", ConvOptions{.in = 2, .out = 2, .window = {3}});
  add_maps<Conv2d>(rows, "Conv2d", ConvOptions{.in = 2, .out = 2, .window = {3, 3}});
  add_attention(rows);
  add_blocks(rows);
  add_windows(rows);
  add_kernels(rows);
  add_optimizers(rows);
  add_samplers(rows);
  return rows;
}

TEST(UnreadOptions, AreErrorsWhereNothingReadsThem) {
  for (const Row& row : all_rows()) {
    SCOPED_TRACE(row.call + ": " + row.message);
    EXPECT_NO_THROW(row.use(true));
    expect_error([&] { row.use(false); }, "[" + row.call + "] " + row.message);
  }
}

// What an option asks for anyway is no error: a message would ask for nothing.
TEST(UnreadOptions, MayAskForWhatHappensAnyway) {
  EXPECT_NO_THROW(Linear({.in = 2, .out = 2, .parameterization = ntk, .bias_std = 0}, source()));
  EXPECT_NO_THROW(MultiHeadAttention({.dim = 4,
                                      .heads = 2,
                                      .bias = false,
                                      .projection_bias = false,
                                      .prior = {.parameterization = ntk}},
                                     source()));
  EXPECT_NO_THROW(draw_token(ones({3}), {.temperature = 0, .top_k = 2, .top_p = 0.5}, source()));
  const LogDensity flat(1, [](const Tensor& x) { return -sum(square(x), 1); });
  EXPECT_NO_THROW(hmc(flat, zeros({2, 1}, f64),
                      {.draws = 2, .warmup = 0, .step = 0.5, .adapt_mass = false}, source()));
}

// The kernel and the bound of repulsion that has the weight 0: a study varies α down to 0, all else
// being equal, and the kernel's bandwidth is still reported.
TEST(UnreadOptions, MayBeSetAtTheEndOfARange) {
  const SteinKernel kernel = imq({.bandwidth = Bandwidth::fixed, .h2 = 4.0});
  const Tensor start = gaussian({3, 2}), gradient = gaussian({3, 2}, 2);
  const auto unchanged = [&](const auto& make) {
    Tensor x = parameter(clone(start));
    const auto method = make(particles_of_rows(x));
    x.set_grad(clone(gradient));
    method->apply();
    EXPECT_EQ(method->report()[0].h2, 4);
    EXPECT_EQ(method->report()[0].repulsive, 0);
    return all_close(x.grad() * (method->name() == "wgd" ? 1 : 3), gradient, 1e-6, 1e-6);
  };
  const SvgdOptions options{.kernel = kernel, .alpha = 0, .smoothing = false, .max_ratio = 2};
  EXPECT_TRUE(unchanged([&](const Particles& p) { return std::make_unique<Svgd>(p, options); }));
  EXPECT_TRUE(unchanged([&](const Particles& p) {
    return std::make_unique<Spos>(p, SposOptions{.svgd = options, .diffusion = 0}, source());
  }));
  EXPECT_TRUE(unchanged([&](const Particles& p) {
    return std::make_unique<Wgd>(p, WgdOptions{.kernel = kernel, .alpha = 0, .max_ratio = 2});
  }));
}

}  // namespace
}  // namespace ladon::test::unread_options_test
