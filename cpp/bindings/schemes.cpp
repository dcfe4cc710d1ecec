#include "bindings/core/schemes.h"

#include <memory>
#include <utility>

namespace posenc {

namespace {

// A cell of a list or table: 0 where `false` was given, else a header of rank, three extents and the data's address.
Table table(const Param& param, double cell) {
  if (cell == 0) return Table::none();
  const double* header = at<const double>(cell);
  Table table;
  table.given = true;
  table.rank = static_cast<int>(header[0]);
  for (int axis = 0; axis < 3; ++axis) table.shape[axis] = count(header[1 + axis]);
  if (param.kind == Kind::kList) {
    table.reals = at<const double>(header[4]);
  } else {
    table.floats = at<const float>(header[4]);
  }
  return table;
}

// Schemes made of number cells alone are kept by their cells: frequencies to 150 bits cost more than a small call.
struct Kept {
  std::vector<double> cells;
  Shared<const Scheme> scheme;
};
constexpr std::size_t kKept = 16;
std::vector<Kept> kept;
std::size_t oldest = 0;

}  // namespace

Status make(double block, Shared<const Scheme>& scheme, const Descriptor** descriptor) {
  const double* cells = at<const double>(block);
  const Descriptor& found = *catalogue()[count(cells[0])];
  if (descriptor != nullptr) *descriptor = &found;
  Spec spec(found);
  bool plain = true;
  std::vector<double> key(cells, cells + 1 + found.params.size());
  for (std::size_t i = 0; i < found.params.size(); ++i) {
    const double cell = cells[1 + i];
    if (cell != cell) {
      key[1 + i] = -0x1p1000;  // absent, and equal to itself
      continue;
    }
    const Param& param = found.params[i];
    if (param.kind == Kind::kList || param.kind == Kind::kTable) {
      plain = plain && cell == 0;
      spec.set_table(i, table(param, cell));
    } else {
      spec.set_number(i, cell);
    }
  }
  for (const Kept& entry : kept) {
    if (!plain || entry.cells != key) continue;
    scheme = entry.scheme;
    return ok();
  }
  std::unique_ptr<Scheme> made;
  if (Status status = make_scheme(spec, made); !status.ok()) return status;
  scheme = Shared<const Scheme>(std::move(made));
  if (!plain) return ok();
  if (kept.size() < kKept) {
    kept.push_back({std::move(key), scheme});
  } else {
    kept[oldest] = {std::move(key), scheme};
    oldest = (oldest + 1) % kKept;
  }
  return ok();
}

}  // namespace posenc
