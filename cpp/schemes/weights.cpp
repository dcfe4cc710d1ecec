#include "schemes/weights.h"

#include "kernels/normal.h"

namespace posenc {

namespace {

constexpr double kMaxTable = 268435456;  // numbers of a table that was not given, 1 GB

}  // namespace

Status Weights::take(const Spec& spec, const char* name, std::initializer_list<std::size_t> shape, bool by_head,
                     std::uint64_t stream, double std) {
  const Table& table = spec.table(name);
  if (table.omitted) return ok();
  const int rank = static_cast<int>(shape.size());
  double count = 1;
  for (const std::size_t extent : shape) count *= static_cast<double>(extent);
  if (!table.given) {
    if (count > kMaxTable) {
      return spec.refuse(Code::kTooLarge, name, "a table of at most " + to_text(kMaxTable) + " numbers",
                         to_text(count));
    }
    size = static_cast<std::size_t>(count);
    own_.resize(size);
    fill_normal(std::span<float>(own_), static_cast<std::uint64_t>(spec.number("seed")), stream, 0, std);
    data = own_.data();
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
    return spec.refuse(Code::kShapeMismatch, name, std::move(allowed), shape_text(table));
  }
  size = static_cast<std::size_t>(count);
  data = table.floats;
  heads = extra == 1 ? table.shape[0] : 0;
  return ok();
}

Status take_by_head(const Spec& spec, const char* name, std::size_t heads, double fallback,
                    std::vector<double>& numbers) {
  const Table& list = spec.table(name);
  const std::size_t size = list.size();
  if (list.given && size != 1 && size != heads) {
    return spec.refuse(Code::kShapeMismatch, name,
                       "one number or as many as heads, " + to_text(static_cast<double>(heads)),
                       to_text(static_cast<double>(size)));
  }
  numbers.assign(heads, list.given ? list.reals[0] : fallback);
  if (list.given && size == heads) numbers.assign(list.reals, list.reals + heads);
  return ok();
}

}  // namespace posenc
