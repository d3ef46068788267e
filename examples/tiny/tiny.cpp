// Multi-head attention from a Bayesian point of view, in one file:
//   one head is one random draw from a prior over weights;
//   many heads are a set of particles, which may repel each other (SVGD);
//   infinitely many heads are a Gaussian process, whose kernel is a formula.
//
//   g++ -O2 -std=c++20 tiny.cpp && ./a.out
// Read it from top to bottom; "In Ladon" names the files that do the same at full size.

#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <numbers>
#include <optional>
#include <random>
#include <valarray>
#include <vector>

// --- Matrices and random numbers. In Ladon: core/tensor.h, core/kernels, core/random.h ---
using Array = std::valarray<double>;  // +, *, sqrt, … act on each number
struct Matrix {
  int rows, columns;
  Array numbers;  ///< Row by row.

  double& operator()(int i, int j) { return numbers[i * columns + j]; }
  double operator()(int i, int j) const { return numbers[i * columns + j]; }
  Array row(int i) const { return numbers[std::slice(i * columns, columns, 1)]; }
  void set_row(int i, const Array& x) { numbers[std::slice(i * columns, columns, 1)] = x; }
};

Matrix zeros(int rows, int columns) { return {rows, columns, Array(rows * columns)}; }
Matrix operator+(const Matrix& a, const Matrix& b) {
  return {a.rows, a.columns, a.numbers + b.numbers};
}
Matrix operator*(double scale, const Matrix& a) { return {a.rows, a.columns, scale * a.numbers}; }
Matrix operator-(const Matrix& a, const Matrix& b) { return a + -1 * b; }
double squared_norm(const Matrix& a) { return (a.numbers * a.numbers).sum(); }  // Σ_ij a_ij²

Matrix product(const Matrix& a, const Matrix& b) {  // [n, k] · [k, m] → [n, m]
  Matrix c = zeros(a.rows, b.columns);
  for (int i = 0; i < a.rows; ++i)
    for (int k = 0; k < a.columns; ++k)
      for (int j = 0; j < b.columns; ++j) c(i, j) += a(i, k) * b(k, j);
  return c;
}
Matrix transposed(const Matrix& a) {  // [n, m] → [m, n]
  Matrix b = zeros(a.columns, a.rows);
  for (int i = 0; i < a.rows; ++i)
    for (int j = 0; j < a.columns; ++j) b(j, i) = a(i, j);
  return b;
}

using Generator = std::mt19937_64;
/// A draw of N(0, 1) by Box and Muller. (std::normal_distribution differs between compilers.)
double normal(Generator& rng) {
  const auto uniform = [&] { return static_cast<double>(rng() >> 11) * 0x1p-53; };  // in [0, 1)
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}
Matrix normal(int rows, int columns, double variance, Generator& rng) {
  Matrix a = zeros(rows, columns);
  for (double& number : a.numbers) number = std::sqrt(variance) * normal(rng);
  return a;
}

// --- Reverse mode. In Ladon: autograd/record.h, autograd/graph.cpp ---
// An operation computes its value and records one rule per input, which turns g = ∂loss/∂value
// into the operation's contribution to the gradient of that input.
struct Node;
using Variable = std::shared_ptr<Node>;
using Rule = std::function<Matrix(const Matrix& g)>;
using Inputs = std::vector<std::pair<Variable, Rule>>;

struct Node {
  int number;  ///< Place in the order of recording, after all of its inputs.
  Matrix value, gradient;
  Inputs inputs;  ///< Empty for weights and data.
};

Variable record(const Matrix& value, const Inputs& inputs = {}) {
  static int count = 0;
  return std::make_shared<Node>(Node{++count, value, 0 * value, inputs});
}

