/** Characters of a program's name that its JavaScript name has. */
const MAX_WISH = 48;

/*
 * No name of a program can be one of generated code's own, or of the language's, because of what the names look like:
 *
 * - names that are made of a program's: letters, digits and underscores, then one `$`, then perhaps a number: `result$`,
 *   `result$2`; the words of a wide value have `$0`, `$1`, ... behind that;
 * - the machine's functions: `m$` and a name that begins with a letter; temporaries: `$` and a number;
 * - all that is written out in the compiler, keywords, and names of the language: no `$` at all.
 */

/** Hands out JavaScript names that are alike to a program's. All names of one generated source are different. */
export class Names {
  readonly #counts = new Map<string, number>();

  /** A new name made of `wish`: with `$` behind it, and for the second of its kind on a number. */
  take(wish: string): string {
    let base = wish.slice(0, MAX_WISH).replace(/[^A-Za-z0-9_]+/g, '_');
    if (!/^[A-Za-z_]/.test(base)) base = `_${base}`;
    const count = (this.#counts.get(base) ?? 0) + 1;
    this.#counts.set(base, count);
    return count === 1 ? `${base}$` : `${base}$${count}`;
  }
}

/**
 * Name of the property that holds a field. Properties that all objects have are kept clear of; those of generated code's
 * own begin with `$`, or belong to objects without fields.
 */
export function propertyOf(field: string): string {
  return field in Object.prototype || field === 'prototype' ? `${field}$` : field;
}
