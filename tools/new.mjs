// Writes the skeleton of a scheme and of its test, and its line in schemes.def; or takes an untouched skeleton away.
//   npm run new -- <slot> <name> [--remove]     slot: embed, rotate, bias, relate; name: the factory's, in camelCase
// The skeleton compiles and is whole: it appears in describe(), types, page and documents at the next build. It does
// nothing (zeros, or the identity), and it does not pass: its test compares it with a formula that is not yet written,
// the law test finds the laws that doing nothing obeys, and its golden hashes are missing. Nothing can be forgotten.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { kRoot } from "./process.mjs";

const kList = "cpp/schemes/schemes.def";
const kSlots = ["embed", "rotate", "bias", "relate"];

// Words a factory cannot be called, in JavaScript or in C++.
const kReserved = new Set(
  `abstract any as async await boolean break case catch char class const constructor continue debugger declare default
   delete do double else enum eval export extends false final finally float for from function get goto if implements
   import in inline instanceof int interface let long module namespace native new null number object of operator package
   private protected public register require return set short signed sizeof static string struct super switch symbol
   template this throw true try type typedef typename typeof union unsigned using var virtual void volatile while with
   yield arguments undefined infinity`.split(/\s+/),
);

const pascal = (name) => name[0].toUpperCase() + name.slice(1);

class Refusal extends Error {}

// ---------------------------------------------------------------- skeletons

