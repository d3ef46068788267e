#include "peers.h"

namespace ladon::bench::every {

void add_losses(PeerTable& t) {
  t.add("cross_entropy", [](const P& x) { return at::cross_entropy_loss(x[0], x[1]); });
  t.add("cross_entropy, smoothed", [](const P& x) {
    return at::cross_entropy_loss(x[0], x[1], {}, at::Reduction::Mean, -100, 0.1);
  });
  t.add("nll_loss", [](const P& x) { return at::nll_loss(x[0], x[1]); });
  t.add("mse_loss", [](const P& x) { return at::mse_loss(x[0], x[1]); });
  t.add("l1_loss", [](const P& x) { return at::l1_loss(x[0], x[1]); });
  t.add("huber_loss", [](const P& x) { return at::huber_loss(x[0], x[1]); });
  t.add("smooth_l1_loss", [](const P& x) { return at::smooth_l1_loss(x[0], x[1]); });
  t.add("binary_cross_entropy_with_logits",
        [](const P& x) { return at::binary_cross_entropy_with_logits(x[0], x[1]); });
  t.add("kl_div", [](const P& x) {
    return at::kl_div(x[0], x[1], at::Reduction::Sum) / double(x[0].size(0));
  });
  t.add("cosine_similarity", [](const P& x) { return at::cosine_similarity(x[0], x[1], -1); });
  t.add("cosine_embedding_loss",
        [](const P& x) { return at::cosine_embedding_loss(x[0], x[1], x[2]); });

  t.add("layer_norm", [](const P& x) { return at::layer_norm(x[0], {x[0].size(-1)}, x[1], x[2]); });
  t.add("rms_norm", [](const P& x) { return at::rms_norm(x[0], {x[0].size(-1)}, x[1], 1e-5); });
  t.add("batch_norm", [](const P& x) {
    return last(at::batch_norm(first(x[0]), x[1], x[2], x[3], x[4], false, 0.1, 1e-5, false));
  });
  t.add("normalize_batch", [](const P& x) {
    return last(at::batch_norm(first(x[0]), x[1], x[2], {}, {}, true, 0.1, 1e-5, false));
  });
  t.add("group_norm",
        [](const P& x) { return last(at::group_norm(first(x[0]), 4, x[1], x[2], 1e-5, false)); });
  t.add("instance_norm", [](const P& x) {  // its own differs from this for one image
    return last(at::group_norm(first(x[0]), x[0].size(3), x[1], x[2], 1e-5, false));
  });
}

}  // namespace ladon::bench::every
