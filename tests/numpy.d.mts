export declare function runInNumpy(programs: readonly string[]): (number[][] | string)[];
