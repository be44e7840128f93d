import type { CacheGeometry } from '@int/flowcache';
import type { RecordQueue } from '../record/queue.js';

/** Copies records into bytes: words of 32 bits, little-endian. */
export function packRecords(queue: RecordQueue, records: number, into: Buffer): Buffer {
  const { recordWords, words } = queue;
  const view = new DataView(into.buffer, into.byteOffset, into.byteLength);
  let to = 0;
  for (let k = 0; k < records; k++) {
    const from = queue.wordOf(k);
    for (let word = 0; word < recordWords; word++, to += 4) view.setInt32(to, words[from + word]!, true);
  }
  return into.subarray(0, records * recordWords * 4);
}

/** Arguments of the script `packed` from the layout on. */
export function packedArguments(geometry: CacheGeometry): readonly string[] {
  return [geometry.layout, String(geometry.hops), geometry.metrics.join(',')];
}
