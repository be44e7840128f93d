/** Who may send, and which switches there are, in the kernel's maps. */
import { type Prefix, prefixOf } from '@int/network';
import type { LoadedProgram, ProgramMap } from '../loaded-program.js';
import { checkInteger } from '../options.js';
import { FLAGS, LITTLE, MAX_SENDERS, MAX_SWITCHES, SENDER_KEY } from './layout.js';

/** Bits in front of the IPv4 address in an IPv4-mapped IPv6 address (RFC 4291, section 2.5.5.2). */
const MAPPED_BITS = 96;

/** @throws RangeError for a text that is no prefix, or for too many */
function senderKeys(from: readonly (string | Prefix)[]): Map<string, { key: Uint8Array; family: 4 | 6 }> {
  const keys = new Map<string, { key: Uint8Array; family: 4 | 6 }>();
  for (const one of from) {
    const prefix = typeof one === 'string' ? prefixOf(one) : one;
    if (prefix === null) throw new RangeError(`from: "${String(one)}" is no address or prefix: write 10.9.0.0/16`);
    const key = new Uint8Array(SENDER_KEY.BYTES);
    const isIpv4 = prefix.bytes.length === 4;
    const bits = prefix.length + (isIpv4 ? MAPPED_BITS : 0);
    new DataView(key.buffer).setUint32(SENDER_KEY.LENGTH, bits, LITTLE);
    if (isIpv4) key.set([0xff, 0xff], SENDER_KEY.ADDRESS + 10);
    key.set(prefix.bytes, SENDER_KEY.ADDRESS + (isIpv4 ? 12 : 0));
    const family = bits >= MAPPED_BITS && isMapped(key) ? 4 : 6;
    keys.set(Buffer.from(key).toString('hex'), { key, family });
  }
  if (keys.size > MAX_SENDERS) {
    throw new RangeError(`from: the kernel knows at most ${MAX_SENDERS} prefixes, not ${keys.size}`);
  }
  return keys;
}

function isMapped(key: Uint8Array): boolean {
  const address = key.subarray(SENDER_KEY.ADDRESS);
  return address.subarray(0, 10).every((byte) => byte === 0) && address[10] === 0xff && address[11] === 0xff;
}

/** @throws RangeError for an id that is none, or for too many */
function switchIds(ids: Iterable<number>): Set<number> {
  const known = new Set<number>();
  for (const id of ids) known.add(checkInteger('prefilter: a switch id', id, 0, 0xffff_ffff));
  if (known.size > MAX_SWITCHES) {
    throw new RangeError(`knownSwitches: the kernel knows at most ${MAX_SWITCHES} switches, not ${known.size}`);
  }
  return known;
}

/**
 * The lists that the kernel asks before it looks at a report by rules. What it drops for them is what the collector would
 * refuse: the twin of `SenderList` and `KnownSwitches`.
 */
export class KernelAdmission {
  readonly #senders: ProgramMap;
  readonly #switches: ProgramMap;
  #checksSenders = false;
  #checksSwitches = false;

  constructor(program: LoadedProgram) {
    this.#senders = program.map('senders');
    this.#switches = program.map('switches');
  }

  /** The flags of the configuration. */
  get flags(): number {
    return (this.#checksSenders ? FLAGS.CHECK_SENDERS : 0) | (this.#checksSwitches ? FLAGS.CHECK_SWITCHES : 0);
  }

  /**
   * Puts a list into the map while the program asks it: what stays is there all the time.
   * @param from `null`: anybody may send
   * @param apply writes {@link flags} where the program reads them
   */
  setSenders(from: readonly (string | Prefix)[] | null, apply: () => void): void {
    const wanted = from === null ? new Map<string, never>() : senderKeys(from);
    if (from === null && this.#checksSenders) {
      this.#checksSenders = false;
      apply();
    }
    for (const { key, family } of wanted.values()) this.#senders.update(key, Uint32Array.of(family));
    for (const key of [...this.#senders.keys()]) {
      if (!wanted.has(Buffer.from(key).toString('hex'))) this.#senders.delete(key);
    }
    if (from === null || this.#checksSenders) return;
    this.#checksSenders = true;
    apply();
  }

  /** The same for switches. @param ids `null`: any id may be one */
  setSwitches(ids: Iterable<number> | null, apply: () => void): void {
    const wanted = ids === null ? new Set<number>() : switchIds(ids);
    if (ids === null && this.#checksSwitches) {
      this.#checksSwitches = false;
      apply();
    }
    for (const id of wanted) this.#switches.update(id, Uint32Array.of(1));
    for (const key of [...this.#switches.keys()]) {
      if (!wanted.has(new DataView(key.buffer).getUint32(0, LITTLE))) this.#switches.delete(key);
    }
    if (ids === null || this.#checksSwitches) return;
    this.#checksSwitches = true;
    apply();
  }
}
