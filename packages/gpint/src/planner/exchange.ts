/** Phase 2 of GPINT: nodes change paths until nothing improves (reliable GPINT, section III-A, "exchange"). */
import type { Random } from '@int/random';
import type { Graph } from '../graph/graph.js';
import type { Cover } from './cover.js';
import { Listing } from './listing.js';

/** Most neighbours of an end examined in one step. */
const LOOKED_AT = 16;

/**
 * Temperature for small pieces; it grows with the pieces. Measured: at twice the value the search finds no covers
 * without missing nodes, at half the value more seeds get stuck.
 */
const HEAT = 0.2;
const SHORT = 20;

/** Possible changes of a step at an end `u` of a path and a neighbour `v`. */
const ROTATE = 0;
/** Take the nodes of the other path from its head to `v`. */
const TAKE_FRONT = 1;
/** Take the nodes of the other path from `v` to its tail. */
const TAKE_BACK = 2;
/** Give `u` to the other path, of which `v` is an end. */
const GIVE = 3;

/**
 * Search over covers by paths that are to be cut into pieces of `shortest` to `longest` nodes, `pieces` in all: neither
 * fewer nor more.
 *
 * The energy of a cover is the number of nodes that its paths lack for such a cut, plus the deviation from the number
 * of pieces. A step draws a path with missing nodes and one of its ends, examines the links of that end, and makes the
 * best change: options (a) and (b) of the paper, the transfer of an end node or of an end segment, and the rotation,
 * which changes no path but where it ends. Changes for the worse are rare.
 */
export class Exchange {
  energy = 0;
  readonly #graph: Graph;
  readonly #cover: Cover;
  readonly #pieces: number;
  readonly #random: Random;
  readonly #chance: Float64Array;
  /** By number of nodes: fewest and most pieces, nodes missing for the fewest. */
  readonly #fewest: Int32Array;
  readonly #most: Int32Array;
  readonly #missing: Int32Array;
  /**
   * By number of nodes: 1 if nodes are missing, or if the last piece would be less than half full, so that a piece can
   * be saved. Without the second case, removing the last extra pieces takes most of the time.
   */
  readonly #isBad: Uint8Array;
  /** Bad paths. */
  readonly #bad: Listing;
  #sumFewest = 0;
  #sumMost = 0;
  #sumMissing = 0;

