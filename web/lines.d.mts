/** A minified script with line ends before functions, declarations and throws, and none within its texts. */
export function inLines(script: string): string;
