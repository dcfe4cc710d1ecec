// Attention in float64 and its gradient: the plain way, one query at a time against all keys, each sum from its first
// term to its last. Every step forwards has its step backwards beside it. Memory grows with the tokens.
#include <cstring>
#include <limits>

#include "attention/attention.h"
#include "attention/attention_gradient.h"
#include "attention/buffer.h"
#include "attention/operands.h"
#include "attention/places.h"
#include "schemes/relate/meeting.h"
#include "simd/math.h"

namespace posenc {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kBlock = kKeyBlock;  // rows turned at once; xPos takes its powers about the middle of a block
// Queries of a head whose gradients are summed apart and then added to the others', in order: so a caller who has them
// worked out in pieces, a piece on each thread, adds up the same numbers.
constexpr std::size_t kPiece = kGradientPiece;
static_assert(kPiece <= kBlock);

double real(std::size_t n) { return static_cast<double>(n); }
bool finite(double x) { return x - x == 0; }

// Within 3 ULP: a continued fraction (Lambert 1768) where 1 - 2 / (e^2x + 1) would lose digits.
double tanh_double(double x) {
  const double a = x < 0 ? -x : x;
  if (a < 0.625) {
    double t = 19;
    for (int n = 17; n > 0; n -= 2) t = n + x * x / t;
    return x / t;
  }
  const double t = 1 - 2 / (simd::exp_double(2 * (a < 20 ? a : 20)) + 1);
  return x != x ? x : x < 0 ? -t : t;
}

double dot(const double* a, const double* b, std::size_t n) {
  double sum = 0;
  for (std::size_t c = 0; c < n; ++c) sum += a[c] * b[c];
  return sum;
}

void add(double factor, const double* x, std::size_t n, double* y) {
  for (std::size_t c = 0; c < n; ++c) y[c] += factor * x[c];
}

void clear(std::vector<Gradients>& gradients) {
  for (Gradients& scheme : gradients) {
    for (Parameter& parameter : scheme.parameters) {
      std::memset(parameter.gradient.data(), 0, parameter.gradient.size() * sizeof(double));
    }
  }
}

void add(const std::vector<Gradients>& from, std::vector<Gradients>& to) {
  for (std::size_t n = 0; n < from.size(); ++n) {
    for (std::size_t p = 0; p < from[n].parameters.size(); ++p) {
      const std::vector<double>& x = from[n].parameters[p].gradient;
      add(1, x.data(), x.size(), to[n].parameters[p].gradient.data());
    }
  }
}

bool all_finite(const double* x, std::size_t n) {
  bool all = true;
  for (std::size_t i = 0; x != nullptr && i < n; ++i) all = all && finite(x[i]);
  return all;
}

class ByRow {
 public:
  // `back` and `gradients`: null forwards.
  ByRow(const AttentionCallOf<double>& call, const Operands& operands, const AttentionGradientCall* back,
        std::vector<Gradients>* gradients)
      : call_(call), operands_(operands), back_(back), total_(gradients) {
    if (gradients != nullptr) piece_ = *gradients;
  }

  Status run() {
    if (!allocate()) {
      return refuse(Code::kOutOfMemory, "attention", "q", "small enough for the memory at hand",
                    to_text(real(tq_)) + " queries and " + to_text(real(tk_)) + " keys");
    }
    for (std::size_t b = 0; b < call_.batch; ++b) {
      places_.enter_batch(call_, b);
      for (std::size_t h = 0; h < call_.heads; ++h) {
        if (Status status = run_head(b, h); !status.ok()) return status;
      }
    }
    return ok();
  }

 private:
  const AttentionCallOf<double>& call_;
  const Operands operands_;
  const AttentionGradientCall* const back_;
  std::vector<Gradients>* const total_;
  std::vector<Gradients> piece_;

  const std::size_t d_ = call_.width, dv_ = call_.value_width, tq_ = call_.queries, tk_ = call_.keys;
  const std::size_t turns_ = call_.rotate.size(), group_ = call_.heads / call_.kv_heads;
  const int axes_ = operands_.axes;
  bool local_ = false, keys_differ_by_head_ = false, full_ = false;
  std::size_t mask_steps_[4] = {};
  Places places_;

