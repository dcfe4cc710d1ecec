// What a positional scheme is: data that describes it (Param, Law, Descriptor) and one of four interfaces that says
// where it acts. Two axes only: from one position or from a pair; something to add or something to apply.
//
//                          to add                              to apply
//   one position i         Embed: vector p(i)                  Rotate: operator R(i) on q and k
//   a pair (i, j)          Bias: number b(i, j) on the score   Relate: vectors a(i, j) met by q, k, v
//
// A value is checked twice at most: Spec::check() against its Param, make() against the other values.
// Index letters: h head, i query, j key, c channel, t position; T tokens, d head width.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/positions.h"
#include "core/status.h"

namespace posenc {

// ---------------------------------------------------------------- description

enum class Slot { kEmbed, kRotate, kBias, kRelate };
const char* slot_name(Slot slot);

// The module that pages load is built bare of what only documents tell (POSENC_BARE): pages have it in schemes.gen.ts.
#ifdef POSENC_BARE
inline constexpr bool kBare = true;
#else
inline constexpr bool kBare = false;
#endif

// A text for documents; empty where kBare.
class Prose {
 public:
  constexpr Prose(const char* text = "") : text_(kBare ? "" : text) {}
  constexpr operator std::string_view() const { return text_; }

 private:
  const char* text_;
};

enum class Kind { kReal, kInteger, kFlag, kChoice, kList, kTable };

// One parameter. Everything a user, a type or a slider must know about it is here and nowhere else.
struct Param {
  const char* name;                // camelCase; a dot makes a nested option object: "scaling.factor"
  Kind kind;
  Prose sentence;                  // one sentence of documentation
  double fallback = 0;             // default: number, flag 0/1, or index into choices; NaN: none
  const char* fallback_param = ""; // default is the value of this parameter ("dim" for rotaryDim)
  double min = 0, max = 0;         // inclusive range of the number, or of each entry of a list
  bool above_min = false;          // true: min itself is excluded
  const char* choices = "";        // "interleaved|half"
  const char* shape = "";          // lists and tables: "[2 clip + 1, dim] or [heads, 2 clip + 1, dim]"
  bool required = false;           // no default: missing is `missing-option`
  // Belongs to some values of the choice `where`, which stands before it: `needed_by` those where it must be given,
  // `taken_by` those where it may ("yarn|longrope"). Elsewhere it is absent, and giving it is `unknown-option`.
  const char* where = "";
  const char* needed_by = "";
  const char* taken_by = "";
  bool flags = false;              // entries of the table are 1 and 0, or true and false
  bool can_omit = false;           // `false` is legal and leaves the table out
  bool differentiable = false;     // attentionGradient has a derivative for it
  double shown = 0;                // value a figure starts with (required parameters; else the fallback)
  double shown_min = 0, shown_max = 0;  // slider range; equal: no slider
  bool shown_log = false;               // slider moves on a log scale
  double shown_step = 0;                // slider moves in steps of this from shown_min; 0: 1 for integers, else freely
};

// Says of an optional number that it has no default.
inline constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// "an integer from 1 to 1024": what a value of this param may be. Written once, for errors, types and documents.
std::string allowed_text(const Param& param);

class Scheme;
class Spec;
struct FrequencyReport;  // schemes/frequency_report.h

// Properties a scheme claims as data; the tests prove each claim and refuse an unclaimed one that holds. What each says
// of each slot stands in schemes/laws.h.
enum class Law { kShiftInvariant, kIsometry, kNonPositive, kMonotoneInDistance, kBounded, kSymmetric, kInjective,
                 kExtrapolates, kIdentityAtZero };
const char* law_name(Law law);

// A claim: unconditional; or only where the flag or choice `param` has `value`; or only where the sentence `when` is
// true of the spec, which `holds` decides.
struct Claim {
  Law law;
  const char* param = "";
  double value = 0;
  Prose when = "";
  bool (*holds)(const Spec& spec) = nullptr;
  double length = 0;  // injective: for whole positions 0 .. length - 1

