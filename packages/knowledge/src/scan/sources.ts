import { mix32 } from '@int/random';
import type { Finding, IncidentKind } from '../incident/incident.js';
import type { Incidents } from '../incident/incidents.js';
import type { Settings } from '../options.js';
import { BloomFilters } from '../sketch/bloom-filters.js';
import { HyperLogLogs } from '../sketch/hyper-log-logs.js';
import { SmallCounts } from '../sketch/small-counts.js';
import { KeyTable } from '../table/keys.js';
import { RandomWalk } from './random-walk.js';

/** Bits of a source's set of contacted (host, port). */
const CONTACT_BITS = 1024;
/** A set without failures is emptied after ten minutes, one with failures after a day: slow scans need the memory. */
const FORGET_MS = 600_000;
const FORGET_FAILED_MS = 86_400_000;
/** First contacts that are looked at together for the shape of a scan. */
const SHAPE = 64;
/** A set with more members than this knows too many that it was never given: 2 of 100. */
const MOST_CONTACTED = CONTACT_BITS / 8;
/** Of a source that tries more ports within a second, a SYN packet to yet another is part of a scan and of no flood. */
const MANY_PORTS = 16;
const SECOND_MS = 1000;
const TCP = 6;
/** Fan-out is counted by the minute. */
const FAN_OUT_MS = 60_000;
/** Ports of a host, or hosts of a port, within a minute that make a scan by UDP if only one direction is seen. */
const FAN_OUT = 50;
/** A conviction that took longer is of a slow scan. */
const SLOW_MS = 600_000;
const QUIET_MS = 60_000;
const QUIET_SLOW_MS = 3_600_000;

const KINDS: readonly (IncidentKind | null)[] = [null, 'scan-vertical', 'scan-horizontal', 'scan-slow'];

/** What sources try, and whether it succeeds: scans and superspreaders. */
export class Sources {
  readonly table: KeyTable;
  readonly #walk: RandomWalk;
  readonly #settings: Settings;
  readonly #incidents: Incidents;
  readonly #contacted: BloomFilters;
  readonly #contactedSinceMs: Float64Array;
  readonly #contactedCount: Uint8Array;
  /** ln L. */
  readonly #likelihood: Float64Array;
  readonly #failures: Uint32Array;
  readonly #successes: Uint32Array;
  readonly #firstFailureMs: Float64Array;
  /** When successes have ended a walk last. */
  readonly #acquittedMs: Float64Array;
  /** What the failures since the last decision went to. */
  readonly #ports: SmallCounts;
  readonly #hosts: SmallCounts;
  readonly #networks: SmallCounts;
  /** Ports of this second, when it began, and the port of the last contact. */
  readonly #portsNow: SmallCounts;
  readonly #portsNowMs: Float64Array;
  readonly #lastService: Uint32Array;
  /** Whether the last contact went on from port to port. */
  readonly #goesOn: Uint8Array;
  /** Index in KINDS of what it was convicted of. */
  readonly #convicted: Uint8Array;
  readonly #destinations: HyperLogLogs;
  readonly #pairs: HyperLogLogs;
  readonly #fanOutSinceMs: Float64Array;
  readonly #fanOut: Uint32Array;
  /** The port of most contacts of the minute (Boyer and Moore's vote), and its lead. */
  readonly #port: Uint32Array;
  readonly #portLead: Int32Array;

