/** Events of detectors as records of the stream `detected`. */
import { RecordIds } from '@int/collector';
import { EventJson, RecordNames } from '@int/collector/internals';
import type { EventBatch } from '@int/detect';
import type { Topology } from '@int/network';

/**
 * Encodes events for the script: id, rule, state, id of the event, each after its length in two bytes, and the record as JSON after
 * its length in four.
 */
export class DetectedText {
  readonly #ids = new RecordIds();
  readonly #json: EventJson;
  #bytes: Buffer = Buffer.alloc(4096);

  /** @param names to put beside ids */
  constructor(names: Topology | undefined) {
    this.#json = new EventJson(names === undefined || names.switches.size === 0 ? null : new RecordNames(names));
  }

  /** Event `row`, as a copy. */
  encode(events: EventBatch, row: number): Buffer {
    const number = this.#ids.next++;
    const { eventId = '' } = events.life(row) ?? {};
    const { rule, state } = events.event(row);
    const texts = [this.#ids.text(number), rule ?? '', state, eventId].map((text) => Buffer.from(text));
    const head = texts.reduce((sum, { length }) => sum + 2 + length, 0) + 4;
    const bytes = head + this.#json.bound(events, row);
    if (bytes > this.#bytes.length) this.#bytes = Buffer.alloc(2 * bytes);
    const view = new DataView(this.#bytes.buffer, this.#bytes.byteOffset, this.#bytes.length);
    let at = 0;
    for (const text of texts) {
      at = this.#bytes.writeUInt16LE(text.length, at);
      at += text.copy(this.#bytes, at);
    }
    const end = this.#json.write(view, head, events, row, this.#ids, number);
    this.#bytes.writeUInt32LE(end - head, at);
    return Buffer.from(this.#bytes.subarray(0, end));
  }
}
