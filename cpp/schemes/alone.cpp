#include "schemes/alone.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <new>
#include <vector>

#include "core/random.h"
#include "kernels/scan.h"

namespace posenc {

namespace {

bool finite(double value) { return value - value == 0; }

bool whole(double value) {  // |value| <= 2^54
  const double magnitude = value < 0 ? -value : value;
  return magnitude >= 4503599627370496.0 || (magnitude + 4503599627370496.0) - 4503599627370496.0 == magnitude;
}

// Positions checked, and with as many axes as a scheme reads.
struct Places {
  Positions positions;
  std::vector<double> broadcast;
  double length = 0;
};

Status read_places(const char* subject, const char* argument, const Positions& given, const Scheme& scheme,
                   double length, Places& places) {
  if (Status status = scheme.check_axes(subject, argument, given.axes); !status.ok()) return status;
  const int axes = scheme.axes();
  if (Status status = check_positions(given, subject, argument); !status.ok()) return status;
  const std::size_t size = given.count * static_cast<std::size_t>(given.axes);
  double largest = -1;
  for (std::size_t t = 0; t < size; ++t) largest = largest < given.data[t] ? given.data[t] : largest;
  places.positions = given;
  places.length = length != 0 ? length : largest + 1;
  if (given.axes == axes) return ok();
  for (int axis = 0; axis < axes; ++axis) {
    places.broadcast.insert(places.broadcast.end(), given.data, given.data + given.count);
  }
  places.positions.data = places.broadcast.data();
  places.positions.axes = axes;
  return ok();
}

Status scan_input(const char* subject, const char* argument, const float* x, std::size_t size, bool allow_non_finite) {
  if (allow_non_finite || scan_numbers(x, size).finite) return ok();
  std::size_t at = 0;
  while (finite(static_cast<double>(x[at]))) ++at;
  return refuse(Code::kNotFinite, subject, argument, "finite numbers",
                to_text(static_cast<double>(x[at])) + " at element " + to_text(static_cast<double>(at)));
}

Status scan_input(const char* subject, const char* argument, const double* x, std::size_t size, bool allow_non_finite) {
  for (std::size_t i = 0; !allow_non_finite && i < size; ++i) {
    if (finite(x[i])) continue;
    return refuse(Code::kNotFinite, subject, argument, "finite numbers",
                  to_text(x[i]) + " at element " + to_text(static_cast<double>(i)));
  }
  return ok();
}

bool all_finite(const float* x, std::size_t size) { return scan_numbers(x, size).finite; }
bool all_finite(const double* x, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    if (!finite(x[i])) return false;
  }
  return true;
}

void plain_nan(float* x, std::size_t size) { make_nan_plain(x, size); }
void plain_nan(double* x, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) x[i] = x[i] == x[i] ? x[i] : kNone;
}

// Apart from the streams that tables and embeddings of the same seed are drawn from.
constexpr std::uint64_t kDropoutStream = 0x64726f70;

Status finish(const char* subject, bool allow_non_finite, std::size_t size, auto* out) {
  if (allow_non_finite) {
    plain_nan(out, size);
  } else if (!all_finite(out, size)) {
    return refuse(Code::kOutOfRange, subject, "x", "small enough for the result to stay finite", "an overflow");
  }
  return ok();
}

template <class Real>
Status encode_table(const char* subject, const Embed& scheme, const Positions& positions, double length, Real* out) {
  Places places;
  Status status = read_places(subject, "positions", positions, scheme, length, places);
  if (status.ok() && positions.count > 0) status = scheme.encode(places.positions, places.length, out);
  return status;
}