  constructor(settings: Settings, incidents: Incidents) {
    const rows = settings.capacity.sources;
    this.#settings = settings;
    this.#incidents = incidents;
    this.#walk = new RandomWalk(settings.randomWalk);
    this.table = new KeyTable(rows, (row) => this.#forget(row));
    this.#contacted = new BloomFilters(rows, CONTACT_BITS);
    this.#contactedSinceMs = new Float64Array(rows).fill(Number.NEGATIVE_INFINITY);
    this.#contactedCount = new Uint8Array(rows);
    this.#likelihood = new Float64Array(rows);
    this.#failures = new Uint32Array(rows);
    this.#successes = new Uint32Array(rows);
    this.#firstFailureMs = new Float64Array(rows);
    this.#acquittedMs = new Float64Array(rows);
    this.#ports = new SmallCounts(rows);
    this.#hosts = new SmallCounts(rows);
    this.#networks = new SmallCounts(rows);
    this.#portsNow = new SmallCounts(rows);
    this.#portsNowMs = new Float64Array(rows);
    this.#lastService = new Uint32Array(rows);
    this.#goesOn = new Uint8Array(rows);
    this.#convicted = new Uint8Array(rows);
    this.#destinations = new HyperLogLogs(rows);
    this.#pairs = new HyperLogLogs(rows);
    this.#fanOutSinceMs = new Float64Array(rows).fill(Number.NEGATIVE_INFINITY);
    this.#fanOut = new Uint32Array(rows);
    this.#port = new Uint32Array(rows);
    this.#portLead = new Int32Array(rows);
  }

  static byteLength(rows: number): number {
    const sketches = 2 * HyperLogLogs.byteLength(rows) + BloomFilters.byteLength(rows, CONTACT_BITS);
    return KeyTable.byteLength(rows) + sketches + rows * (6 * 8 + 6 * 4 + 3) + 4 * SmallCounts.byteLength(rows);
  }

  isConvicted(row: number): boolean {
    return this.#convicted[row] !== 0;
  }

  /** Whether its last contact was one of many ports: then it is judged as a scan, and not as a flood as well. */
  goesFromPortToPort(row: number): boolean {
    return this.#goesOn[row] !== 0;
  }

  /**
   * A source begins to talk to a service.
   * @param destination a hash of the host
   * @param service port, and protocol << 16
   * @returns whether it is its first contact to it, whose outcome counts
   */
  contact(row: number, destination: number, service: number, timeMs: number): boolean {
    const since = this.#contactedSinceMs[row]!;
    if (timeMs - since > (this.#failures[row]! > 0 ? FORGET_FAILED_MS : FORGET_MS)) {
      this.#forgetContacted(row);
      this.#contactedSinceMs[row] = timeMs;
      this.#acquit(row);
    } else if (this.#contactedCount[row]! >= MOST_CONTACTED) this.#forgetContacted(row);
    this.#follow(row, service, timeMs);
    const pair = mix32(destination ^ mix32(service));
    this.#spread(row, destination, pair, service, timeMs);
    if (this.#contacted.add(row, pair)) return false;
    this.#contactedCount[row] = this.#contactedCount[row]! + 1;
    return true;
  }

  #follow(row: number, service: number, timeMs: number): void {
    if (Math.abs(timeMs - this.#portsNowMs[row]!) >= SECOND_MS) {
      this.#portsNowMs[row] = timeMs;
      this.#portsNow.clear(row);
    }
    this.#portsNow.add(row, service);
    const isOther = this.#lastService[row] !== service;
    this.#lastService[row] = service;
    this.#goesOn[row] = isOther && this.#portsNow.count(row) > MANY_PORTS ? 1 : 0;
  }

  #forgetContacted(row: number): void {
    this.#contacted.clear(row);
    this.#contactedCount[row] = 0;
  }

  /** A first contact was answered. */
  success(row: number, timeMs: number): void {
    this.#successes[row] = this.#successes[row]! + 1;
    this.#likelihood[row] = this.#likelihood[row]! + this.#walk.success;
    if (this.#likelihood[row]! <= this.#walk.acquit) {
      this.#acquit(row);
      this.#acquittedMs[row] = timeMs;
    } else this.#forgetShapeless(row);
  }

  /**
   * A first contact has failed.
   * @param destination a hash of the host
   * @param network a hash of the /24 or /64 that the host is in
   * @param service port, and protocol << 16
   * @param beganMs when it began: silence is known later than an answer, and belongs to the walk in which it began. Else the
   *   last failures of a busy source would come in a row.
   */
  failure(row: number, destination: number, network: number, service: number, beganMs: number, timeMs: number): void {
    if (beganMs < this.#acquittedMs[row]!) return;
    const kind = KINDS[this.#convicted[row]!];
    // One that scans again after its incident has closed is judged anew, as another incident.
    if (kind != null && !this.#incidents.hold(kind, this.#entity(row), timeMs)) this.#acquit(row);
    if (this.#failures[row] === 0) this.#firstFailureMs[row] = timeMs;
    this.#failures[row] = this.#failures[row]! + 1;
    this.table.weight[row] = this.#failures[row]!;
    this.#ports.add(row, service);
    this.#hosts.add(row, destination);
    this.#networks.add(row, network);
    const { convict, failure } = this.#walk;
    this.#likelihood[row] = this.#likelihood[row]! + failure;
    if (this.#likelihood[row]! >= convict) {
      if (this.#isShaped(row)) this.#convict(row, timeMs);
      else this.#likelihood[row] = convict;
    }
    this.#forgetShapeless(row);
  }

  /** What fails without the shape of a scan is forgotten after a while: else each port comes back by chance. */
  #forgetShapeless(row: number): void {
    if (this.#convicted[row] === 0 && this.#failures[row]! + this.#successes[row]! >= SHAPE) this.#acquit(row);
  }

  /**
   * Whether failures come back to ports, or to networks: a scan wants to know all of something. A peer-to-peer program, too,
   * fails often, at other ports of hosts all over the world.
   */
  #isShaped(row: number): boolean {
    const half = this.#failures[row]! / 2;
    return this.#ports.count(row) <= half || this.#networks.count(row) <= half;
  }

  #acquit(row: number): void {
    this.#likelihood[row] = 0;
    this.#failures[row] = this.#successes[row] = 0;
    this.#ports.clear(row);
    this.#hosts.clear(row);
    this.#networks.clear(row);
    this.#convicted[row] = 0;
    this.table.weight[row] = 0;
  }

  #forget(row: number): void {
    this.#acquit(row);
    this.#forgetContacted(row);
    this.#portsNow.clear(row);
    this.#portsNowMs[row] = this.#goesOn[row] = this.#acquittedMs[row] = 0;
    this.#contactedSinceMs[row] = Number.NEGATIVE_INFINITY;
    this.#destinations.clear(row);
    this.#pairs.clear(row);
    this.#fanOutSinceMs[row] = Number.NEGATIVE_INFINITY;
    this.#fanOut[row] = this.#portLead[row] = 0;
  }

  #convict(row: number, timeMs: number): void {
    const failures = this.#failures[row]!;
    const successes = this.#successes[row]!;
    const tookMs = timeMs - this.#firstFailureMs[row]!;
    const ports = Math.round(this.#ports.count(row));
    const hosts = Math.round(this.#hosts.count(row));
    const shape = ports > hosts ? 1 : 2;
    const before = this.#convicted[row]!;
    // A scan that goes on is the same one, whatever it looks like later.
    const slowOrShape = tookMs > SLOW_MS ? 3 : shape;
    const kind = before === 0 ? slowOrShape : before;
    this.#convicted[row] = kind;
    this.#likelihood[row] = 0;
    const name = KINDS[kind]!;
    const walk = this.#walk;
    const likelihood = failures * walk.failure + successes * walk.success;
    this.#incidents.found(
      this.#scan(row, name, {
        detector: 'threshold-random-walk',
        formula:
          'ln L = failures * ln((1 - theta1) / (1 - theta0)) + successes * ln(theta1 / theta0) >= ln(eta1), and failures come back to ports or networks',
        operands: {
          failures,
          successes,
          theta0: walk.benignSuccess,
          theta1: walk.scannerSuccess,
          'ln L': round(likelihood),
          'ln(eta1)': round(walk.convict),
          ports,
          hosts,
        },
        windowMs: tookMs,
        confidence: 1 / (1 + Math.exp(-likelihood)),
      }),
      this.#firstFailureMs[row]!,
      timeMs,
      kind === 3 ? QUIET_SLOW_MS : QUIET_MS,
    );
  }

  #spread(row: number, destination: number, pair: number, service: number, timeMs: number): void {
    const port = service & 0xffff;
    if (timeMs - this.#fanOutSinceMs[row]! > FAN_OUT_MS) {
      this.#fanOutSinceMs[row] = timeMs;
      this.#fanOut[row] = this.#portLead[row] = 0;
      this.#destinations.clear(row);
      this.#pairs.clear(row);
    }
    this.#destinations.add(row, destination);
    this.#pairs.add(row, pair);
    if (this.#portLead[row] === 0) this.#port[row] = port;
    this.#portLead[row] = this.#portLead[row]! + (this.#port[row] === port ? 1 : -1);
    const contacts = this.#fanOut[row]! + 1;
    this.#fanOut[row] = contacts;
    // An estimate costs more than a contact: one in eight is enough.
    if (contacts > FAN_OUT && (contacts & 7) === 0) this.#judgeSpread(row, service >>> 16, timeMs);
  }

  #judgeSpread(row: number, protocol: number, timeMs: number): void {
    const destinations = this.#destinations.estimate(row);
    const pairs = this.#pairs.estimate(row);
    const windowMs = Math.max(1, timeMs - this.#fanOutSinceMs[row]!);
    const operands = { destinations: Math.round(destinations), pairs: Math.round(pairs), contacts: this.#fanOut[row]! };
    const tell = (kind: IncidentKind, formula: string, threshold: number): void =>
      this.#incidents.found(
        this.#scan(row, kind, {
          detector: 'fan-out',
          formula,
          operands: { ...operands, threshold },
          windowMs,
          confidence: 0.5,
        }),
        this.#fanOutSinceMs[row]!,
        timeMs,
        QUIET_MS,
      );
    const { superspreader, directions } = this.#settings;
    if (destinations > superspreader && this.#convicted[row] === 0) {
      tell('superspreader', 'destinations within a minute > threshold', superspreader);
    }
    // Of TCP the side that is seen tells whether it was answered.
    if (directions === 'both' || protocol === TCP) return;
    if (pairs / Math.max(1, destinations) > FAN_OUT) {
      tell('scan-vertical', 'pairs / destinations within a minute > threshold', FAN_OUT);
    } else if (destinations > FAN_OUT && this.#portLead[row]! > 0) {
      tell('scan-horizontal', 'destinations of one port within a minute > threshold', FAN_OUT);
    }
  }

  #entity(row: number): string {
    return `host:${this.table.text(row)}`;
  }

  #scan(
    row: number,
    kind: IncidentKind,
    rest: Pick<Finding, 'detector' | 'formula' | 'operands' | 'windowMs' | 'confidence'>,
  ): Finding {
    const source = this.table.text(row);
    return {
      kind,
      entity: this.#entity(row),
      baseline: null,
      phase: 'reconnaissance',
      otherwise:
        kind === 'superspreader'
          ? ['a resolver, a proxy or a crawler', 'a peer-to-peer program']
          : ['a client whose servers are down', 'a monitoring system or an inventory', 'a peer-to-peer program'],
      confirm: 'watch what the source sends after a contact that succeeded',
      suggest:
        kind === 'superspreader'
          ? { intent: 'watch', match: { source }, ttlMs: 600_000 }
          : { intent: 'block', match: { source }, ttlMs: 600_000 },
      ...rest,
    };
  }
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
