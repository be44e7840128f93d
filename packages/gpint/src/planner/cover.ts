/**
 * A set of disjoint paths over the links of a graph, which can be joined, cut and reversed in place.
 *
 * Struct of arrays: a doubly linked list of nodes for each path, and the place of each node along it, which tells at
 * once on which side of a node an end of its path lies. Every change costs time in proportion to the smaller part.
 */
export class Cover {
  /** Neighbours of each node along its path; -1 at the ends. */
  readonly next: Int32Array;
  readonly prev: Int32Array;
  /** Path of each node; -1: none yet. */
  readonly of: Int32Array;
  /** Place of each node: consecutive along a path, modulo 2^32, from an arbitrary start. */
  readonly place: Int32Array;
  /** Ends and number of nodes of each path. A path that is not in use has no nodes. */
  readonly head: Int32Array;
  readonly tail: Int32Array;
  readonly size: Int32Array;
  /** Numbers of the paths: the first `count` are in use. */
  readonly list: Int32Array;
  count = 0;
  readonly #listed: Int32Array;

  constructor(nodeCount: number) {
    this.next = new Int32Array(nodeCount).fill(-1);
    this.prev = new Int32Array(nodeCount).fill(-1);
    this.of = new Int32Array(nodeCount).fill(-1);
    this.place = new Int32Array(nodeCount);
    this.head = new Int32Array(nodeCount);
    this.tail = new Int32Array(nodeCount);
    this.size = new Int32Array(nodeCount);
    this.list = new Int32Array(nodeCount);
    this.#listed = new Int32Array(nodeCount);
    for (let p = 0; p < nodeCount; p++) {
      this.list[p] = p;
      this.#listed[p] = p;
    }
  }

  /** Number of nodes of each path in use. */
  sizes(): Int32Array {
    return this.list.subarray(0, this.count).map((path) => this.size[path]!);
  }

  /** Number of nodes of all paths. */
  get nodes(): number {
    return this.sizes().reduce((sum, size) => sum + size, 0);
  }

  /** Adds a path of one free node. Returns its number. */
  add(node: number): number {
    const path = this.list[this.count++]!;
    this.of[node] = path;
    this.head[path] = node;
    this.tail[path] = node;
    this.size[path] = 1;
    this.next[node] = -1;
    this.prev[node] = -1;
    this.place[node] = 0;
    return path;
  }

  /** Appends a free node to the tail of a path. */
  append(path: number, node: number): void {
    const last = this.tail[path]!;
    this.of[node] = path;
    this.next[last] = node;
    this.prev[node] = last;
    this.next[node] = -1;
    this.place[node] = this.place[last]! + 1;
    this.tail[path] = node;
    this.size[path]!++;
  }

  /** Reverses a path. */
  reverse(path: number): void {
    const last = this.head[path]!;
    let place = this.place[last]!;
    let x = this.tail[path]!;
    this.head[path] = x;
    this.tail[path] = last;
    while (x >= 0) {
      const following = this.prev[x]!;
      this.prev[x] = this.next[x]!;
      this.next[x] = following;
      this.place[x] = place;
      place = (place + 1) | 0;
      x = following;
    }
  }

  #release(path: number): void {
    this.size[path] = 0;
    const at = this.#listed[path]!;
    const other = this.list[--this.count]!;
    this.list[at] = other;
    this.#listed[other] = at;
    this.list[this.count] = path;
    this.#listed[path] = this.count;
  }

  /** Joins two paths by a link between an end `u` of one and an end `v` of the other. The larger keeps its number. */
  join(u: number, v: number): void {
    const { next, prev, of, place } = this;
    let end = u;
    let x = v;
    if (this.size[of[v]!]! > this.size[of[u]!]!) {
      end = v;
      x = u;
    }
    const s = of[end]!;
    const t = of[x]!;
    const forwards = this.head[t] === x;
    const atTail = this.tail[s] === end;
    // With `ahead` and `back` exchanged, and places counted downwards, the head is a tail.
    const ahead = atTail ? next : prev;
    const back = atTail ? prev : next;
    const sign = atTail ? 1 : -1;
    let at = place[end]!;
    while (x >= 0) {
      const following = forwards ? next[x]! : prev[x]!;
      of[x] = s;
      at = (at + sign) | 0;
      place[x] = at;
      back[x] = end;
      ahead[end] = x;
      end = x;
      x = following;
    }
    ahead[end] = -1;
    if (atTail) this.tail[s] = end;
    else this.head[s] = end;
    this.size[s] = this.size[s]! + this.size[t]!;
    this.#release(t);
  }

  /** Cuts a path after `v`, which is not its tail. The smaller part is a new path, whose number is returned. */
  cut(v: number): number {
    const { next, prev, of, place } = this;
    const s = of[v]!;
    const w = next[v]!;
    const front = ((place[v]! - place[this.head[s]!]!) | 0) + 1;
    const back = this.size[s]! - front;
    const t = this.list[this.count++]!;
    next[v] = -1;
    prev[w] = -1;
    if (back <= front) {
      this.head[t] = w;
      this.tail[t] = this.tail[s]!;
      this.tail[s] = v;
      this.size[t] = back;
      this.size[s] = front;
      for (let x = w; x >= 0; x = next[x]!) of[x] = t;
    } else {
      this.head[t] = this.head[s]!;
      this.tail[t] = v;
      this.head[s] = w;
      this.size[t] = front;
      this.size[s] = back;
      for (let x = v; x >= 0; x = prev[x]!) of[x] = t;
    }
    return t;
  }

  /**
   * Rotation (L. Pósa, Discrete Mathematics 14, 1976): an end `u` of a path is linked with a node `v` of the same path, which
   * loses its link on the side of `u`; the node there is the new end. `v` is not beside `u`.
   */
  rotate(u: number, v: number): void {
    const { next, prev, place } = this;
    const p = this.of[u]!;
    const atTail = this.tail[p] === u;
    // With `ahead` and `back` exchanged, and places counted downwards, the head is a tail.
    const ahead = atTail ? next : prev;
    const back = atTail ? prev : next;
    const sign = atTail ? 1 : -1;
    const w = ahead[v]!;
    const far = atTail ? this.head[p]! : this.tail[p]!;
    const inner = Math.abs((place[u]! - place[w]!) | 0);
    const outer = Math.abs((place[v]! - place[far]!) | 0);
    let last: number;
    if (inner <= outer) {
      let at = place[w]!;
      let x = u;
      last = v;
      while (last !== w) {
        const following = back[x]!;
        ahead[last] = x;
        back[x] = last;
        place[x] = at;
        at = (at + sign) | 0;
        last = x;
        x = following;
      }
      ahead[w] = -1;
      if (atTail) this.tail[p] = w;
      else this.head[p] = w;
      return;
    }
    let at = place[u]!;
    let x = v;
    last = u;
    while (x >= 0) {
      const following = back[x]!;
      ahead[last] = x;
      back[x] = last;
      at = (at + sign) | 0;
      place[x] = at;
      last = x;
      x = following;
    }
    ahead[last] = -1;
    back[w] = -1;
    if (atTail) {
      this.head[p] = w;
      this.tail[p] = last;
    } else {
      this.tail[p] = w;
      this.head[p] = last;
    }
  }
}