template <class Real>
Status rotate_rows(const RotateRows& call, const Real* x, Real* out) {
  static constexpr char kSubject[] = "rotate";
  const std::size_t size = call.batch * call.positions.count * call.width;
  if (Status status = scan_input(kSubject, "x", x, size, call.allow_non_finite); !status.ok()) return status;
  const std::size_t count = call.schemes.size();
  for (std::size_t n = 0; n < count; ++n) {
    const Rotate& scheme = *call.schemes[call.inverse ? count - 1 - n : n];
    if (scheme.width() != 0 && static_cast<std::size_t>(scheme.width()) != call.width) {
      return refuse(Code::kShapeMismatch, kSubject, "x", "of shape [..., T, " + to_text(scheme.width()) + "]",
                    "rows of " + to_text(static_cast<double>(call.width)));
    }
    Places places;
    Status status = read_places(kSubject, "positions", call.positions, scheme, call.length, places);
    if (status.ok() && size > 0) {
      const RotateCall turn{
          .side = call.side, .length = places.length, .inverse = call.inverse, .batch = call.batch};
      status = scheme.apply(turn, places.positions, n == 0 ? x : out, call.width, out, call.width);
    }
    if (!status.ok()) return status;
  }
  return finish(kSubject, call.allow_non_finite, size, out);
}

// Walks all pairs in tiles; `visit(tile)` for each, with lanes past the last query repeating it.
template <class Visit>
Status walk_pairs(const char* subject, const Positions& queries, const Positions& keys, bool whole_offsets, Tile& tile,
                  Visit visit) {
  const int axes = queries.axes;
  std::vector<double> lanes(static_cast<std::size_t>(axes) * kLanes);
  const bool unit_step = axes == 1 && unit_steps(queries.data, queries.count) && unit_steps(keys.data, keys.count);
  for (std::size_t i = 0; i < queries.count; i += kLanes) {
    tile.queries = queries.count - i < kLanes ? static_cast<int>(queries.count - i) : kLanes;
    tile.first_query = i;
    for (int axis = 0; axis < axes; ++axis) {
      for (int l = 0; l < kLanes; ++l) {
        const int live = l < tile.queries ? l : tile.queries - 1;
        lanes[static_cast<std::size_t>(axis * kLanes + l)] = queries.at(i + static_cast<std::size_t>(live), axis);
      }
    }
    tile.query_positions = lanes.data();
    for (std::size_t j = 0; j < keys.count; j += kKeyBlock) {
      tile.keys = keys.count - j < kKeyBlock ? static_cast<int>(keys.count - j) : kKeyBlock;
      tile.first_key = j;
      tile.key_positions = keys.data + j;
      tile.key_stride = keys.count;
      tile.query_axes = tile.key_axes = axes;
      tile.unit_step = unit_step;
      tile.unit_offset = tile.offset(0, 0);
      for (int row = 0; whole_offsets && row < tile.keys; ++row) {
        for (int l = 0; l < tile.queries; ++l) {
          for (int axis = 0; axis < axes; ++axis) {
            if (whole(tile.offset(row, l, axis))) continue;
            return refuse(Code::kNotInteger, subject, "queries and keys", "a whole number apart for this scheme",
                          to_text(tile.offset(row, l, axis)));
          }
        }
      }
      visit(tile);
    }
  }
  return ok();
}

}  // namespace

Status encode(const Embed& scheme, const Positions& positions, double length, float* out) {
  return encode_table("encode", scheme, positions, length, out);
}

Status encode(const Embed& scheme, const Positions& positions, double length, double* out) {
  return encode_table("encode", scheme, positions, length, out);
}

