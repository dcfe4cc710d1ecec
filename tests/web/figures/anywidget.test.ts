// The widget of notebooks, with a document of no more than it touches: what becomes of its trait `data`.
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { alibi, ready, rope, type Tensor } from "../../../web/src/index.js";
import type { WidgetModel } from "../../../web/src/anywidget.js";

interface Made {
  localName: string;
  data?: unknown;
  textContent?: string;
}

let made: Made[];

beforeEach(async () => {
  await ready();
  const createElement = (localName: string): Made => {
    const element = { localName, setAttribute() {}, removeAttribute() {}, addEventListener() {}, remove() {} };
    made.push(element);
    return element;
  };
  vi.stubGlobal("document", { createElement });
});
afterEach(() => vi.unstubAllGlobals());

async function rendered(data: unknown): Promise<{ figure: Made; told: Made }> {
  const { render } = await import("../../../web/src/anywidget.js");
  made = [];
  const traits: Record<string, unknown> = { figure: "bias", data };
  const model = { get: (name: string) => traits[name], set() {}, save_changes() {}, on() {}, off() {} };
  render({ model: model as WidgetModel, el: { replaceChildren() {} } as unknown as HTMLElement });
  // The figure is handed its data when this copy's core runs.
  await new Promise((resolve) => setTimeout(resolve, 0));
  const [told, figure] = ["div", "posenc-bias"].map((name) => made.find(({ localName }) => localName === name)!);
  return { told: told!, figure: figure! };
}

it("hands schemes on as JSON: another copy of posenc may have defined the elements", async () => {
  const json = alibi({ heads: 4 }).toJSON();
  const list = [json, rope({ dim: 8 }).toJSON()];
  for (const data of [json, list, { slot: "bias", name: "zzz" }]) {
    expect((await rendered(data)).figure.data).toBe(data);
  }
});

it("makes tables of bytes, and leaves lists to the figure", async () => {
  const numbers = Float64Array.of(1, 2, 3, 4, 5, 6);
  const bytes = new DataView(numbers.buffer);
  const { figure } = await rendered({ name: "own", table: { shape: [3, 2], dtype: "float64", data: bytes } });
  const { table, name } = figure.data as { table: Tensor; name: string };
  expect([name, table.shape, table.dtype, [...table.data]]).toEqual(["own", [3, 2], "float64", [...numbers]]);
  const rows = [[1, 2], [3]];
  expect((await rendered({ table: rows })).figure.data).toEqual({ name: "table", table: rows });
  expect((await rendered({ table: null })).figure.data).toEqual({ name: "table", table: null });
});

it("tells below the figure which bytes are no table", async () => {
  const { figure, told } = await rendered({ table: { shape: [5, 2], data: new DataView(new ArrayBuffer(24)) } });
  expect(figure.data).toBeUndefined();
  expect(told.textContent).toContain("shape");
});
