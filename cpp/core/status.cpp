#include "core/status.h"

#include <cstdint>
#include <utility>

namespace posenc {

const char* code_name(Code code) {
  switch (code) {
    case Code::kOk: return "ok";
    case Code::kNotANumber: return "not-a-number";
    case Code::kNotInteger: return "not-integer";
    case Code::kNotFinite: return "not-finite";
    case Code::kOutOfRange: return "out-of-range";
    case Code::kShapeMismatch: return "shape-mismatch";
    case Code::kMissingOption: return "missing-option";
    case Code::kUnknownOption: return "unknown-option";
    case Code::kUnknownChoice: return "unknown-choice";
    case Code::kWrongSlot: return "wrong-slot";
    case Code::kTooLarge: return "too-large";
    case Code::kUnsupported: return "unsupported";
    case Code::kOutOfMemory: return "out-of-memory";
    case Code::kInternal: return "internal";
  }
  return "internal";
}

// Here and not inline: there are hundreds of places that return or leave one.
Status::Status(const Status& other) = default;
Status::Status(Status&& other) noexcept = default;
Status& Status::operator=(const Status& other) = default;
Status& Status::operator=(Status&& other) noexcept = default;
Status::~Status() = default;

Status refuse(Code code, Words subject, Words argument, Words allowed, Words given) {
  Status status;
  status.code = code;
  status.subject = subject.text;
  status.argument = argument.text;
  status.allowed = allowed.text;
  status.given = given.text;
  return status;
}

std::string Status::message() const {
  if (ok()) return "ok";
  std::string text = subject;
  if (!text.empty()) text += ": ";
  if (argument.empty()) return text + allowed;
  text += argument;
  if (code == Code::kMissingOption) return text + " is missing, it must be " + allowed;
  text += " must be " + allowed;
  if (!given.empty()) text += ", got " + given;
  return text;
}

namespace {

// A non-negative integer of up to 1,280 bits: room for 2^1024 times ten, and for 2^1075.
class Natural {
 public:
  explicit Natural(std::uint64_t value = 0) {
    while (value != 0) {
      limbs_[size_++] = static_cast<std::uint32_t>(value);
      value >>= 32;
    }
  }