  bool applies_to(const Spec& spec) const;
};

// The claims of a scheme; none where kBare.
struct Claims : std::span<const Claim> {
  constexpr Claims() = default;
  template <class List>
  constexpr Claims(const List& list) : span(kBare ? span() : span(list)) {}
};

struct Descriptor {
  Slot slot;
  const char* name;       // the one spelling: alibi
  Prose title;            // as papers print it: ALiBi
  Prose summary;          // one sentence: what it is good at, where it fails
  Prose formula;          // TeX
  Prose reference;        // authors, year, place, section or equation
  std::span<const Param> params;
  Claims claims;
  // Builds the scheme from checked values. Cross-parameter faults come back as a Status.
  Status (*make)(const Spec& spec, std::unique_ptr<Scheme>& scheme);
};

// ---------------------------------------------------------------- a spec: the values of the params of one scheme

// A list (rank 1, doubles) or a table (rank 1..3, float32). Not owned: valid while the scheme lives.
struct Table {
  const double* reals = nullptr;   // lists
  const float* floats = nullptr;   // tables
  int rank = 0;
  std::size_t shape[3] = {0, 0, 0};
  bool given = false;              // false: absent, use the default
  bool omitted = false;            // `false` was passed

  std::size_t size() const;
  static Table list(std::span<const double> values);
  static Table of(const float* values, std::initializer_list<std::size_t> shape);
  static Table none();             // `false`
};

// "[17, 64]", for messages about tables and lists.
std::string shape_text(const Table& table);

// The values of a descriptor's params, in their order. check() proves kinds and ranges before make() runs and puts
// defaults in place of absent numbers; what it cannot know (table shapes, relations between params) make() refuses.
class Spec {
 public:
  explicit Spec(const Descriptor& descriptor);

  const Descriptor& descriptor() const { return *descriptor_; }
  // By name, which must be that of a param. number() of an optional, absent param is NaN.
  double number(std::string_view name) const;
  int integer(std::string_view name) const { return static_cast<int>(number(name)); }
  bool flag(std::string_view name) const { return number(name) != 0; }
  int choice(std::string_view name) const { return static_cast<int>(number(name)); }
  bool has(std::string_view name) const;  // given by the caller (a table given as `false` counts as given)
  bool applies(const Param& param) const;  // its `where` has one of its values
  const Table& table(std::string_view name) const;

  void set_number(std::size_t index, double value);
  void set_table(std::size_t index, const Table& table);
  // The same by name; `unknown-option` and `unknown-choice` come back as a Status.
  Status set(std::string_view name, double value);
  Status set(std::string_view name, std::string_view choice);
  Status set(std::string_view name, const Table& table);
  // Kinds, ranges, finiteness, required params; fills the defaults in. Calling it again is harmless.
  Status check();

  // A refusal of `name` in this scheme's voice: "rope: rotaryDim must be <allowed>, got <given>".
  Status refuse(Code code, Words name, Words allowed, Words given) const;

 private:
  std::size_t index_of(std::string_view name) const;
  const Descriptor* descriptor_;
  std::vector<double> numbers_;  // NaN: absent
  std::vector<char> given_;
  std::vector<Table> tables_;
};

// ---------------------------------------------------------------- the tile every pairwise scheme works on

inline constexpr int kLanes = 8;      // queries of a tile
inline constexpr int kKeyBlock = 128; // keys of a tile, at most; fixed, so results do not depend on sizes

// A block of 8 queries by up to kKeyBlock keys, transposed: score of query lane l and key row j is s[j * kLanes + l].
// Lanes past `queries` repeat the last live query; their values are never read.
struct Tile {
  int head = 0;                        // query head
  int queries = 0;                     // live lanes, 1 .. kLanes
  int keys = 0;                        // rows, 1 .. kKeyBlock
  std::size_t first_query = 0;         // index of lane 0 in the sequence
  std::size_t first_key = 0;           // index of row 0 in the sequence
  const double* query_positions = nullptr;  // (query_axes, kLanes)
  const double* key_positions = nullptr;    // (key_axes, key_stride), already offset to first_key
  std::size_t key_stride = 0;
  int query_axes = 1, key_axes = 1;
  // One axis, and key - query, formed in float64, equals unit_offset + j - l exactly for every live lane and row (both
  // sides rise by 1 and no subtraction rounds: unit_steps() below decides). A scheme may then work along diagonals, and
  // must give the same bits as it would pair by pair.
  bool unit_step = false;
  double unit_offset = 0;

  // Key - query along an axis, formed in float64.
  double offset(int j, int l, int axis = 0) const {
    return key_positions[static_cast<std::size_t>(axis) * key_stride + static_cast<std::size_t>(j)] -
           query_positions[axis * kLanes + l];
  }
};

// True where the positions rise by exactly 1 from a first one that is a multiple of 2^-20 of magnitude up to 2^31: then
// every difference of two such runs is exact in float64, which is what Tile::unit_step promises.
bool unit_steps(const double* positions, std::size_t count);

// ---------------------------------------------------------------- what learns

// A parameter of a made scheme that learns, with the derivatives of a loss by its numbers.
struct Parameter {
  const char* name = "";  // of the param
  int rank = 0;           // 0: one number
  std::size_t shape[3] = {0, 0, 0};
  std::vector<double> gradient;  // row-major; sums, from zero
};

// Those of one scheme: what its derivatives are added to.
class Gradients {
 public:
  void add(const char* name, int rank = 0, const std::size_t* shape = nullptr);
  // The sums of a parameter by its name, which must have been added.
  double* operator[](std::string_view name);

