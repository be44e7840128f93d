import { mix32 } from '@int/random';

/** Values of a place in a second that are enough for a median; of more, one in so many is taken. */
const VALUES = 32;
const PLACES = 4096;
/** Words of a place: what it is of, how many values to pass over, one in how many is taken, those taken in this second. */
const WORDS = 8;
const NODE = 0;
const QUEUE = 1;
const PORT = 2;
const LEFT = 3;
const STRIDE = 4;
const TAKEN = 5;

/**
 * Where hops of reports are: at a switch, in a queue, to a port. Tells of which the values are taken: the first of a second, and
 * of busy places one in so many, which then stands for as many. Of two with the same place the later one stays, and counts anew.
 */
export class HopPlaces {
  readonly #words = new Uint32Array(PLACES * WORDS);
  /** Places that were ever used. */
  readonly #used = new Uint16Array(PLACES);
  #count = 0;

  static readonly BYTES: number = PLACES * (4 * WORDS + 2);

  /** A hop is at a place. @returns how many hops it stands for; 0: others stand for it */
  pass(node: number, queue: number, port: number): number {
    const words = this.#words;
    const place = mix32(node ^ Math.imul(queue, 0x9e3779b1) ^ Math.imul(port, 0x85ebca6b)) & (PLACES - 1);
    const at = place * WORDS;
    if (words[at + NODE] === node && words[at + QUEUE] === queue && words[at + PORT] === port) {
      const left = words[at + LEFT]!;
      if (left > 1) {
        words[at + LEFT] = left - 1;
        return 0;
      }
      const taken = words[at + TAKEN]!;
      words[at + TAKEN] = taken + 1;
      const stride = words[at + STRIDE]!;
      words[at + LEFT] = stride;
      // The first of a second stands for itself.
      return taken === 0 ? 1 : stride;
    }
    if (words[at + STRIDE] === 0) this.#used[this.#count++] = place;
    words[at + NODE] = node;
    words[at + QUEUE] = queue;
    words[at + PORT] = port;
    words[at + LEFT] = words[at + STRIDE] = words[at + TAKEN] = 1;
    return 1;
  }

  /** Ends a second. */
  close(): void {
    const words = this.#words;
    for (let k = 0; k < this.#count; k++) {
      const at = this.#used[k]! * WORDS;
      const seen = words[at + TAKEN]! * words[at + STRIDE]!;
      words[at + STRIDE] = Math.max(1, Math.floor(seen / VALUES));
      words[at + LEFT] = 1;
      words[at + TAKEN] = 0;
    }
  }
}
