// 2-D sinusoids: the table of a grid's cells, one sinusoidal code an axis.
//
//   p(y, x) = [ code(first axis), code(second axis) ],   code(t): sines and cosines of t base^(-2i/D)
//
// Each style as its reference code has it; D = d / axes columns an axis, d with combine "add".
// Conventions:
//   mae       the COLUMN (axis 1) first, then the row; each code all sines, then all cosines (He et al. 2022). Their
//             code calls the first half emb_h although it holds the column, and many copies repair it the wrong way
//             round. d divisible by 4.
//   detr      the row first; sine beside cosine; cells count from 1, or with a mask by the cells that are there;
//             normalize divides by the last count and multiplies by `scale` (Carion et al. 2020). d divisible by 4.
//   multidim  axis 0 first; sine beside cosine; D = 2 ceil(d / 2 axes), the last columns cut (Wang and Liu's axes as in
//             tatp22's package, also in 1-D and 3-D).
// Good at: images, no parameter, any size.
// Fails: offsets along a diagonal are no rotation of one code.
// Example: sinusoidal2d({ dim: 64 }) at grid(8, 8), 64 tokens
// Picture: cells="8 8"
#include "kernels/sincos.h"
#include "schemes/params.h"
#include "schemes/registry.h"

namespace posenc {

namespace {

constexpr Param kParams[] = {
    {.name = "dim",
     .kind = Kind::kInteger,
     .sentence = "Columns d of the table.",
     .min = 2,
     .max = 65536,
     .required = true,
     .shown = 64,
     .shown_min = 4,
     .shown_max = 128,
     .shown_step = 4},
    kBase,
    {.name = "style",
     .kind = Kind::kChoice,
     .sentence = "Whose order of axes and columns.",
     .fallback = 0,
     .choices = "mae|detr|multidim"},
    {.name = "axes",
     .kind = Kind::kInteger,
     .sentence = "Axes of positions.",
     .fallback = 2,
     .min = 1,
     .max = 3,
     .where = "style",
     .taken_by = "multidim",
     .shown_min = 1,
     .shown_max = 3},
    {.name = "combine",
     .kind = Kind::kChoice,
     .sentence = "Codes side by side, or each of all columns and summed.",
     .fallback = 0,
     .choices = "concat|add"},
    {.name = "normalize",
     .kind = Kind::kFlag,
     .sentence = "Divides a count by the last one and multiplies by scale.",
     .fallback = 0,
     .where = "style",
     .taken_by = "detr"},
    {.name = "scale",
     .kind = Kind::kReal,
     .sentence = "Where normalised counts end, in radians.",
     .fallback = 6.283185307179586,
     .min = 1e-6,
     .max = 1e6,
     .where = "style",
     .taken_by = "detr"},
    {.name = "eps",
     .kind = Kind::kReal,
     .sentence = "Added to the last count before dividing.",
     .fallback = 1e-6,
     .min = 0,
     .max = 1,
     .where = "style",
     .taken_by = "detr"},
    {.name = "mask",
     .kind = Kind::kTable,
     .sentence = "1 where a cell is there, 0 where it is padding; counts skip it.",
     .shape = "[height, width]",
     .where = "style",
     .taken_by = "detr",
     .flags = true},
    {.name = "grid",
     .kind = Kind::kList,
     .sentence = "Height and width to normalise by; by default those of the call's positions.",
     .min = 1,
     .max = 1e9,
     .shape = "[2]",
     .where = "style",
     .taken_by = "detr",
     .shown_min = 1,
     .shown_max = 64},
};

bool masked(const Spec& spec) { return spec.has("mask"); }
bool plain(const Spec& spec) {
  if (spec.choice("style") == 2) {
    return spec.integer("dim") % (spec.choice("combine") == 1 ? 2 : 2 * spec.integer("axes")) == 0;
  }
  return !masked(spec) && spec.number("normalize") != 1;
}
bool unmasked(const Spec& spec) { return !masked(spec); }
bool distinct(const Spec& spec) {
  const bool one_frequency = spec.integer("dim") <= (spec.choice("combine") == 1 ? 2 : 4);
  return !masked(spec) && !(spec.number("normalize") == 1 && spec.has("grid") && one_frequency);
}

constexpr Claim kClaims[] = {
    {.law = Law::kShiftInvariant,
     .when = "every sine has its cosine and nothing is normalised or masked",
     .holds = plain},
    {.law = Law::kBounded, .when = "no mask is given", .holds = unmasked},
    {.law = Law::kInjective,
     .when = "no mask is given, nor a grid by which one frequency an axis is normalised",
     .holds = distinct,
     .length = 4096},
    {.law = Law::kExtrapolates, .when = "no mask is given", .holds = unmasked},
};

class Sinusoidal2d final : public Embed {
 public:
  static Status make(const Spec& spec, std::unique_ptr<Scheme>& scheme) {
    auto made = std::make_unique<Sinusoidal2d>();
    const int dim = spec.integer("dim"), style = spec.choice("style");
    made->detr_ = style == 1;
    made->half_ = style == 0;
    const int axes = made->axes_ = style == 2 ? spec.integer("axes") : 2;
    made->add_ = spec.choice("combine") == 1;
    const int parts = made->add_ ? 1 : axes;
    if (style != 2 && dim % (2 * parts) != 0) {
      return spec.refuse(Code::kOutOfRange, "dim", "divisible by " + to_text(2 * parts), to_text(dim));
    }
    made->columns_ = static_cast<std::size_t>(dim);
    made->share_ = 2 * static_cast<std::size_t>((dim + 2 * parts - 1) / (2 * parts));
    made->frequencies_ =
        Frequencies::power_law(spec.number("base"), static_cast<std::int64_t>(made->share_), made->share_ / 2);
    if (!made->detr_) {
      scheme = std::move(made);
      return ok();
    }
    made->normalize_ = spec.flag("normalize");
    made->scale_ = spec.number("scale");
    made->eps_ = spec.number("eps");
    const Table& grid = spec.table("grid");
    if (grid.given) {
      if (grid.size() != 2) return spec.refuse(Code::kShapeMismatch, "grid", "[height, width]", shape_text(grid));
      made->extent_[0] = grid.reals[0];
      made->extent_[1] = grid.reals[1];
    }
    const Table& mask = spec.table("mask");
    if (mask.given) {
      if (mask.rank != 2 || mask.size() == 0)
        return spec.refuse(Code::kShapeMismatch, "mask", "of shape [height, width]", shape_text(mask));
      const std::size_t height = mask.shape[0], width = mask.shape[1];
      made->width_ = width;
      // Running counts down the columns and along the rows; the last ones are the totals.
      for (auto& counts : made->counts_) counts.assign(mask.size(), 0);
      for (std::size_t cell = 0; cell < mask.size(); ++cell) {
        const double there = static_cast<double>(mask.floats[cell]);
        if (there != 0 && there != 1) {
          return spec.refuse(Code::kOutOfRange, "mask", "of true and false (or 1 and 0)", to_text(there));
        }
        made->counts_[0][cell] = there + (cell >= width ? made->counts_[0][cell - width] : 0);
        made->counts_[1][cell] = there + (cell % width > 0 ? made->counts_[1][cell - 1] : 0);
      }
      made->extent_[0] = static_cast<double>(height);
      made->extent_[1] = static_cast<double>(width);
    }
    scheme = std::move(made);
    return ok();
  }

