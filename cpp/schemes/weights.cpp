#include "schemes/weights.h"

#include "kernels/normal.h"

namespace posenc {

const float* Dealt::data() const {
  if (waits_) fill_normal(std::span<float>(values_), seed_, stream_, 0, std_);
  waits_ = false;
  return values_.data();
}

const float* Weights::data() const { return given_ != nullptr ? given_ : own_.data(); }

Status Weights::take(const Spec& spec, const char* param, std::initializer_list<std::size_t> shape, bool by_head,
                     std::uint64_t stream, double std) {
  const Table& table = spec.table(param);
  name = param;
  if (table.omitted) return ok();
  const int rank = static_cast<int>(shape.size());
  double count = 1;
  for (const std::size_t extent : shape) {
    count *= static_cast<double>(extent);
    shape_[rank_++] = width = extent;
  }
  if (!table.given) {
    if (count > kMaxTable) {
      return spec.refuse(Code::kTooLarge, param, "a table of at most " + to_text(kMaxTable) + " numbers",
                         to_text(count));
    }
    size = static_cast<std::size_t>(count);
    own_ = Dealt(size, spec.number("seed"), stream, std);
    return ok();
  }
  const int extra = table.rank - rank;
  bool fits = (extra == 0 || (by_head && extra == 1)) && table.size() != 0;
  std::string text;
  int axis = extra;
  for (const std::size_t extent : shape) {
    text += (text.empty() ? "" : ", ") + to_text(static_cast<double>(extent));
    fits = fits && table.shape[axis] == extent;
    ++axis;
  }
  if (!fits) {
    std::string allowed = "of shape [" + text + "]";
    if (by_head) allowed += " or [heads, " + text + "]";
    return spec.refuse(Code::kShapeMismatch, param, std::move(allowed), shape_text(table));
  }
  size = static_cast<std::size_t>(count);
  given_ = table.floats;
  heads = extra == 1 ? table.shape[0] : 0;
  rank_ = table.rank;
  for (int n = 0; n < rank_; ++n) shape_[n] = table.shape[n];
  return ok();
}

void Weights::declare(Gradients& to) const {
  if (!omitted()) to.add(name, rank_, shape_);
}

Status ByHead::take(const Spec& spec, const char* param, std::size_t heads, double fallback) {
  name = param;
  const Table& list = spec.table(param);
  const std::size_t size = list.size();
  if (list.given && size != 1 && size != heads) {
    return spec.refuse(Code::kShapeMismatch, param,
                       "one number or as many as heads, " + to_text(static_cast<double>(heads)),
                       to_text(static_cast<double>(size)));
  }
  numbers.assign(heads, fallback);
  if (list.given) numbers.assign(list.reals, list.reals + size);
  return ok();
}

}  // namespace posenc
