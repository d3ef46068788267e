#pragma once
// All differentiable operations; each header has one family of them. Sources of the library itself
// include only the headers that they use.

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
