#include "ladon/core/extra/data/images.h"

#include <algorithm>
#include <cmath>

#include "ladon/core/error.h"
#include "ladon/core/extra/io/gzip.h"
#include "ladon/core/extra/io/idx.h"
#include "ladon/core/kernels/binary.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/view.h"

namespace ladon {
namespace {

constexpr std::int64_t side = 32, colours = 3;  // of CIFAR images

std::vector<std::string> numbers(std::int64_t count) {
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < count; ++i) names.push_back(std::to_string(i));
  return names;
}

/// Parses records. Each consists of `label_bytes` labels (the last one is used), and then pixels in
/// planar order.
ImageDataset parse_cifar(std::string_view bytes, const std::string& name, std::int64_t label_bytes,
                         std::vector<std::string> label_names) {
  constexpr std::int64_t plane = side * side, pixels = colours * plane;
  const std::int64_t record = label_bytes + pixels, size = static_cast<std::int64_t>(bytes.size());
  LADON_CHECK(size > 0 && size % record == 0, "read_cifar", name, ": its ", size,
              " bytes are not one or more records of ", record,
              " bytes, as they must be; is it a binary file of this version of CIFAR?");
  const std::int64_t n = size / record;
  Tensor images = empty({n, side, side, colours}, f32), labels = empty({n}, i64);
  auto* value = images.mutable_data<float>();
  auto* label = labels.mutable_data<std::int64_t>();
  for (std::int64_t i = 0; i < n; ++i) {
    const auto* from = reinterpret_cast<const unsigned char*>(bytes.data()) + i * record;
    label[i] = from[label_bytes - 1];
    LADON_CHECK(label[i] < static_cast<std::int64_t>(label_names.size()), "read_cifar", name,
                ": the label of image ", i, " is ", label[i], ", but the largest allowed label is ",
                label_names.size() - 1);
    from += label_bytes;
    for (std::int64_t p = 0; p < plane; ++p)
      for (std::int64_t c = 0; c < colours; ++c) *value++ = from[c * plane + p] / 255.0f;
  }
  return {images, labels, std::move(label_names)};
}

void check_images(std::string_view operation, const Tensor& images) {
  LADON_CHECK(images.defined() && images.rank() == 4 && is_floating(images.dtype()), operation,
              "images must be floating [N, height, width, channels], got ",
              detail::kind_in_words(images));
}

}  // namespace

ImageDataset parse_mnist(std::string_view images, const std::string& images_name,
                         std::string_view labels, const std::string& labels_name) {
  // The third byte is the element type: 8, unsigned bytes.
  for (const auto& [bytes, name] : {std::pair(images, images_name), std::pair(labels, labels_name)})
    LADON_CHECK(bytes.size() < 3 || bytes[2] == 8, "read_mnist", name, ": element type ",
                int{static_cast<unsigned char>(bytes[2])}, ", expected 8 (unsigned bytes)");
  Tensor pixels = parse_idx(images, images_name, f32);
  const Tensor classes = parse_idx(labels, labels_name);
  LADON_CHECK(pixels.rank() == 3 && pixels.count() > 0, "read_mnist", images_name,
              ": images must be [N, height, width] with sizes above 0, got ", pixels.shape());
  LADON_CHECK(classes.rank() == 1, "read_mnist", labels_name, ": labels must be [N], got ",
              classes.shape());
  LADON_CHECK(pixels.size(0) == classes.size(0), "read_mnist", images_name, ": ", pixels.size(0),
              " images need as many labels, but there are ", classes.size(0), " labels in ",
              labels_name);
  auto* value = pixels.mutable_data<float>();
  for (std::int64_t i = 0; i < pixels.count(); ++i) value[i] /= 255.0f;
  const auto* label = classes.data<std::int64_t>();
  const std::int64_t largest = *std::max_element(label, label + classes.count());
  return {view::unsqueeze(pixels, 3), classes, numbers(std::max<std::int64_t>(10, largest + 1))};
}

ImageDataset read_mnist(const std::string& images, const std::string& labels) {
  return parse_mnist(read_maybe_gzip(images), images, read_maybe_gzip(labels), labels);
}

ImageDataset parse_cifar10(std::string_view bytes, const std::string& name) {
  return parse_cifar(
      bytes, name, 1,
      {"airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"});
}

