/** Values of a place in a second that are enough for a median; of more, one in so many is taken. */
const VALUES = 32;
const PLACES = 4096;
const PLACE_SHIFT = 20;
/** Hops that are passed at a time. */
export const MOST_HOPS = 1024;
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
  readonly #words = new Int32Array(PLACES * WORDS);
  /** Places that were ever used. */
  /** Hops that {@link pass} takes, and how many each stands for. */
  readonly taken: Uint32Array = new Uint32Array(MOST_HOPS);
  readonly times: Uint32Array = new Uint32Array(MOST_HOPS);
  readonly #used = new Uint16Array(PLACES);
  #count = 0;

  static readonly BYTES: number = PLACES * (4 * WORDS + 2);

  /**
   * Hops are at places. Those whose values are taken are in {@link taken}, each with how many hops it stands for.
   * @param first rows of the columns, of at most {@link MOST_HOPS} up to `end`
   * @returns how many are taken
   */
  pass(nodeId: Uint32Array, queueId: Uint32Array, port: Uint32Array, first: number, end: number): number {
    const words = this.#words;
    const { taken, times } = this;
    let count = 0;
    for (let hop = first; hop < end; hop++) {
      const node = nodeId[hop]! | 0;
      if (node === -1) continue;
      const queue = queueId[hop]! | 0;
      const egress = port[hop]! | 0;
      const place =
        (Math.imul(node, 0x9e3779b1) + Math.imul(queue, 0x85ebca6b) + Math.imul(egress, 0xc2b2ae35)) >>> PLACE_SHIFT;
      const at = place * WORDS;
      const left = words[at + LEFT]!;
      if (words[at + NODE] !== node || words[at + QUEUE] !== queue || words[at + PORT] !== egress) {
        if (words[at + STRIDE] === 0) this.#used[this.#count++] = place;
        words[at + NODE] = node;
        words[at + QUEUE] = queue;
        words[at + PORT] = egress;
        words[at + LEFT] = words[at + STRIDE] = words[at + TAKEN] = 1;
      } else if (left > 1) {
        words[at + LEFT] = left - 1;
        continue;
      } else {
        const stride = words[at + STRIDE]!;
        words[at + LEFT] = stride;
        // The first of a second stands for itself.
        times[count] = words[at + TAKEN]! === 0 ? 1 : stride;
        words[at + TAKEN] = words[at + TAKEN]! + 1;
        taken[count++] = hop;
        continue;
      }
      times[count] = 1;
      taken[count++] = hop;
    }
    return count;
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
