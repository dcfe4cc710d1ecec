#include "analysis/closest_pair.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/finite.h"
#include "kernels/row_distance.h"

namespace posenc {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kLeafRows = 16;

bool before(std::size_t i, std::size_t j, std::size_t k, std::size_t l) { return i != k ? i < k : j < l; }

// Rows in an order in which neighbours lie close, halved again and again, with a box round every part.
class Boxes {
 public:
  Boxes(const double* table, std::size_t rows, std::size_t columns)
      : count_(rows), given_(columns), width_(padded_width(columns)), source_(table), order_(rows) {
    for (std::size_t t = 0; t < rows; ++t) order_[t] = t;
    // Rows near in index are kept together where that makes their groups tight; else rows near in space are.
    if (spread_of_groups() > 0.75) arrange(0, rows);
    data_.assign(rows * width_, 0.0);
    for (std::size_t t = 0; t < rows; ++t) {
      const double* row = table + order_[t] * columns;
      std::copy(row, row + columns, data_.begin() + static_cast<std::ptrdiff_t>(t * width_));
    }
    build(0, rows);
  }

  struct Node {
    std::size_t begin, end;           // rows in order
    std::size_t first;                // the smallest index among them
    std::size_t left = 0, right = 0;  // of the parts; 0: a leaf
  };

  const Node& node(std::size_t n) const { return nodes_[n]; }
  bool leaf(std::size_t n) const { return nodes_[n].right == 0; }
  std::size_t index(std::size_t t) const { return order_[t]; }
  // Squares of distances times `scale`.
  double distance(std::size_t s, std::size_t t, double limit, double scale) const {
    return squared_distance(data_.data() + s * width_, data_.data() + t * width_, width_, limit, scale);
  }
  double gap(std::size_t a, std::size_t b, double limit, double scale) const {
    const double* x = bounds_.data() + a * 2 * width_;
    const double* y = bounds_.data() + b * 2 * width_;
    return squared_gap(x, x + width_, y, y + width_, width_, limit, scale);
  }

 private:
  // The variance within runs of rows as they come, as a share of all variance.
  double spread_of_groups() const {
    double within = 0, all = 0;
    std::vector<double> sum(given_), square(given_), total(given_), total_square(given_);
    for (std::size_t from = 0; from < count_; from += kLeafRows) {
      const std::size_t end = std::min(from + kLeafRows, count_);
      std::fill(sum.begin(), sum.end(), 0.0);
      for (std::size_t t = from; t < end; ++t) {
        for (std::size_t c = 0; c < given_; ++c) sum[c] += source_[t * given_ + c];
      }
      for (std::size_t c = 0; c < given_; ++c) {
        const double mean = sum[c] / static_cast<double>(end - from);
        for (std::size_t t = from; t < end; ++t) {
          const double gap = source_[t * given_ + c] - mean, from_first = source_[t * given_ + c] - source_[c];
          within += gap * gap;
          total[c] += from_first;
          total_square[c] += from_first * from_first;
        }
      }
    }
    for (std::size_t c = 0; c < given_; ++c) all += total_square[c] - total[c] * total[c] / static_cast<double>(count_);
    return all > 0 ? within / all : 0;
  }

  double apart(std::size_t s, std::size_t t) const {
    const double* a = source_ + s * given_;
    const double* b = source_ + t * given_;
    double sum = 0;
    for (std::size_t c = 0; c < given_; ++c) sum += (a[c] - b[c]) * (a[c] - b[c]);
    return sum;
  }

  // Sorts rows into halves along the line between two that lie far apart, then each half likewise.
  void arrange(std::size_t begin, std::size_t end) {
    if (end - begin <= kLeafRows) return;
    std::size_t ends[2] = {order_[begin], order_[begin]};
    for (int side = 0; side < 2; ++side) {
      double farthest = -1;
      const std::size_t from = ends[1 - side];
      for (std::size_t t = begin; t < end; ++t) {
        const double distance = apart(from, order_[t]);
        if (farthest < distance) farthest = distance, ends[side] = order_[t];
      }
    }
    const double* a = source_ + ends[0] * given_;
    const double* b = source_ + ends[1] * given_;
    if (along_.empty()) along_.resize(count_);
    for (std::size_t t = begin; t < end; ++t) {
      const double* row = source_ + order_[t] * given_;
      double sum = 0;
      for (std::size_t c = 0; c < given_; ++c) sum += (b[c] - a[c]) * row[c];
      along_[order_[t]] = sum;
    }
    const std::size_t middle = begin + (end - begin) / 2;
    const auto at = [this](std::size_t t) { return order_.begin() + static_cast<std::ptrdiff_t>(t); };
    std::nth_element(at(begin), at(middle), at(end), [this](std::size_t s, std::size_t t) {
      return along_[s] != along_[t] ? along_[s] < along_[t] : s < t;
    });
    arrange(begin, middle);
    arrange(middle, end);
  }

