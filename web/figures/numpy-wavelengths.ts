// The programs in NumPy of <posenc-spectrum> and <posenc-config>.
import type { AnyScheme } from "../src/core.js";
import { frequenciesNumpy, numpyProgram } from "./numpy.js";

/** Tokens a turn of each pair takes in a call of `length`; with those `before` a scaling rule, and which never turn. */
export function wavelengthsNumpy(
  scheme: AnyScheme,
  length: number,
  { before = false }: { before?: boolean } = {},
): string | undefined {
  const omega = frequenciesNumpy(scheme, length, before ? ["before = 2 * np.pi / omega"] : []);
  const never = before ? [`never = np.flatnonzero(wavelength > ${length})`] : [];
  return omega && numpyProgram(omega, "wavelength = 2 * np.pi / omega", never);
}

/** A position as a number whose places are the pairs. */
export function digitsNumpy(scheme: AnyScheme, length: number, pairs: number, position: number): string | undefined {
  const omega = frequenciesNumpy(scheme, length);
  return (
    omega &&
    numpyProgram(
      omega,
      `digits, rest = np.zeros(${pairs}), ${position}`,
      'for i in np.argsort(omega, kind="stable"):',
      "    digits[i], rest = divmod(rest, 1 / omega[i])",
    )
  );
}
