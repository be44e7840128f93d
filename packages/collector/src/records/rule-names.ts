/** Names held at most: a rule set has fewer, but rules come and go. */
const MOST_NAMES = 4096;

/** Names of rules as bytes, made once each. */
export class RuleNames {
  readonly #bytes = new Map<string, Uint8Array>();
  readonly #encode: (name: string) => Uint8Array;

  /** @param encode what the bytes of a name are */
  constructor(encode: (name: string) => Uint8Array) {
    this.#encode = encode;
  }

  of(name: string): Uint8Array {
    const known = this.#bytes.get(name);
    if (known !== undefined) return known;
    if (this.#bytes.size >= MOST_NAMES) this.#bytes.clear();
    const bytes = this.#encode(name);
    this.#bytes.set(name, bytes);
    return bytes;
  }
}
