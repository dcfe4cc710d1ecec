// Learned: a table with one row a position, trained with the model.
//
//   p(t) = table[t],   0 <= t < N
//
// Gehring et al. 2017; BERT, GPT-2, ViT. Without a table, rows are normal numbers of deviation std from a seed, as
// models start.
// Conventions:
//   between     rows are joined by lines: position 0.5 is the mean of rows 0 and 1.
//   segments    segment embeddings are the same thing, with the segment in place of the position.
//   outOfRange  what a position outside the table means. error: refused. wrap: t mod N. clamp: the nearest end.
//               interpolate: where the call is longer than N, the rows are spread over its `length` (ViT at a new
//               resolution); shorter calls read the rows as they are.
//   corners     align: first and last rows stay at the first and last positions, t (N - 1) / (L - 1). half-pixel: rows
//               are the middles of cells, (t + 1/2) N / L - 1/2 held within the table (PyTorch's align_corners false).
//   grid        [h, w]: the table is that of a grid, row-major, positions have two axes, and both directions are
//               treated as above, linearly (published ViT code is bicubic: close, not equal).
//   padding     RoBERTa's rows start at padIndex + 1 and OPT's at 2: a table of 514 rows for 512 positions. Give those
//               positions; see fairseqPositions.
// Good at: fixed lengths with much data.
// Fails: there is no row beyond the last one, and none knows its neighbours.
// Either: table length? dim? grid? | length dim seed? std? grid? | grid dim seed? std?
// Example: learned({ length: 512, dim: 64 })
// Picture: dim=32 positions=48 std=0.5
#include <cmath>

#include "schemes/params.h"
#include "schemes/registry.h"
#include "schemes/weights.h"

