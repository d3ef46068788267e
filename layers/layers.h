#pragma once
// All layers.

#include "ladon/layers/activation.h"
#include "ladon/layers/attention.h"
#include "ladon/layers/containers.h"
#include "ladon/layers/conv.h"
#include "ladon/layers/dropout.h"
#include "ladon/layers/embedding.h"
#include "ladon/layers/init.h"
#include "ladon/layers/linear.h"
#include "ladon/layers/module.h"
#include "ladon/layers/nonlinearity.h"
#include "ladon/layers/norm.h"
#include "ladon/layers/pooling.h"
#include "ladon/layers/positional.h"
#include "ladon/layers/transformer.h"
#include "ladon/layers/window.h"
