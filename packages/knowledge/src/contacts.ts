import { FLOW_STATE, type FlowTable } from './table/flows.js';

/** First contacts that may wait for their outcome at a time. */
const WAITING = 1 << 16;
/**
 * Without an answer for so long, a contact has failed: long enough for the answer to a SYN packet that was sent again after a
 * second (RFC 6298), short enough to find a scan of hosts that are not there while it goes on.
 */
export const ANSWER_MS = 2000;

/** First contacts that wait for an answer, in the order of their time. */
export class Contacts {
  /** Contacts whose outcome will not be known: their flow gave way, or too many waited. */
  lost = 0;
  /** When the outcome of the first one is due. */
  dueMs = Number.POSITIVE_INFINITY;
  readonly #flows: FlowTable;
  readonly #rows = new Int32Array(WAITING);
  readonly #generations = new Uint32Array(WAITING);
  readonly #deadlines = new Float64Array(WAITING);
  readonly #failed: (flow: number, timeMs: number) => void;
  #head = 0;
  #tail = 0;

  static readonly BYTES: number = WAITING * 16;

  /** @param failed is told a flow that nobody answered */
  constructor(flows: FlowTable, failed: (flow: number, timeMs: number) => void) {
    this.#flows = flows;
    this.#failed = failed;
  }

  wait(flow: number, timeMs: number): void {
    if (this.#tail - this.#head === WAITING) {
      this.#head++;
      this.lost++;
    }
    const at = this.#tail++ % WAITING;
    this.#rows[at] = flow;
    this.#generations[at] = this.#flows.generation(flow);
    this.#deadlines[at] = timeMs + ANSWER_MS;
    this.dueMs = Math.min(this.dueMs, timeMs + ANSWER_MS);
  }

  advance(timeMs: number): void {
    const flows = this.#flows;
    while (this.#head < this.#tail) {
      const at = this.#head % WAITING;
      if (this.#deadlines[at]! > timeMs) {
        this.dueMs = this.#deadlines[at]!;
        return;
      }
      this.#head++;
      const row = this.#rows[at]!;
      if (flows.generation(row) !== this.#generations[at]) this.lost++;
      else if ((flows.state(row) & FLOW_STATE.WAITING) !== 0) this.#failed(row, this.#deadlines[at]!);
    }
    this.dueMs = Number.POSITIVE_INFINITY;
  }
}