  // Rotated rows, as each scheme of the list leaves them: (turns, T, d); of queries (turns, 1, d) where local.
  Buffer<double> turned_q_, turned_k_, dq_, dk_, raw_dk_, dv_sum_, rows_, some_positions_, query_tile_;
  Buffer<std::uint8_t> flags_;
  double *content_ = nullptr, *r_ = nullptr, *bias_ = nullptr, *rate_ = nullptr, *p_ = nullptr;  // (Tk)
  double *dp_ = nullptr, *dcontent_ = nullptr;                                                   // (Tk)
  std::uint8_t *seen_ = nullptr, *wanted_ = nullptr;                                             // (Tk)

  // The row at hand.
  std::size_t b_ = 0, h_ = 0, kv_ = 0, i_ = 0, row_ = 0;  // row_: of the (B, H, Tq) rows
  double sink_share_ = 0, dsink_ = 0;
  const double *k_ = nullptr, *v_ = nullptr;

  bool allocate() {
    const TraceOf<double>& t = call_.trace;
    full_ = t.content || t.unrotated || t.relate || t.bias || t.scores || t.masked || t.capped;
    for (const Rotate* scheme : call_.rotate) {
      local_ = local_ || scheme->local();
      keys_differ_by_head_ = keys_differ_by_head_ || scheme->heads() != 0;
    }
    for (std::size_t axis = 4, step = 1; axis-- != 0; step *= call_.mask.shape[axis]) {
      mask_steps_[axis] = call_.mask.shape[axis] == 1 ? 0 : step;
    }
    const double q = real(local_ ? 1 : tq_) * real(d_), k = real(tk_) * real(d_);
    bool fits = turned_q_.allocate(q * real(turns_)) && turned_k_.allocate(k * real(turns_));
    fits = fits && rows_.allocate(7 * real(tk_)) && flags_.allocate(2 * real(tk_) + real(kBlock));
    fits = fits && some_positions_.allocate(real(kBlock) * axes_) && query_tile_.allocate(kLanes * axes_);
    if (back_ != nullptr) {
      fits = fits && dq_.allocate(real(kPiece) * real(d_)) && dk_.allocate(k) && raw_dk_.allocate(k);
      fits = fits && dv_sum_.allocate(real(tk_) * real(dv_));
    }
    if (!fits || !places_.make(call_, axes_)) return false;
    double** const lines[] = {&content_, &r_, &bias_, &rate_, &p_, &dp_, &dcontent_};
    for (std::size_t n = 0; n < 7; ++n) *lines[n] = rows_.get() + n * tk_;
    seen_ = flags_.get(), wanted_ = seen_ + tk_;
    return true;
  }

  // ---------------------------------------------------------------- rotation

  double origin(std::size_t first, std::size_t count) const {
    double least = places_.keys[first], largest = least;
    for (std::size_t j = first; local_ && j < first + count; ++j) {
      least = places_.keys[j] < least ? places_.keys[j] : least;
      largest = largest < places_.keys[j] ? places_.keys[j] : largest;
    }
    return local_ ? least + (largest - least) * 0.5 : 0;
  }

  RotateCall turn_of(Side side, double origin) const {
    RotateCall turn;
    turn.side = side;
    turn.head = side == Side::kQuery || keys_differ_by_head_ ? scheme_head(call_, h_)
                                                             : static_cast<int>(call_.first_head / group_ + kv_);
    turn.length = places_.length;
    turn.origin = origin;
    return turn;
  }

  // Positions of tokens first .. first + rows - 1, rows <= kBlock, of the side.
  Positions positions_of(Side side, std::size_t first, std::size_t rows) const {
    const bool query = side == Side::kQuery;
    for (int a = 0; a < axes_; ++a) {
      const std::size_t axis = static_cast<std::size_t>(a);
      const double* from = query ? places_.queries + axis * tq_ : places_.keys + axis * tk_;
      std::memcpy(some_positions_.get() + axis * rows, from + first, rows * sizeof(double));
    }
    return {some_positions_.get(), rows, axes_};
  }