namespace posenc {

namespace {

constexpr Param kParams[] = {
    {.name = "length",
     .kind = Kind::kInteger,
     .sentence = "Rows N; a table given has its own.",
     .fallback = kNone,
     .min = 1,
     .max = 16777216,
     .shown = 64,
     .shown_min = 8,
     .shown_max = 512,
     .shown_log = true},
    {.name = "dim",
     .kind = Kind::kInteger,
     .sentence = "Columns d; a table given has its own.",
     .fallback = kNone,
     .min = 1,
     .max = 65536,
     .shown = 64,
     .shown_min = 2,
     .shown_max = 128},
    {.name = "table",
     .kind = Kind::kTable,
     .sentence = "The rows; in their place length, dim, seed and std make some.",
     .shape = "[length, dim]"},
    seed_param("Seed of the rows where no table is given."),
    {.name = "std",
     .kind = Kind::kReal,
     .sentence = "Standard deviation of the rows where no table is given.",
     .fallback = 0.02,
     .min = 0,
     .max = 1e6,
     .shown_min = 0.01,
     .shown_max = 1,
     .shown_log = true},
    {.name = "outOfRange",
     .kind = Kind::kChoice,
     .sentence = "What a position outside the table means.",
     .fallback = 0,
     .choices = "error|wrap|clamp|interpolate"},
    {.name = "corners",
     .kind = Kind::kChoice,
     .sentence = "Where rows lie when they are spread over a longer call.",
     .fallback = 0,
     .choices = "align|half-pixel",
     .where = "outOfRange",
     .taken_by = "interpolate"},
    {.name = "grid",
     .kind = Kind::kList,
     .sentence = "Height and width of a table of a grid, for positions of two axes.",
     .min = 1,
     .max = 16777216,
     .shape = "[2]"},
};

enum OutOfRange { kError, kWrap, kClamp, kInterpolate };

bool never_ends(const Spec& spec) { return spec.choice("outOfRange") != kError; }
bool drawn_and_spread(const Spec& spec) {
  return spec.choice("outOfRange") == kInterpolate && spec.choice("corners") == 0 && !spec.has("table") &&
         !spec.has("grid") && spec.number("length") >= 2 && spec.number("dim") >= 2 && spec.number("std") > 0;
}

constexpr char kNeverEnds[] = "outOfRange is not \"error\"";
constexpr Claim kClaims[] = {
    {.law = Law::kBounded, .when = kNeverEnds, .holds = never_ends},
    {.law = Law::kInjective,
     .when = "two or more drawn rows of two or more columns are spread over the call, corners aligned",
     .holds = drawn_and_spread,
     .length = 4096},
    {.law = Law::kExtrapolates, .when = kNeverEnds, .holds = never_ends},
};

// Along one axis: the row below a position, the one above, and how far towards it.
struct Place {
  std::size_t low = 0, high = 0;
  double part = 0;
};

class Learned final : public Embed {
 public:
  static Status make(const Spec& spec, std::unique_ptr<Scheme>& scheme) {
    auto made = std::make_unique<Learned>();
    const Table& table = spec.table("table");
    const Table& grid = spec.table("grid");
    double rows = spec.number("length"), columns = spec.number("dim");
    if (grid.given) {
      if (grid.size() != 2 || grid.reals[0] != std::floor(grid.reals[0]) ||
          grid.reals[1] != std::floor(grid.reals[1])) {
        return spec.refuse(Code::kShapeMismatch, "grid", "[height, width], two whole numbers", shape_text(grid));
      }
      const double cells = grid.reals[0] * grid.reals[1];
      if (!spec.has("length")) rows = table.given ? static_cast<double>(table.shape[0]) : cells;
      if (rows != cells) {
        return spec.refuse(Code::kShapeMismatch, "grid", "of as many cells as the table has rows, " + to_text(rows),
                           to_text(grid.reals[0]) + " x " + to_text(grid.reals[1]));
      }
      made->extents_ = {static_cast<std::size_t>(grid.reals[0]), static_cast<std::size_t>(grid.reals[1])};
    }
    if (table.given) {
      const bool fits = table.rank == 2 && table.shape[0] > 0 && table.shape[1] > 0;
      if (!fits || (rows == rows && static_cast<double>(table.shape[0]) != rows) ||
          (columns == columns && static_cast<double>(table.shape[1]) != columns)) {
        const std::string first = rows == rows ? to_text(rows) : "length",
                          second = columns == columns ? to_text(columns) : "dim";
        return spec.refuse(Code::kShapeMismatch, "table", "of shape [" + first + ", " + second + "]",
                           shape_text(table));
      }
      rows = static_cast<double>(table.shape[0]);
      columns = static_cast<double>(table.shape[1]);
    } else {
      for (const char* name : {"length", "dim"}) {
        if (spec.has(name) || (name[0] == 'l' && grid.given)) continue;
        return spec.refuse(Code::kMissingOption, name, "given where no table is", "");
      }
      if (rows * columns > kMaxTable) {
        return spec.refuse(Code::kTooLarge, "length",
                           "at most " + to_text(std::floor(kMaxTable / columns)) + " for rows of " + to_text(columns),
                           to_text(rows));
      }
    }
    if (!grid.given) made->extents_ = {static_cast<std::size_t>(rows)};
    made->columns_ = static_cast<std::size_t>(columns);
    const std::initializer_list<std::size_t> shape = {static_cast<std::size_t>(rows), made->columns_};
    Status status = made->table_.take(spec, "table", shape, false, 0, spec.number("std"));
    if (!status.ok()) return status;
    made->policy_ = spec.choice("outOfRange");
    made->half_pixel_ = made->policy_ == kInterpolate && spec.choice("corners") == 1;
    scheme = std::move(made);
    return ok();
  }

  int width() const override { return static_cast<int>(columns_); }
  int axes() const override { return static_cast<int>(extents_.size()); }

  Status encode(const Positions& positions, double length, float* out) const override {
    return fill(positions, length, out);
  }
  Status encode(const Positions& positions, double length, double* out) const override {
    return fill(positions, length, out);
  }

