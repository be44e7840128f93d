import { type PackedText, packText } from './ascii.js';
import type { RecordIds } from './ids.js';

/** Makes the text with which the records of a type begin, up to the number in their id. */
export function idText(type: 'report' | 'event' | 'flow'): (ids: RecordIds) => PackedText {
  let last: RecordIds | null = null;
  let text = packText('');
  return (ids) => {
    if (ids !== last) {
      last = ids;
      text = packText(`{"type":"${type}","id":"${ids.instance}-`);
    }
    return text;
  };
}
