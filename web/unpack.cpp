// Unpacks the modules: a small one of its own that is not packed. Done in JavaScript it took five times as long, since
// all of it runs before an engine has warmed up. The caller lays operands behind the module's own data; nothing is
// allocated. Raw LZMA (Pavlov's specification of the LZMA SDK) with lc = 3, lp = 0, pb = 0, then the streams of
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
  Odds literals[0x300 << 3];
  Odds is_match[kStates], is_repeat[kStates], is_first[kStates], is_second[kStates], is_third[kStates],
      is_long[kStates];
  Odds slots[4][64], distances[116], alignment[16];
  Lengths lengths, repeat_lengths;
};

Model model;
const Byte* in;
const Byte* in_end;
Word range, code;
bool cut;

void shift() {
  range <<= 8;
  cut = cut || in == in_end;
  code = code << 8 | (in == in_end ? 0 : *in++);
}

Word bit(Odds& odds) {
  const Word odd = odds, bound = (range >> 11) * odd;
  Word value = 0;
  if (code < bound) {
    range = bound;
    odds = static_cast<Odds>(odd + ((2048 - odd) >> 5));
  } else {
    range -= bound, code -= bound;
    odds = static_cast<Odds>(odd - (odd >> 5));
    value = 1;
  }
  if (range < kTop) shift();
  return value;
}

// A number of `bits` bits, the highest first.
Word tree(Odds* table, int bits) {
  Word node = 1;
  for (int i = 0; i < bits; ++i) node = node << 1 | bit(table[node]);
  return node - (1u << bits);
}

// The lowest first.
Word reversed(Odds* table, int bits) {
  Word node = 1, value = 0;
  for (int i = 0; i < bits; ++i) {
    const Word next = bit(table[node]);
    node = node << 1 | next;
    value |= next << i;
  }
  return value;
}

// Bits of even odds.
Word direct(int bits) {
  Word value = 0;
  for (; bits > 0; --bits) {
    range >>= 1;
    value <<= 1;
    if (code >= range) code -= range, value |= 1;
    if (range < kTop) shift();
  }
  return value;
}

Word length(Lengths& of) {
  if (!bit(of.choice[0])) return 2 + tree(of.low, 3);
  if (!bit(of.choice[1])) return 10 + tree(of.middle, 3);
  return 18 + tree(of.high, 8);
}

Word distance(Word matched) {
  const Word slot = tree(model.slots[matched < 6 ? matched - 2 : 3], 6);
  if (slot < 4) return slot;
  const int bits = static_cast<int>(slot >> 1) - 1;
  const Word base = (2 | (slot & 1)) << bits;
  if (slot < 14) return base + reversed(model.distances + (base - slot), bits);
  const Word high = direct(bits - 4) * 16;
  return base + high + reversed(model.alignment, 4);
}

}  // namespace

// stream (bytes) -> out (size): 1, or 0 where the stream is cut short or foreign.
extern "C" __attribute__((export_name("unpack"))) int unpack(const Byte* stream, Word bytes, Byte* out, Word size) {
  if (bytes < 5) return 0;
  Odds* const all = reinterpret_cast<Odds*>(&model);
  for (Word n = 0; n < sizeof model / sizeof *all; ++n) all[n] = 1024;
  in = stream + 5, in_end = stream + bytes;
  range = 0xffffffffu, cut = false;
  code = static_cast<Word>(stream[1]) << 24 | static_cast<Word>(stream[2]) << 16 | static_cast<Word>(stream[3]) << 8 |
         stream[4];
  Word last[4] = {0, 0, 0, 0};  // the latest distances, minus one
  Word state = 0, place = 0;
  while (place < size && !cut) {
    if (!bit(model.is_match[state])) {
      Odds* const odds = model.literals + 0x300 * ((place > 0 ? out[place - 1] : 0) >> 5);
      Word node = 1;
      if (state >= 7) {
        // After a match: as long as the bits agree, the byte the match would have gone on with says which odds to use.
        Word guess = out[place - last[0] - 1];
        while (node < 0x100) {
          const Word guessed = guess >> 7 & 1;
          guess <<= 1;
          const Word next = bit(odds[((1 + guessed) << 8) + node]);
          node = node << 1 | next;
          if (guessed != next) break;
        }
      }
      while (node < 0x100) node = node << 1 | bit(odds[node]);
      out[place++] = static_cast<Byte>(node);
      state = state < 4 ? 0 : state < 10 ? state - 3 : state - 6;
      continue;
    }
    Word count;
    if (bit(model.is_repeat[state])) {
      if (bit(model.is_first[state])) {
        const int which = !bit(model.is_second[state]) ? 1 : !bit(model.is_third[state]) ? 2 : 3;
        const Word again = last[which];
        for (int n = which; n > 0; --n) last[n] = last[n - 1];
        last[0] = again;
      } else if (!bit(model.is_long[state])) {
        if (last[0] >= place) return 0;
        out[place] = out[place - last[0] - 1];
        ++place;
        state = state < 7 ? 9 : 11;
        continue;
      }
      count = length(model.repeat_lengths);
      state = state < 7 ? 8 : 11;
    } else {
      last[3] = last[2], last[2] = last[1], last[1] = last[0];
      count = length(model.lengths);
      last[0] = distance(count);
      state = state < 7 ? 7 : 10;
    }
    if (last[0] >= place || count > size - place) return 0;
    for (; count != 0; --count, ++place) out[place] = out[place - last[0] - 1];
  }
  return cut ? 0 : 1;
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
  int value = 0;
  for (int shift = 0;; shift += 7) {
    const int byte = move(stream);
    if (shift < 28) value |= (byte & 127) << shift;
    if (byte < 128) return value;
  }
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
  for (; bytes != 0; --bytes) *to++ = *from++;
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
    for (Byte* at = to; at != start;) {
      --at;
      at[digits] = *at;
    }
    Byte* at = start;
    for (Word rest = size; at != start + digits; rest >>= 7) {
      *at++ = static_cast<Byte>((rest & 127) | (rest > 127 ? 128 : 0));
    }
    to += digits;
  }
  copy(from, static_cast<Word>(split + bytes - from));
}