  std::size_t build(std::size_t begin, std::size_t end) {
    const std::size_t n = nodes_.size();
    nodes_.push_back({begin, end, order_[begin]});
    bounds_.resize((n + 1) * 2 * width_);
    if (end - begin > kLeafRows) {
      const std::size_t middle = begin + (end - begin) / 2;
      const std::size_t left = build(begin, middle), right = build(middle, end);
      nodes_[n].left = left, nodes_[n].right = right;
      nodes_[n].first = std::min(nodes_[left].first, nodes_[right].first);
      for (std::size_t c = 0; c < width_; ++c) {
        low(n)[c] = std::min(low(left)[c], low(right)[c]);
        high(n)[c] = std::max(high(left)[c], high(right)[c]);
      }
      return n;
    }
    const double* rows = data_.data();
    for (std::size_t c = 0; c < width_; ++c) low(n)[c] = high(n)[c] = rows[begin * width_ + c];
    for (std::size_t t = begin; t < end; ++t) {
      nodes_[n].first = std::min(nodes_[n].first, order_[t]);
      for (std::size_t c = 0; c < width_; ++c) {
        const double x = rows[t * width_ + c];
        if (x < low(n)[c]) low(n)[c] = x;
        if (high(n)[c] < x) high(n)[c] = x;
      }
    }
    return n;
  }

  double* low(std::size_t n) { return bounds_.data() + n * 2 * width_; }
  double* high(std::size_t n) { return low(n) + width_; }

  std::size_t count_, given_, width_;
  const double* source_;
  std::vector<std::size_t> order_;
  std::vector<double> data_, bounds_, along_;
  std::vector<Node> nodes_;
};

// Walks all pairs of rows but those that `prune(a, b)` leaves out, a pair of nodes at a time, near ones first.
template <class Prune, class Visit>
void walk(const Boxes& boxes, const Prune& prune, const Visit& visit) {
  struct Task {
    std::size_t a, b;
  };
  std::vector<Task> tasks = {{0, 0}};
  while (!tasks.empty()) {
    const auto [a, b] = tasks.back();
    tasks.pop_back();
    if (prune(a, b)) continue;
    const Boxes::Node& x = boxes.node(a);
    const Boxes::Node& y = boxes.node(b);
    if (boxes.leaf(a) && boxes.leaf(b)) {
      for (std::size_t s = x.begin; s < x.end; ++s) {
        for (std::size_t t = a == b ? s + 1 : y.begin; t < y.end; ++t) visit(s, t);
      }
    } else if (a == b) {
      tasks.insert(tasks.end(), {{x.left, x.right}, {x.right, x.right}, {x.left, x.left}});
    } else if (boxes.leaf(b) || (!boxes.leaf(a) && x.end - x.begin >= y.end - y.begin)) {
      tasks.insert(tasks.end(), {{x.left, b}, {x.right, b}});
    } else {
      tasks.insert(tasks.end(), {{a, y.right}, {a, y.left}});
    }
  }
}

Status check(const double* table, std::size_t rows, std::size_t columns, Words subject) {
  if (rows < 2) {
    return refuse(Code::kShapeMismatch, subject, "table", "of at least 2 rows", to_text(static_cast<double>(rows)));
  }
  return check_finite(table, rows * columns, subject, "table");
}

}  // namespace