  int width() const override { return static_cast<int>(columns_); }
  int axes() const override { return axes_; }

  Status encode(const Positions& positions, double, float* out) const override { return fill(positions, out); }
  Status encode(const Positions& positions, double, double* out) const override { return fill(positions, out); }

 private:
  // DETR's counts of an axis, from 1.
  Status count(const Positions& positions, int axis, std::vector<double>& places) const {
    double last = extent_[axis];
    if (last != last) {
      last = 1;
      for (const double place : places) last = last < place + 1 ? place + 1 : last;
    }
    for (std::size_t t = 0; t < positions.count; ++t) {
      double total = last, own = places[t] + 1;
      if (!counts_[0].empty()) {
        const double row = positions.at(t, 0), column = positions.at(t, 1);
        const auto within = [](double place, double extent) {
          return place >= 0 && place < extent && place == static_cast<double>(static_cast<std::size_t>(place));
        };
        if (!within(row, extent_[0]) || !within(column, extent_[1])) {
          return refuse(Code::kOutOfRange, name(), "positions", "cells of the mask",
                        "[" + to_text(row) + ", " + to_text(column) + "]");
        }
        const auto r = static_cast<std::size_t>(row), c = static_cast<std::size_t>(column);
        const std::vector<double>& counts = counts_[axis];
        own = counts[r * width_ + c];
        total = axis == 0 ? counts[counts.size() - width_ + c] : counts[r * width_ + width_ - 1];
      }
      places[t] = own;
      if (!normalize_) continue;
      const double divisor = total + eps_;
      places[t] = divisor == 0 ? 0 : own / divisor * scale_;
    }
    return ok();
  }

  // out (T, d)
  template <class Real>
  Status fill(const Positions& positions, Real* out) const {
    if (Status status = check_positions(positions, name()); !status.ok()) return status;
    std::vector<Real> code(positions.count * share_);
    for (int n = 0; n < axes_; ++n) {
      const int axis = half_ ? axes_ - 1 - n : n;
      std::vector<double> places(positions.axis(axis), positions.axis(axis) + positions.count);
      if (detr_) {
        if (Status status = count(positions, axis, places); !status.ok()) return status;
      }
      fill_sin_cos(*frequencies_, places,
                   half_ ? SinCosTable<Real>::half(code.data(), share_, share_, PairOrder::kSinCos)
                         : SinCosTable<Real>::interleaved(code.data(), share_, share_, PairOrder::kSinCos));
      const std::size_t start = add_ ? 0 : static_cast<std::size_t>(n) * share_;
      for (std::size_t t = 0; t < positions.count; ++t) {
        for (std::size_t c = 0; c < share_ && start + c < columns_; ++c) {
          Real& to = out[t * columns_ + start + c];
          to = add_ && n > 0 ? to + code[t * share_ + c] : code[t * share_ + c];
        }
      }
    }
    return ok();
  }

  Frequencies::Pointer frequencies_;
  std::size_t columns_ = 0, share_ = 0, width_ = 0;
  int axes_ = 2;
  bool half_ = false, detr_ = false, add_ = false, normalize_ = false;
  double scale_ = 1, eps_ = 0, extent_[2] = {kNone, kNone};
  std::vector<double> counts_[2];  // of the mask, (height, width)
};

}  // namespace

constinit const Descriptor schemes::embed_sinusoidal2d = {
    .slot = Slot::kEmbed,
    .name = "sinusoidal2d",
    .title = "2-D sinusoidal",
    .summary = "Sines and cosines of each axis of a grid, side by side: images of any size, no parameter.",
    .formula = R"(p(y, x) = [\,c(x),\, c(y)\,],\quad c(t)_{i} = \sin\text{ or }\cos(t\,\mathrm{base}^{-2i/D}))",
    .reference = "He et al. 2022, Masked Autoencoders; Carion et al. 2020, DETR; Wang and Liu 2019",
    .params = kParams,
    .claims = kClaims,
    .make = Sinusoidal2d::make,
};

}  // namespace posenc
