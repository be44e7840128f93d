import { frameTimeMs } from '@int/collector/internals';
import { type EventBatch, KIND, SCOPES } from '@int/detect';

const HOP_SCOPE = /* @__PURE__ */ SCOPES.indexOf('hop');
const FIRST_CAPACITY = 256;

/** Events that are about no hop. */
export const NO_HOP = 0xffff_ffff;

/**
 * Events of a batch come before the batch. They wait here for its reports: time would be ahead of those otherwise. The columns
 * grow to the most events that a batch has had.
 */
export class WaitingEvents {
  count = 0;
  /** Row of the report in its batch. */
  report = new Uint32Array(FIRST_CAPACITY);
  /** Position of the hop; {@link NO_HOP}: none. */
  hop = new Uint32Array(FIRST_CAPACITY);
  nodeId = new Uint32Array(FIRST_CAPACITY);
  timeMs = new Float64Array(FIRST_CAPACITY);

  add(events: EventBatch): void {
    const { batch, count, report, kind, hop, nodeId } = events;
    this.#makeRoom(this.count + count);
    for (let row = 0; row < count; row++) {
      const at = this.count++;
      const of = report[row]!;
      const isOfHop = ((kind[row]! >>> KIND.SCOPE_SHIFT) & KIND.SCOPE_MASK) === HOP_SCOPE;
      this.report[at] = of;
      this.hop[at] = isOfHop ? hop[row]! : NO_HOP;
      this.nodeId[at] = nodeId[row]!;
      this.timeMs[at] = frameTimeMs(batch, batch.frame[of]!);
    }
  }

  clear(): void {
    this.count = 0;
  }

  #makeRoom(count: number): void {
    if (count <= this.report.length) return;
    const capacity = 2 ** Math.ceil(Math.log2(count));
    const grown = (column: Uint32Array): Uint32Array<ArrayBuffer> => {
      const larger = new Uint32Array(capacity);
      larger.set(column);
      return larger;
    };
    this.report = grown(this.report);
    this.hop = grown(this.hop);
    this.nodeId = grown(this.nodeId);
    const times = new Float64Array(capacity);
    times.set(this.timeMs);
    this.timeMs = times;
  }
}
