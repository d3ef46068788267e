#pragma once
// All optimizers, schedules and particle methods.

#include "ladon/optim/adam.h"
#include "ladon/optim/clip.h"
#include "ladon/optim/optimizer.h"
#include "ladon/optim/particles/composed_kernels.h"
#include "ladon/optim/particles/cosine_penalty.h"
#include "ladon/optim/particles/diagnostics.h"
#include "ladon/optim/particles/spos.h"
#include "ladon/optim/particles/svgd.h"
#include "ladon/optim/particles/wgd.h"
#include "ladon/optim/samplers/collect.h"
#include "ladon/optim/samplers/elliptical_slice.h"
#include "ladon/optim/samplers/log_density.h"
#include "ladon/optim/samplers/smc.h"
#include "ladon/optim/schedule.h"
#include "ladon/optim/sgd.h"
#include "ladon/optim/target.h"
