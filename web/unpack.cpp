// Unpacks the modules: a small one of its own that is not packed. Done in JavaScript it took five times as long, since
// all of it runs before an engine has warmed up. The caller lays operands behind the module's own data; nothing is
// allocated. Raw LZMA (Pavlov's specification of the LZMA SDK) with lc = 1, lp = 0, pb = 0, then the streams of
// src/wasm-streams.ts put together.
#include <cstdint>

namespace {

using Byte = std::uint8_t;
using Odds = std::uint16_t;
using Word = std::uint32_t;

constexpr Word kTop = 1u << 24, kStates = 12;

// How matches tell their lengths: 2 .. 9, 10 .. 17, 18 .. 273.
struct Lengths {
  Odds choice[2], low[8], middle[8], high[256];
};

struct Model {
  Odds literals[0x300 << 1];
  Odds is_match[kStates], is_repeat[kStates], is_first[kStates], is_second[kStates], is_third[kStates],
      is_long[kStates];
  Odds slots[4][64], distances[116], alignment[16];
  Lengths lengths, repeat_lengths;
};

Model model;

#define INLINE __attribute__((always_inline)) inline

// The state of the range decoder. All of the decoding is one function, where these are local variables: engines run it
// before they have optimised anything, when every access to memory and every call is carried out as it is written
// (measured: three quarters of the time).
struct Coder {
  const Byte* in;
  Word range, code;
};

// A stream that is cut short is read on for a few bytes, into those of the output behind it.
INLINE void shift(Coder& c) {
  c.range <<= 8;
  c.code = c.code << 8 | *c.in++;
}

INLINE Word bit(Coder& c, Odds* odds) {
  const Word odd = *odds, bound = (c.range >> 11) * odd;
  // All ones for a bit of 0: nothing is jumped over, for no engine could tell where to.
  const Word value = c.code >= bound, zero = value - 1, rest = c.range - bound;
  c.range = rest + ((bound - rest) & zero);
  c.code -= bound & ~zero;
  *odds = static_cast<Odds>(odd - (static_cast<std::int32_t>(odd + (zero & (31 - 2048))) >> 5));
  if (c.range < kTop) shift(c);
  return value;
}

// A number of `bits` bits, the highest first.
INLINE Word tree(Coder& c, Odds* table, Word bits) {
  Word node = 1;
  const Word end = 1u << bits;
  while (node < end) node = node << 1 | bit(c, table + node);
  return node - end;
}

// The lowest first.
INLINE Word reversed(Coder& c, Odds* table, Word bits) {
  Word node = 1, value = 0;
  for (Word i = 0; i < bits; ++i) {
    const Word next = bit(c, table + node);
    node = node << 1 | next;
    value |= next << i;
  }
  return value;
}

// Bits of even odds.
INLINE Word direct(Coder& c, Word bits) {
  Word value = 0;
  for (; bits != 0; --bits) {
    c.range >>= 1;
    value <<= 1;
    if (c.code >= c.range) c.code -= c.range, value |= 1;
    if (c.range < kTop) shift(c);
  }
  return value;
}

INLINE Word length(Coder& c, Lengths& of) {
  Odds* table = of.low;
  Word least = 2, bits = 3;
  if (bit(c, &of.choice[0])) {
    if (bit(c, &of.choice[1])) {
      table = of.high, least = 18, bits = 8;
    } else {
      table = of.middle, least = 10;
    }
  }
  return least + tree(c, table, bits);
}

INLINE Word distance(Coder& c, Word matched) {
  const Word slot = tree(c, model.slots[matched < 6 ? matched - 2 : 3], 6);
  if (slot < 4) return slot;
  Word bits = (slot >> 1) - 1, value = (2 | (slot & 1)) << bits;
  Odds* table = model.distances + (value - slot);
  if (slot >= 14) {
    value += direct(c, bits - 4) * 16;
    table = model.alignment, bits = 4;
  }
  return value + reversed(c, table, bits);
}

}  // namespace

// stream (bytes) -> out (size): 1, or 0 where the stream is cut short or foreign. It may refer to the bytes from
// `first` on, which lie before the output.
extern "C" __attribute__((export_name("unpack"))) int unpack(const Byte* stream, Word bytes, Byte* out, Word size,
                                                             const Byte* first) {
  if (bytes < 5) return 0;
  Odds* const all = reinterpret_cast<Odds*>(&model);
  for (Word n = 0; n < sizeof model / sizeof *all; ++n) all[n] = 1024;
  const Byte* const stop = stream + bytes;
  Coder c{stream + 5, 0xffffffffu, 0};
  c.code = static_cast<Word>(stream[1]) << 24 | static_cast<Word>(stream[2]) << 16 | static_cast<Word>(stream[3]) << 8 |
           stream[4];
  Word last0 = 0, last1 = 0, last2 = 0, last3 = 0;  // the latest distances, minus one
  Word state = 0;
  Byte* at = out;
  Byte* const end = out + size;
  while (at != end && c.in <= stop) {
    if (!bit(c, model.is_match + state)) {
      Odds* odds = model.literals + 0x300 * ((at != first ? at[-1] : 0) >> 7);
      // After a match: as long as the bits agree, the byte the match would have gone on with says which odds to use.
      Word node = 1, guess = state >= 7 ? at[-static_cast<int>(last0) - 1] : 0, agree = state >= 7 ? 0x100 : 0;
      while (node < 0x100) {
        guess <<= 1;
        const Word guessed = guess & agree;
        const Word next = bit(c, odds + (agree + guessed + node));
        node = node << 1 | next;
        if (guessed != next << 8) agree = 0;
      }
      *at++ = static_cast<Byte>(node);
      state = state < 4 ? 0 : state < 10 ? state - 3 : state - 6;
      continue;
    }
    Lengths* lengths = &model.lengths;
    const bool repeated = bit(c, model.is_repeat + state);
    if (repeated) {
      if (bit(c, model.is_first + state)) {
        Word again = last1;
        if (bit(c, model.is_second + state)) {
          again = last2;
          if (bit(c, model.is_third + state)) again = last3, last3 = last2;
          last2 = last1;
        }
        last1 = last0, last0 = again;
      } else if (!bit(c, model.is_long + state)) {
        if (last0 >= static_cast<Word>(at - first)) return 0;
        *at = at[-static_cast<int>(last0) - 1];
        ++at;
        state = state < 7 ? 9 : 11;
        continue;
      }
      lengths = &model.repeat_lengths;
    }
    Word count = length(c, *lengths);
    if (repeated) {
      state = state < 7 ? 8 : 11;
    } else {
      last3 = last2, last2 = last1, last1 = last0;
      last0 = distance(c, count);
      state = state < 7 ? 7 : 10;
    }
    if (last0 >= static_cast<Word>(at - first) || count > static_cast<Word>(end - at)) return 0;
    for (const Byte* from = at - last0 - 1; count != 0; --count) *at++ = *from++;
  }
  return c.in <= stop ? 1 : 0;
}