  constructor(graph: Graph, cover: Cover, pieces: number, shortest: number, longest: number, random: Random) {
    this.#graph = graph;
    this.#cover = cover;
    this.#pieces = pieces;
    this.#random = random;
    const heat = HEAT * Math.max(1, longest / SHORT);
    this.#chance = Float64Array.from(
      { length: Math.ceil(22 * heat) + 2 },
      (_, rise) => 2 ** 32 * Math.exp(-rise / heat),
    );
    const total = cover.nodes;
    this.#fewest = new Int32Array(total + 1);
    this.#most = new Int32Array(total + 1);
    this.#missing = new Int32Array(total + 1);
    this.#isBad = new Uint8Array(total + 1);
    for (let length = 1; length <= total; length++) {
      const fewest = Math.ceil(length / longest);
      this.#fewest[length] = fewest;
      this.#most[length] = Math.floor(length / shortest);
      this.#missing[length] = Math.max(0, fewest * shortest - length);
      this.#isBad[length] = this.#missing[length]! > 0 || 2 * (fewest * longest - length) > longest ? 1 : 0;
    }
    this.#bad = new Listing(graph.nodeCount);
    for (let i = 0; i < cover.count; i++) {
      const p = cover.list[i]!;
      const size = cover.size[p]!;
      this.#sumFewest += this.#fewest[size]!;
      this.#sumMost += this.#most[size]!;
      this.#sumMissing += this.#missing[size]!;
      this.#mark(p);
    }
    this.energy = this.#energyOf(this.#sumFewest, this.#sumMost, this.#sumMissing);
  }

  #energyOf(fewest: number, most: number, missing: number): number {
    let energy = missing;
    if (fewest > this.#pieces) energy += 2 * (fewest - this.#pieces);
    if (most < this.#pieces) energy += this.#pieces - most;
    return energy;
  }

  /** Pieces at least, of `longest` nodes at most. */
  get leastPieces(): number {
    return this.#sumFewest;
  }

  #mark(path: number): void {
    this.#bad.set(path, this.#isBad[this.#cover.size[path]!]! === 1);
  }

  /** Energy after two paths of `a` and `b` nodes become two of `c` and `d`. */
  #after(a: number, b: number, c: number, d: number): number {
    return this.#energyOf(
      this.#sumFewest + change(this.#fewest, a, b, c, d),
      this.#sumMost + change(this.#most, a, b, c, d),
      this.#sumMissing + change(this.#missing, a, b, c, d),
    );
  }

  /** Makes one step. Returns its work, in nodes examined or changed. */
  step(): number {
    const cover = this.#cover;
    const random = this.#random;
    const { first, neighbours } = this.#graph;
    const { of, place, head, tail, size } = cover;
    let draw = random.uint32();
    const s =
      this.#bad.count > 0 && (draw & 15) !== 0 ? this.#bad.at(draw >>> 5) : cover.list[(draw >>> 5) % cover.count]!;
    const u = (draw & 16) === 0 ? head[s]! : tail[s]!;
    const begin = first[u]!;
    const degree = first[u + 1]! - begin;
    if (degree === 0) return 1;
    draw = random.uint32();
    const looks = Math.min(degree, LOOKED_AT);
    let at = draw % degree;
    const a = size[s]!;
    let best = 0x7fff_ffff;
    let bestNode = -1;
    let option = ROTATE;
    let ties = 1;
    for (let i = 0; i < looks; i++) {
      const v = neighbours[begin + at]!;
      if (++at === degree) at = 0;
      const t = of[v]!;
      if (t < 0) continue;
      if (t === s) {
        if (cover.next[u] === v || cover.prev[u] === v) continue;
        if (this.energy < best) {
          best = this.energy;
          bestNode = v;
          option = ROTATE;
          ties = 1;
        } else if (this.energy === best && random.uint32() % ++ties === 0) {
          bestNode = v;
          option = ROTATE;
        }
        continue;
      }
      const b = size[t]!;
      const front = ((place[v]! - place[head[t]!]!) | 0) + 1;
      for (let kind = TAKE_FRONT; kind <= GIVE; kind++) {
        let taken = front;
        if (kind === TAKE_BACK) taken = b - front + 1;
        else if (kind === GIVE) {
          if ((front !== 1 && front !== b) || a === 1) continue;
          taken = -1;
        }
        const energy = this.#after(a, b, a + taken, b - taken);
        if (energy < best) {
          best = energy;
          bestNode = v;
          option = kind;
          ties = 1;
        } else if (energy === best && random.uint32() % ++ties === 0) {
          bestNode = v;
          option = kind;
        }
      }
    }
    if (bestNode < 0) return looks;
    const rise = best - this.energy;
    if (rise > 0 && random.uint32() >= this.#chance[Math.min(rise, this.#chance.length - 1)]!) return looks;
    return looks + this.#change(u, bestNode, option);
  }

  #change(u: number, v: number, option: number): number {
    const cover = this.#cover;
    const s = cover.of[u]!;
    if (option === ROTATE) {
      cover.rotate(u, v);
      return 1 + (cover.size[s]! >>> 2);
    }
    const t = cover.of[v]!;
    const a = cover.size[s]!;
    const b = cover.size[t]!;
    let other = -1;
    if (option === TAKE_FRONT) {
      if (cover.tail[t] !== v) other = cover.cut(v);
    } else if (option === TAKE_BACK) {
      if (cover.head[t] !== v) other = cover.cut(cover.prev[v]!);
    } else other = cover.cut(cover.head[s] === u ? u : cover.prev[u]!);
    cover.join(u, v);
    const c = cover.size[cover.of[u]!]!;
    const d = a + b - c;
    this.#sumFewest += change(this.#fewest, a, b, c, d);
    this.#sumMost += change(this.#most, a, b, c, d);
    this.#sumMissing += change(this.#missing, a, b, c, d);
    this.energy = this.#energyOf(this.#sumFewest, this.#sumMost, this.#sumMissing);
    this.#mark(s);
    this.#mark(t);
    if (other >= 0) this.#mark(other);
    return 1 + Math.min(a, b);
  }
}

/** The change of a sum, of which `by` has a part for each number of nodes, when paths of `a` and `b` nodes become two of `c` and `d`. */
function change(by: Int32Array, a: number, b: number, c: number, d: number): number {
  return by[c]! + by[d]! - by[a]! - by[b]!;
}
