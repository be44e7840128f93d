import { mix32 } from '@int/random';
import type { Incidents } from '../incident/incidents.js';
import type { Settings } from '../options.js';
import { BloomFilters } from '../sketch/bloom-filters.js';
import { KeyTable } from '../table/keys.js';

const DAYS = 14;
const DAY_MS = 86_400_000;
/** Bits of a day's set: 20,000 edges are mistaken for known ones in 1 of 100 cases. */
const DAY_BITS = 1 << 18;
const CHAIN_MS = 3_600_000;
const ROWS = 1024;
const QUIET_MS = 3_600_000;

/**
 * Connections between inside hosts to ports of administration that were never made in 14 days. One alone is no
 * incident; a host that was reached by one and makes another within an hour is (the idea of Hopper, USENIX Security
 * 2021, with packets in the place of logins).
 */
export class Edges {
  readonly #settings: Settings;
  readonly #incidents: Incidents;
  readonly #days = new BloomFilters(DAYS, DAY_BITS);
  readonly #reached: KeyTable;
  /** Length of the chain that reached a host. */
  readonly #length: Uint32Array;
  readonly #reachedMs: Float64Array;
  readonly #from: string[];
  #sinceMs = Number.NaN;
  #day = Number.NaN;

  constructor(settings: Settings, incidents: Incidents) {
    this.#settings = settings;
    this.#incidents = incidents;
    this.#length = new Uint32Array(ROWS);
    this.#reachedMs = new Float64Array(ROWS);
    this.#from = new Array<string>(ROWS).fill('');
    this.#reached = new KeyTable(ROWS, (row) => {
      this.#length[row] = 0;
      this.#from[row] = '';
    });
  }

  static readonly BYTES: number = BloomFilters.byteLength(DAYS, DAY_BITS) + KeyTable.byteLength(ROWS) + ROWS * 64;

  /** Time goes on. Learning begins with the first of it, and not with the first edge: that may be the first of an attack. */
  advance(timeMs: number): void {
    if (Number.isNaN(this.#sinceMs)) this.#sinceMs = timeMs;
  }

  /**
   * A connection between two inside hosts was answered.
   * @param words both addresses
   * @param hashes of the addresses
   * @param nameOf gives the text of the address at a word
   */
  answered(
    words: Uint32Array,
    source: number,
    destination: number,
    port: number,
    timeMs: number,
    nameOf: (at: number) => string,
  ): void {
    if (!this.#settings.administration.includes(port)) return;
    const day = Math.floor(timeMs / DAY_MS);
    if (Number.isNaN(this.#day)) this.#day = day;
    // Days that have passed are emptied, at most all of them.
    for (let k = Math.max(this.#day + 1, day - DAYS + 1); k <= day; k++) this.#days.clear(k % DAYS);
    this.#day = Math.max(this.#day, day);
    const edge = mix32(mix32(source) ^ mix32(destination ^ 0x5bd1e995) ^ port);
    let isKnown = false;
    for (let k = 0; k < DAYS; k++) isKnown ||= this.#days.has(k, edge);
    this.#days.add(this.#day % DAYS, edge);
    if (isKnown || timeMs - this.#sinceMs < this.#settings.learnEdgesMs) return;
    this.#unusual(words, port, timeMs, nameOf);
  }

  #unusual(words: Uint32Array, port: number, timeMs: number, nameOf: (at: number) => string): void {
    const before = this.#reached.find(words, 0);
    const isChain = before >= 0 && this.#length[before]! > 0 && timeMs - this.#reachedMs[before]! <= CHAIN_MS;
    const length = isChain ? this.#length[before]! + 1 : 1;
    const first = isChain ? this.#from[before]! : '';
    const source = nameOf(0);
    const destination = nameOf(4);
    const reached = this.#reached.rowOf(words, 4, timeMs);
    this.#length[reached] = length;
    this.#reachedMs[reached] = timeMs;
    this.#from[reached] = source;
    this.#reached.weight[reached] = length;
    if (length < 2) return;
    this.#incidents.found(
      {
        kind: 'unusual-edge',
        entity: `host:${source}`,
        detector: 'chain-of-new-edges',
        formula: 'length >= 2, each edge new in 14 days, to a port of administration, within an hour of the one before',
        operands: { length, from: first, through: source, to: destination, port },
        baseline: { days: DAYS },
        windowMs: CHAIN_MS,
        confidence: 1 - 0.5 ** length,
        phase: 'lateral-movement',
        otherwise: ['an administrator at work on new machines', 'a new management system'],
        confirm: 'ask who logged in to the host in between',
        suggest: { intent: 'block', match: { source, destination, port }, ttlMs: 600_000 },
      },
      timeMs,
      timeMs,
      QUIET_MS,
    );
  }
}