 private:
  // The row, a real number, that a position of an axis stands for.
  double row_of(double position, double rows, double length) const {
    if (policy_ == kWrap) {
      const double row = std::fmod(position, rows);  // exact
      return row < 0 ? row + rows : row;
    }
    double row = position;
    if (policy_ == kInterpolate && length > rows) {
      row = half_pixel_ ? (position + 0.5) * rows / length - 0.5 : position * (rows - 1) / (length - 1);
    }
    return row < 0 ? 0 : rows - 1 < row ? rows - 1 : row;
  }

  // out (T, d)
  template <class Real>
  Status fill(const Positions& positions, double length, Real* out) const {
    if (Status status = check_positions(positions, name()); !status.ok()) return status;
    double lengths[2] = {0, 0};
    for (std::size_t a = 0; a < extents_.size(); ++a) {
      const double rows = static_cast<double>(extents_[a]);
      lengths[a] = extents_.size() == 1 ? length : 0;  // a length is of one axis; a grid is as large as its positions
      for (std::size_t t = 0; t < positions.count; ++t) {
        const double position = positions.at(t, static_cast<int>(a));
        lengths[a] = lengths[a] < position + 1 ? position + 1 : lengths[a];
        if (policy_ == kError && !(position >= 0 && position <= rows - 1)) {
          return refuse(Code::kOutOfRange, name(), "positions",
                        "from 0 to " + to_text(rows - 1) + ", the rows of the table (outOfRange says what else may be)",
                        to_text(position));
        }
      }
    }
    for (std::size_t t = 0; t < positions.count; ++t) {
      Place place[2];
      for (std::size_t a = 0; a < extents_.size(); ++a) {
        const double row = row_of(positions.at(t, static_cast<int>(a)), static_cast<double>(extents_[a]), lengths[a]);
        // Adding a row count may round up to it.
        place[a].low = static_cast<std::size_t>(row) % extents_[a];
        place[a].part = row - std::floor(row);
        place[a].high = place[a].part == 0 ? place[a].low : (place[a].low + 1) % extents_[a];
      }
      Real* const to = out + t * columns_;
      if (extents_.size() == 1) {
        blend(row_at(place[0].low), row_at(place[0].high), place[0].part, to);
        continue;
      }
      const std::size_t wide = extents_[1];
      const float* corner[4] = {row_at(place[0].low * wide + place[1].low), row_at(place[0].low * wide + place[1].high),
                                row_at(place[0].high * wide + place[1].low),
                                row_at(place[0].high * wide + place[1].high)};
      for (std::size_t c = 0; c < columns_; ++c) {
        const double top = mix(corner[0][c], corner[1][c], place[1].part);
        const double bottom = mix(corner[2][c], corner[3][c], place[1].part);
        to[c] = static_cast<Real>(top + (bottom - top) * place[0].part);
      }
    }
    return ok();
  }

  const float* row_at(std::size_t row) const { return table_.data() + row * columns_; }
  static double mix(float a, float b, double part) {
    return static_cast<double>(a) + (static_cast<double>(b) - static_cast<double>(a)) * part;
  }
  template <class Real>
  void blend(const float* a, const float* b, double part, Real* out) const {
    for (std::size_t c = 0; c < columns_; ++c) out[c] = static_cast<Real>(part == 0 ? a[c] : mix(a[c], b[c], part));
  }

  Weights table_;
  std::vector<std::size_t> extents_;  // [N] or [h, w]
  std::size_t columns_ = 0;
  int policy_ = kError;
  bool half_pixel_ = false;
};

}  // namespace

constinit const Descriptor schemes::embed_learned = {
    .slot = Slot::kEmbed,
    .name = "learned",
    .title = "Learned",
    .summary = "A trained row for each position: free in form, with nothing to say beyond its last row.",
    .formula = R"(p(t) = E_t,\quad E \in \mathbb{R}^{N \times d})",
    .reference =
        "Gehring et al. 2017, Convolutional Sequence to Sequence Learning, section 3.1; Devlin et al. 2019, BERT",
    .params = kParams,
    .claims = kClaims,
    .make = Learned::make,
};

}  // namespace posenc
