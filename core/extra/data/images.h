#pragma once
// Labelled images: readers, patches and standardization. No gradients.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ladon/core/tensor.h"

namespace ladon {

/// Images with their classes: label i is an index into label_names.
struct ImageDataset {
  Tensor images;  ///< f32 [N, height, width, channels], in [0, 1]
  Tensor labels;  ///< i64 [N]
  std::vector<std::string> label_names;

  std::int64_t size() const { return labels.size(0); }
};

/// MNIST and others in its format (Fashion-MNIST, EMNIST): IDX files of unsigned bytes, images [N,
/// height, width] and labels [N]. Classes are named "0", "1", … up to the largest label, and at
/// least up to "9".
///
/// This reader and the others throw Error, naming the file and both values, for a file that is
/// malformed, has no images, or whose parts do not match. `read_…` takes plain or gzip-compressed
/// files; `parse_…` takes their bytes, from an archive for instance, and names for errors.
ImageDataset read_mnist(const std::string& images, const std::string& labels);
ImageDataset parse_mnist(std::string_view images, const std::string& images_name,
                         std::string_view labels, const std::string& labels_name);

/// CIFAR-10's binary files: 3,073 bytes per image, the label and then 32 × 32 pixels, all red ones,
/// all green ones, all blue ones (Krizhevsky 2009).
ImageDataset read_cifar10(const std::string& path);
ImageDataset parse_cifar10(std::string_view bytes, const std::string& name);

/// CIFAR-100's binary files: 3,074 bytes per image, with a coarse and a fine label before the
/// pixels. The fine one is used; classes are named "0" to "99".
ImageDataset read_cifar100(const std::string& path);
ImageDataset parse_cifar100(std::string_view bytes, const std::string& name);

/// The images `first` to `first + count` − 1; shares storage. Throws Error if there are fewer.
ImageDataset take(const ImageDataset& data, std::int64_t first, std::int64_t count);

/// Images as sequences of square patches, each `size` × `size` × C values in that order, patch rows
/// from the top, each from the left:  [N, H, W, C] → [N, (H/size)(W/size), size·size·C], any
/// floating dtype. Throws Error unless `size` divides H and W.
Tensor patches(const Tensor& images, std::int64_t size);

/// Values that share a mean and deviation: all, those of a channel, or those of a pixel's channel.
enum class Grouping { all, channel, pixel };

/// x ↦ (x − mean)/deviation, with the mean and standard deviation of a training set. A group of
/// values that are all equal (the corners of digits) has deviation 1, so it becomes zero.
struct Standardization {
  Tensor mean, deviation;  ///< f32 [1, 1, 1, 1], [1, 1, 1, C] or [1, H, W, C]

  /// `images` f32 [N, H, W, C], N > 0.
  Standardization(const Tensor& images, Grouping grouping);
  /// f32 [M, H, W, C] → the same. Throws Error for sizes other than the training set's.
  Tensor operator()(const Tensor& images) const;
};

}  // namespace ladon
