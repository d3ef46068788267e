#include "ladon/core/extra/io/dlpack.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "ladon/core/error.h"
#include "ladon/core/extra/io/memory.h"
#include "ladon/core/kernels/pointwise.h"

namespace ladon {
namespace {

using namespace dlpack;

// Checks that the layout is the one with which all libraries are compiled, if pointers have 8
// bytes.
static_assert(sizeof(void*) != 8 ||
              (sizeof(Array) == 48 && offsetof(Array, shape) == 24 && sizeof(Managed) == 64 &&
               sizeof(ManagedVersioned) == 80 && offsetof(ManagedVersioned, array) == 32));

constexpr std::int32_t processor = 1;

constexpr std::pair<DType, ElementType> types[] = {{boolean, {6, 8, 1}}, {i64, {0, 64, 1}},
                                                   {f16, {2, 16, 1}},    {bf16, {4, 16, 1}},
                                                   {f32, {2, 32, 1}},    {f64, {2, 64, 1}}};

DType dtype_of(const ElementType& type) {
  LADON_CHECK(type.lanes == 1, "from_dlpack", "elements have ", type.lanes,
              " lanes, but must have 1; make the lanes a last axis");
  for (const auto& [dtype, known] : types)
    if (known.code == type.code && known.bits == type.bits) return dtype;
  detail::fail("from_dlpack", "the element type of code ", int{type.code}, " and ", int{type.bits},
               " bits is not supported; convert it to bool, int64, float16, float32, float64 or "
               "bfloat16 first");
}

/// A tensor on the elements of the array. `release`, which may be empty, is called when the last
/// tensor on them is gone.
Tensor on_elements(const Array& array, std::function<void(void*)> release) {
  LADON_CHECK(array.device.type == processor, "from_dlpack", "the elements are on device type ",
              array.device.type, ", not in CPU memory (1); copy them to the CPU first");
  LADON_CHECK(array.rank >= 0 && array.rank <= Shape::max_rank, "from_dlpack", "the array has ",
              array.rank, " axes; a tensor has 0 to ", Shape::max_rank);
  LADON_CHECK(array.rank == 0 || array.shape != nullptr, "from_dlpack",
              "the array has no shape: its "
              "pointer to the sizes is null");
  const DType dtype = dtype_of(array.type);
  const auto list = [&](const std::int64_t* values) {
    return Shape(std::vector<std::int64_t>(values, values + array.rank));
  };
  const Shape shape = list(array.shape);
  auto* data = static_cast<std::byte*>(array.data);
  if (data) data += array.byte_offset;
  return array.strides ? from_blob(data, shape, list(array.strides), dtype, std::move(release))
                       : from_blob(data, shape, dtype, std::move(release));
}

template <class Given>
Tensor take(Given* given, bool copy) {
  const auto release = [given](void*) {
    if (given->deleter) given->deleter(given);
  };
  if (!copy) return on_elements(given->array, release);
  const Tensor x = kernels::clone(on_elements(given->array, {}));
  release(nullptr);
  return x;
}

/// The exported structure, and the arrays that it points to.
template <class Given>
struct Export {
  Given given;
  Tensor x;
  Shape shape, strides;
};

template <class Given>
Given* give(const Tensor& x) {
  LADON_CHECK(x.defined(), "to_dlpack", "the tensor is undefined; it has no elements to export");
  LADON_CHECK(!x.requires_grad(), "to_dlpack",
              "the tensor records a history, which writes by another library would invalidate; "
              "pass x.detach()");
  auto all = std::make_unique<Export<Given>>(Export<Given>{{}, x, x.shape(), x.strides()});
  all->given.context = all.get();
  all->given.deleter = [](Given* self) { delete static_cast<Export<Given>*>(self->context); };
  const auto type = std::find_if(std::begin(types), std::end(types),
                                 [&](const auto& known) { return known.first == x.dtype(); });
  all->given.array = {.data = x.strided_bytes(),
                      .device = {processor, 0},
                      .rank = x.rank(),
                      .type = type->second,
                      .shape = all->shape.begin(),
                      .strides = all->strides.begin(),
                      .byte_offset = 0};
  return &all.release()->given;
}

constexpr const char* null = "the array is a null pointer; pass the pointer that the exporter made";

}  // namespace

Tensor from_dlpack(Managed* given) {
  LADON_CHECK(given != nullptr, "from_dlpack", null);
  return take(given, false);
}

Tensor from_dlpack(ManagedVersioned* given) {
  LADON_CHECK(given != nullptr, "from_dlpack", null);
  LADON_CHECK(given->version.major == 1, "from_dlpack", "version ", given->version.major, ".",
              given->version.minor, " is not supported; the major version must be 1");
  return take(given, (given->flags & read_only) != 0);
}

Managed* to_dlpack(const Tensor& x) { return give<Managed>(x); }

ManagedVersioned* to_dlpack_versioned(const Tensor& x) {
  auto* given = give<ManagedVersioned>(x);
  given->version = {1, 0};
  return given;
}

}  // namespace ladon
