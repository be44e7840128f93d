import type { Incidents } from '../incident/incidents.js';
import type { Settings } from '../options.js';
import { hashOf, KeyTable } from '../table/keys.js';
import { beaconScore } from './beacon-score.js';

/** Connections that are remembered of a pair. */
const MEMORY = 64;
const LEAST_CONNECTIONS = 21;
const LEAST_SCORE = 0.8;
/** Connections within so long of the one before belong to it: a page has many. */
const TOGETHER_MS = 250;
/** Below this period the time of the line above would make a period of its own. */
const LEAST_PERIOD_MS = 8 * TOGETHER_MS;
/** A datagram of NTP without extensions, with the headers of IPv4 and of IPv6: a clock asks at a steady period. */
const NTP = (17 << 16) | 123;
const NTP_SIZES = [76, 96];
/** A destination of more inside hosts is a service that many use. */
const MOST_CLIENTS = 2;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** Powers of two that hourly bytes are counted by. */
const SIZES = 48;
const QUANTILE = 0.999;
const QUIET_MS = 6 * HOUR_MS;

/** What an inside host sends to an outside one: beacons and exfiltration. */
export class Pairs {
  readonly table: KeyTable;
  readonly #settings: Settings;
  readonly #incidents: Incidents;
  readonly #firstMs: Float64Array;
  /** When the newest connection began, one that belongs to the one before included. */
  readonly #newestMs: Float64Array;
  readonly #beginnings: Float64Array;
  readonly #sizes: Float64Array;
  readonly #connections: Uint32Array;
  readonly #hour: Float64Array;
  readonly #hourBytes: Float64Array;
  /** Of inside hosts: how often an hour's bytes to one destination were of each size. */
  readonly #hosts: KeyTable;
  readonly #history: Uint32Array;
  readonly #hours: Uint32Array;
  /** Of outside hosts: the first three inside hosts that talked to them. */
  readonly #outside: KeyTable;
  readonly #clients: Uint32Array;
  readonly #clientCount: Uint8Array;
  readonly #key = new Uint32Array(4);
  #sinceMs = Number.NaN;

