// t-SNE in slices, for figures: a page has its turn between two of them.
import { analysisFrame } from "../analysis-part.js";
import { refuse } from "../error.js";
import { readFinite, readOptions, readSeed, readWhole } from "../options.js";
import { Tensor, type TensorLike } from "../tensor.js";
import type { TsneMap, TsneOptions } from "./projection.js";
import { readTable } from "./table.js";

const kMostRows = 2048;

/** tsne() in slices of about `work` multiply-adds, between which its caller may do other things; the same bits. */
export function* tsneInSlices(
  table: TensorLike,
  options: TsneOptions | undefined,
  work: number,
): Generator<{ done: number; total: number }, TsneMap> {
  const subject = "tsne";
  const { data, rows, columns } = readTable(subject, "table", table);
  const given = readOptions(subject, options, ["perplexity", "iterations", "seed"]);
  const most = (rows - 1) / 3;
  const wide = `a number from 1 to ${most}, a third of the other rows`;
  const perplexity = readFinite(subject, "perplexity", given.perplexity, Math.max(1, Math.min(30, most)), wide);
  if (most >= 1 && !(perplexity >= 1 && perplexity <= most)) {
    refuse("out-of-range", subject, "perplexity", wide, perplexity);
  }
  const allowed = "a whole number from 0 to 1000000";
  const iterations = readWhole(subject, "iterations", given.iterations, allowed, 1e6, 1000);
  const seed = readSeed(subject, given.seed);
  const total = rows * (columns / 2 + iterations);
  // The core's own, from call to call. Of more rows it takes none.
  let kept = new Float64Array(rows > kMostRows ? 0 : (rows * (rows + 11)) / 2);
  let map: TsneMap;
  for (const squares of [true, false]) {
    const last = squares ? rows : iterations;
    // The table goes in with every slice of squares, which costs as much as a few rows of them.
    const some = Math.max(squares ? 16 : 1, Math.floor(work / (rows * (squares ? columns : rows))));
    let end = 0;
    do {
      const first = end;
      end = Math.min(last, first + some);
      const frame = analysisFrame(subject);
      const points = frame.output(rows * 2 * 8);
      const place = frame.input(kept, "table", kept.length);
      frame.run("tsne", {
        table: frame.inputIf(squares ? data : undefined, "table", rows * columns),
        rows,
        columns,
        perplexity,
        iterations,
        seed,
        first,
        end,
        kept: place,
        points,
        divergence: 0,
      });
      kept = frame.float64(place, kept.length);
      map = {
        points: new Tensor(frame.float64(points, rows * 2), [rows, 2], "float64"),
        divergence: frame.answer("divergence"),
      };
      yield { done: squares ? (end * columns) / 2 : (rows * columns) / 2 + rows * end, total };
    } while (end < last);
  }
  return map!;
}