// What differs between the slots: includes, params, the mathematics that does nothing, and how a test looks at it.
const kParts = {
  embed: {
    formula: "p(t)_c = TODO",
    includes: ["schemes/params.h", "schemes/registry.h"],
    param: "    kColumns,",
    field: "dim",
    base: "Embed",
    body: `  int width() const override { return dim_; }

  Status encode(const Positions& positions, double, float* out) const override { return fill(positions, out); }
  Status encode(const Positions& positions, double, double* out) const override { return fill(positions, out); }

 private:
  // out (T, d)
  template <class Real>
  Status fill(const Positions& positions, Real* out) const {
    if (Status status = check_positions(positions, name()); !status.ok()) return status;
    const std::size_t columns = static_cast<std::size_t>(dim_);
    for (std::size_t t = 0; t < positions.count; ++t) {
      for (std::size_t c = 0; c < columns; ++c) out[t * columns + c] = 0;  // TODO
    }
    return ok();
  }
`,
    options: ["dim=8", "dim=2", "dim=64", "dim=7"],
    test: (name) => `// Column c of the paper's p(t), in double.
double formula(double t, int c) {
  (void)t, (void)c;
  return std::nan("TODO: write the paper's formula here");
}

}  // namespace

TEST_CASE("${name}: the paper's formula") {
  const Built built = build(schemes::embed_${name}, "dim=8");
  REQUIRE(built.status.ok());
  const std::vector<double> positions = {0, 1, 2, 17, -3, 2.5};
  std::vector<double> table(positions.size() * 8);
  REQUIRE(built.as<Embed>().encode({positions.data(), positions.size(), 1}, 0, table.data()).ok());
  for (std::size_t t = 0; t < positions.size(); ++t) {
    for (int c = 0; c < 8; ++c) {
      CHECK(table[t * 8 + static_cast<std::size_t>(c)] == Approx(formula(positions[t], c)).epsilon(0).margin(1e-12));
    }
  }
}
`,
    testIncludes: [],
  },
  rotate: {
    formula: "R(t)\\,x = TODO",
    includes: ["schemes/params.h", "schemes/registry.h"],
    param: "    kTurnedWidth,",
    field: "dim",
    base: "Rotate",
    body: `  int width() const override { return dim_; }

  Status apply(const RotateCall& call, const Positions& positions, const float* x, std::size_t x_stride, float* y,
               std::size_t y_stride) const override {
    return turn(call, positions, x, x_stride, y, y_stride);
  }
  Status apply(const RotateCall& call, const Positions& positions, const double* x, std::size_t x_stride, double* y,
               std::size_t y_stride) const override {
    return turn(call, positions, x, x_stride, y, y_stride);
  }

 private:
  // x (T, d) -> y (T, d); x == y is legal
  template <class Real>
  Status turn(const RotateCall&, const Positions& positions, const Real* x, std::size_t x_stride, Real* y,
              std::size_t y_stride) const {
    if (Status status = check_positions(positions, name()); !status.ok()) return status;
    const std::size_t d = static_cast<std::size_t>(dim_);
    for (std::size_t t = 0; t < positions.count; ++t) {
      for (std::size_t c = 0; c < d; ++c) y[t * y_stride + c] = x[t * x_stride + c];  // TODO
    }
    return ok();
  }
`,
    options: ["dim=8", "dim=2", "dim=64", "dim=6"],
    test: (name) => `// Column c of the paper's R(t) x, in double.
double formula(double t, const std::vector<double>& x, std::size_t c) {
  (void)t, (void)x, (void)c;
  return std::nan("TODO: write the paper's formula here");
}

}  // namespace

TEST_CASE("${name}: the paper's formula") {
  const Built built = build(schemes::rotate_${name}, "dim=4");
  REQUIRE(built.status.ok());
  const std::vector<double> x = {1, 2, 3, 4};
  for (const double t : {0.0, 1.0, 17.0, -3.0, 2.5}) {
    std::vector<double> y(4);
    REQUIRE(built.as<Rotate>().apply({}, {&t, 1, 1}, x.data(), 4, y.data(), 4).ok());
    for (std::size_t c = 0; c < 4; ++c) CHECK(y[c] == Approx(formula(t, x, c)).epsilon(0).margin(1e-12));
  }
}
`,
    testIncludes: [],
  },
  bias: {
    formula: "b_h(i, j) = TODO",
    includes: ["schemes/bias/offset.h", "schemes/params.h", "schemes/registry.h"],
    param: "    kHeads,",
    field: "heads",
    base: "OffsetBias",
    body: `  int heads() const override { return heads_; }

 protected:
  // Offsets are key - query. Where the bias is no function of the offset, derive from Bias and write values().
  void evaluate(int head, const double* offsets, std::size_t count, double* b) const override {
    (void)head, (void)offsets;
    for (std::size_t n = 0; n < count; ++n) b[n] = 0;  // TODO
  }

 private:
`,
    options: ["heads=8", "heads=1", "heads=3", "heads=12"],
    test: (name) => `// The paper's b_h(i, j), in double.
double formula(int h, double i, double j) {
  (void)h, (void)i, (void)j;
  return std::nan("TODO: write the paper's formula here");
}

}  // namespace

TEST_CASE("${name}: the paper's formula") {
  const Built built = build(schemes::bias_${name}, "heads=4");
  REQUIRE(built.status.ok());
  const Reals queries = run(0, 9), keys = run(-3, 20);
  for (int h = 0; h < 4; ++h) {
    const std::vector<float> b = bias_matrix(built.as<Bias>(), h, queries, keys);
    CHECK(b == bias_matrix(built.as<Bias>(), h, queries, keys, false));
    for (std::size_t i = 0; i < queries.size(); ++i) {
      for (std::size_t j = 0; j < keys.size(); ++j) {
        CHECK(static_cast<double>(b[i * keys.size() + j]) ==
              Approx(formula(h, queries[i], keys[j])).epsilon(2e-7).margin(1e-12));
      }
    }
  }
}
`,
    testIncludes: ["support/tiles.h"],
  },
  relate: {
    formula: "r_h(i, j) = TODO",
    includes: ["schemes/params.h", "schemes/registry.h"],
    param: "    kWidth,",
    field: "dim",
    base: "Relate",
    body: `  int width() const override { return dim_; }

  // r (keys, kLanes). State per block of queries, keys seen beforehand and the value side: see Relate in scheme.h.
  // Say the same pair by pair in meet() (schemes/relate/meeting.h): float64 and gradients come from there.
  void scores(const RelateTile& tile, const float* key_state, float* query_state, float* r) const override {
    (void)key_state, (void)query_state;
    for (int n = 0; n < tile.keys * kLanes; ++n) r[n] = 0;  // TODO
  }

 private:
`,
    options: ["dim=8", "dim=1", "dim=5", "dim=16"],
    test: (name) => `// The paper's term of the score of q (at i) and k (at j), in double.
double formula(const float* q, const float* k, double i, double j) {
  (void)q, (void)k, (void)i, (void)j;
  return std::nan("TODO: write the paper's formula here");
}

}  // namespace

TEST_CASE("${name}: the paper's formula") {
  const Built built = build(schemes::relate_${name}, "dim=4");
  REQUIRE(built.status.ok());
  const Reals queries = run(0, 9), keys = run(0, 20);
  std::vector<float> q(9 * 4), k(20 * 4);
  Dice dice(1);
  for (float& x : q) x = static_cast<float>(dice.real(-1, 1));
  for (float& x : k) x = static_cast<float>(dice.real(-1, 1));
  const RelateResult got = relate_matrices(built.as<Relate>(), 0, q, k, 4, 0.5f, {}, queries, keys);
  for (std::size_t i = 0; i < 9; ++i) {
    for (std::size_t j = 0; j < 20; ++j) {
      CHECK(static_cast<double>(got.scores[i * 20 + j]) ==
            Approx(formula(&q[i * 4], &k[j * 4], queries[i], keys[j])).epsilon(0).margin(1e-6));
    }
  }
}
`,
    testIncludes: ["support/tiles.h"],
  },
};

