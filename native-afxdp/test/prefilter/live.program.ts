/** Sends reports to a filter on the other end of a cable, and detects what its socket receives. */
import { setTimeout as sleep } from 'node:timers/promises';
import { XdpBatch, type XdpMode, XdpSocket } from '@int/afxdp';
import { Prefilter, type PrefilterCounts, readVerdict, rulesBehind } from '@int/afxdp/prefilter';
import { BatchDecoder, TelemetryBatch } from '@int/codec';
import { Detector, EventBatch, type RuleSet } from '@int/detect';
import { until } from '../../../.ci/test/until.js';
import { serve } from '../serve.js';
import type { StreamEvent } from './behind.js';

/** Frames under one set of rules. */
export interface LiveStretch {
  readonly rules: RuleSet;
  readonly frames: readonly Uint8Array[];
}

export interface LiveResult {
  /** Without the number of the report: what is dropped has none behind the filter. */
  readonly events: readonly Omit<StreamEvent, 'report'>[];
  /** Frames received, and how many of them with a verdict. */
  readonly received: number;
  readonly verdicts: number;
  readonly mode: XdpMode;
  readonly counts: PrefilterCounts;
}

const ROWS = 64;
const PATIENCE_MS = 30_000;

class Behind {
  readonly events: Omit<StreamEvent, 'report'>[] = [];
  received = 0;
  verdicts = 0;
  readonly detector: Detector;
  readonly #filter: Prefilter;
  readonly #socket: XdpSocket;
  readonly #rows = new XdpBatch(ROWS);
  readonly #decoder = new BatchDecoder({ linkType: 'ethernet', reportPorts: [32766] });
  readonly #batch = new TelemetryBatch({ frames: ROWS, reports: ROWS, hops: 40 * ROWS });
  readonly #events = new EventBatch();

  constructor(filter: Prefilter, socket: XdpSocket, rules: RuleSet) {
    this.#filter = filter;
    this.#socket = socket;
    this.detector = new Detector(rulesBehind(rules), filter.detectorOptions);
  }

  receive(): void {
    const { umem } = this.#socket;
    const rows = this.#rows;
    const batch = this.#batch;
    const count = this.#socket.receive(rows);
    this.received += count;
    for (let row = 0; row < count; row++) {
      if (readVerdict(umem, rows.offsets[row]!, rows.lengths[row]!) !== null) this.verdicts++;
    }
    this.#decoder.decode(batch, { bytes: umem, offsets: rows.offsets, lengths: rows.lengths }, 0, count);
    this.detector.detect(batch, this.#events);
    this.#filter.applyVerdicts(this.#events);
    for (const { flow: _, ...event } of this.#events) this.events.push(event);
    this.#events.clear();
    batch.clear();
    this.#socket.release(rows);
  }
}

/** Sends frames, and returns when all have been looked at. */
async function send(sender: XdpSocket, frames: readonly Uint8Array[], isDone: () => boolean): Promise<void> {
  const rows = new XdpBatch(ROWS);
  for (let next = 0; next < frames.length; ) {
    const count = sender.acquire(rows, Math.min(ROWS, frames.length - next));
    for (let row = 0; row < count; row++) {
      const frame = frames[next++]!;
      sender.umem.set(frame, rows.offsets[row]!);
      rows.lengths[row] = frame.length;
    }
    await until('room to send', () => {
      sender.transmit(rows);
      return rows.count === 0;
    });
    // The other end holds few frames that nobody has fetched.
    if (!(await sender.flush(PATIENCE_MS))) throw new Error('frames stay unsent');
    await sleep(1);
  }
  await until('all frames', isDone, { everyMs: 1 });
}

const handlers = {
  async run(left: string, right: string, mode: XdpMode, stretches: readonly LiveStretch[]): Promise<LiveResult> {
    const [{ rules }] = stretches as [LiveStretch];
    const filter = Prefilter.attach({ interface: right, mode, rules, metricsPerDetector: 17 });
    const receiver = await XdpSocket.open({ interface: right, program: filter.program, frames: 1024 });
    const sender = await XdpSocket.open({ interface: left, ports: [], frames: 64, txFrames: 256 });
    const behind = new Behind(filter, receiver, rules);
    let sent = 0;
    for (const [index, stretch] of stretches.entries()) {
      if (index > 0) {
        filter.setRules(stretch.rules);
        behind.detector.setRules(rulesBehind(stretch.rules));
      }
      sent += stretch.frames.length;
      await send(sender, stretch.frames, () => {
        behind.receive();
        const { reports, undecided, filtered, noSocket } = filter.counts();
        return reports + undecided === sent && behind.received === sent - filtered - noSocket;
      });
    }
    // What was counted outlives being attached.
    filter.detach();
    filter.detach();
    const counts = filter.counts();
    const { events, received, verdicts } = behind;
    sender.close();
    receiver.close();
    filter.close();
    return { events, received, verdicts, mode: filter.program.mode, counts };
  },
};

export type Live = typeof handlers;

serve(handlers);
