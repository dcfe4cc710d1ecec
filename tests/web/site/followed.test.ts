// A model's config in the playground: every figure that has a field for what the config says has its value, or the page
// says why it has not.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { fromConfig } from "../../../web/src/config.js";
import { ready, type AnyScheme } from "../../../web/src/index.js";
import { allFields, completeValues, type Figure, type Values } from "../../../web/figures/figure.js";
import { figures } from "../../../web/figures/index.js";
import { figureState } from "../../../web/figures/render.js";
import { fittingOf, followedOf, unfollowedSentence } from "../../../web/site/followed.js";

beforeAll(() => ready());

const folder = join(import.meta.dirname, "../../golden/configs");
const configs = readdirSync(folder)
  .filter((file) => file.endsWith(".json"))
  .map((file): [string, object] => [file, JSON.parse(readFileSync(join(folder, file), "utf8")).config]);
const named = (name: string): Figure => figures.find((figure) => figure.name === name)!;

const schemeOf = (config: object): AnyScheme => {
  const { embed, rotate, bias, relate } = fromConfig(config);
  return [embed, rotate, bias, relate].flat().find((scheme) => scheme !== undefined) as AnyScheme;
};

// As the playground makes it.
const titled = (name: string, config: object, view?: string): string => {
  const scheme = schemeOf(config);
  const own: Values = view === undefined ? { scheme: scheme.name } : { view };
  const { values } = fittingOf(named(name), scheme, own, followedOf(config, fromConfig(config)));
  const figure = named(name);
  return figure.title(figureState(name, values, scheme) as never).replace(/\s/g, " ");
};

describe.each(configs)("%s", (_, config) => {
  it("is followed by every figure that has the fields", () => {
    const read = fromConfig(config);
    const said = followedOf(config, read);
    const scheme = schemeOf(config);
    for (const figure of figures) {
      const start = allFields(figure, completeValues(figure, () => undefined));
      const chooser = start.find(({ name }) => name === "scheme");
      if (chooser?.kind !== "choice" || !chooser.choices.some(({ value }) => value === scheme.name)) continue;
      const { values, refused } = fittingOf(figure, scheme, { scheme: scheme.name }, said);
      const all = completeValues(figure, (name) => values[name]);
      for (const name of ["heads", "causal", "window", "context"]) {
        const field = allFields(figure, all).find((one) => one.name === name);
        if (!field || field.kind === "text" || said[name] === undefined || name in scheme.toJSON()) continue;
        const told = refused.some((sentence) => sentence.includes(name));
        expect(all[name] === said[name] || told, `${figure.name}, ${name}: ${String(all[name])}`).toBe(true);
      }
    }
    expect(unfollowedSentence(read)).toMatch(/^Only posenc-config shows the scale of the scores.*\.$/);
  });
});

it("draws the heads, mask, window and context of the config", () => {
  const of = (file: string): object => configs.find(([name]) => name === file)![1];
  expect(titled("attention", of("bert-base-uncased.json"))).toBe("Attention weights, head 1 of 12, learned");
  expect(titled("attention", of("t5-small.json"))).toBe("Attention weights, head 1 of 8, T5 relative bias");
  const mistral = { ...of("mistral-7b.json"), sliding_window: 4 };
  expect(titled("attention", mistral)).toBe("Attention weights, head 1 of 32, RoPE, causal, window of 4");
  const llama = of("llama-3.1-8b.json");
  expect(titled("spectrum", llama)).toContain("a context of 131 072");
  expect(titled("extrapolation", llama, "phases")).toContain("131 072 positions, 8192 of them trained");
  expect(titled("projection", of("bert-base-uncased.json"))).not.toMatch(/learned and.*learned/i);
});

it("says what a figure cannot follow, once the scheme does not say it either", () => {
  const llama = configs.find(([name]) => name === "llama-2-7b.json")![1];
  const config = { ...llama, num_attention_heads: 64 };
  const said = followedOf(config, fromConfig(config));
  const { refused } = fittingOf(named("attention"), schemeOf(config), { scheme: "rope" }, said);
  expect(refused).toEqual([expect.stringMatching(/heads.* from 1 to 32, got 64/)]);
  const bloom = configs.find(([name]) => name === "bloom.json")![1];
  expect(fittingOf(named("attention"), schemeOf(bloom), {}, followedOf(bloom, fromConfig(bloom))).refused).toEqual([]);
});

it("draws beside a scheme another one", () => {
  for (const scheme of ["sinusoidal", "learned"]) {
    const { compare } = completeValues(named("projection"), (name) => (name === "scheme" ? scheme : undefined));
    expect(compare).not.toBe(scheme);
  }
});
