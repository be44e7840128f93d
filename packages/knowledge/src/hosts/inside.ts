import { prefixOf } from '@int/network';
import { ADDRESS_WORDS } from '../table/address.js';

/** A prefix as words: an address is in it if its masked words are these. */
interface Words {
  readonly words: readonly number[];
  readonly masks: readonly number[];
}

/** The own network, as prefixes. */
export class Inside {
  readonly #prefixes: readonly Words[];

  /** @throws RangeError for a text that is no prefix */
  constructor(prefixes: readonly string[]) {
    this.#prefixes = prefixes.map(wordsOf);
  }

  has(words: Uint32Array, at: number): boolean {
    for (const prefix of this.#prefixes) if (isIn(prefix, words, at)) return true;
    return false;
  }
}

function isIn(prefix: Words, words: Uint32Array, at: number): boolean {
  for (let k = 0; k < ADDRESS_WORDS; k++) {
    if ((words[at + k]! & prefix.masks[k]!) >>> 0 !== prefix.words[k]) return false;
  }
  return true;
}

function wordsOf(text: string): Words {
  const prefix = prefixOf(text);
  if (prefix === null) throw new RangeError(`${JSON.stringify(text)} is no prefix such as 10.0.0.0/8`);
  const isIpv4 = prefix.bytes.length === 4;
  const bytes = isIpv4 ? [...new Uint8Array(10), 0xff, 0xff, ...prefix.bytes] : [...prefix.bytes];
  const length = prefix.length + (isIpv4 ? 96 : 0);
  const words = [0, 1, 2, 3].map(
    (k) => ((bytes[4 * k]! << 24) | (bytes[4 * k + 1]! << 16) | (bytes[4 * k + 2]! << 8) | bytes[4 * k + 3]!) >>> 0,
  );
  const masks = [0, 1, 2, 3].map((k) => {
    const bits = Math.min(32, Math.max(0, length - 32 * k));
    return bits === 0 ? 0 : (0xffffffff << (32 - bits)) >>> 0;
  });
  return { words, masks };
}