ImageDataset read_cifar10(const std::string& path) {
  return parse_cifar10(read_maybe_gzip(path), path);
}

ImageDataset parse_cifar100(std::string_view bytes, const std::string& name) {
  return parse_cifar(bytes, name, 2, numbers(100));
}

ImageDataset read_cifar100(const std::string& path) {
  return parse_cifar100(read_maybe_gzip(path), path);
}

ImageDataset take(const ImageDataset& data, std::int64_t first, std::int64_t count) {
  const std::int64_t n = data.size();
  LADON_CHECK(first >= 0 && first < n, "take", "first is ", first, ", but the ", n,
              " images are numbered from 0");
  LADON_CHECK(count >= 1 && count <= n - first, "take", "count is ", count, "; from image ", first,
              " on it must be from 1 to ", n - first);
  return {view::slice(data.images, 0, first, count, 1),
          view::slice(data.labels, 0, first, count, 1), data.label_names};
}

Tensor patches(const Tensor& images, std::int64_t size) {
  check_images("patches", images);
  const Shape& s = images.shape();
  LADON_CHECK(size >= 1 && s[1] % size == 0 && s[2] % size == 0, "patches", "size ", size,
              " does not divide height and width of images ", s, "; it must divide ", s[1], " and ",
              s[2]);
  const std::int64_t rows = s[1] / size, columns = s[2] / size;
  // [N, rows, size, columns, size, C] → [N, rows, columns, size, size, C]
  const Tensor cut = view::try_reshape(kernels::contiguous(images.detach()),
                                       {s[0], rows, size, columns, size, s[3]});
  return view::try_reshape(kernels::contiguous(view::permute(cut, {0, 1, 3, 2, 4, 5})),
                           {s[0], rows * columns, size * size * s[3]});
}

Standardization::Standardization(const Tensor& images, Grouping grouping) {
  check_images("Standardization", images);
  LADON_CHECK(images.dtype() == f32, "Standardization", "images must be f32, got ", images.dtype(),
              "; convert them with cast(images, f32)");
  LADON_CHECK(images.count() > 0, "Standardization", "images of shape ", images.shape(),
              " have no pixels for a mean and a standard deviation; pass at least one image");
  const Shape& s = images.shape();
  const Shape shape = grouping == Grouping::all       ? Shape{1, 1, 1, 1}
                      : grouping == Grouping::channel ? Shape{1, 1, 1, s[3]}
                                                      : Shape{1, s[1], s[2], s[3]};
  // Element i of the row-major images belongs to group i mod `groups`.
  const std::int64_t groups = shape.count(), in_group = images.count() / groups;
  const Tensor rows = kernels::contiguous(images.detach());
  const auto* x = rows.data<float>();
  std::vector<double> sum(groups, 0), squares = sum;
  for (std::int64_t i = 0; i < rows.count(); ++i) sum[i % groups] += x[i];
  for (double& mean_of_group : sum) mean_of_group /= static_cast<double>(in_group);
  for (std::int64_t i = 0; i < rows.count(); ++i) {
    const double difference = x[i] - sum[i % groups];
    squares[i % groups] += difference * difference;
  }
  mean = empty(shape, f32);
  deviation = empty(shape, f32);
  auto *m = mean.mutable_data<float>(), *d = deviation.mutable_data<float>();
  for (std::int64_t g = 0; g < groups; ++g) {
    m[g] = static_cast<float>(sum[g]);
    d[g] = static_cast<float>(std::sqrt(squares[g] / static_cast<double>(in_group)));
    // If all values of a group are equal, they differ from the computed mean by rounding only.
    if (!(d[g] > 1e-6f * std::abs(m[g]))) d[g] = 1;
  }
}

Tensor Standardization::operator()(const Tensor& images) const {
  check_images("Standardization", images);
  for (int axis = 1; axis < 4; ++axis)
    LADON_CHECK(mean.size(axis) == 1 || mean.size(axis) == images.size(axis), "Standardization",
                "images ", images.shape(),
                " must have the height, width and channels of the training set, whose mean has "
                "shape ",
                mean.shape());
  LADON_CHECK(images.dtype() == f32, "Standardization", "images must be f32, got ", images.dtype(),
              "; convert them with cast(images, f32)");
  return kernels::binary(kernels::Binary::div, kernels::binary(kernels::Binary::sub, images, mean),
                         deviation);
}

}  // namespace ladon
