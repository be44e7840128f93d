import type { Prefilter } from '@int/afxdp/prefilter';
import { BatchDecoder, TelemetryBatch } from '@int/codec';
import { type Detector, type Event, EventBatch } from '@int/detect';

/** An event and the number of its report in the stream. */
export type StreamEvent = Omit<Event, 'flow'> & { readonly report: number };

const CHUNK = 4096;
const HEADROOM = 256;

/** What a detector finds in frames, in a batch, the frames in chunks of one memory as a socket has them. */
export class Finder {
  readonly detector: Detector;
  readonly #decoder = new BatchDecoder({ linkType: 'ethernet', reportPorts: [32766] });
  readonly #events = new EventBatch();

  constructor(detector: Detector) {
    this.detector = detector;
  }

  /**
   * Looks at frames.
   *
   * @param frames the number of each in the stream, its bytes, and what lies in front of it
   * @param filter gives the averages' events their values
   */
  find(
    frames: readonly { readonly number: number; readonly bytes: Uint8Array; readonly meta: Uint8Array }[],
    filter: Prefilter | null,
  ): StreamEvent[] {
    // Rows of frames before and behind: the batch's first frame is not the first row.
    const first = 3;
    const bytes = new Uint8Array((frames.length + first) * CHUNK);
    const offsets = new Uint32Array(frames.length + first);
    const lengths = new Uint32Array(frames.length + first);
    frames.forEach((frame, k) => {
      const offset = (first + k) * CHUNK + HEADROOM;
      bytes.set(frame.bytes, offset);
      bytes.set(frame.meta, offset - frame.meta.length);
      offsets[first + k] = offset;
      lengths[first + k] = frame.bytes.length;
    });
    const batch = new TelemetryBatch({
      frames: frames.length + 1,
      reports: frames.length + 1,
      hops: 256 + 40 * frames.length,
    });
    const times = new Uint32Array(lengths.length);
    const input = { bytes, offsets, lengths, timestampsHigh: times, timestampsLow: times };
    const decoded = this.#decoder.decode(batch, input, first);
    if (decoded !== first + frames.length) throw new Error('the batch is too small');
    const found: StreamEvent[] = [];
    for (let row = 0; row < batch.reports; ) {
      const events = this.#events;
      row = this.detector.detect(batch, events, row);
      filter?.applyVerdicts(events);
      for (let k = 0; k < events.count; k++) {
        const { flow: _, ...event } = events.event(k);
        found.push({ report: frames[batch.frame[events.report[k]!]!]!.number, ...event });
      }
      events.clear();
    }
    return found;
  }
}