  void multiply(std::uint32_t factor) {
    std::uint64_t carry = 0;
    for (int i = 0; i < size_; ++i) {
      carry += static_cast<std::uint64_t>(limbs_[i]) * factor;
      limbs_[i] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    if (carry != 0) limbs_[size_++] = static_cast<std::uint32_t>(carry);
  }

  void shift_left(int bits) {
    for (; bits >= 31; bits -= 31) multiply(1u << 31);
    multiply(1u << bits);
  }

  void subtract(const Natural& other) {  // other <= *this
    std::int64_t borrow = 0;
    for (int i = 0; i < size_; ++i) {
      const std::int64_t difference = static_cast<std::int64_t>(limbs_[i]) - other.limb(i) + borrow;
      limbs_[i] = static_cast<std::uint32_t>(difference & 0xffffffff);
      borrow = difference < 0 ? -1 : 0;
    }
    while (size_ > 0 && limbs_[size_ - 1] == 0) --size_;
  }

  static int compare(const Natural& a, const Natural& b) {
    if (a.size_ != b.size_) return a.size_ < b.size_ ? -1 : 1;
    for (int i = a.size_ - 1; i >= 0; --i) {
      if (a.limbs_[i] != b.limbs_[i]) return a.limbs_[i] < b.limbs_[i] ? -1 : 1;
    }
    return 0;
  }

  static Natural sum(const Natural& a, const Natural& b) {
    Natural total;
    const int size = a.size_ < b.size_ ? b.size_ : a.size_;
    std::uint64_t carry = 0;
    for (int i = 0; i < size; ++i) {
      carry += static_cast<std::uint64_t>(a.limb(i)) + b.limb(i);
      total.limbs_[i] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    total.size_ = size;
    if (carry != 0) total.limbs_[total.size_++] = static_cast<std::uint32_t>(carry);
    return total;
  }

 private:
  std::uint32_t limb(int i) const { return i < size_ ? limbs_[i] : 0; }

  std::uint32_t limbs_[40] = {};
  int size_ = 0;
};

// The shortest digits that read back as value > 0, value = 0.d1d2d3... * 10^point (Steele and White 1990, Dragon4, with
// both halves of the rounding interval closed only for even mantissas, as correct readers round half to even).
std::string shortest_digits(double value, int& point) {
  // The builtin, since the library of LLVM 14 as Emscripten ships it has no std::bit_cast.
  const std::uint64_t bits = __builtin_bit_cast(std::uint64_t, value);
  const int biased = static_cast<int>(bits >> 52);
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
  const std::uint64_t mantissa = biased == 0 ? fraction : fraction | (std::uint64_t{1} << 52);
  const int exponent = (biased == 0 ? 1 : biased) - 1075;
  const bool even = (mantissa & 1) == 0;
  const bool narrow_below = fraction == 0 && biased > 1;  // a power of two: the gap below is half the gap above

  // value = r / s, half the gaps to the neighbours are below / s and above / s.
  Natural r(mantissa), s(1), below(1), above(1);
  if (exponent >= 0) {
    r.shift_left(exponent);
    below.shift_left(exponent);
    above.shift_left(exponent);
  } else {
    s.shift_left(-exponent);
  }
  const int scale = narrow_below ? 2 : 1;
  r.shift_left(scale);
  s.shift_left(scale);
  if (narrow_below) above.shift_left(1);

  const auto past_top = [&] {
    const int order = Natural::compare(Natural::sum(r, above), s);
    return even ? order >= 0 : order > 0;
  };
  point = 0;
  while (past_top()) {
    s.multiply(10);
    ++point;
  }
  for (;;) {
    r.multiply(10);
    below.multiply(10);
    above.multiply(10);
    if (past_top()) break;
    --point;
  }

  std::string digits;
  for (;;) {
    int digit = 0;
    while (Natural::compare(r, s) >= 0) {
      r.subtract(s);
      ++digit;
    }
    const int low_order = Natural::compare(r, below);
    const bool low = even ? low_order <= 0 : low_order < 0;
    const bool high = past_top();
    if (low || high) {
      if (low && high) {
        r.shift_left(1);
        const int half = Natural::compare(r, s);
        if (half > 0 || (half == 0 && (digit & 1) != 0)) ++digit;
      } else if (high) {
        ++digit;
      }
      digits += static_cast<char>('0' + digit);
      return digits;
    }
    digits += static_cast<char>('0' + digit);
    r.multiply(10);
    below.multiply(10);
    above.multiply(10);
  }
}

}  // namespace

std::string to_text(double value) {
  if (value != value) return "NaN";
  std::string text = __builtin_bit_cast(std::uint64_t, value) >> 63 != 0 && value != 0 ? "-" : "";
  if (value < 0) value = -value;
  if (value > 1.7976931348623157e308) return text + "Infinity";
  if (value == 0) return "0";
  int point = 0;
  const std::string digits = shortest_digits(value, point);
  const int count = static_cast<int>(digits.size());
  // Layout as JavaScript's Number.prototype.toString: plain from 1e-6 up to below 1e21.
  if (count <= point && point <= 21) return text + digits + std::string(static_cast<std::size_t>(point - count), '0');
  if (0 < point && point <= 21) {
    return text + digits.substr(0, static_cast<std::size_t>(point)) + "." +
           digits.substr(static_cast<std::size_t>(point));
  }
  if (-6 < point && point <= 0) return text + "0." + std::string(static_cast<std::size_t>(-point), '0') + digits;
  text += digits[0];
  if (count > 1) text += "." + digits.substr(1);
  const int power = point - 1;
  text += power < 0 ? "e-" : "e+";
  int magnitude = power < 0 ? -power : power;
  std::string reversed;
  for (; magnitude > 0; magnitude /= 10) reversed += static_cast<char>('0' + magnitude % 10);
  return text + std::string(reversed.rbegin(), reversed.rend());
}

}  // namespace posenc
