#include "ladon/core/extra/data/images.h"

#include <algorithm>
#include <cmath>

#include "ladon/core/extra/io/idx.h"
#include "ladon/core/random.h"
#include "ladon/tests/core/io/damaged.h"

namespace ladon::images_test {
namespace {

using test::expect_error;
using test::expect_same;
using test::TemporaryFolder;
using test::write;
using Strings = std::vector<std::string>;

// Two images of 1 × 3 pixels, and their labels.
const std::string images =
    std::string("\0\0\x08\x03\0\0\0\2\0\0\0\1\0\0\0\3", 16) + std::string("\0\xff\x33\1\2\3", 6);
const std::string labels = std::string("\0\0\x08\1\0\0\0\2\7\1", 10);

TEST(Mnist, ReadsImagesAndLabels) {
  const TemporaryFolder folder;
  const ImageDataset data =
      read_mnist(write(folder, images, "images"), write(folder, labels, "labels"));
  expect_same(data.images,
              tensor({0, 1, 51 / 255.f, 1 / 255.f, 2 / 255.f, 3 / 255.f}, {2, 1, 3, 1}));
  expect_same(data.labels, tensor({7, 1}, i64));
  EXPECT_EQ(data.label_names, (Strings{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}));
  EXPECT_EQ(data.size(), 2);
  std::string letters = labels;
  letters.back() = 25;
  EXPECT_EQ(parse_mnist(images, "i", letters, "l").label_names.size(), 26u);
}

TEST(Mnist, NamesTheFilesThatDoNotFit) {
  const auto refuse = [](const std::string& first, const std::string& second,
                         const std::string& fragment) {
    expect_error([&] { parse_mnist(first, "the images", second, "the labels"); }, fragment);
  };
  refuse(labels, labels,
         "the images: images must be [N, height, width] with sizes above 0, got [2]");
  refuse(images, images, "the labels: labels must be [N], got [2, 1, 3]");
  refuse(images, std::string("\0\0\x08\1\0\0\0\1\7", 9),
         "the images: 2 images need as many labels, but there are 1 labels in the labels");
  refuse(images, labels.substr(0, 9), "the labels: shape [2] with 1 bytes per element needs 2");
  refuse(std::string("\0\0\x08\x03\0\0\0\0\0\0\0\1\0\0\0\3", 16),
         std::string("\0\0\x08\1\0\0\0\0", 8), "with sizes above 0, got [0, 1, 3]");
  refuse(images, std::string("\0\0\x09\1\0\0\0\2\xff\1", 10),
         "the labels: element type 9, expected 8 (unsigned bytes)");
  refuse("", labels, "the images: is not an IDX file");
}

// Of 0 to 20 bytes: zeros, the start of a file, and eights.
TEST(Mnist, ReadsNothingBehindTheBytes) {
  for (const std::string& kind : {std::string(20, '\0'), images, labels, std::string(20, '\x08')})
    for (std::size_t size = 0; size <= std::min<std::size_t>(20, kind.size()); ++size) {
      const test::AtTheEdge bytes(kind.substr(0, size)), whole(images);
      const std::string_view cut = bytes.view();
      if (kind == labels && size == labels.size()) {
        EXPECT_EQ(parse_mnist(images, "i", cut, "l").size(), 2);
        continue;
      }
      EXPECT_THROW(parse_mnist(cut, "i", labels, "l"), Error) << size;
      EXPECT_THROW(parse_mnist(whole.view(), "i", cut, "l"), Error) << size;
      EXPECT_THROW(parse_idx(cut, "i"), Error) << size;
      EXPECT_THROW(parse_cifar10(cut, "i"), Error) << size;
      EXPECT_THROW(parse_cifar100(cut, "i"), Error) << size;
    }
}

TEST(Cifar, ReadsNothingBehindTheBytes) {
  for (const std::size_t size : {3072, 3073, 3074, 6145, 6146, 6148}) {
    const test::AtTheEdge bytes(std::string(size, '\1'));
    const auto images_of = [&](auto parse) {
      try {
        return parse(bytes.view(), "file").size();
      } catch (const Error&) {
        return std::int64_t{0};
      }
    };
    EXPECT_EQ(images_of(parse_cifar10),
              size % 3073 == 0 ? static_cast<std::int64_t>(size / 3073) : 0);
    EXPECT_EQ(images_of(parse_cifar100),
              size % 3074 == 0 ? static_cast<std::int64_t>(size / 3074) : 0);
  }
}

TEST(Mnist, MutationsAreReadOrRefused) {
  const auto read = [](const std::string& path) {
    const ImageDataset data = read_mnist(path, path + ".labels");
    EXPECT_EQ(data.images.size(0), 2);
  };
  const TemporaryFolder folder;
  Generator rng(4);
  int refused = 0;
  for (int i = 0; i < 1000; ++i) {
    const bool first = i % 2 == 0;
    const std::string path = write(folder, first ? test::mutate(images, rng) : images);
    write(folder, first ? labels : test::mutate(labels, rng), "file.labels");
    try {
      read(path);
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 500);
  EXPECT_LT(refused, 1000);
}

// A CIFAR record whose byte p of plane c is 3p + c (mod 256).
std::string record(const std::string& labels_of_record) {
  std::string bytes = labels_of_record;
  for (int c = 0; c < 3; ++c)
    for (int p = 0; p < 1024; ++p) bytes += static_cast<char>(3 * p + c);
  return bytes;
}

TEST(Cifar, ReadsPlanarPixelsChannelsLast) {
  const TemporaryFolder folder;
  const ImageDataset ten = read_cifar10(write(folder, record("\3") + record(std::string(1, 0))));
  const ImageDataset hundred = read_cifar100(write(folder, record("\7\x63")));
  EXPECT_EQ(ten.images.shape(), Shape({2, 32, 32, 3}));
  expect_same(ten.labels, tensor({3, 0}, i64));
  expect_same(hundred.labels, tensor({99}, i64));
  EXPECT_EQ(ten.label_names[3], "cat");
  EXPECT_EQ(hundred.label_names.size(), 100u);
  for (const Tensor& x : {ten.images, hundred.images}) {
    const auto* value = x.data<float>();
    for (int i = 0; i < x.count(); ++i) ASSERT_EQ(value[i], float(i % 3072 % 256) / 255.f) << i;
  }
}

TEST(Cifar, NamesTheFileAndTheImage) {
  const TemporaryFolder folder;
  const auto refuse = [&](const std::string& bytes, const std::string& fragment) {
    const std::string path = write(folder, bytes);
    expect_error([&] { read_cifar10(path); }, "[read_cifar] " + path + fragment);
  };
  refuse("", ": its 0 bytes are not one or more records of 3073 bytes");
  refuse(record("\3").substr(0, 3072), ": its 3072 bytes are not");
  refuse(record("\3") + "x", ": its 3074 bytes are not");
  refuse(record("\3") + record("\x0a"),
         ": the label of image 1 is 10, but the largest allowed label is 9");
  expect_error([] { parse_cifar100(record("\1\x64"), "c"); },
               "c: the label of image 0 is 100, but the largest allowed label is 99");
}

TEST(Images, TakeARange) {
  ImageDataset data{arange(0, 24, 1, f32), arange(0, 4), {"a", "b", "c", "d"}};
  data.images = from_vector(data.images.to_vector<float>(), {4, 2, 3, 1});
  const ImageDataset two = take(data, 1, 2);
  expect_same(two.labels, tensor({1, 2}, i64));
  expect_same(two.images, tensor({6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17}, {2, 2, 3, 1}));
  EXPECT_EQ(two.label_names, data.label_names);
  for (const std::int64_t first : {-1, 4, 5})
    expect_error([&] { take(data, first, 1); }, "but the 4 images are numbered from 0");
  for (const std::int64_t count : {std::int64_t{0}, std::int64_t{4}, INT64_MAX})
    expect_error([&] { take(data, 1, count); }, "from image 1 on it must be from 1 to 3");
}

TEST(Patches, CutRowsAndColumns) {
  // 2 images of 2 × 4 pixels of 2 channels; value = 100·image + 10·pixel + channel.
  std::vector<double> values;
  for (int n = 0; n < 2; ++n)
    for (int p = 0; p < 8; ++p)
      for (int c = 0; c < 2; ++c) values.push_back(100 * n + 10 * p + c);
  const Tensor x = from_vector(values, {2, 2, 4, 2}), tokens = patches(x, 2);
  EXPECT_EQ(tokens.shape(), Shape({2, 2, 8}));
  // Pixels of a row are numbered 0 1 2 3 / 4 5 6 7: the left patch is 0 1 4 5, the right 2 3 6 7.
  EXPECT_EQ(tokens.to_vector(),
            (std::vector<double>{0,   1,   10,  11,  40,  41,  50,  51,  20,  21,  30,
                                 31,  60,  61,  70,  71,  100, 101, 110, 111, 140, 141,
                                 150, 151, 120, 121, 130, 131, 160, 161, 170, 171}));
  expect_same(patches(x, 1), from_vector(values, {2, 8, 2}));
  expect_error([&] { patches(x, 4); },
               "size 4 does not divide height and width of images [2, 2, 4, 2]");
  expect_error([&] { patches(x, 0); }, "size 0 does not divide");
  expect_error([&] { patches(tokens, 1); }, "got f64 [2, 2, 8]");
  expect_error([&] { patches({}, 1); }, "got an undefined tensor");
}

TEST(Standardization, TakesMeanAndDeviationOfTheTrainingSet) {
  Generator rng(1);
  const Tensor train = uniform({50, 3, 4, 2}, rng), other = uniform({1, 3, 4, 2}, rng);
  for (const Grouping grouping : {Grouping::all, Grouping::channel, Grouping::pixel}) {
    const Standardization standardize(train, grouping);
    const std::int64_t groups = standardize.mean.count();
    EXPECT_EQ(groups, grouping == Grouping::all ? 1 : grouping == Grouping::channel ? 2 : 24);
    const auto y = standardize(train).to_vector();
    std::vector<double> sum(groups, 0), squares(groups, 0);
    for (std::size_t i = 0; i < y.size(); ++i) {
      sum[i % groups] += y[i];
      squares[i % groups] += y[i] * y[i];
    }
    const double n = 1200.0 / double(groups);
    for (std::int64_t g = 0; g < groups; ++g) {
      EXPECT_NEAR(sum[g] / n, 0, 1e-5);
      EXPECT_NEAR(squares[g] / n, 1, 1e-5);
    }
    // Any other image is moved by the training set's numbers, not by its own.
    const auto x = other.to_vector(), z = standardize(other).to_vector();
    const auto mean = standardize.mean.to_vector(), deviation = standardize.deviation.to_vector();
    for (std::size_t i = 0; i < x.size(); ++i)
      EXPECT_NEAR(z[i], (x[i] - mean[i % groups]) / deviation[i % groups], 1e-5);
  }
}

TEST(Standardization, KeepsConstantPixelsFinite) {
  const Tensor constant = full({7, 1, 3, 2}, 0.1);
  for (const double value : Standardization(constant, Grouping::pixel)(constant).to_vector())
    EXPECT_NEAR(value, 0, 1e-7);
  const Standardization standardize(constant, Grouping::pixel);
  expect_error(
      [&] {
        standardize(zeros({1, 3, 1, 2}));
      },
      "must have the height, width and channels of the training set");
  expect_error([&] { Standardization(zeros({0, 1, 1, 1}), Grouping::all); }, "at least one");
  expect_error([&] { standardize(zeros({1, 1, 3, 2}, f64)); }, "images must be f32, got f64");
}

TEST(Cifar, ReadsRealData) {
  const auto folder = test::shared_data() / "cifar10_jpegderived";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no real data at " << folder;
  const ImageDataset train = read_cifar10(folder / "train_4000.bin");
  EXPECT_EQ(train.size(), 4000);
  EXPECT_EQ(read_cifar10(folder / "test_1000.bin").size(), 1000);
  std::vector<int> counts(10, 0);
  for (const auto label : train.labels.to_vector<std::int64_t>()) ++counts[label];
  for (const int count : counts) EXPECT_NEAR(count, 400, 80);
  // A picture's neighbours are alike: a wrong layout of planes and pixels would not be.
  const auto* x = train.images.data<float>();
  double near = 0, all = 0;
  for (std::int64_t i = 0; i + 3 < train.images.count(); ++i) {
    near += std::abs(x[i] - x[i + 3]);
    all += std::abs(x[i] - 0.5f);
  }
  EXPECT_LT(near, 0.4 * all);
}

}  // namespace
}  // namespace ladon::images_test