Status closest_pair(const double* table, std::size_t rows, std::size_t columns, Pair& pair) {
  if (Status status = check(table, rows, columns, "closestPair"); !status.ok()) return status;
  const Boxes boxes(table, rows, columns);
  double best = kInfinity, scale = 1;
  const auto prune = [&](std::size_t a, std::size_t b) {
    const double gap = boxes.gap(a, b, best, scale);
    if (gap != best) return gap > best;
    // As close at best: only a pair of smaller indices would count.
    const std::size_t first = boxes.node(a).first, second = boxes.node(b).first;
    return a == b ? !before(first, first + 1, pair.i, pair.j)
                  : !before(std::min(first, second), std::max(first, second), pair.i, pair.j);
  };
  const auto visit = [&](std::size_t s, std::size_t t) {
    const double distance = boxes.distance(s, t, best, scale);
    if (distance > best) return;
    const std::size_t i = std::min(boxes.index(s), boxes.index(t)), j = std::max(boxes.index(s), boxes.index(t));
    if (distance == best && !before(i, j, pair.i, pair.j)) return;
    best = distance;
    pair = {i, j, 0};
  };
  const auto search = [&](double by) {
    scale = by;
    best = kInfinity;
    pair = {0, 0, kInfinity};
    walk(boxes, prune, visit);
  };
  search(1);
  // Equal rows are 0 apart however they are scaled.
  const auto equal = [&] {
    return std::equal(table + pair.i * columns, table + (pair.i + 1) * columns, table + pair.j * columns);
  };
  if (!(best < kInfinity)) search(kLower);
  if (best < kLeastSquare && scale == 1 && !equal()) search(kRaise);
  if (!(best < kInfinity)) {
    return refuse(Code::kOutOfRange, "closestPair", "table", "of rows whose distances float64 holds", to_text(best));
  }
  pair.distance = std::sqrt(best) / scale;
  return ok();
}

Status near_pairs(const double* table, std::size_t rows, std::size_t columns, double tolerance, std::size_t limit,
                  double& total, std::vector<Pair>& pairs) {
  static constexpr char kSubject[] = "collisions";
  if (Status status = check(table, rows, columns, kSubject); !status.ok()) return status;
  if (!(tolerance - tolerance == 0)) {
    return refuse(tolerance != tolerance ? Code::kNotANumber : Code::kNotFinite, kSubject, "tolerance",
                  "a number of at least 0", to_text(tolerance));
  }
  if (tolerance < 0) {
    return refuse(Code::kOutOfRange, kSubject, "tolerance", "a number of at least 0", to_text(tolerance));
  }
  const Boxes boxes(table, rows, columns);
  total = 0;
  pairs.clear();
  const auto later = [](const Pair& a, const Pair& b) { return before(a.i, a.j, b.i, b.j); };  // a heap, largest on top
  walk(
      boxes,
      [&](std::size_t a, std::size_t b) {
        const auto gap = [&](double scale) { return boxes.gap(a, b, kInfinity, scale); };
        return root_of(gap(1), gap) > tolerance;
      },
      [&](std::size_t s, std::size_t t) {
        const auto apart = [&](double scale) { return boxes.distance(s, t, kInfinity, scale); };
        const double distance = root_of(apart(1), apart);
        if (distance > tolerance) return;
        total += 1;
        const std::size_t i = std::min(boxes.index(s), boxes.index(t)), j = std::max(boxes.index(s), boxes.index(t));
        if (limit == 0) return;
        if (pairs.size() == limit) {
          if (!before(i, j, pairs.front().i, pairs.front().j)) return;
          std::pop_heap(pairs.begin(), pairs.end(), later);
          pairs.pop_back();
        }
        pairs.push_back({i, j, distance});
        std::push_heap(pairs.begin(), pairs.end(), later);
      });
  std::sort_heap(pairs.begin(), pairs.end(), later);
  return ok();
}

Status distances_from(const double* origin, const double* rows, std::size_t count, std::size_t columns,
                      double* distances) {
  static constexpr char kSubject[] = "closestPair";
  Status status = check_finite(origin, columns, kSubject, "table");
  if (status.ok()) status = check_finite(rows, count * columns, kSubject, "table");
  if (!status.ok()) return status;
  for (std::size_t t = 0; t < count; ++t) {
    const auto squared = [=](double scale) {
      double lanes[4] = {};
      for (std::size_t c = 0; c < columns; ++c) {
        const double gap = (rows[t * columns + c] - origin[c]) * scale;
        lanes[c % 4] += gap * gap;
      }
      return (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
    };
    distances[t] = root_of(squared(1), squared);
  }
  return ok();
}

}  // namespace posenc
