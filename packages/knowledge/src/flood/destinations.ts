import { BaselineTable } from '@int/baseline';
import { Cusums } from '../change/cusums.js';
import type { Incidents } from '../incident/incidents.js';
import type { Settings } from '../options.js';
import { KeyTable } from '../table/keys.js';
import { NewSources } from './new-sources.js';
import type { TrafficSignature } from './signature.js';
import { SynFloods, type SynJudgement } from './syn-floods.js';

const WINDOW_MS = 1000;
/** Sum of deviations that is enough here, where other clauses must hold as well: two seconds far off. */
const MOST_SUM = 14;
/** So many times the usual rate is enough at once. */
const EXTREME = 8;
/** So many times the usual sources are new ones. */
const SOURCES_RATIO = 4;
/** Share of packets that are answered, below which the traffic is one-sided. */
const ANSWERED = 0.2;
const QUIET_MS = 30_000;
/** So long after a flood its contacts still fail. */
const AFTERMATH_MS = 10_000;

/** Whether a destination's path suffers: `null` if telemetry does not tell. */
export type Damage = (row: number) => string | null | false;

/** What destinations get by the second, against what they usually get: floods. */
export class Destinations {
  readonly table: KeyTable;
  readonly #settings: Settings;
  readonly #incidents: Incidents;
  readonly #packets: Uint32Array;
  readonly #answers: Uint32Array;
  readonly #syns: Uint32Array;
  readonly #completed: Uint32Array;
  /** Handshakes whose answers were not seen. */
  readonly #acknowledged: Uint32Array;
  readonly #rates: BaselineTable;
  readonly #sums: Cusums;
  readonly #sources: NewSources;
  readonly #floods: SynFloods;
  /** When its last flood is over and forgotten by those that wait for answers. */
  readonly #floodedUntilMs: Float64Array;
  readonly #options: { readonly above: number; readonly learnMs: number };
  /** When each got something first; 0: not yet. */
  readonly #firstMs: Float64Array;
  /** When the first second ended. */
  #sinceMs = Number.NaN;