// ---------------------------------------------------------------- streams to code

namespace {

constexpr int kOpcode = 0, kLocal = 1, kConstant = 2, kOffset = 3, kAlign = 4, kCall = 5, kFloat = 6, kType = 7,
              kBranch = 8, kGlobal = 9, kVector = 10, kVectorOpcode = 11, kDeclaration = 12, kStreams = 13;

const Byte* next[kStreams];
Byte* to;

Byte move(int stream) { return *to++ = *next[stream]++; }

void moves(int stream, int bytes) {
  for (; bytes > 0; --bytes) move(stream);
}

// A number in LEB128; the low 28 bits of it come back.
int number(int stream) {
  const Byte* from = next[stream];
  Byte* at = to;
  int value = 0;
  for (int shift = 0;; shift += 7) {
    const int byte = *at++ = *from++;
    if (shift < 28) value |= (byte & 127) << shift;
    if (byte < 128) break;
  }
  next[stream] = from, to = at;
  return value;
}

void address() {
  number(kAlign);
  number(kOffset);
}

// The grammar is moveBody()'s of src/wasm-streams.ts: change both.
void move_body() {
  for (int groups = number(kDeclaration); groups > 0; --groups) {
    number(kDeclaration);
    move(kDeclaration);
  }
  for (int depth = 1; depth > 0;) {
    const int opcode = move(kOpcode);
    if (opcode >= 0x20 && opcode <= 0x22) {
      number(kLocal);
    } else if (opcode >= 0x28 && opcode <= 0x3e) {
      address();
    } else if (opcode == 0x41 || opcode == 0x42) {
      number(kConstant);
    } else if (opcode == 0x43 || opcode == 0x44) {
      moves(kFloat, opcode == 0x43 ? 4 : 8);
    } else if (opcode == 0x0b) {
      --depth;
    } else if (opcode >= 0x02 && opcode <= 0x04) {
      ++depth;
      number(kType);
    } else if (opcode == 0x0c || opcode == 0x0d) {
      number(kBranch);
    } else if (opcode == 0x0e) {
      for (int targets = number(kBranch); targets >= 0; --targets) number(kBranch);
    } else if (opcode == 0x10) {
      number(kCall);
    } else if (opcode == 0x11) {
      number(kType);
      number(kType);
    } else if (opcode == 0x23 || opcode == 0x24) {
      number(kGlobal);
    } else if (opcode == 0x3f || opcode == 0x40) {
      move(kType);
    } else if (opcode == 0xfc) {
      const int bulk = number(kOpcode);
      if (bulk > 7) moves(kType, bulk == 9 || bulk == 11 ? 1 : 2);
    } else if (opcode == 0xfd) {
      const int vector = number(kVectorOpcode);
      if (vector <= 11 || (vector >= 84 && vector <= 93)) address();
      if (vector == 12 || vector == 13) moves(kVector, 16);
      if ((vector >= 21 && vector <= 34) || (vector >= 84 && vector <= 91)) move(kVector);
    }
  }
}

void copy(const Byte* from, Word bytes) {
  __builtin_memmove(to, from, bytes);
  to += bytes;
}

}  // namespace

// split (bytes), of splitModule(), on a line of 4 bytes -> module (as many bytes as the first word of split says).
extern "C" __attribute__((export_name("join"))) void join(const Byte* split, Word bytes, Byte* module) {
  const Word* const head = reinterpret_cast<const Word*>(split);
  const Byte* from = split + 4 * (3 + kStreams);
  to = module;
  copy(from, head[2]);
  from += head[2];
  for (int stream = 0; stream < kStreams; ++stream) {
    next[stream] = from;
    from += head[3 + stream];
  }
  for (Word functions = head[1]; functions != 0; --functions) {
    // The size comes first, and is known last.
    Byte* const start = to;
    move_body();
    const Word size = static_cast<Word>(to - start);
    Word digits = 1;
    for (Word rest = size >> 7; rest != 0; rest >>= 7) ++digits;
    __builtin_memmove(start + digits, start, size);
    Byte* at = start;
    for (Word rest = size; at != start + digits; rest >>= 7) {
      *at++ = static_cast<Byte>((rest & 127) | (rest > 127 ? 128 : 0));
    }
    to += digits;
  }
  copy(from, static_cast<Word>(split + bytes - from));
}