  // x (rows, d) -> y (rows, d) after the first scheme, the next one's `step` farther on, and so forth.
  Status turn(const RotateCall& turn, std::size_t first, std::size_t rows, const double* x, double* y,
              std::size_t step) const {
    Positions positions = positions_of(turn.side, first, rows);
    for (const Rotate* scheme : call_.rotate) {
      positions.axes = scheme->axes();
      if (Status status = scheme->apply(turn, positions, x, d_, y, d_); !status.ok()) return status;
      x = y, y += step;
    }
    return ok();
  }

  // The same backwards: y as turn() left it, dy (rows, d) its gradient, which it works in; added to dx (rows, d).
  Status turn_back(RotateCall turn, std::size_t first, std::size_t rows, const double* y, std::size_t step, double* dy,
                   double* dx) {
    Positions positions = positions_of(turn.side, first, rows);
    turn.transposed = true;
    for (std::size_t n = turns_; n-- != 0;) {
      const Rotate& scheme = *call_.rotate[n];
      positions.axes = scheme.axes();
      scheme.differentiate(turn, positions, d_, y + n * step, dy, piece_[n]);
      if (Status status = scheme.apply(turn, positions, dy, d_, dy, d_); !status.ok()) return status;
    }
    add(1, dy, rows * d_, dx);
    return ok();
  }

  std::size_t rows_from(std::size_t first, std::size_t tokens) const {
    return tokens - first < kBlock ? tokens - first : kBlock;
  }

  // All keys of a head, block after block: k (T, d) into its turned rows.
  Status turn_keys() const {
    if (turns_ == 0) return ok();
    for (std::size_t first = 0; first < tk_; first += kBlock) {
      const std::size_t rows = rows_from(first, tk_), at = first * d_;
      const RotateCall call = turn_of(Side::kKey, origin(first, rows));
      if (Status status = turn(call, first, rows, k_ + at, turned_k_.get() + at, tk_ * d_); !status.ok()) return status;
    }
    return ok();
  }

  // The same backwards: the keys' gradient, added to dk (T, d).
  Status turn_keys_back(double* dk) {
    for (std::size_t first = 0; first < tk_; first += kBlock) {
      const std::size_t rows = rows_from(first, tk_), at = first * d_;
      const RotateCall call = turn_of(Side::kKey, origin(first, rows));
      const double* turned = turns_ == 0 ? nullptr : turned_k_.get() + at;
      Status status = turn_back(call, first, rows, turned, tk_ * d_, dk_.get() + at, dk + at);
      if (!status.ok()) return status;
    }
    return ok();
  }

  // Row i of q as it meets the keys from `first` on, a block of them.
  Status turned_query(std::size_t first, std::size_t rows, const double*& y) const {
    y = call_.q + row_ * d_;
    if (turns_ == 0) return ok();
    if (local_) {
      if (Status status = turn(turn_of(Side::kQuery, origin(first, rows)), i_, 1, y, turned_q_.get(), d_);
          !status.ok()) {
        return status;
      }
      y = turned_q_.get() + (turns_ - 1) * d_;
    } else {
      y = turned_q_.get() + ((turns_ - 1) * tq_ + i_) * d_;
    }
    return ok();
  }
  const double* turned_key(std::size_t j) const {
    return turns_ == 0 ? k_ + j * d_ : turned_k_.get() + ((turns_ - 1) * tk_ + j) * d_;
  }

  Status run_head(std::size_t b, std::size_t h) {
    b_ = b, h_ = h, kv_ = h / group_;
    const std::size_t keys = (b * call_.kv_heads + kv_) * tk_;
    k_ = call_.k + keys * d_, v_ = call_.v + keys * dv_;
    Status status = turn_keys();
    for (std::size_t first = 0; first < tq_ && status.ok(); first += kPiece) {
      const std::size_t end = tq_ - first < kPiece ? tq_ : first + kPiece;
      status = back_ == nullptr ? run_rows(first, end) : run_piece(first, end);
    }
    return status;
  }

  // Queries first .. end - 1 of the head.
  Status run_rows(std::size_t first, std::size_t end) {
    const std::size_t queries = (b_ * call_.heads + h_) * tq_;
    Status status = ok();
    if (!local_ && turns_ != 0) {
      status = turn(turn_of(Side::kQuery, 0), first, end - first, call_.q + (queries + first) * d_,
                    turned_q_.get() + first * d_, tq_ * d_);
    }
    for (i_ = first; i_ < end && status.ok(); ++i_) {
      row_ = queries + i_;
      bool any = false;
      status = forwards(any);
      if (back_ != nullptr && any && status.ok()) status = backwards(first);
    }
    return status;
  }