Status embed(const EmbedCall& call) {
  static constexpr char kSubject[] = "embed";
  const std::size_t tokens = call.positions.count, dim = static_cast<std::size_t>(call.scheme->width());
  const std::size_t size = call.batch * tokens * call.width;
  if (Status status = scan_input(kSubject, "x", call.x, size, call.allow_non_finite); !status.ok()) return status;
  if (!(call.dropout >= 0 && call.dropout < 1)) {
    return refuse(Code::kOutOfRange, kSubject, "dropout", "a number from 0 to below 1", to_text(call.dropout));
  }
  if (!call.concat && call.width != dim) {
    return refuse(Code::kShapeMismatch, kSubject, "x", "of shape [..., T, " + to_text(call.scheme->width()) + "]",
                  "rows of " + to_text(static_cast<double>(call.width)));
  }
  const std::unique_ptr<float[]> table(new (std::nothrow) float[tokens * dim + 1]);
  if (table == nullptr) {
    return refuse(Code::kOutOfMemory, kSubject, "positions", "few enough for the memory at hand",
                  to_text(static_cast<double>(tokens)));
  }
  if (Status status = encode_table(kSubject, *call.scheme, call.positions, call.length, table.get()); !status.ok()) {
    return status;
  }
  const double scale = call.scale == call.scale ? call.scale : std::sqrt(static_cast<double>(call.width));
  const std::size_t columns = call.concat ? call.width + dim : call.width;
  float* out = call.out;
  for (std::size_t b = 0; b < call.batch; ++b) {
    for (std::size_t t = 0; t < tokens; ++t, out += columns) {
      const float* x = call.x + (b * tokens + t) * call.width;
      const float* p = table.get() + t * dim;
      if (call.concat) {
        for (std::size_t c = 0; c < call.width; ++c) out[c] = static_cast<float>(static_cast<double>(x[c]) * scale);
        for (std::size_t c = 0; c < dim; ++c) {
          out[call.width + c] = static_cast<float>(static_cast<double>(p[c]) * call.alpha);
        }
      } else {
        for (std::size_t c = 0; c < dim; ++c) {
          out[c] = static_cast<float>(static_cast<double>(x[c]) * scale + static_cast<double>(p[c]) * call.alpha);
        }
      }
    }
  }
  const std::size_t result = call.batch * tokens * columns;
  if (call.dropout > 0) {
    Random random(call.seed, kDropoutStream);
    const double kept = 1 / (1 - call.dropout);
    for (std::size_t i = 0; i < result; ++i) {
      const bool dropped = random.uniform() < call.dropout;
      call.out[i] = dropped ? 0 : static_cast<float>(static_cast<double>(call.out[i]) * kept);
    }
  }
  return finish(kSubject, call.allow_non_finite, result, call.out);
}

Status rotate(const RotateRows& call, const float* x, float* out) { return rotate_rows(call, x, out); }
Status rotate(const RotateRows& call, const double* x, double* out) { return rotate_rows(call, x, out); }

Status bias_matrix(std::span<const Bias* const> schemes, const Positions& queries, const Positions& keys,
                   const double* heads, std::size_t count, float* out) {
  static constexpr char kSubject[] = "bias";
  const Bias* widest = schemes[0];
  Places query_places, key_places;
  for (const Bias* scheme : schemes) {  // every scheme has a say about the axes; the widest wins
    Places ignored;
    Status status = read_places(kSubject, "queries", queries, *scheme, 1, ignored);
    if (status.ok()) status = read_places(kSubject, "keys", keys, *scheme, 1, ignored);
    if (status.ok()) status = check_reach(*scheme, kSubject, queries, keys);
    if (!status.ok()) return status;
    widest = widest->axes() < scheme->axes() ? scheme : widest;
  }
  Status status = read_places(kSubject, "queries", queries, *widest, 1, query_places);
  if (status.ok()) status = read_places(kSubject, "keys", keys, *widest, 1, key_places);
  bool whole_offsets = false;
  for (const Bias* scheme : schemes) whole_offsets = whole_offsets || scheme->whole_offsets();
  for (std::size_t n = 0; n < count; ++n) {
    const double head = heads == nullptr ? static_cast<double>(n) : heads[n];
    for (const Bias* scheme : schemes) {
      if (scheme->heads() == 0 || (whole(head) && head >= 0 && head < scheme->heads())) continue;
      return refuse(Code::kOutOfRange, kSubject, "heads", "head indices from 0 to " + to_text(scheme->heads() - 1),
                    to_text(head));
    }
  }

  std::vector<float> sum(static_cast<std::size_t>(kLanes) * kKeyBlock), term(sum.size());
  for (std::size_t n = 0; n < count && status.ok(); ++n) {
    Tile tile;
    tile.head = static_cast<int>(heads == nullptr ? static_cast<double>(n) : heads[n]);
    float* matrix = out + n * queries.count * keys.count;
    status = walk_pairs(
        kSubject, query_places.positions, key_places.positions, whole_offsets && n == 0, tile, [&](const Tile& at) {
          for (std::size_t s = 0; s < schemes.size(); ++s) {
            schemes[s]->fill(at, s == 0 ? sum.data() : term.data());
            for (std::size_t cell = 0; s > 0 && cell < static_cast<std::size_t>(at.keys) * kLanes; ++cell) {
              sum[cell] += term[cell];
            }
          }
          for (int l = 0; l < at.queries; ++l) {
            float* row = matrix + (at.first_query + static_cast<std::size_t>(l)) * keys.count + at.first_key;
            for (int j = 0; j < at.keys; ++j) row[j] = sum[static_cast<std::size_t>(j * kLanes + l)];
          }
        });
  }
  return status;
}

