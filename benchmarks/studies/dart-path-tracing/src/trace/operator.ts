/** The operator: asks the store for paths, and, knowing the fabric, sees which answers are right. */
import { AnswerRows, type DartStore, STATUS } from '@int/dart';
import { type Fabric, VALUE_BYTES } from './fabric.js';

/** Flows asked for between two turns of the event loop: packets wait meanwhile. */
const SLICE = 512;

/** Shares of the flows asked for. */
export interface Found {
  readonly asked: number;
  readonly success: number;
  readonly empty: number;
  readonly wrong: number;
}

export class Operator {
  readonly #store: DartStore;
  readonly #fabric: Fabric;
  readonly #answers: AnswerRows;

  constructor(store: DartStore, fabric: Fabric) {
    this.#store = store;
    this.#fabric = fabric;
    this.#answers = new AnswerRows(fabric.flows, VALUE_BYTES);
  }

  /** Asks for the flows from `from` on, before `to`: for each, or for every `step`th slice of them. */
  async ask(from: number, to: number, step = 1): Promise<Found> {
    const { status } = this.#answers;
    let [asked, success, wrong] = [0, 0, 0];
    for (let start = from; start < to; start += SLICE * step) {
      const end = Math.min(to, start + SLICE);
      this.#store.queryRows(this.#fabric.keys, this.#answers, 'plurality', start, end);
      for (let flow = start; flow < end; flow++) {
        if (status[flow] !== STATUS.VALUE) continue;
        if (this.#isRight(flow)) success++;
        else wrong++;
      }
      asked += end - start;
      await new Promise(setImmediate);
    }
    if (asked === 0) return { asked: 0, success: 0, empty: 0, wrong: 0 };
    return { asked, success: success / asked, empty: (asked - success - wrong) / asked, wrong: wrong / asked };
  }

  #isRight(flow: number): boolean {
    const { values } = this.#answers;
    const expected = this.#fabric.values;
    for (let at = flow * VALUE_BYTES; at < (flow + 1) * VALUE_BYTES; at++)
      if (values[at] !== expected[at]) return false;
    return true;
  }
}
