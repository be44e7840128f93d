const RESERVED: ReadonlySet<string> = /* @__PURE__ */ new Set(
  (
    'abstract arguments async await boolean break byte case catch char class const continue debugger default delete do ' +
    'double else enum eval export extends false final finally float for function get goto if implements import in Infinity ' +
    'instanceof int interface let long machine Math NaN native new null Number of package private protected public return ' +
    'runtime set short static super switch synchronized this throw throws transient true try typeof undefined var void ' +
    'volatile while with yield BigInt Object String Symbol Uint8Array Int32Array ' +
    'input output requests faults bytes at end exited entry position target start states it i buffer standard'
  ).split(' '),
);

/** Hands out JavaScript names that are alike to a program's. All names of one generated source are different. */
export class Names {
  readonly #used = new Set<string>(RESERVED);

  /** A new name made of `wish`, with `$2`, `$3`, ... behind it if that is taken. */
  take(wish: string): string {
    let base = wish.replace(/[^A-Za-z0-9_$]+/g, '_');
    if (!/^[A-Za-z_$]/.test(base)) base = `_${base}`;
    let name = base;
    for (let count = 2; this.#used.has(name); count++) name = `${base}$${count}`;
    this.#used.add(name);
    return name;
  }
}

/** Name of the property that holds a field: properties that all objects have, and those of our own, are kept clear. */
export function propertyOf(field: string): string {
  return field in Object.prototype || field === 'prototype' ? `${field}$` : field;
}