namespace {

// Raw offsets are written as int32: the extremes of all pairs must fit, of either sign.
Status check_raw_offsets(const char* subject, const Positions& queries, const Positions& keys) {
  constexpr double kMost = 2147483647;
  if (queries.count == 0 || keys.count == 0) return ok();
  for (int axis = 0; axis < queries.axes; ++axis) {
    const double* q = queries.data + static_cast<std::size_t>(axis) * queries.count;
    const double* k = keys.data + static_cast<std::size_t>(axis) * keys.count;
    const auto [q_low, q_high] = std::minmax_element(q, q + queries.count);
    const auto [k_low, k_high] = std::minmax_element(k, k + keys.count);
    for (const double offset : {*k_high - *q_low, *k_low - *q_high}) {
      if (offset >= -kMost && offset <= kMost) continue;
      return refuse(Code::kOutOfRange, subject, "keys", "at most 2147483647 from every query where raw is true",
                    "an offset of " + to_text(offset));
    }
  }
  return ok();
}

}  // namespace

Status table_rows(const Scheme& scheme, Slot slot, const Positions& queries, const Positions& keys, bool raw,
                  std::int32_t* out) {
  static constexpr char kSubject[] = "relativeIndex";
  Places query_places, key_places;
  Status status = read_places(kSubject, "queries", queries, scheme, 1, query_places);
  if (status.ok()) status = read_places(kSubject, "keys", keys, scheme, 1, key_places);
  if (status.ok()) status = check_reach(scheme, kSubject, queries, keys);
  if (!status.ok()) return status;
  std::vector<std::int32_t> rows(static_cast<std::size_t>(kLanes) * kKeyBlock);
  const auto index = [&](const Tile& tile) {
    return slot == Slot::kBias ? static_cast<const Bias&>(scheme).index(tile, raw, rows.data())
                               : static_cast<const Relate&>(scheme).index(tile, raw, rows.data());
  };
  Tile probe;  // of no pair: only asks whether the scheme has a table
  if (!index(probe)) {
    return refuse(Code::kUnsupported, kSubject, "scheme", "one with a table of offsets, as shaw has", scheme.name());
  }
  if (raw) status = check_raw_offsets(kSubject, query_places.positions, key_places.positions);
  if (!status.ok()) return status;
  Tile tile;
  return walk_pairs(
      kSubject, query_places.positions, key_places.positions, scheme.whole_offsets(), tile, [&](const Tile& at) {
        index(at);
        for (int l = 0; l < at.queries; ++l) {
          std::int32_t* row = out + (at.first_query + static_cast<std::size_t>(l)) * keys.count + at.first_key;
          for (int j = 0; j < at.keys; ++j) row[j] = rows[static_cast<std::size_t>(j * kLanes + l)];
        }
      });
}

}  // namespace posenc
