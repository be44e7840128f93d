import type { Incidents } from '../incident/incidents.js';
import { HyperLogLogs } from '../sketch/hyper-log-logs.js';
import { KeyTable } from '../table/keys.js';

const WINDOW_MS = 600_000;
const ROWS = 1024;
/** Sources that fail, and different things that they try, which make a scan of many. */
const LEAST_SOURCES = 10;
const LEAST_THINGS = 50;
/** Failures a second above which it is a flood and no scan. */
const FLOOD_PER_SECOND = 100;
const QUIET_MS = 600_000;

/**
 * Scans that many sources share, so that none of them fails often: failures counted by what they were aimed at. A target
 * is a host, whose ports are tried, or a service, which is tried on many hosts.
 */
export class Targets {
  readonly #table: KeyTable;
  readonly #incidents: Incidents;
  readonly #things: HyperLogLogs;
  readonly #sources: HyperLogLogs;
  readonly #failures: Uint32Array;
  readonly #sinceMs: Float64Array;
  readonly #nameOf: (
    row: number,
    table: KeyTable,
  ) => { readonly entity: string; readonly match: Record<string, string> };
  readonly #thing: string;

  /**
   * @param thing what the sources try on a target: `ports` or `hosts`
   * @param nameOf how a target is called
   */
  constructor(thing: string, incidents: Incidents, nameOf: Targets['nameOf']) {
    this.#table = new KeyTable(ROWS, (row) => this.#forget(row));
    this.#incidents = incidents;
    this.#thing = thing;
    this.#nameOf = nameOf;
    this.#things = new HyperLogLogs(ROWS);
    this.#sources = new HyperLogLogs(ROWS);
    this.#failures = new Uint32Array(ROWS);
    this.#sinceMs = new Float64Array(ROWS);
  }

  static readonly BYTES: number = KeyTable.byteLength(ROWS) + 2 * HyperLogLogs.byteLength(ROWS) + ROWS * 12;

  get nameOf(): (row: number, table: KeyTable) => { readonly entity: string; readonly match: Record<string, string> } {
    return this.#nameOf;
  }

  get evicted(): number {
    return this.#table.evicted;
  }

  /** A first contact of a source that is not convicted has failed. */
  failure(target: Uint32Array, at: number, thing: number, source: number, timeMs: number): void {
    const row = this.#table.rowOf(target, at, timeMs);
    if (timeMs - this.#sinceMs[row]! > WINDOW_MS) {
      this.#forget(row);
      this.#sinceMs[row] = timeMs;
    }
    const failures = this.#failures[row]! + 1;
    this.#failures[row] = failures;
    this.#table.weight[row] = failures;
    this.#things.add(row, thing);
    this.#sources.add(row, source);
    if (failures >= LEAST_THINGS && (failures & 7) === 0) this.#judge(row, timeMs);
  }

  #forget(row: number): void {
    this.#things.clear(row);
    this.#sources.clear(row);
    this.#failures[row] = 0;
    this.#table.weight[row] = 0;
    this.#sinceMs[row] = Number.NEGATIVE_INFINITY;
  }

  #judge(row: number, timeMs: number): void {
    const sources = this.#sources.estimate(row);
    const things = this.#things.estimate(row);
    const failures = this.#failures[row]!;
    const windowMs = timeMs - this.#sinceMs[row]!;
    if (sources < LEAST_SOURCES || things < LEAST_THINGS) return;
    if (failures / Math.max(1, windowMs / 1000) > FLOOD_PER_SECOND) return;
    const { entity, match } = this.#nameOf(row, this.#table);
    this.#incidents.found(
      {
        kind: 'scan-distributed',
        entity,
        detector: 'failures-by-target',
        formula: `${this.#thing} >= ${LEAST_THINGS} and sources >= ${LEAST_SOURCES} and failures a second <= ${FLOOD_PER_SECOND}`,
        operands: { [this.#thing]: Math.round(things), sources: Math.round(sources), failures },
        baseline: null,
        windowMs,
        confidence: 0.5,
        phase: 'reconnaissance',
        otherwise: [
          'a service that is down and missed by many clients',
          'the backscatter of a flood with made-up sources',
        ],
        confirm: 'see whether the sources belong together, and whether the tries follow an order',
        suggest: { intent: 'watch', match, ttlMs: 600_000 },
      },
      this.#sinceMs[row]!,
      timeMs,
      QUIET_MS,
    );
  }
}
