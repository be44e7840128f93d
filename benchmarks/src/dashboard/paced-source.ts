import { encodeFrame, type TelemetryRecord } from '@int/codec';
import { FrameSlab, type Push, type Source } from '@int/collector';
import { fillFrameTimes } from '@int/collector/internals';
import { TrafficGenerator } from '@int/traffic';

const TICK_MS = 5;
/** Reports that are made up for at a time, in milliseconds: what is late by more is left out. */
const BACKLOG_MS = 40;
const FRAMES = 500;

/** A network of about so many switches, 8 queues at each. */
export interface Load {
  readonly rate: number;
  readonly switches: number;
  readonly flows: number;
}

/** Queue ids of a switch with 8 queues. */
function withQueues(records: readonly TelemetryRecord[]): TelemetryRecord[] {
  const queue = <T extends { queueId?: number | null }>(hop: T): T =>
    hop.queueId == null ? hop : { ...hop, queueId: hop.queueId & 7 };
  return records.map((record) => ({
    ...record,
    hops: record.hops.map(queue),
    report:
      record.report?.metadata == null ? record.report : { ...record.report, metadata: queue(record.report.metadata) },
  }));
}

/** Slabs of frames, a second's worth. */
export function slabsOf({ rate, switches, flows }: Load): FrameSlab[] {
  const spines = Math.max(1, Math.round(switches / 12));
  const topology = `leaf-spine:${switches - spines}x${spines}`;
  const generator = new TrafficGenerator({ topology, flows, ratePps: rate, seed: 1 });
  const slabs: FrameSlab[] = [];
  for (let made = 0; made < rate; ) {
    const slab = new FrameSlab({ frames: FRAMES, bytes: FRAMES * 400 }, 'ethernet');
    for (let frame = 0; frame < FRAMES; frame++, made++) {
      const { records } = generator.next();
      slab.append(encodeFrame(withQueues(records)), 0);
    }
    slabs.push(slab);
  }
  return slabs;
}

/** Frames of a capture at a steady pace, again and again, at the time of day. */
export class PacedSource implements Source {
  readonly name = 'capture';
  readonly kernelDropped = null;
  /** Reports left out because this process had no time. */
  overrun = 0;
  sent = 0;
  readonly #slabs: readonly FrameSlab[];
  readonly #rate: number;
  readonly #ended: Promise<void>;
  #end: () => void = () => {};
  #push: Push = () => undefined;
  #next = 0;
  #began = 0;
  #due = 0;
  #ticking: NodeJS.Timeout | undefined;

  constructor(slabs: readonly FrameSlab[], rate: number) {
    this.#slabs = slabs;
    this.#rate = rate;
    this.#ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  get finished(): Promise<void> {
    return this.#ended;
  }

  async start(push: Push): Promise<void> {
    this.#push = push;
    this.#began = performance.now();
    this.#ticking = setInterval(() => this.#tick(), TICK_MS);
  }

  async stop(): Promise<void> {
    clearInterval(this.#ticking);
    this.#end();
  }

  lowTimeMs(): number {
    return performance.timeOrigin + performance.now();
  }

  #tick(): void {
    const due = ((performance.now() - this.#began) * this.#rate) / 1000;
    const most = (this.#rate * BACKLOG_MS) / 1000;
    if (due - this.#due > most) {
      this.overrun += due - this.#due - most;
      this.#due = due - most;
    }
    while (this.#due + FRAMES <= due) {
      const slab = this.#slabs[this.#next]!;
      this.#next = (this.#next + 1) % this.#slabs.length;
      fillFrameTimes(slab, 0, slab.count, performance.timeOrigin + performance.now());
      this.#push(slab);
      this.sent += slab.count;
      this.#due += slab.count;
    }
  }
}
