import type { RecordConsumer } from '@int/flowcache';
import { SpscRing } from '@int/rings';

/** Something that a cache hands records on to, and the other end of it. */
export interface Outlet {
  readonly sink: RecordConsumer;
  /** Takes out up to `most` records. */
  read(most: number): Int32Array[];
}

/** A ring of a few records. */
export class RingOutlet implements Outlet {
  readonly sink: SpscRing;
  readonly #words: Int32Array;

  constructor(recordWords: number, capacity: number) {
    this.sink = new SpscRing({ recordWords, capacity });
    this.#words = new Int32Array(recordWords);
  }

  read(most: number): Int32Array[] {
    const records: Int32Array[] = [];
    while (records.length < most && this.sink.pop(this.#words, 0, 1) > 0) records.push(this.#words.slice());
    return records;
  }
}

/** Room for as many records as `room` says; takes nothing and throws while `failure` is set. */
export class RoomOutlet implements Outlet {
  readonly sink: RecordConsumer;
  room = Number.POSITIVE_INFINITY;
  failure: Error | null = null;
  /** Records that it was to take. */
  given = 0;
  readonly #records: Int32Array[] = [];

  constructor(recordWords: number) {
    this.sink = {
      push: (words, at, records) => {
        this.given += records;
        if (this.failure !== null) throw this.failure;
        const taken = Math.min(records, this.room);
        this.room -= taken;
        for (let record = 0; record < taken; record++) {
          const first = at + record * recordWords;
          this.#records.push(words.slice(first, first + recordWords));
        }
        return taken;
      },
    };
  }

  read(most: number): Int32Array[] {
    return this.#records.splice(0, most);
  }
}
