import { type PackedText, packText } from './ascii.js';
import type { RecordIds } from './ids.js';

/** How the text of a record begins, up to the number in its id. */
export class IdText {
  readonly #type: string;
  #ids: RecordIds | null = null;
  #text: PackedText = packText('');

  /** @param type the record's `type` */
  constructor(type: 'report' | 'event' | 'flow') {
    this.#type = type;
  }

  of(ids: RecordIds): PackedText {
    if (ids !== this.#ids) {
      this.#ids = ids;
      this.#text = packText(`{"type":"${this.#type}","id":"${ids.instance}-`);
    }
    return this.#text;
  }
}