  // The same with their gradients, which are summed apart before they are added to what was there.
  Status run_piece(std::size_t first, std::size_t end) {
    const std::size_t queries = (b_ * call_.heads + h_) * tq_, keys = (b_ * call_.kv_heads + kv_) * tk_;
    std::memset(dq_.get(), 0, (end - first) * d_ * sizeof(double));
    std::memset(dk_.get(), 0, tk_ * d_ * sizeof(double));
    std::memset(raw_dk_.get(), 0, tk_ * d_ * sizeof(double));
    std::memset(dv_sum_.get(), 0, tk_ * dv_ * sizeof(double));
    clear(piece_);
    dsink_ = 0;
    Status status = run_rows(first, end);
    for (std::size_t n = 0; n < call_.relate.size(); ++n) {  // after an error too: nothing may stay behind
      call_.relate[n]->settle(scheme_head(call_, h_), piece_[turns_ + call_.bias.size() + n]);
    }
    if (status.ok()) status = turn_keys_back(raw_dk_.get());
    if (!local_ && status.ok()) {
      const double* turned = turns_ == 0 ? nullptr : turned_q_.get() + first * d_;
      status = turn_back(turn_of(Side::kQuery, 0), first, end - first, turned, tq_ * d_, dq_.get(),
                         back_->dq + (queries + first) * d_);
    }
    if (!status.ok()) return status;
    add(1, raw_dk_.get(), tk_ * d_, back_->dk + keys * d_);
    add(1, dv_sum_.get(), tk_ * dv_, back_->dv + keys * dv_);
    if (back_->dsinks != nullptr) back_->dsinks[h_] -= dsink_;
    add(piece_, *total_);
    return ok();
  }

  // ---------------------------------------------------------------- one query

  void look() {
    QueryBlock query;
    query.first = i_, query.live = 1;
    places_.visibility.describe(query);
    std::uint8_t* lanes = wanted_ + tk_;
    const std::size_t mask = b_ * mask_steps_[0] + h_ * mask_steps_[1] + i_ * mask_steps_[2];
    for (std::size_t first = 0; first < tk_; first += kBlock) {
      KeyBlock block;
      block.first = first;
      block.count = rows_from(first, tk_);
      std::size_t from = 0, to = 0;
      places_.visibility.rows(query, block, lanes, from, to);
      for (std::size_t j = first; j < first + block.count; ++j) {
        const std::size_t at = mask + j * mask_steps_[3];
        seen_[j] = lanes[j - first] & 1;
        if (call_.mask.seen != nullptr && call_.mask.seen[at] == 0) seen_[j] = 0;
        if (call_.mask.added != nullptr && call_.mask.added[at] == -kInfinity) seen_[j] = 0;
        wanted_[j] = full_ ? 1 : seen_[j];
      }
    }
  }

  // One lane wide.
  Tile tile_of(std::size_t first, std::size_t rows) const {
    for (int n = 0; n < axes_ * kLanes; ++n) {
      query_tile_[static_cast<std::size_t>(n)] = places_.queries[static_cast<std::size_t>(n / kLanes) * tq_ + i_];
    }
    Tile tile;
    tile.head = scheme_head(call_, h_);
    tile.queries = 1, tile.keys = static_cast<int>(rows);
    tile.first_query = i_, tile.first_key = first;
    tile.query_positions = query_tile_.get();
    tile.key_positions = places_.keys + first;
    tile.key_stride = tk_;
    tile.query_axes = tile.key_axes = axes_;
    tile.unit_step = axes_ == 1 && unit_steps(query_tile_.get(), 1) && unit_steps(tile.key_positions, rows);
    tile.unit_offset = tile.key_positions[0] - query_tile_[0];
    return tile;
  }

