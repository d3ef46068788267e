#pragma once
// Every differentiable operation: one declaration per function, one header per family. The library
// itself includes only the families that it uses.

#include "ladon/autograd/ops/attention.h"
#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/dropout.h"
#include "ladon/autograd/ops/index.h"
#include "ladon/autograd/ops/inplace.h"
#include "ladon/autograd/ops/linalg/einsum.h"
#include "ladon/autograd/ops/linalg/linalg.h"
#include "ladon/autograd/ops/loss.h"
#include "ladon/autograd/ops/matmul.h"
#include "ladon/autograd/ops/norm.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/autograd/ops/softmax.h"
#include "ladon/core/io/print.h"
#include "ladon/core/like.h"
