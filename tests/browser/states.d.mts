/** Attributes by figure's name: settings beside the views, each a list of values. */
export const kStates: Readonly<Record<string, readonly Readonly<Record<string, string | number | boolean>>[]>>;