  // Relate scheme n reads the row.
  Status meet(std::size_t n, Meeting::Reading reading, double* output = nullptr) {
    const Relate& scheme = *call_.relate[n];
    Meeting meeting;
    meeting.reading = reading;
    meeting.head = scheme_head(call_, h_);
    meeting.keys = tk_, meeting.d = d_, meeting.value_width = dv_;
    meeting.scale = call_.scale;
    meeting.query_positions = positions_of(Side::kQuery, i_, 1).data, meeting.key_positions = places_.keys;
    meeting.q = call_.q + row_ * d_, meeting.k = k_;
    meeting.content = content_, meeting.visible = seen_, meeting.wanted = wanted_;
    meeting.r = r_, meeting.weights = p_, meeting.output = output;
    if (reading == Meeting::Reading::kScoresBack || reading == Meeting::Reading::kOutputBack) {
      meeting.weight_gradient = meeting.r = dp_, meeting.content_gradient = dcontent_;
      meeting.dq = back_->dq + row_ * d_;
      meeting.dk = raw_dk_.get();
      meeting.gradients = &piece_[turns_ + call_.bias.size() + n];
    }
    if (scheme.meet(meeting)) return ok();
    return refuse(Code::kUnsupported, "attention", "relate", "schemes that say their terms in float64",
                  scheme.name()[0] ? scheme.name() : "one that does not");
  }

  template <class T>
  void write(T* matrix, const T* line) const {
    if (matrix != nullptr) std::memcpy(matrix + row_ * tk_, line, tk_ * sizeof(T));
  }

