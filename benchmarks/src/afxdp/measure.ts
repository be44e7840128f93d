/** One measurement: frames are sent to a receiver that has nothing else to do, and costs are read before and after. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cable } from './network.js';
import type { Receiver, Sender, Sending } from './programs.js';

/** What became of the frames of one sending, and what it took. */
export interface Passage {
  readonly sent: number;
  /** Frames that reached the receiving end of the cable; the others found its ring full. */
  readonly arrived: number;
  /** Frames that the receiver got. */
  readonly received: number;
  readonly reports: number;
  readonly messages: number;
  /** Nanoseconds: of the kernel's thread that receives, of all threads of the receiver. */
  readonly kernelNs: number;
  readonly receiverNs: number;
  /** Share of the receiver's time that it spent in system calls. */
  readonly systemShare: number;
  /** From the first to the last frames received. */
  readonly spanNs: number;
  /** Of a filter in front of the receiver. */
  readonly filter: { readonly reports: number; readonly events: number } | null;
}

/** A receiver that has run for less than this in a pause is done. */
const IDLE_NS = 1_500_000;
const PAUSE_MS = 20;
const MOST_PAUSES = 100;

async function untilIdle(receiver: Receiver, cable: Cable): Promise<void> {
  const ran = (): number => receiver.ranNs() + cable.kernelNs();
  let last = ran();
  for (let pauses = 0; pauses < MOST_PAUSES; pauses++) {
    await sleep(PAUSE_MS);
    const now = ran();
    if (now - last < IDLE_NS) return;
    last = now;
  }
}

export async function pass(cable: Cable, receiver: Receiver, sender: Sender, sending: Sending): Promise<Passage> {
  const before = await receiver.answer();
  const arrived = cable.arrived();
  const kernelNs = cable.kernelNs();
  const receiverNs = receiver.ranNs();
  await sender.send(sending);
  await untilIdle(receiver, cable);
  const ran = { kernelNs: cable.kernelNs() - kernelNs, receiverNs: receiver.ranNs() - receiverNs };
  const after = await receiver.answer();
  if (after.others !== before.others) throw new Error(`${after.others - before.others} frames were not decoded`);
  const systemNs = after.systemNs - before.systemNs;
  return {
    sent: sending.frames,
    arrived: cable.arrived() - arrived,
    received: after.frames - before.frames,
    reports: after.reports - before.reports,
    messages: after.messages - before.messages,
    ...ran,
    systemShare: systemNs / Math.max(systemNs + after.userNs - before.userNs, 1),
    spanNs: after.spanNs,
    filter:
      after.filter === undefined
        ? null
        : {
            reports: after.filter.reports - (before.filter?.reports ?? 0),
            events: after.filter.events - (before.filter?.events ?? 0),
          },
  };
}

/** Frames a second that a search tries, from the highest on. */
const RATES: readonly number[] = [2e6, 1.5e6, 1e6, 7e5, 5e5, 3.5e5, 2.5e5, 1.8e5, 1.2e5, 8e4];
/** Share lost behind the interface at which costs per frame are still those of frames received. */
const BEARABLE_LOSS = 0.005;
/** Share that has to reach the interface: its ring is short, and full whenever something else takes the processor. */
const LEAST_ARRIVED = 0.6;

function isBearable(passage: Passage): boolean {
  const { sent, arrived, received, filter } = passage;
  const behind = 1 - (filter === null ? received : filter.reports) / arrived;
  return behind < BEARABLE_LOSS && arrived > LEAST_ARRIVED * sent;
}

/** Share of the frames sent that the receiver, or the filter in front of it, has not seen. */
export function loss({ sent, received, filter }: Passage): number {
  return 1 - (filter === null ? received : filter.reports) / sent;
}

/** Seconds that each rate is tried for. */
const TRIAL_SECONDS = 0.3;

/** The highest of some rates at which next to nothing is lost, so that costs are those of frames that were received. */
export async function bearableRate(
  cable: Cable,
  receiver: Receiver,
  sender: Sender,
  { most, least }: { readonly most: number; readonly least: number },
): Promise<number> {
  for (const rate of RATES.filter((each) => each <= most && each > least)) {
    if (isBearable(await pass(cable, receiver, sender, { frames: Math.ceil(rate * TRIAL_SECONDS), rate }))) return rate;
  }
  return least;
}
