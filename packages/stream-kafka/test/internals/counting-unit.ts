import type { LogRecord } from '../../src/kafka/committed.js';
import type { OutgoingMessage } from '../../src/kafka/outgoing.js';
import {
  NO_COUNTS,
  type Unit,
  type UnitChange,
  type UnitCounts,
  type UnitProgress,
  type UnitState,
} from '../../src/unit.js';

/**
 * A unit whose results show whether its state is whole: for each message, `KEY=N`, where N says how many messages with that
 * key there were.
 */
export class CountingUnit implements Unit {
  readonly #topic: string;
  readonly #counts = new Map<string, number>();
  readonly #changed = new Set<string>();
  #messages: OutgoingMessage[] = [];
  #taken = 0;
  readonly timeMs = Number.NEGATIVE_INFINITY;

  constructor(topic: string) {
    this.#topic = topic;
  }

  get waitingBytes(): number {
    return this.#messages.length * 16;
  }

  take(records: readonly LogRecord[], from: number, to: number): void {
    for (let index = from; index < to; index++) {
      const key = Buffer.from(records[index]!.key!);
      const name = key.toString();
      const count = (this.#counts.get(name) ?? 0) + 1;
      this.#counts.set(name, count);
      this.#changed.add(name);
      this.#messages.push({ topic: this.#topic, key, value: Buffer.from(`${name}=${count}`) });
      this.#taken++;
    }
  }

  quiet(): void {}

  gap(): void {}

  end(): void {}

  results(): ReturnType<Unit['results']> {
    const messages = this.#messages;
    this.#messages = [];
    return {
      messages,
      findings: { windowCount: messages.length, eventCount: 0, windows: [], corrections: [], events: [] },
    };
  }

  changes(): UnitChange[] {
    const changes = [...this.#changed].map(
      (name): UnitChange => ({
        kind: 'side',
        key: Buffer.from(name),
        value: Buffer.from(String(this.#counts.get(name))),
      }),
    );
    this.#changed.clear();
    return changes;
  }

  restore(state: UnitState): void {
    for (const { key, value } of state.side) {
      this.#counts.set(Buffer.from(key).toString(), Number(Buffer.from(value).toString()));
    }
  }

  counts(): UnitCounts {
    return { ...NO_COUNTS, taken: this.#taken };
  }

  progress(): UnitProgress {
    return { behindMs: 0, trouble: null };
  }
}
