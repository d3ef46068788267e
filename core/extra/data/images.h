#pragma once
// Labelled images: readers, patches and standardization. No gradients are recorded.

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

/// Reads MNIST, or another data set in its format (Fashion-MNIST, EMNIST): two IDX files of
/// unsigned bytes, images [N, height, width] and labels [N]. Classes are named "0", "1", … up to
/// the largest label, and at least up to "9".
///
/// All readers below throw Error, naming the file and the values found and expected, for a file
/// that is malformed or has no images, and for files that do not match each other. `read_…` takes
/// paths of plain or gzip-compressed files; `parse_…` takes the bytes of uncompressed files, for
/// instance from an archive, and names to use in errors.
ImageDataset read_mnist(const std::string& images, const std::string& labels);
ImageDataset parse_mnist(std::string_view images, const std::string& images_name,
                         std::string_view labels, const std::string& labels_name);

/// Reads a binary file of CIFAR-10: 3,073 bytes per image, the label and then the red, the green
/// and the blue values of all 32 × 32 pixels (Krizhevsky 2009).
ImageDataset read_cifar10(const std::string& path);
ImageDataset parse_cifar10(std::string_view bytes, const std::string& name);

/// Reads a binary file of CIFAR-100: 3,074 bytes per image, with a coarse and a fine label before
/// the pixels. The fine label is used; classes are named "0" to "99".
ImageDataset read_cifar100(const std::string& path);
ImageDataset parse_cifar100(std::string_view bytes, const std::string& name);

/// The images `first` to `first + count` − 1 and their labels; shares the storage of `data`. Throws
/// Error if first < 0, if count < 1, or if `data` has fewer images.
ImageDataset take(const ImageDataset& data, std::int64_t first, std::int64_t count);

/// Cuts images into sequences of square patches, ordered by rows of patches from the top, and from
/// the left within a row:  [N, H, W, C] → [N, (H/size)(W/size), size·size·C], any floating dtype.
/// The values of a patch are in the order [size, size, C]. Throws Error unless `size` divides H and
/// W.
Tensor patches(const Tensor& images, std::int64_t size);

/// Groups of values that share a mean and standard deviation. `all`: one group. `channel`: a group
/// per channel. `pixel`: a group per pixel and channel.
enum class Grouping { all, channel, pixel };

/// The function x ↦ (x − mean)/deviation, with the mean and standard deviation of a training set,
/// per group of values (Grouping). For a group whose values are all equal (a corner pixel of
/// digits) the deviation is set to 1, so its values become 0.
struct Standardization {
  Tensor mean, deviation;  ///< f32 [1, 1, 1, 1], [1, 1, 1, C] or [1, H, W, C]

  /// Computes mean and deviation of `images`, f32 [N, H, W, C] with N > 0.
  Standardization(const Tensor& images, Grouping grouping);
  /// Standardizes images:  f32 [M, H, W, C] → [M, H, W, C]. Throws Error if H, W or C differs from
  /// the size of this axis of `mean`, unless that size is 1.
  Tensor operator()(const Tensor& images) const;
};

}  // namespace ladon