function scheme(slot, name) {
  const part = kParts[slot];
  const type = pascal(name);
  return `// ${type}: TODO what it is.
//
//   ${part.formula}
//
// TODO: authors, year, title, section and equation.
// Conventions:
//   TODO  signs, which column, which frameworks differ.
// Good at: TODO.
// Fails: TODO.
${part.includes.map((file) => `#include "${file}"`).join("\n")}

namespace posenc {

namespace {

constexpr Param kParams[] = {
${part.param}
};

// The law test says which laws hold; claim those that hold by the formula, with their conditions.
constexpr std::span<const Claim> kClaims;

class ${type} final : public ${part.base} {
 public:
  static Status make(const Spec& spec, std::unique_ptr<Scheme>& scheme) {
    auto made = std::make_unique<${type}>();
    made->${part.field}_ = spec.integer("${part.field}");
    scheme = std::move(made);
    return ok();
  }

${part.body}
  int ${part.field}_ = 0;
};

}  // namespace

constinit const Descriptor schemes::${slot}_${name} = {
    .slot = Slot::k${pascal(slot)},
    .name = "${name}",
    .title = "${type}",
    .summary = "TODO: what it is good at, and where it fails.",
    .formula = R"(${part.formula})",
    .reference = "TODO: authors, year, title, section",
    .params = kParams,
    .claims = kClaims,
    .make = ${type}::make,
};

}  // namespace posenc
`;
}

function test(slot, name) {
  const part = kParts[slot];
  const includes = ["schemes/scheme.h", "support/build.h", "support/golden_sets.h", ...part.testIncludes];
  return `// TODO: numbers worked by hand or printed by the paper, bad values, and far, negative, fractional positions.
#include <cmath>
#include <vector>

#include <catch2/catch.hpp>

${includes.map((file) => `#include "${file}"`).join("\n")}

using namespace posenc;
using namespace posenc_test;

namespace {

// Four sets or more that reach every option; POSENC_UPDATE_HASHES=1 prints their lines for tests/golden/hashes.txt.
const GoldenSets kGoldenSets(schemes::${slot}_${name}, {${part.options.map((text) => `"${text}"`).join(", ")}});

${part.test(name)}`;
}

// ---------------------------------------------------------------- the tree

function files(slot, name) {
  return [
    [`cpp/schemes/${slot}/${name}.cpp`, scheme(slot, name)],
    [`tests/cpp/schemes/${slot}/${name}_test.cpp`, test(slot, name)],
  ];
}

const at = (path) => join(kRoot, path);
const line = (slot, name) => `SCHEME(${slot}, ${name})`;
const readList = () => readFileSync(at(kList), "utf8");
const parseList = (text) => [...text.matchAll(/^SCHEME\((\w+), (\w+)\)$/gm)].map(([, slot, name]) => ({ slot, name }));

// In the order of the slots, after the last of its own.
function withLine(text, slot, name) {
  const lines = text.trimEnd().split("\n");
  let place = lines.length;
  while (place > 0) {
    const entry = /^SCHEME\((\w+),/.exec(lines[place - 1]);
    if (!entry || kSlots.indexOf(entry[1]) <= kSlots.indexOf(slot)) break;
    --place;
  }
  lines.splice(place, 0, line(slot, name));
  return `${lines.join("\n")}\n`;
}

function checkName(slot, name) {
  if (!kSlots.includes(slot)) throw new Refusal(`slot must be one of ${kSlots.join(", ")}, got ${slot ?? "nothing"}`);
  if (!/^[a-z][a-zA-Z0-9]{0,39}$/.test(name ?? "")) {
    throw new Refusal(`name must be camelCase: letters and digits, a small letter first, got ${name ?? "nothing"}`);
  }
}

function add(slot, name) {
  if (kReserved.has(name.toLowerCase())) throw new Refusal(`${name} is a word of the language`);
  if (kSlots.includes(name)) throw new Refusal(`${name} is a slot`);
  for (const entry of parseList(readList())) {
    // Files of one name in two cases are one file on some machines.
    if (entry.name.toLowerCase() === name.toLowerCase()) {
      throw new Refusal(`${entry.name} exists already, in the slot ${entry.slot}`);
    }
  }
  for (const index of ["web/src/core.ts", "web/src/layers.ts", "web/src/analysis/index.ts"].map(at)) {
    if (existsSync(index) && new RegExp(`[{,]\\s*${name}\\s*[,}]`).test(readFileSync(index, "utf8"))) {
      throw new Refusal(`the package exports another ${name} already`);
    }
  }
  for (const [path] of files(slot, name)) if (existsSync(at(path))) throw new Refusal(`${path} exists already`);
  for (const [path, text] of files(slot, name)) {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), text);
    console.log(`wrote ${path}`);
  }
  writeFileSync(at(kList), withLine(readList(), slot, name));
  console.log(`added ${line(slot, name)} to ${kList}`);
  console.log("next: the formula in both files, the claims, then the hashes; every TODO is asked for by a test");
}

function remove(slot, name) {
  if (!parseList(readList()).some((entry) => entry.slot === slot && entry.name === name)) {
    throw new Refusal(`there is no ${slot} ${name}`);
  }
  for (const [path, text] of files(slot, name)) {
    if (existsSync(at(path)) && readFileSync(at(path), "utf8") !== text) {
      throw new Refusal(`${path} is no longer the skeleton: it holds work, so take it away with git`);
    }
  }
  for (const [path] of files(slot, name)) rmSync(at(path), { force: true });
  writeFileSync(at(kList), readList().replace(`${line(slot, name)}\n`, ""));
  console.log(`took ${slot} ${name} away`);
}

try {
  const words = process.argv.slice(2);
  const options = words.filter((word) => word.startsWith("-"));
  const [slot, name, ...rest] = words.filter((word) => !word.startsWith("-"));
  if (rest.length > 0) throw new Refusal(`one slot and one name are wanted, got also ${rest.join(" ")}`);
  for (const option of options) {
    if (option !== "--remove") throw new Refusal(`the only option is --remove, got ${option}`);
  }
  checkName(slot, name);
  if (options.length > 0) remove(slot, name);
  else add(slot, name);
} catch (error) {
  if (!(error instanceof Refusal)) throw error;
  console.error(`new: ${error.message}`);
  process.exitCode = 1;
}