/// Adds ∂loss/∂x to the gradient of every x that the loss was computed from. Nodes are visited in
/// reverse order of recording: all nodes that use a node have passed on their gradients before.
void backward(const Variable& loss) {
  loss->gradient(0, 0) = 1;
  std::map<int, Node*, std::greater<>> waiting = {{loss->number, loss.get()}};
  for (; !waiting.empty(); waiting.erase(waiting.begin())) {
    const Node& node = *waiting.begin()->second;
    for (const auto& [input, rule] : node.inputs) {
      input->gradient = input->gradient + rule(node.gradient);
      waiting[input->number] = input.get();
    }
  }
}

// --- Operations. In Ladon: autograd/ops ---
Variable matmul(const Variable& a, const Variable& b) {  // [n, k] · [k, m] → [n, m]
  return record(product(a->value, b->value),
                {{a, [b](const Matrix& g) { return product(g, transposed(b->value)); }},
                 {b, [a](const Matrix& g) { return product(transposed(a->value), g); }}});
}
Variable transpose(const Variable& a) { return record(transposed(a->value), {{a, transposed}}); }
Variable operator+(const Variable& a, const Variable& b) {
  const Rule same = [](const Matrix& g) { return g; };
  return record(a->value + b->value, {{a, same}, {b, same}});
}
Variable operator*(double scale, const Variable& a) {
  return record(scale * a->value, {{a, [scale](const Matrix& g) { return scale * g; }}});
}

/// y = exp(x)/Σ exp(x) in each row, and ∂loss/∂x = y·(g − Σ g·y).
Variable softmax(const Variable& x) {
  Matrix y = x->value;
  for (int i = 0; i < y.rows; ++i) {
    const Array e = std::exp(Array(y.row(i) - y.row(i).max()));
    y.set_row(i, e / e.sum());
  }
  const Rule rule = [y](Matrix g) {
    for (int i = 0; i < y.rows; ++i)
      g.set_row(i, y.row(i) * (g.row(i) - (g.row(i) * y.row(i)).sum()));
    return g;
  };
  return record(y, {{x, rule}});
}

/// Mean of (x − target)² over all entries.
Variable mse_loss(const Variable& x, const Matrix& target) {
  const Matrix error = x->value - target;
  const double count = error.rows * error.columns;
  return record({1, 1, {squared_norm(error) / count}},
                {{x, [=](const Matrix& g) { return 2 / count * g(0, 0) * error; }}});
}

// --- Attention of H heads of width d to T tokens of width D. In Ladon: layers/attention ---
struct Head {
  Variable query, key, value, output;  ///< [d, D]
};

/// Draws heads from the prior: weights are N(0, 1/D), output weights N(0, 1/(H·d)).
std::vector<Head> random_heads(int heads, int width, int head_width, Generator& rng) {
  const auto draw = [&](int terms) { return record(normal(head_width, width, 1.0 / terms, rng)); };
  std::vector<Head> drawn;
  for (int h = 0; h < heads; ++h)
    drawn.push_back({draw(width), draw(width), draw(width), draw(heads * head_width)});
  return drawn;
}

/// ζ turns logits into weights of tokens: softmax in Transformers; identity for exact formulas.
Variable identity(const Variable& logits) { return logits; }
/// out = Σ_h ζ(Q_h·K_hᵀ/sqrt(d))·V_h·O_h
Variable attention(const Variable& x, const std::vector<Head>& heads,
                   Variable zeta(const Variable&)) {
  Variable out = record(0 * x->value);
  for (const Head& head : heads) {
    const Variable q = matmul(x, transpose(head.query));  // [T, D] · [D, d] → [T, d]
    const Variable k = matmul(x, transpose(head.key));
    const Variable v = matmul(x, transpose(head.value));
    const double scale = 1 / std::sqrt(head.query->value.rows);
    const Variable weights = zeta(scale * matmul(q, transpose(k)));  // [T, d] · [d, T] → [T, T]
    out = out + matmul(matmul(weights, v), head.output);  // [T, T] · [T, d] · [d, D] → [T, D]
  }
  return out;
}

