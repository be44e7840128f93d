/** Longest part of a program's name, in characters, that becomes part of a JavaScript name. */
const MAX_WISH = 48;

/*
 * The form of a name shows its origin. So a program's name never equals one of the generated code or of JavaScript:
 *
 * - names that are made of a program's: letters, digits and underscores, then one `$`, then perhaps a number: `result$`,
 *   `result$2`; the words of a wide value have `$0`, `$1`, ... behind that;
 * - the machine's functions: `m$` and a name that begins with a letter; temporaries: `$` and a number;
 * - names written out in the compiler, keywords, and names of the language: no `$` at all.
 */

/** Makes JavaScript names that resemble a program's names. All names of one generated source are different. */
export class Names {
  readonly #counts = new Map<string, number>();

  /** A new name made of `wish` and `$`, followed by a number if it is not the first of its kind. */
  take(wish: string): string {
    let base = wish.slice(0, MAX_WISH).replace(/[^A-Za-z0-9_]+/g, '_');
    if (!/^[A-Za-z_]/.test(base)) base = `_${base}`;
    const count = (this.#counts.get(base) ?? 0) + 1;
    this.#counts.set(base, count);
    return count === 1 ? `${base}$` : `${base}$${count}`;
  }
}

/**
 * Name of the property that holds a field. It avoids properties that all objects have. Properties of the generated code
 * itself begin with `$`, or belong to objects without fields.
 */
export function propertyOf(field: string): string {
  plainWord(field);
  return field in Object.prototype || field === 'prototype' ? `${field}$` : field;
}

/**
 * The name itself, which is written into the source as it is. Only the lexer makes such names; this is a second lock.
 *
 * @throws TypeError for anything but letters, digits and underscores
 */
export function plainWord(name: string): string {
  if (!/^\w+$/.test(name)) throw new TypeError('a name with characters that no name of a program has');
  return name;
}