  std::vector<Parameter> parameters;
};

// ---------------------------------------------------------------- the four interfaces

class Scheme {
 public:
  virtual ~Scheme() = default;
  virtual int heads() const { return 0; }     // 0: any number of heads; else attention requires this many
  virtual int axes() const { return 1; }      // axes of positions it reads; one given axis is broadcast to several
  virtual int width() const { return 0; }     // embed: columns of p; rotate and relate: head width d; 0: any
  virtual bool whole_offsets() const { return false; }  // refuses fractional offsets (`not-integer`)
  // Largest |key - query| along an axis that a table of offsets holds; farther ones are refused (`out-of-range`).
  virtual double reach([[maybe_unused]] int axis) const { return std::numeric_limits<double>::infinity(); }
  // Adds those of its params that are flagged differentiable and in use, in their order, with their shapes as given
  // (one number a head where a list was left out). Each must get its derivatives from the slot's own function.
  virtual void declare([[maybe_unused]] Gradients& to) const {}
  // Frequencies as used for a sequence of `length` tokens; `unsupported` where the scheme has none.
  virtual Status frequencies(double length, FrequencyReport& report) const;

  const char* name() const { return name_; }  // of its descriptor; make_scheme() sets it
  // Refuses positions of another number of axes than one, which is broadcast, or its own.
  Status check_axes(const char* subject, const char* argument, int given) const;

