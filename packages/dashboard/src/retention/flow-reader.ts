import { formatIpv4, formatIpv6 } from '@int/codec';
import { FLOW_KIND, type FlowTableColumns, flowColumnsOf, headerOf, type SharedRetention, SIGNAL } from './geometry.js';

/** A flow of the table, without what its reports tell. */
export interface TrackedFlow {
  readonly row: number;
  /** Stable while the flow has its row. */
  readonly id: string;
  readonly source: string;
  readonly destination: string;
  /** `null`: the protocol has none. */
  readonly sourcePort: number | null;
  readonly destinationPort: number | null;
  readonly protocol: number;
  readonly reports: number;
  readonly events: number;
  readonly firstMs: number;
  readonly lastMs: number;
  /** Over the last second or so. */
  readonly reportsPerSecond: number;
}

/** Protocols whose first bytes are ports: TCP, UDP, DCCP, SCTP, UDP-Lite. */
const WITH_PORTS: ReadonlySet<number> = /* @__PURE__ */ new Set([6, 17, 33, 132, 136]);

/** Reads the table of flows, in the dashboard's thread. */
export class FlowReader {
  readonly #columns: FlowTableColumns;
  readonly #signals: Int32Array;
  readonly #count: number;
  /** Counts when rates were taken last, whose they were, and the rates. */
  readonly #before: Uint32Array;
  readonly #generations: Uint32Array;
  readonly #rates: Float32Array;
  #takenMs = Number.NaN;

  constructor(shared: SharedRetention) {
    const { flows } = shared.geometry;
    this.#columns = flowColumnsOf(shared);
    this.#signals = headerOf(shared).signals;
    this.#count = flows;
    this.#before = new Uint32Array(flows);
    this.#generations = new Uint32Array(flows);
    this.#rates = new Float32Array(flows);
  }

  /** Takes rates since the last call, if that was half a second ago at least. @param nowMs time of telemetry */
  measure(nowMs: number): void {
    const seconds = (nowMs - this.#takenMs) / 1000;
    if (seconds >= 0 && seconds < 0.5) return;
    const { reports, generation, protocol } = this.#columns.words;
    for (let row = 0; row < this.#count; row++) {
      if (protocol[row] === 0 && this.#before[row] === 0) continue;
      const isSame = this.#generations[row] === generation[row];
      const since = reports[row]! - (isSame ? this.#before[row]! : 0);
      this.#rates[row] = seconds > 0 ? since / seconds : 0;
      this.#before[row] = reports[row]!;
      this.#generations[row] = generation[row]!;
    }
    this.#takenMs = nowMs;
  }

  /** Flows in the table. */
  get size(): number {
    const { protocol } = this.#columns.words;
    let size = 0;
    for (let row = 0; row < this.#count; row++) if (protocol[row] !== 0) size++;
    return size;
  }

  /** The flow in a row; `null`: there is none, or it is changing. */
  read(row: number): TrackedFlow | null {
    const version = Atomics.load(this.#signals, SIGNAL.FLOWS);
    const { words, firstMs, lastMs } = this.#columns;
    const packed = words.protocol[row]!;
    if (packed === 0) return null;
    const isIpv6 = packed >>> 8 === FLOW_KIND.IPV6;
    const protocol = packed & 0xff;
    const ports = words.ports[row]!;
    const hasPorts = WITH_PORTS.has(protocol);
    const address = (side: 'source' | 'destination'): string =>
      isIpv6
        ? formatIpv6(words[`${side}0`][row]!, words[`${side}1`][row]!, words[`${side}2`][row]!, words[`${side}3`][row]!)
        : formatIpv4(words[`${side}0`][row]!);
    const flow: TrackedFlow = {
      row,
      id: `${row}.${words.generation[row]!}`,
      source: address('source'),
      destination: address('destination'),
      sourcePort: hasPorts ? ports >>> 16 : null,
      destinationPort: hasPorts ? ports & 0xffff : null,
      protocol,
      reports: words.reports[row]!,
      events: words.events[row]!,
      firstMs: firstMs[row]!,
      lastMs: lastMs[row]!,
      reportsPerSecond: this.#rates[row]!,
    };
    const isSteady = (version & 1) === 0 && version === Atomics.load(this.#signals, SIGNAL.FLOWS);
    // A row that changed meanwhile is read once more; what flickers is left out.
    return isSteady || words.generation[row] === Number(flow.id.split('.')[1]) ? flow : null;
  }

  /** All flows. */
  *all(): Generator<TrackedFlow, void, undefined> {
    for (let row = 0; row < this.#count; row++) {
      const flow = this.read(row);
      if (flow !== null) yield flow;
    }
  }
}
