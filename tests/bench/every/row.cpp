#include "row.h"

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"

namespace ladon::bench::every {
namespace {

double bytes_of(const Tensors& list) {
  double sum = 0;
  for (const Tensor& x : list)
    if (x.defined()) sum += double(x.count()) * double(item_size(x.dtype()));
  return sum;
}

}  // namespace

const char* to_string(Size size) {
  const char* const names[] = {"small", "medium", "large"};
  return names[int(size)];
}

std::int64_t Draw::of(std::int64_t small, std::int64_t medium, std::int64_t large) const {
  const std::int64_t numbers[] = {small, medium, large};
  return numbers[int(size_)];
}

Tensor Draw::signs(const Shape& shape) {
  return where(booleans(shape), ones(shape, dtype_), full(shape, -1, dtype_));
}

Tensor Draw::positive_definite(std::int64_t n) {
  const Tensor a = normal({n, n});
  return matmul(a, transpose(a)) * (1.0 / double(n)) + 0.5 * eye(n, dtype_);
}

void Table::add(std::string name, std::function<Tensors(Draw&)> inputs, Function apply,
                Traits traits) {
  add_made(
      std::move(name),
      [inputs, apply](Draw& d) -> Sample {
        return {inputs(d), apply};
      },
      std::move(traits));
}

void Table::add_made(std::string name, std::function<Sample(Draw&)> make, Traits traits) {
  entries_.push_back({family_, std::move(name), std::move(make), std::move(traits)});
}

std::string operation_of(const std::string& name) { return name.substr(0, name.find(',')); }

std::string Row::name() const {
  return entry->name + " / " + to_string(size) + (gradient ? " / gradient / " : " / forward / ") +
         std::string(ladon::to_string(dtype));
}

std::vector<Row> every_row() {
  std::vector<Row> rows;
  for (const Entry& entry : every_entry())
    for (const Size size : sizes)
      for (const bool gradient : {false, true})
        for (const DType dtype : {f32, f64}) {
          const Traits& t = entry.traits;
          if ((gradient && !t.gradient) || (size == Size::large && !t.large_too)) continue;
          if (dtype == f32 ? t.f32_too : t.f64_too) rows.push_back({&entry, size, gradient, dtype});
        }
  return rows;
}

Call make_call(const Row& row) {
  Draw draw(row.size, row.dtype);
  const Sample sample = row.entry->make(draw);
  Call call{.inputs = sample.inputs, .cotangents = {}, .differentiated = {}, .run = {}};
  if (!row.gradient) {
    call.run = [sample]() -> Tensors {
      const NoGrad off;
      return sample.apply(sample.inputs);
    };
    return call;
  }

  const int most = row.entry->traits.differentiated;
  Tensors by;
  for (std::size_t i = 0; i < call.inputs.size(); ++i)
    if (is_floating(call.inputs[i].dtype()) && (most == 0 || int(i) < most)) {
      by.push_back(call.inputs[i].set_requires_grad());
      call.differentiated.push_back(i);
    }
  for (const Tensor& y : sample.apply(call.inputs))
    if (y.requires_grad()) call.cotangents.push_back(cast(draw.normal(y.shape()), y.dtype()));
  call.run = [inputs = call.inputs, cotangents = call.cotangents, by, apply = sample.apply] {
    Tensors differentiable;
    for (const Tensor& y : apply(inputs))
      if (y.requires_grad()) differentiable.push_back(y);
    return grad(differentiable, by, {.cotangents = cotangents, .allow_unused = true});
  };
  return call;
}

Work work_of(const Row& row, const Call& call, const Tensors& results) {
  const Traits& traits = row.entry->traits;
  const Tensors& outputs = row.gradient ? call.cotangents : results;  // of their shapes
  Work work{0, bytes_of(call.inputs) + bytes_of(outputs)};
  if (traits.products) work.products = traits.products(call.inputs, outputs);
  if (row.gradient) {
    work.products *= 3;  // the gradients by both factors of a product are products as large
    work.bytes += bytes_of(call.cotangents) + bytes_of(results);
  }
  return work;
}

}  // namespace ladon::bench::every