// --- Adam. In Ladon: optim/adam.cpp ---
/// m ← β₁m + (1−β₁)g,  v ← β₂v + (1−β₂)g²,  x ← x − rate·(m/(1−β₁ᵗ)) / (sqrt(v/(1−β₂ᵗ)) + ε)
struct Adam {
  std::vector<Variable> parameters;
  double rate;
  std::map<Variable, Array> m = {}, v = {};
  int t = 0;

  void step() {
    const double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
    ++t;
    for (const Variable& x : parameters) {
      const Array& g = x->gradient.numbers;
      if (t == 1) m[x] = v[x] = 0 * g;
      m[x] = beta1 * m[x] + (1 - beta1) * g;
      v[x] = beta2 * v[x] + (1 - beta2) * g * g;
      const Array root = std::sqrt(Array(v[x] / (1 - std::pow(beta2, t))));
      x->value.numbers -= rate / (1 - std::pow(beta1, t)) * m[x] / (root + epsilon);
    }
  }
};

// --- Heads as particles. In Ladon: optim/particles/kernel.cpp, bandwidth.cpp, svgd.cpp ---
/// Stein variational gradient descent (Liu and Wang 2016): M particles θ share their gradients g
/// and repel each other. With the bandwidth h² = ½·median |θ_i − θ_j|² / ln(M + 1),
///   g_i ← (1/M)·Σ_j k_ij·(g_j − α·(θ_i − θ_j)/h²),   k_ij = exp(−|θ_i − θ_j|²/(2h²)).
/// Here M = 2, so that the median is the one distance, and k_12 = exp(−ln 3) = 1/3.
void svgd(Node& a, Node& b, double alpha) {
  const Matrix difference = a.value - b.value;
  const double h2 = 0.5 * squared_norm(difference) / std::log(3);
  const double k = std::exp(-squared_norm(difference) / (2 * h2));
  const Matrix repulsion = alpha * k / h2 * difference, old = a.gradient;
  a.gradient = 0.5 * (a.gradient + k * b.gradient - repulsion);
  b.gradient = 0.5 * (b.gradient + k * old + repulsion);
}

// --- Two heads learn. In Ladon: examples/repulsive_heads ---
/// Loss on random sequences. A token is four random numbers and a one-hot position; its target is
/// the numbers of the next token and of the previous one.
Variable random_loss(const std::vector<Head>& heads, int sequences, Generator& rng) {
  Variable sum = record(zeros(1, 1));
  for (int n = 0; n < sequences; ++n) {
    Matrix x = zeros(4, 8), target = zeros(4, 8);
    for (int t = 0; t < 4; ++t) {
      x(t, 4 + t) = 1;
      for (int c = 0; c < 4; ++c)
        x(t, c) = target((t + 3) % 4, c) = target((t + 1) % 4, 4 + c) = normal(rng);
    }
    sum = sum + mse_loss(attention(record(x), heads, softmax), target);
  }
  return 1.0 / sequences * sum;
}

/// Loss of two trained heads, and distance of their queries. Without alpha there is no SVGD.
Array train(unsigned seed, int steps, std::optional<double> alpha) {
  Generator rng(seed);
  const std::vector<Head> heads = random_heads(2, 8, 4, rng);
  const auto& [q1, k1, v1, o1] = heads[0];
  const auto& [q2, k2, v2, o2] = heads[1];
  Adam adam{{q1, k1, v1, o1, q2, k2, v2, o2}, 0.02};
  for (int step = 0; step < steps; ++step) {
    for (const Variable& x : adam.parameters) x->gradient = 0 * x->gradient;
    backward(random_loss(heads, 16, rng));
    if (alpha)
      for (const auto& [a, b] : {std::pair(q1, q2), {k1, k2}, {v1, v2}}) svgd(*a, *b, *alpha);
    adam.step();
  }
  return {random_loss(heads, 100, rng)->value(0, 0),
          std::sqrt(squared_norm(q1->value - q2->value))};
}

