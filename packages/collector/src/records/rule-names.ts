/** Names held at most: a rule set has fewer, but rules come and go. */
const MOST_NAMES = 4096;

/**
 * Makes the bytes of rules' names, once each.
 * @param encode what the bytes of a name are
 */
export function ruleNames(encode: (name: string) => Uint8Array): (name: string) => Uint8Array {
  const known = new Map<string, Uint8Array>();
  return (name) => {
    let bytes = known.get(name);
    if (bytes === undefined) {
      bytes = encode(name);
      if (known.size >= MOST_NAMES) known.clear();
      known.set(name, bytes);
    }
    return bytes;
  };
}