  constructor(settings: Settings, incidents: Incidents) {
    const rows = settings.capacity.destinations;
    this.#settings = settings;
    this.#incidents = incidents;
    this.table = new KeyTable(rows, (row) => this.#forget(row));
    this.#packets = new Uint32Array(rows);
    this.#answers = new Uint32Array(rows);
    this.#syns = new Uint32Array(rows);
    this.#completed = new Uint32Array(rows);
    this.#acknowledged = new Uint32Array(rows);
    this.#options = { above: 2, learnMs: settings.learnMs };
    this.#rates = new BaselineTable(rows, this.#options);
    this.#sums = new Cusums(rows);
    this.#sources = new NewSources(rows);
    this.#floods = new SynFloods(rows, settings.leastSyns);
    this.#floodedUntilMs = new Float64Array(rows);
    this.#firstMs = new Float64Array(rows);
  }

  static byteLength(rows: number): number {
    const rates = BaselineTable.byteLength(rows, { above: 2 });
    const floods = SynFloods.byteLength(rows) + NewSources.byteLength(rows);
    return KeyTable.byteLength(rows) + rates + floods + rows * (5 * 4 + 4 * 8);
  }

  /** Whether a flood of the destination is going on, or was shortly before. */
  isFlooded(row: number, timeMs: number): boolean {
    return timeMs < this.#floodedUntilMs[row]!;
  }

  /** Counts packets from the side that began the flow. @param source a hash of the address */
  packet(row: number, source: number, times = 1): void {
    this.#packets[row] = this.#packets[row]! + times;
    this.#sources.add(row, source);
  }

  syn(row: number): void {
    this.#syns[row] = this.#syns[row]! + 1;
  }

  /** Counts packets of the destination to the side that began. */
  answer(row: number, times = 1): void {
    this.#answers[row] = this.#answers[row]! + times;
  }

  /** A client acknowledges an answer that was not seen. */
  acknowledged(row: number): void {
    this.#acknowledged[row] = this.#acknowledged[row]! + 1;
  }

  handshake(row: number): void {
    this.#completed[row] = this.#completed[row]! + 1;
  }

  /** Ends a second. @param isOneWay whether answers are missing, and only their acknowledgements tell of them */
  close(timeMs: number, signature: TrafficSignature, damage: Damage, isOneWay: boolean): void {
    const { size } = this.table;
    const { sampling } = this.#settings;
    if (Number.isNaN(this.#sinceMs)) this.#sinceMs = timeMs;
    for (let row = 0; row < size; row++) this.#rates.add(row, Math.round(this.#packets[row]! * sampling));
    this.#rates.close(timeMs, size);
    for (let row = 0; row < size; row++) {
      const packets = this.#packets[row]! * sampling;
      if (this.#firstMs[row] === 0) this.#firstMs[row] = timeMs;
      this.table.weight[row] = 0.9 * this.table.weight[row]! + packets;
      if (packets > 0) this.table.lastMs[row] = timeMs;
      const completed = this.#completed[row]! + (isOneWay ? this.#acknowledged[row]! : 0);
      const syn = this.#floods.close(row, this.#syns[row]! * sampling, completed * sampling);
      if (syn.isFlood) this.#synFlood(row, timeMs, syn);
      // The packets of a SYN flood are one cause, and one incident.
      const isRateAttack = !syn.isFlood && this.#judgeRate(row, timeMs, packets, signature, damage);
      const isFlooded = syn.isFlood || isRateAttack;
      if (isFlooded) this.#floodedUntilMs[row] = timeMs + AFTERMATH_MS;
      this.#sources.close(row, !isFlooded && this.#sums.up(row) === 0);
      this.#packets[row] = this.#answers[row] = this.#syns[row] = 0;
      this.#completed[row] = this.#acknowledged[row] = 0;
    }
  }

  #forget(row: number): void {
    this.#packets[row] = this.#answers[row] = this.#syns[row] = 0;
    this.#completed[row] = this.#acknowledged[row] = 0;
    this.#rates.clear(row);
    this.#sums.clear(row);
    this.#sources.clear(row);
    this.#floods.clear(row);
    this.#floodedUntilMs[row] = this.#firstMs[row] = 0;
    this.table.weight[row] = 0;
  }

  #synFlood(row: number, timeMs: number, { sum, mean, completed, syns }: SynJudgement): void {
    const destination = this.table.text(row);
    this.#incidents.found(
      {
        kind: 'syn-flood',
        entity: `host:${destination}`,
        detector: 'siris-papagalou-cusum',
        formula: SynFloods.FORMULA,
        operands: { g: round(sum), syns, mu: round(mean), completed: round(completed), ...SynFloods.CONSTANTS },
        baseline: { synsPerSecond: round(mean) },
        windowMs: WINDOW_MS,
        confidence: round(1 - completed),
        phase: 'impact',
        otherwise: ['a service that is down while many clients try it', 'telemetry that sees one direction only'],
        confirm: 'compare the half-open connections of the host',
        suggest: { intent: 'limit', match: { destination, protocol: 'tcp' }, ttlMs: 60_000 },
      },
      timeMs - WINDOW_MS,
      timeMs,
      QUIET_MS,
    );
  }

  /** DDoS: the rate, and the sources, and one-sided traffic, and damage where it is measured. */
  #judgeRate(row: number, timeMs: number, packets: number, traffic: TrafficSignature, damage: Damage): boolean {
    const { leastPackets, learnMs, sampling } = this.#settings;
    const deviation = this.#rates.deviation[row]!;
    const isNew = Number.isNaN(deviation);
    // A destination that is new long after the first ones got nothing until now: that is what is usual for it.
    if (isNew && this.#firstMs[row]! - this.#sinceMs < learnMs) return false;
    if (!isNew) this.#sums.add(row, deviation);
    const sum = this.#sums.up(row);
    const threshold = Math.min(MOST_SUM, this.#settings.threshold);
    // A sum beyond twice the threshold would outlast the attack.
    if (sum > 2 * threshold) this.#sums.set(row, 2 * threshold);
    const usual = isNew ? 0 : this.#rates.usual[row]!;
    if ((sum <= threshold && packets <= EXTREME * Math.max(1, usual)) || packets < leastPackets) return false;
    const sources = this.#sources.now(row);
    const usualSources = Math.max(1, this.#sources.usual(row) || 0);
    const answered = (this.#answers[row]! * sampling) / Math.max(1, packets);
    const isSpread = traffic.signature === 'ddos' || sources / usualSources > SOURCES_RATIO;
    const hurt = damage(row);
    if (!isSpread || answered >= ANSWERED || hurt === false) return false;
    // It has learned nothing but the attack.
    if (isNew) this.#rates.clear(row);
    const destination = this.table.text(row);
    this.#incidents.found(
      {
        kind: 'ddos',
        entity: `host:${destination}`,
        detector: 'rate-and-sources-and-damage',
        formula: `(S > h or packets > ${EXTREME} * usual) and (signature = ddos or sources / usualSources > ${SOURCES_RATIO}) and answered < ${ANSWERED} and damage`,
        operands: {
          S: round(sum),
          h: threshold,
          packets: Math.round(packets),
          usual: Math.round(usual),
          signature: traffic.signature,
          sources: Math.round(sources),
          usualSources: Math.round(usualSources),
          answered: round(answered),
          damage: hurt ?? 'not measured',
        },
        baseline: { packetsPerSecond: Math.round(usual) },
        windowMs: WINDOW_MS,
        // The share of the four clauses that are known to hold.
        confidence: hurt === null ? 0.75 : 1,
        phase: 'impact',
        otherwise: ['a live stream or a measurement by UDP', 'many clients whose server has stopped to answer'],
        confirm: 'ask whether the host expects these sources; look at the share of its answers',
        suggest: { intent: 'limit', match: { destination }, ttlMs: 60_000 },
      },
      timeMs - WINDOW_MS,
      timeMs,
      QUIET_MS,
    );
    return true;
  }
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
