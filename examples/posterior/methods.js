// Methods that move the weights of whole networks: their names, and how they move.

const words = {
  hmc: "Hamiltonian Monte Carlo", sgld: "SGLD", sghmc: "SGHMC", spos: "SPOS", svgd: "SVGD", wgd: "WGD",
  svgd_auto: "SVGD, automatic α", function_svgd: "SVGD of functions", ensemble: "ensemble",
  randomized_prior: "randomized priors", prior: "prior", sgld_minibatch: "SGLD of minibatches",
  wrong_prior: "HMC, wrong prior",
};

/// For those who have not met them.
const ways = {
  hmc: "chains that move weights as masses on the posterior's slope, and accept or stay",
  sgld: "chains of gradient steps and noise", sghmc: "chains with momentum, friction and noise",
  spos: "SVGD with noise", svgd: "networks that repel each other in weights, α = 1",
  svgd_auto: "SVGD, whose repulsion is as strong as the particles need",
  wgd: "networks that climb alone and repel each other", ensemble: "networks trained alone",
  function_svgd: "networks that repel each other in their functions",
  randomized_prior: "networks trained alone, each pulled to its own start, with noisy targets",
  prior: "networks before training", sgld_minibatch: "SGLD on two of the eight targets at each step",
  wrong_prior: "Hamiltonian Monte Carlo under a prior twice as wide: a control",
};