  // s (Tk): the scores; any: a key is seen.
  Status forwards(bool& any) {
    look();
    Status status = ok();
    for (std::size_t first = 0; first < tk_; first += kBlock) {
      const std::size_t rows = rows_from(first, tk_);
      const double* q = nullptr;
      if (status = turned_query(first, rows, q); !status.ok()) return status;
      for (std::size_t j = first; j < first + rows; ++j) {
        content_[j] = wanted_[j] ? dot(q, turned_key(j), d_) * call_.scale : 0;
      }
    }
    write(call_.trace.content, content_);
    if (call_.trace.unrotated != nullptr) {
      for (std::size_t j = 0; j < tk_; ++j) p_[j] = dot(call_.q + row_ * d_, k_ + j * d_, d_) * call_.scale;
      write(call_.trace.unrotated, p_);
    }

    std::memset(r_, 0, tk_ * sizeof(double));
    for (std::size_t j = 0; !call_.relate.empty() && j < tk_; ++j) content_[j] = seen_[j] ? content_[j] : 0;
    for (std::size_t n = 0; n < call_.relate.size(); ++n) {
      if (status = meet(n, Meeting::Reading::kScores); !status.ok()) return status;
    }
    write(call_.trace.relate, r_);

    std::memset(bias_, 0, tk_ * sizeof(double));
    double tile[kKeyBlock * kLanes];
    for (const Bias* scheme : call_.bias) {
      for (std::size_t first = 0; first < tk_; first += kBlock) {
        const std::size_t rows = rows_from(first, tk_);
        scheme->values(tile_of(first, rows), tile);
        for (std::size_t j = 0; j < rows; ++j) bias_[first + j] += tile[j * kLanes];
      }
    }
    const std::size_t mask = b_ * mask_steps_[0] + h_ * mask_steps_[1] + i_ * mask_steps_[2];
    for (std::size_t j = 0; call_.mask.added != nullptr && j < tk_; ++j) {
      const double added = call_.mask.added[mask + j * mask_steps_[3]];
      bias_[j] += seen_[j] || finite(added) ? added : 0;
    }
    write(call_.trace.bias, bias_);

    // p_: the scores
    double largest = -kInfinity;
    any = false;
    // What an infinite gate of a relation comes to is no fault of the pair.
    const bool refuses = operands_.inputs_finite || call_.relate.empty();
    for (std::size_t j = 0; j < tk_; ++j) {
      p_[j] = content_[j] + r_[j];
      const bool overflows = !finite(p_[j]);
      if (call_.softcap > 0) {
        const double t = tanh_double(p_[j] / call_.softcap);
        p_[j] = call_.softcap * t;
        rate_[j] = 1 - t * t;
      }
      if (seen_[j] && refuses && (overflows || !finite(p_[j] + bias_[j]))) {
        const double added = call_.mask.added == nullptr ? 0 : call_.mask.added[mask + j * mask_steps_[3]];
        if (!finite(added) || !all_finite(call_.q + row_ * d_, d_) || !all_finite(k_ + j * d_, d_)) continue;
        // Of an infinite sum the least that the biases can be.
        const double largest_number = std::numeric_limits<double>::max();
        const double biases = finite(bias_[j]) ? bias_[j] - added : largest_number - (added < 0 ? -added : added);
        const bool capped = !overflows && call_.softcap > 0;  // no large term
        const double content = capped ? p_[j] : content_[j], relation = capped ? 0 : r_[j];
        const char* const term = overflows ? largest_term(content, relation, 0, 0)
                                           : largest_term(content, relation, call_.bias.empty() ? 0 : biases, added);
        return refuse(Code::kOutOfRange, "attention", term,
                      term[0] == 'q' ? "small enough for its scores with k to stay within float64"
                                     : "small enough for the scores to stay within float64",
                      "a score that overflows at head " + to_text(real(h_)) + ", query " + to_text(real(i_)) +
                          ", key " + to_text(real(j)));
      }
    }
    write(call_.trace.capped, p_);
    for (std::size_t j = 0; j < tk_; ++j) {
      p_[j] = seen_[j] ? p_[j] + bias_[j] : -kInfinity;
      any = any || seen_[j];
      largest = largest < p_[j] ? p_[j] : largest;
    }
    write(call_.trace.scores, p_);
    for (std::size_t j = 0; call_.trace.masked != nullptr && j < tk_; ++j) {
      call_.trace.masked[row_ * tk_ + j] = seen_[j] ^ 1;
    }

    double sum = 0;
    sink_share_ = 0;
    if (call_.sinks != nullptr && any) {
      const double sink = call_.sinks[h_];
      largest = largest < sink ? sink : largest;
      sum = sink_share_ = simd::exp_double(sink - largest);
    }
    for (std::size_t j = 0; j < tk_; ++j) {
      p_[j] = seen_[j] ? simd::exp_double(p_[j] - largest) : 0;
      sum += p_[j];
    }
    for (std::size_t j = 0; any && j < tk_; ++j) p_[j] /= sum;
    sink_share_ /= any ? sum : 1;
    if (back_ != nullptr) return ok();
    write(call_.weights, p_);
    if (call_.lse != nullptr) call_.lse[row_] = any ? largest + simd::log_double(sum) : -kInfinity;
    double* out = call_.out + row_ * dv_;
    std::memset(out, 0, dv_ * sizeof(double));
    for (std::size_t j = 0; j < tk_; ++j) {
      if (seen_[j]) add(p_[j], v_ + j * dv_, dv_, out);
    }
    for (std::size_t n = 0; any && n < call_.relate.size(); ++n) {
      if (status = meet(n, Meeting::Reading::kOutput, out); !status.ok()) return status;
    }
    return ok();
  }

