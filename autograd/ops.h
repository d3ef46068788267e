#pragma once
// Every differentiable operation: one declaration a function, one header a family. The library
// itself includes the families that it uses.

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
#include "ladon/autograd/ops/recurrent/recurrent.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/rotary.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/autograd/ops/softmax.h"
#include "ladon/autograd/ops/special.h"
#include "ladon/autograd/ops/windows/convolution.h"
#include "ladon/autograd/ops/windows/pooling.h"