  constructor(settings: Settings, incidents: Incidents) {
    const rows = settings.capacity.pairs;
    this.#settings = settings;
    this.#incidents = incidents;
    this.table = new KeyTable(rows, (row) => this.#forget(row));
    this.#firstMs = new Float64Array(rows);
    this.#newestMs = new Float64Array(rows);
    this.#beginnings = new Float64Array(rows * MEMORY);
    this.#sizes = new Float64Array(rows * MEMORY);
    this.#connections = new Uint32Array(rows);
    this.#hour = new Float64Array(rows);
    this.#hourBytes = new Float64Array(rows);
    this.#hosts = new KeyTable(rows, (row) => this.#forgetHost(row));
    this.#history = new Uint32Array(rows * SIZES);
    this.#hours = new Uint32Array(rows);
    this.#outside = new KeyTable(rows, (row) => {
      this.#clientCount[row] = 0;
    });
    this.#clients = new Uint32Array(rows * (MOST_CLIENTS + 1));
    this.#clientCount = new Uint8Array(rows);
  }

  static byteLength(rows: number): number {
    return (
      3 * KeyTable.byteLength(rows) + rows * (2 * MEMORY * 8 + 4 * 8 + 4 + SIZES * 4 + 4 + 4 * (MOST_CLIENTS + 1) + 1)
    );
  }

  /** Time goes on. Learning begins with the first of it. */
  advance(timeMs: number): void {
    if (Number.isNaN(this.#sinceMs)) this.#sinceMs = timeMs;
  }

  /**
   * A connection from inside to outside begins.
   * @param words both addresses, four words each
   * @returns the pair's row, for {@link sent}
   */
  connection(words: Uint32Array, service: number, timeMs: number): number {
    const source = this.#hosts.rowOf(words, 0, timeMs);
    const destination = this.#outside.rowOf(words, 4, timeMs);
    this.#countClient(destination, this.#hosts.hash(source));
    this.#key[0] = this.#hosts.hash(source);
    this.#key[1] = this.#outside.hash(destination);
    this.#key[2] = service;
    this.#key[3] = 1;
    const row = this.table.rowOf(this.#key, 0, timeMs);
    const before = this.#connections[row]!;
    if (before === 0) this.#firstMs[row] = timeMs;
    else if (timeMs - this.#newestMs[row]! < TOGETHER_MS) {
      this.#newestMs[row] = Math.max(timeMs, this.#newestMs[row]!);
      return row;
    }
    this.#newestMs[row] = timeMs;
    const at = row * MEMORY + (before % MEMORY);
    this.#beginnings[at] = timeMs;
    this.#sizes[at] = 0;
    this.#connections[row] = before + 1;
    this.table.weight[row] = before + 1;
    if (before + 1 >= LEAST_CONNECTIONS && (before + 1) % 4 === 1) this.#judgeBeacon(row, words, service, timeMs);
    return row;
  }

  /** The row of a pair that has had a connection, or -1. */
  find(words: Uint32Array, service: number): number {
    this.#key[0] = hashOf(words, 0);
    this.#key[1] = hashOf(words, 4);
    this.#key[2] = service;
    this.#key[3] = 1;
    return this.table.find(this.#key, 0);
  }

  /** The inside host sends bytes on the pair's newest connection. */
  sent(row: number, bytes: number, words: Uint32Array, timeMs: number): void {
    const at = row * MEMORY + ((this.#connections[row]! + MEMORY - 1) % MEMORY);
    this.#sizes[at] = this.#sizes[at]! + bytes;
    const hour = Math.floor(timeMs / HOUR_MS);
    if (hour !== this.#hour[row]) {
      if (this.#hourBytes[row]! > 0) this.#learn(row, words);
      this.#hour[row] = hour;
      this.#hourBytes[row] = 0;
    }
    const before = this.#hourBytes[row]!;
    this.#hourBytes[row] = before + bytes;
    const least = this.#settings.leastExfiltration;
    if (before + bytes < least || timeMs - this.#firstMs[row]! > DAY_MS) return;
    // Judged each time that another tenth of the least has been sent: a packet alone decides nothing.
    if (Math.floor((before / least) * 10) === Math.floor(((before + bytes) / least) * 10)) return;
    this.#judgeExfiltration(row, words, timeMs);
  }

  #forget(row: number): void {
    this.#connections[row] = 0;
    this.#hourBytes[row] = 0;
    this.table.weight[row] = 0;
  }

  #forgetHost(row: number): void {
    this.#history.fill(0, row * SIZES, (row + 1) * SIZES);
    this.#hours[row] = 0;
  }

  #countClient(destination: number, client: number): void {
    const count = this.#clientCount[destination]!;
    const start = destination * (MOST_CLIENTS + 1);
    for (let k = 0; k < count; k++) if (this.#clients[start + k] === client) return;
    if (count > MOST_CLIENTS) return;
    this.#clients[start + count] = client;
    this.#clientCount[destination] = count + 1;
  }

  /** An hour of a pair is over, and was not found to be anything: it is usual for its host. */
  #learn(row: number, words: Uint32Array): void {
    const host = this.#hosts.find(words, 0);
    if (host < 0) return;
    const size = Math.min(SIZES - 1, Math.floor(Math.log2(1 + this.#hourBytes[row]!)));
    const at = host * SIZES + size;
    this.#history[at] = this.#history[at]! + 1;
    this.#hours[host] = this.#hours[host]! + 1;
  }

  #judgeBeacon(row: number, words: Uint32Array, service: number, timeMs: number): void {
    const destination = this.#outside.find(words, 4);
    const clients = destination < 0 ? 0 : this.#clientCount[destination]!;
    if (clients > MOST_CLIENTS) return;
    const connections = this.#connections[row]!;
    const kept = Math.min(MEMORY, connections - 1);
    const beginnings = new Float64Array(kept + 1);
    const sizes = new Float64Array(kept);
    for (let k = 0; k <= kept; k++) {
      const at = row * MEMORY + ((connections - 1 - kept + k + MEMORY) % MEMORY);
      beginnings[k] = this.#beginnings[at]!;
      // The newest connection has sent nothing yet.
      if (k < kept) sizes[k] = this.#sizes[at]!;
    }
    if (kept === MEMORY) beginnings[0] = beginnings[1]!;
    const first = kept === MEMORY ? 1 : 0;
    const gaps = Float64Array.from(
      { length: kept - first },
      (_, k) => beginnings[k + first + 1]! - beginnings[k + first]!,
    );
    if (service === NTP && NTP_SIZES.some((size) => sizes.every((each) => each % size === 0))) return;
    const { score, isPeriodic, ...parts } = beaconScore(gaps, sizes);
    const periodMs = gaps[Math.round(0.5 * (gaps.length - 1))]!;
    if (score <= LEAST_SCORE || !isPeriodic || periodMs < LEAST_PERIOD_MS) return;
    const [source, target] = [this.#hosts.find(words, 0), destination];
    if (source < 0 || target < 0) return;
    const from = this.#hosts.text(source);
    const to = this.#outside.text(target);
    this.#incidents.found(
      {
        kind: 'beacon',
        entity: `host:${from}`,
        detector: 'beacon-score',
        formula:
          'mean(gapSkew, gapSpread, gapCount, sizeSkew, sizeSpread, sizeSmall) > 0.8 and gaps near the period, P < 1e-7 by chance, and period >= 2 s and connections > 20 and clients < 3',
        operands: {
          destination: to,
          port: service & 0xffff,
          score: round(score),
          period: `${round(periodMs / 1000)} s`,
          connections,
          clients,
          ...rounded(parts),
        },
        baseline: null,
        windowMs: timeMs - beginnings[first]!,
        confidence: round(score),
        phase: 'command-and-control',
        otherwise: ['an updater', 'monitoring', 'a clock or mail client'],
        confirm: 'look up who owns the destination and which program connects',
        suggest: { intent: 'watch', match: { source: from, destination: to }, ttlMs: HOUR_MS },
      },
      beginnings[first]!,
      timeMs,
      QUIET_MS,
    );
  }

  #judgeExfiltration(row: number, words: Uint32Array, timeMs: number): void {
    const host = this.#hosts.find(words, 0);
    const target = this.#outside.find(words, 4);
    // A host of which nothing is known may always have sent so much.
    if (host < 0 || target < 0 || timeMs - this.#sinceMs < this.#settings.learnEdgesMs) return;
    const bytes = this.#hourBytes[row]!;
    const usual = this.#quantile(host);
    if (bytes <= 2 * usual) return;
    const source = this.#hosts.text(host);
    const destination = this.#outside.text(target);
    this.#incidents.found(
      {
        kind: 'exfiltration',
        entity: `host:${source}`,
        detector: 'bytes-to-new-destination',
        formula: 'bytes within the hour > 2 * usual and destination first seen within a day',
        operands: { destination, bytes, usual, hours: this.#hours[host]! },
        baseline: { bytesPerHour: usual, quantile: QUANTILE },
        windowMs: timeMs - this.#hour[row]! * HOUR_MS,
        confidence: round(1 - usual / bytes),
        phase: 'exfiltration',
        otherwise: ['a backup to a new place', 'a large upload by a person'],
        confirm: 'ask the owner of the host; look at the time of day and at who else sends there',
        suggest: { intent: 'limit', match: { source, destination }, ttlMs: HOUR_MS },
      },
      this.#firstMs[row]!,
      timeMs,
      HOUR_MS,
    );
  }

  /** Upper end of the size that 99.9 % of a host's hours with one destination do not exceed; 0 if it never sent anything. */
  #quantile(host: number): number {
    if (this.#hours[host] === 0) return 0;
    let rest = this.#hours[host]! * (1 - QUANTILE);
    for (let size = SIZES - 1; size >= 0; size--) {
      rest -= this.#history[host * SIZES + size]!;
      if (rest < 0) return 2 ** (size + 1);
    }
    return 1;
  }
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}

function rounded(values: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, round(value)]));
}