// --- Infinitely many heads. In Ladon: layers/infinite/attention/identity.cpp ---
// Let the weights be random, ζ the identity, and k = x·xᵀ/D [T, T]. Logits G of a head have
// covariance E[G_ai·G_bj] = k_ab·k_ij, values V have E[V_i·V_j] = k_ij. So for any number of heads,
//   E[out_a·out_b] = Σ_ij k_ab·k_ij·k_ij = k_ab·|k|²   in each channel.
// With infinitely many heads the outputs are also Gaussian: this is their kernel (NNGP).
Matrix nngp(const Matrix& x) {
  const Matrix k = 1.0 / x.columns * product(x, transposed(x));  // [T, D] · [D, T] → [T, T]
  return squared_norm(k) * k;
}

/// Excess kurtosis, 0 for a Gaussian. In Ladon: layers/infinite/finite/gaussianity.cpp
///   E out⁴/(E out²)² − 3 = 3·((1 + 2/d)²·(1 + 2ρ) − 1)/H,  ρ = |k²|²/|k|⁴.
double excess_kurtosis(const Matrix& x, int heads, int head_width) {
  const Matrix k = product(x, transposed(x));
  const double rho = squared_norm(product(k, k)) / std::pow(squared_norm(k), 2);
  return 3 * (std::pow(1 + 2.0 / head_width, 2) * (1 + 2 * rho) - 1) / heads;
}

/// One random layer's estimates of nngp(x)(0, 0), nngp(x)(0, 1), and of the excess kurtosis.
Array draw_layer(const Matrix& x, int heads, int head_width, Generator& rng) {
  const auto drawn = random_heads(heads, x.columns, head_width, rng);
  const Matrix out = attention(record(x), drawn, identity)->value;
  const Array a = out.row(0), b = out.row(1), a2 = a * a / nngp(x)(0, 0);
  return Array{(a * a).sum(), (a * b).sum(), (a2 * a2 - 3.0).sum()} / double(x.columns);
}

/// Mean and standard error of many samples. In Ladon: layers/infinite/finite/monte_carlo.cpp
std::pair<Array, Array> average(double count, const std::function<Array(int)>& sample) {
  Array sum = sample(1), squares = sum * sum;
  for (int n = 2; n <= count; ++n) {
    const Array x = sample(n);
    sum += x;
    squares += x * x;
  }
  return {sum / count, std::sqrt(Array((squares - sum * sum / count) / (count * (count - 1))))};
}

int main() {
  std::printf("Two heads learn: 8 seeds, mean ± standard error\n%18s%24s\n", "loss", "distance");
  const auto print = [](const char* name, int steps, std::optional<double> alpha) {
    const auto [mean, error] = average(8, [&](int seed) { return train(seed, steps, alpha); });
    std::printf("%-18s %6.3f ± %.3f %6.2f ± %.2f\n", name, mean[0], error[0], mean[1], error[1]);
  };
  print("untrained", 0, {});
  print("Adam", 300, {});
  print("SVGD, alpha 0", 300, 0);
  print("SVGD, alpha 0.01", 300, 0.01);
  print("SVGD, alpha 1", 300, 1);

  Generator rng(1);
  const Matrix x = normal(2, 4, 1, rng), kernel = nngp(x);
  std::printf("\n10,000 random layers           formula  mean ± standard error     z\n");
  for (int heads : {1, 2, 16}) {
    const auto [mean, error] = average(10000, [&](int) { return draw_layer(x, heads, 4, rng); });
    const Array formula = {kernel(0, 0), kernel(0, 1), excess_kurtosis(x, heads, 4)};
    const char* names[] = {"variance of token 0", "covariance with token 1", "excess kurtosis"};
    for (int i = 0; i < 3; ++i)
      std::printf("%2d heads: %-24s %7.3f  %7.3f ± %.3f  %5.1f\n", heads, names[i], formula[i],
                  mean[i], error[i], (mean[i] - formula[i]) / error[i]);
  }
}