  // Row i of those from first_row on.
  Status backwards(std::size_t first_row) {
    // output: dp (Tk) and dv
    double* const d_out = const_cast<double*>(back_->d_out + row_ * dv_);  // meet() reads it
    double* const dv = dv_sum_.get();
    for (std::size_t j = 0; j < tk_; ++j) {
      dp_[j] = seen_[j] ? dot(d_out, v_ + j * dv_, dv_) : 0;
      if (seen_[j]) add(p_[j], d_out, dv_, dv + j * dv_);
    }
    for (std::size_t n = 0; n < call_.relate.size(); ++n) {
      if (Status status = meet(n, Meeting::Reading::kOutputBack, d_out); !status.ok()) return status;
    }
    // softmax: dp becomes the gradient of the scores
    const double mean = dot(p_, dp_, tk_);
    for (std::size_t j = 0; j < tk_; ++j) dp_[j] = seen_[j] ? p_[j] * (dp_[j] - mean) : 0;
    dsink_ += sink_share_ * mean;
    // biases
    double tile[kKeyBlock * kLanes];
    for (std::size_t n = 0; n < call_.bias.size(); ++n) {
      Gradients& to = piece_[turns_ + n];
      for (std::size_t first = 0; first < tk_ && !to.parameters.empty(); first += kBlock) {
        const std::size_t rows = rows_from(first, tk_);
        std::memset(tile, 0, sizeof tile);
        for (std::size_t j = 0; j < rows; ++j) tile[j * kLanes] = dp_[first + j];
        call_.bias[n]->differentiate(tile_of(first, rows), tile, to);
      }
    }
    // soft-cap, relations
    for (std::size_t j = 0; call_.softcap > 0 && j < tk_; ++j) dp_[j] *= seen_[j] ? rate_[j] : 0;
    std::memset(dcontent_, 0, tk_ * sizeof(double));
    for (std::size_t n = 0; n < call_.relate.size(); ++n) {
      if (Status status = meet(n, Meeting::Reading::kScoresBack); !status.ok()) return status;
    }
    // content
    double* const dq = dq_.get() + (local_ ? 0 : i_ - first_row) * d_;
    for (std::size_t first = 0; first < tk_; first += kBlock) {
      const std::size_t rows = rows_from(first, tk_);
      const double* q = nullptr;
      if (Status status = turned_query(first, rows, q); !status.ok()) return status;
      for (std::size_t j = first; j < first + rows; ++j) {
        if (!seen_[j]) continue;
        const double g = (dp_[j] + dcontent_[j]) * call_.scale;
        add(g, turned_key(j), d_, dq);
        add(g, q, d_, dk_.get() + j * d_);
      }
      if (!local_) continue;
      Status status = turn_back(turn_of(Side::kQuery, origin(first, rows)), i_, 1, turned_q_.get(), d_, dq,
                                back_->dq + row_ * d_);
      if (!status.ok()) return status;
      std::memset(dq, 0, d_ * sizeof(double));
    }
    return ok();
  }
};

}  // namespace

Status attention(const AttentionCallOf<double>& call) {
  Operands operands;
  if (Status status = check_operands(call, operands); !status.ok()) return status;
  return ByRow(call, operands, nullptr, nullptr).run();
}

Status attention_gradient(const AttentionGradientCall& call, std::vector<Gradients>& parameters) {
  const auto own = [](Status status) {
    if (status.subject == "attention") status.subject = "attentionGradient";
    return status;
  };
  Operands operands;
  if (Status status = check_operands(call, operands); !status.ok()) return own(std::move(status));
  const std::size_t out = call.batch * call.heads * call.queries * call.value_width;
  if (!call.allow_non_finite && !all_finite(call.d_out, out)) {
    std::size_t at = 0;
    while (finite(call.d_out[at])) ++at;
    return refuse(Code::kNotFinite, "attentionGradient", "dOut", "finite numbers", to_text(call.d_out[at]));
  }
  const struct {
    double* data;
    std::size_t size;
  } results[] = {{call.dq, call.batch * call.heads * call.queries * call.width},
                 {call.dk, call.batch * call.kv_heads * call.keys * call.width},
                 {call.dv, call.batch * call.kv_heads * call.keys * call.value_width},
                 {call.dsinks, call.dsinks == nullptr ? 0 : call.heads}};
  for (const auto& result : results) {
    if (result.size != 0) std::memset(result.data, 0, result.size * sizeof(double));
  }
  parameters.clear();
  for (const Scheme* scheme : call.rotate) scheme->declare(parameters.emplace_back());
  for (const Scheme* scheme : call.bias) scheme->declare(parameters.emplace_back());
  for (const Scheme* scheme : call.relate) scheme->declare(parameters.emplace_back());
  AttentionCallOf<double> forwards = call;
  forwards.out = forwards.lse = forwards.weights = nullptr, forwards.trace = {};
  if (Status status = ByRow(forwards, operands, &call, &parameters).run(); !status.ok()) return own(std::move(status));

  bool fits = true;
  for (const auto& result : results) fits = fits && all_finite(result.data, result.size);
  for (const Gradients& scheme : parameters) {
    for (const Parameter& parameter : scheme.parameters) {
      fits = fits && all_finite(parameter.gradient.data(), parameter.gradient.size());
    }
  }
  if (fits || call.allow_non_finite) return ok();
  return refuse(Code::kOutOfRange, "attentionGradient", "dOut", "small enough for its gradients to stay within float64",
                "one whose gradients overflow");
}

}  // namespace posenc
