#pragma once
// All optimizers, samplers, schedules and particle methods, weight averages, data-parallel
// training, and training runs that can be saved.

#include "ladon/optim/adam.h"
#include "ladon/optim/clip.h"
#include "ladon/optim/optimizer.h"
#include "ladon/optim/particles/diagnostics.h"
#include "ladon/optim/particles/spos.h"
#include "ladon/optim/particles/svgd.h"
#include "ladon/optim/particles/wgd.h"
#include "ladon/optim/samplers/chains.h"
#include "ladon/optim/samplers/collect.h"
#include "ladon/optim/samplers/elliptical_slice.h"
#include "ladon/optim/samplers/hmc.h"
#include "ladon/optim/samplers/langevin.h"
#include "ladon/optim/samplers/log_density.h"
#include "ladon/optim/samplers/run.h"
#include "ladon/optim/samplers/sampler.h"
#include "ladon/optim/samplers/sghmc.h"
#include "ladon/optim/samplers/smc.h"
#include "ladon/optim/schedule.h"
#include "ladon/optim/sgd.h"
#include "ladon/optim/target.h"
