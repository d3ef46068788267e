// Invalid input that every method which moves parameters must refuse: the same tests for particle
// methods, on parameters and on activations, and for samplers.

#include <cmath>
#include <functional>
#include <memory>

#include "ladon/autograd/graph.h"
#include "ladon/tests/optim/helpers.h"

namespace ladon::test::trust_test {
namespace {

/// A step on rows θ [M, 3] with the loss ½|θ|²·weight, from beginning to end.
class Mover {
 public:
  virtual ~Mover() = default;
  void step(double weight = 1) {
    optimizer().zero_grad();
    backward(loss(weight));
    act();
    optimizer().step();
  }
  virtual Tensor loss(double weight) { return 0.5 * weight * sum(square(theta_)); }
  virtual void act() {}
  virtual Optimizer& optimizer() = 0;
  const Tensor& theta() const { return theta_; }

 protected:
  explicit Mover(const Tensor& theta) : theta_(theta) {}
  Tensor theta_;
};

/// A particle method in front of plain descent.
class Applied : public Mover {
 public:
  Applied(const Tensor& theta, std::unique_ptr<ParticleMethod> method)
      : Mover(theta), method_(std::move(method)), sgd_({theta}, {.lr = 0.1}) {}
  void act() override { method_->apply(); }
  Optimizer& optimizer() override { return sgd_; }

 private:
  std::unique_ptr<ParticleMethod> method_;
  Sgd sgd_;
};

/// One that acts on 2·θ.
class Acting : public Mover {
 public:
  Acting(const Tensor& theta, std::unique_ptr<ParticleMethod> method)
      : Mover(theta), method_(std::move(method)), sgd_({theta}, {.lr = 0.1}) {}
  Tensor loss(double weight) override {
    const Tensor f = 2.0 * theta_;
    method_->act_on(f, 0);
    return 0.125 * weight * sum(square(f));
  }
  Optimizer& optimizer() override { return sgd_; }

 private:
  std::unique_ptr<ParticleMethod> method_;
  Sgd sgd_;
};

/// An optimizer that samples.
class Sampling : public Mover {
 public:
  Sampling(const Tensor& theta, std::unique_ptr<Optimizer> sampler)
      : Mover(theta), sampler_(std::move(sampler)) {}
  Optimizer& optimizer() override { return *sampler_; }