 private:
  friend Status make_scheme(Spec& spec, std::unique_ptr<Scheme>& scheme);
  const char* name_ = "";
  bool chooses_axes_ = false;  // by a param `axes`
};

// Refuses positions of queries and keys that are farther apart than the scheme reaches, in the voice of `subject`.
// Without data a side's positions are its indices, 0 .. count - 1. Both may have one axis in place of several.
Status check_reach(const Scheme& scheme, const char* subject, const Positions& queries, const Positions& keys);

// embed: p(i), added to the token before attention.
class Embed : public Scheme {
 public:
  // positions (axes, T) -> out (T, width). `length` is the sequence length where a scheme asks for one.
  virtual Status encode(const Positions& positions, double length, float* out) const = 0;
  virtual Status encode(const Positions& positions, double length, double* out) const = 0;
};

enum class Side { kQuery, kKey };

struct RotateCall {
  Side side = Side::kQuery;
  int head = 0;
  double length = 0;     // tokens in all, for rules that depend on it (dynamic, longrope)
  double origin = kNone; // a local() scheme takes its powers about this position; kNone: about 0, and none may be lost
  bool inverse = false;
  bool powers_apart = false;  // a scheme with powers(): turns only
  bool transposed = false;  // R^T in place of R: takes the gradient of what R gave back to what it was given
  std::size_t batch = 1;    // so many x (T, d) one behind the other, all at the same positions
};

// rotate: R(i) on q and k; the content score is <R(i) q_i, R(j) k_j>.
class Rotate : public Scheme {
 public:
  // x (batch, T, d) -> y (batch, T, d), rows x_stride and y_stride apart; x == y is legal.
  virtual Status apply(const RotateCall& call, const Positions& positions, const float* x, std::size_t x_stride,
                       float* y, std::size_t y_stride) const = 0;
  virtual Status apply(const RotateCall& call, const Positions& positions, const double* x, std::size_t x_stride,
                       double* y, std::size_t y_stride) const = 0;
  // From y (T, d), what apply() gave, and dy, its gradient, adds to the gradients of the scheme's parameters.
  virtual void differentiate([[maybe_unused]] const RotateCall& call, [[maybe_unused]] const Positions& positions,
                             [[maybe_unused]] std::size_t d, [[maybe_unused]] const double* y,
                             [[maybe_unused]] const double* dy, [[maybe_unused]] Gradients& to) const {}
  // True (xPos): magnitudes leave float32 far from the origin, so attention rotates anew per tile about its centre.
  virtual bool local() const { return false; }
  // A local() scheme that turns and then multiplies, each channel by a power: turned (width, kLanes) -> q the same,
  // times the powers of positions (kLanes) about call.origin. Attention then turns its queries once (powers_apart) and
  // asks for powers per tile. Only where powers_are_apart().
  virtual bool powers_are_apart() const { return false; }
  virtual Status apply_powers([[maybe_unused]] const RotateCall& call, [[maybe_unused]] const double* positions,
                              [[maybe_unused]] const float* turned, [[maybe_unused]] float* q) const {
    return ok();
  }
};

// bias: b_h(i, j), added to the score after scale and soft-cap.
class Bias : public Scheme {
 public:
  // Writes b of every pair of the tile: b[j * kLanes + l]. Zero biases are +0.
  virtual void values(const Tile& tile, double* b) const = 0;
  // The same rounded once; a scheme may have a shorter way to the same bits.
  virtual void fill(const Tile& tile, float* b) const;
  // db (keys, kLanes), the gradient of each pair, 0 for those that do not count: adds to those of the parameters.
  virtual void differentiate([[maybe_unused]] const Tile& tile, [[maybe_unused]] const double* db,
                             [[maybe_unused]] Gradients& to) const {}
  // Row of the scheme's table for each pair, or nothing to say (relativeIndex()).
  virtual bool index([[maybe_unused]] const Tile& tile, [[maybe_unused]] bool raw,
                     [[maybe_unused]] std::int32_t* rows) const {
    return false;
  }
};

// What a relate scheme is shown of a tile, beside the positions. All raw (unrotated) rows.
struct RelateTile : Tile {
  const float* q = nullptr;        // (d, kLanes): channel-major, queries in lanes
  const float* k = nullptr;        // (keys, d)
  std::size_t d = 0;
  const float* content = nullptr;  // (keys, kLanes): scaled content scores, 0 where masked
  const float* visible = nullptr;  // (keys, kLanes): 1 visible, 0 masked
  float scale = 1;
};

class Meeting;  // schemes/relate/meeting.h

// relate: terms of the score that need q, k or the content, and the value side. Said twice: by tiles in float32, which
// is fast, and pair by pair in double, from which gradients come too.
class Relate : public Scheme {
 public:
  // Floats of scratch kept per (head, all keys), filled once by prepare_keys; and per block of 8 queries.
  virtual std::size_t key_state_size(std::size_t keys) const { (void)keys; return 0; }
  virtual std::size_t query_state_size() const { return 0; }
  // Keys visited from last to first (CoPE sums gates from the query backwards).
  virtual bool descending() const { return false; }
  // k (Tk, d) raw keys of this head's group -> key_state: terms that meet the keys alone (u . k_j, p2c tables).
  virtual void prepare_keys([[maybe_unused]] int head, [[maybe_unused]] const float* k,
                            [[maybe_unused]] std::size_t keys, [[maybe_unused]] std::size_t d,
                            [[maybe_unused]] const Positions& positions, [[maybe_unused]] float* key_state) const {}
  // Once per block of 8 queries, before its first tile: e.g. q . table rows.
  virtual void begin([[maybe_unused]] const RelateTile& tile, [[maybe_unused]] float* query_state) const {}
  // Writes the scheme's whole term, scaled or not as its paper has it: r[j * kLanes + l].
  virtual void scores(const RelateTile& tile, const float* key_state, float* query_state, float* r) const = 0;

  // The value side: o_i += sum_j p_ij a^V(i, j) with unnormalised weights p; the state is rescaled with the softmax.
  virtual int value_width() const { return 0; }  // 0: no value side; else v must have this width
  virtual void accumulate([[maybe_unused]] const RelateTile& tile, [[maybe_unused]] const float* p,
                          [[maybe_unused]] float* query_state) const {}
  // alpha (kLanes)
  virtual void rescale([[maybe_unused]] const float* alpha, [[maybe_unused]] float* query_state) const {}
  // o (dv, kLanes) +=
  virtual void finish([[maybe_unused]] int head, [[maybe_unused]] const float* query_state,
                      [[maybe_unused]] float* o) const {}

  virtual bool index([[maybe_unused]] const Tile& tile, [[maybe_unused]] bool raw,
                     [[maybe_unused]] std::int32_t* rows) const {
    return false;
  }
  virtual bool causal_only() const { return false; }

  // Says in the words of `meeting` what each pair of one query is made of. False: the scheme cannot, and attention in
  // float64 and its gradient are `unsupported` with it.
  virtual bool meet([[maybe_unused]] Meeting& meeting) const { return false; }
  // Adds what meet() kept back for a head whose gradients are complete.
  virtual void settle([[maybe_unused]] int head, [[maybe_unused]] Gradients& to) const {}
};

}  // namespace posenc
