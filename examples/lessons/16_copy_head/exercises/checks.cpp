#include "16_copy_head/exercises/exercises.h"

using namespace ladon;
using lessons::compare;

void check_copy_strength(decltype(copy_strength)* yours) {
  for (const std::int64_t length : {2, 5, 16})
    for (const double scale : {1.0, 0.5}) {
      const Tensor g = linspace(-4, 6, 11, f64);
      // The library's softmax over the tokens of each head: [M, T], the right token first.
      const Tensor others = zeros({g.count(), length - 1}, f64);
      const auto first = [&](double by) {
        return select(softmax(concat({unsqueeze(by * g, 1), others}, 1)), 1, 0);
      };
      const double t = static_cast<double>(length), rest = t - 1;
      const Tensor a = first(scale), lone = sigmoid(scale * g);
      const std::string what = detail::join("T = ", length, ", scale ", scale), is = what + ": ";
      compare(what, yours(g, scale, length), a - (1 - a) / rest,
              {{a, is + "this is the weight of the right token; subtract the weight that all "
                        "tokens share, since tokens sum to 0"},
               {first(1) - (1 - first(1)) / rest, is + "the logit is scale·g, not g"},
               {lone - (1 - lone) / rest,
                is + "T − 1 other tokens compete, each with the logit 0; here it is one"},
               {a - 1 / t, is + "the weight less its mean 1/T is not 1 for a head that copies: the "
                                "others' weight is (1 − a)/(T − 1)"},
               {a - (1 - a), is + "the remaining weight 1 − a is shared by T − 1 tokens"}});
    }
}

void check_strength_evidence(decltype(strength_evidence)* yours) {
  Generator rng(3);
  for (const std::int64_t v : {3, 5}) {
    std::vector<Tensor> orders;
    for (int i = 0; i < 4; ++i) orders.push_back(permutation(v, rng));
    const double size = static_cast<double>(v);
    const Tensor x = 1.7 * (one_hot(concat(orders, 0), v, f64) - 1 / size);
    const Tensor y = x + normal(x.shape(), rng, 0, 1.2, f64), r = linspace(-0.3, 1, 6, f64);
    const CopyPairs data{x, y, 1.44, 0.8};
    // The library's Gaussian process with the kernel ρ²·XXᵀ·w²/V.
    std::vector<double> right;
    for (const double one : concat({zeros({1}, f64), r}, 0).to_vector()) {
      const Tensor kernel = one * one * 0.64 / size * matmul(x, transpose(x));
      right.push_back(
          GaussianProcess(kernel, y, {.noise = data.noise, .jitter = 0}).log_marginal_likelihood());
    }
    const Tensor all = from_vector(right, {7}), truth = slice(all, 0, {1, 7}) - right[0];
    const double k = sum(square(x)).item() / (size - 1), c2 = 0.64 / (data.noise * size);
    const double overlap = sum(square(matmul(transpose(x), y))).item() / data.noise;
    // results with wrong coefficients of the determinant and of the quadratic form, or a wrong u
    const auto with = [&](double determinant, double form, const Tensor& u) {
      return form * c2 * overlap * square(r) / (1.0 + u) - determinant * log(1.0 + u);
    };
    const Tensor u = c2 * k * square(r);
    const double half = 0.5 * size * (size - 1);
    const std::string what = detail::join("V = ", v), is = what + ": ";
    compare(
        what, yours(r, data), truth,
        {{with(0, 0.5, u), is + "the determinant is missing: without it a needless strength "
                                "costs nothing"},
         {with(0.5 * (size - 1), 0.5, u), is + "each of the V outputs has a determinant"},
         {with(0.5 * size * size, 0.5, u),
          is + "XᵀX has eigenvalue k in V − 1 directions; in the last one it is 0 and adds "
               "nothing"},
         {with(2 * half, 1, u), is + "the factor ½ of a Gaussian integral is missing"},
         {with(half, 0.5 * data.noise, u),
          is + "the quadratic form has σ⁴ in the denominator: once from c², once from the targets"},
         {with(half, 0.5, c2 * k * abs(r)), is + "u has ρ², since XᵀX has the map twice"},
         {with(half, 0.5, c2 * (size - 1) * k * square(r)),
          is + "k is the trace over V − 1, not the trace"},
         {0.5 * c2 * overlap * square(r) - half * log(1.0 + u),
          is + "the inverse (1 + u)⁻¹ is missing in the quadratic form"}},
        1e-8);
  }
}

void check_birth_terms(decltype(birth_terms)* yours) {
  for (const std::int64_t length : {2, 5, 16})
    for (const double scale : {1.0, 0.5}) {
      constexpr double gain = 40, h = 1e-3;
      const double t = static_cast<double>(length), first = scale / t;
      // Central differences of the function itself, computed with the library's softmax.
      const auto f = [&](double g) {
        const Tensor logits = concat({full({1}, scale * g, f64), zeros({length - 1}, f64)}, 0);
        const double a = at(softmax(logits), {0}).item(), rho = a - (1 - a) / (t - 1);
        return gain * rho * rho - 0.5 * g * g;
      };
      const double quadratic = (f(h) + f(-h) - 2 * f(0)) / (2 * h * h);
      const double cubic = (f(2 * h) - 2 * f(h) + 2 * f(-h) - f(-2 * h)) / (12 * h * h * h);
      const BirthTerms answer = yours(gain, scale, length);
      const std::string what = detail::join("T = ", length, ", scale ", scale);
      const std::string two = what + ", the factor of g²", three = what + ", the factor of g³";
      const double square = gain * first * first, right = square * first * (t - 2);
      compare(two, answer.quadratic, quadratic,
              {{square, two + ": the prior's −½ is missing"},
               {square - 1, two + ": the prior is −g²/2"},
               {gain / t / t - 0.5, two + ": t = scale·g, so scale² belongs to it"},
               {gain * first - 0.5, two + ": the evidence has ρ², not ρ"}},
              1e-4);
      const std::string is = three + ": ";
      compare(three, answer.cubic + 1, cubic + 1,
              {{1, is + "the mixed term of the square is missing: 2·ρ₁·ρ₂"},
               {0.5 * right + 1, is + "the mixed term occurs twice in a square"},
               {2 * right + 1, is + "ρ₂ is half the second derivative"},
               {right / scale + 1, is + "scale³ belongs to it"},
               {square * first * (t - 1) + 1, is + "1 − 2a at a = 1/T is (T − 2)/T"}},
              1e-4);
    }
}