 private:
  std::unique_ptr<Optimizer> sampler_;
};

struct Kind {
  std::string name;
  std::function<std::unique_ptr<Mover>(const Tensor& theta)> make;
  std::function<void(const Tensor& theta, double bad)>
      make_badly;         ///< With its own setting at `bad`.
  bool rewrites = false;  ///< Leaves gradients to which nothing may be added.
};

template <class Method, class Options>
Kind applied(const std::string& name, const Options& options) {
  return {name,
          [=](const Tensor& theta) {
            return std::make_unique<Applied>(
                theta, std::make_unique<Method>(particles_of_rows(theta), options));
          },
          [=](const Tensor& theta, double bad) {
            Options wrong = options;
            wrong.alpha = bad;
            Method(particles_of_rows(theta), wrong);
          },
          true};
}

template <class Method, class Options>
Kind acting(const std::string& name, const Options& options) {
  return {name,
          [=](const Tensor& theta) {
            return std::make_unique<Acting>(theta, std::make_unique<Method>(options));
          },
          [=](const Tensor&, double bad) {
            Options wrong = options;
            wrong.alpha = bad;
            Method{wrong};
          }};
}

template <class Sampler, class Options>
Kind sampling(const std::string& name, const Options& options) {
  const auto of = [](const Tensor& theta, const Options& with) {
    return std::make_unique<Sampler>(std::vector<Tensor>{theta}, with, Generator(9));
  };
  return {
      name,
      [=](const Tensor& theta) { return std::make_unique<Sampling>(theta, of(theta, options)); },
      [=](const Tensor& theta, double bad) {
        Options wrong = options;
        wrong.lr = bad;
        of(theta, wrong);
      }};
}

Kind spos() {
  return {"spos",
          [](const Tensor& theta) {
            return std::make_unique<Applied>(
                theta,
                std::make_unique<Spos>(particles_of_rows(theta), SposOptions{}, Generator(9)));
          },
          [](const Tensor& theta, double bad) {
            Spos(particles_of_rows(theta), {.diffusion = bad}, Generator(9));
          },
          true};
}

std::vector<Kind> kinds() {
  const auto svgd = [](SteinKernel kernel) {
    return SvgdOptions{.kernel = std::move(kernel), .alpha = 0.5};
  };
  return {applied<Svgd>("svgd", svgd(rbf())),
          applied<Svgd>("svgd_automatic", SvgdOptions{.alpha = automatic}),
          applied<Svgd>("svgd_without_smoothing", SvgdOptions{.smoothing = false}),
          applied<Svgd>("svgd_radial",
                        svgd(radial("cauchy", {}, [](const Tensor& t) { return 1 / (1 + t); }))),
          applied<Svgd>("svgd_per_coordinate", svgd(per_coordinate(rbf()))),
          applied<Svgd>("svgd_blocks", svgd(per_block(imq(), {1}))),
          applied<Svgd>("svgd_preconditioned", svgd(preconditioned(rbf(), 2.0 * eye(3, f64)))),
          applied<Svgd>("svgd_mixture", svgd(mixture({rbf(), matern(1.5)}, {0.5, 1}))),
          applied<Svgd>("svgd_hybrid", svgd(hybrid(linear_kernel(), rbf()))),
          applied<Wgd>("wgd", WgdOptions{}),
          applied<Wgd>("wgd_automatic", WgdOptions{.alpha = automatic}),
          spos(),
          acting<Svgd>("svgd_of_functions", SvgdOptions{}),
          acting<Wgd>("wgd_of_functions", WgdOptions{.alpha = automatic}),
          sampling<Sgld>("sgld", SgldOptions{.lr = 0.1}),
          sampling<Psgld>("psgld", PsgldOptions{.lr = 0.01}),
          sampling<Sghmc>("sghmc", SghmcOptions{.lr = 0.1}),
          sampling<Sgnht>("sgnht", SgnhtOptions{.lr = 0.1})};
}

class Trust : public testing::TestWithParam<Kind> {
 protected:
  std::unique_ptr<Mover> mover(const Tensor& start) { return GetParam().make(leaf(start)); }
  static Tensor some_rows(std::int64_t m) {
    Generator rng(3);
    return normal({m, 3}, rng, 0, 1, f64);
  }
  static bool all_finite(const Tensor& x) { return all(isfinite(x)).item() != 0; }
};

TEST_P(Trust, GradientsThatAreNotFiniteChangeNothing) {
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    const auto moved = mover(some_rows(4)), twin = mover(some_rows(4));
    const Tensor before = clone(moved->theta().detach());
    EXPECT_THROW(moved->step(bad), Error);
    EXPECT_TRUE(same_bits(moved->theta(), before));
    moved->step();  // and goes on as if nothing had been
    twin->step();
    EXPECT_TRUE(same_bits(moved->theta(), twin->theta()));
  }
}

TEST_P(Trust, OneTwoAndEqualParticlesStayFinite) {
  for (const Tensor& start :
       {some_rows(1), some_rows(2), full({4, 3}, 0.7, f64), zeros({3, 3}, f64)}) {
    const auto moved = mover(start);
    for (int i = 0; i < 20; ++i) moved->step();
    EXPECT_TRUE(all_finite(moved->theta())) << start.shape();
  }
}

TEST_P(Trust, NegativeAndMissingSettingsAreErrors) {
  const Tensor x = leaf(some_rows(3));
  for (const double bad : {-1.0, std::nan(""), std::numeric_limits<double>::infinity()})
    EXPECT_THROW(GetParam().make_badly(x, bad), Error) << bad;
}

TEST_P(Trust, AStepWithoutBackwardIsAnError) {
  const auto moved = mover(some_rows(3));
  const Tensor before = clone(moved->theta().detach());
  const auto forgot = [&] {
    moved->optimizer().zero_grad();
    moved->act();
    moved->optimizer().step();
  };
  EXPECT_THROW(forgot(), Error);
  EXPECT_TRUE(same_bits(moved->theta(), before));
  moved->step();
}

TEST_P(Trust, AForgottenZeroGradDoesNotMixGradientsThatWereRewritten) {
  const auto moved = mover(some_rows(3));
  moved->step();
  if (GetParam().rewrites) {
    EXPECT_THROW(backward(moved->loss(1)), Error);
  } else {
    backward(moved->loss(1));
  }
  moved->step();
}

TEST_P(Trust, SameSeedSameBits) {
  const auto a = mover(some_rows(5)), b = mover(some_rows(5));
  for (int i = 0; i < 5; ++i) {
    a->step();
    b->step();
  }
  EXPECT_TRUE(same_bits(a->theta(), b->theta()));
  EXPECT_FALSE(same_bits(a->theta(), some_rows(5)));
}

INSTANTIATE_TEST_SUITE_P(Methods, Trust, testing::ValuesIn(kinds()),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace ladon::test::trust_test
