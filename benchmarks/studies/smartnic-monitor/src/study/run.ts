/** One run: a sender in another process, the monitor in this one and its workers. */
import { fork } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Comparison, compareAll } from './compare.js';
import { Host } from './host.js';
import { METRICS, type SenderOrder, type SenderTruth, SWITCHES } from './workload.js';

export interface RunPlan {
  /** Reports a second; 0: as fast as the sender can. */
  readonly rate: number;
  readonly seconds: number;
  /** Events a second that the threshold is to give. */
  readonly events: number;
  readonly reportsPerDatagram: number;
  readonly flows: number;
  readonly shards: number;
  readonly rows: number;
  readonly seed: number;
}

export interface RunResult {
  readonly plan: RunPlan;
  /** Reports and events a second, as sent. */
  readonly reportRate: number;
  readonly eventRate: number;
  readonly sent: number;
  /** Reports in datagrams that the kernel threw away, and in those that the program refused. */
  readonly lostInKernel: number;
  readonly lostInProgram: number;
  readonly eventsSent: number;
  readonly eventsRead: number;
  /** Events for which a ring had no room. */
  readonly eventsLost: number;
  readonly endToEnd: Comparison;
  readonly queue: Comparison;
  readonly utilization: Comparison;
  /** Whether everything is accounted for: what the histograms lack is what was counted as lost, and events likewise. */
  readonly closes: boolean;
}

/** Nothing more is under way when nothing has come for so long. */
const SILENCE_MS = 1000;

/** The sender's process. */
const SENDER: string = fileURLToPath(new URL('./sender.js', import.meta.url));

function truthOf(order: SenderOrder): Promise<SenderTruth> {
  const sender = fork(SENDER, [], { serialization: 'advanced' });
  return new Promise((resolve, reject) => {
    let truth: SenderTruth | null = null;
    sender.once('error', reject);
    sender.once('message', (message) => {
      truth = message as SenderTruth;
    });
    sender.once('exit', (code) => {
      if (truth !== null && code === 0) resolve(truth);
      else reject(new Error(`the sender ended with ${code}`));
    });
    sender.send(order);
  });
}

/** The queue occupancy above which there are `events` a second at `rate` reports: the tail of the exponential. */
function thresholdFor(rate: number, events: number): number {
  const share = events / (rate * SWITCHES.length);
  return Math.max(0, Math.round(-METRICS.queueOccupancy.mean * Math.log(Math.min(1, share))) - 1);
}

/** @param guess reports a second to find the threshold for, where the rate is open */
export async function run(plan: RunPlan, guess: number = plan.rate): Promise<RunResult> {
  const { flows, rate, reportsPerDatagram, rows, seconds, seed, shards } = plan;
  const threshold = thresholdFor(guess, plan.events);
  const host = await Host.start({ shards, rows, threshold });
  const perSecond = rate / reportsPerDatagram;
  const datagrams = Math.round((guess / reportsPerDatagram) * seconds);
  const order = {
    host: '127.0.0.1',
    port: host.port,
    reportsPerDatagram,
    datagrams,
    rate: perSecond,
    flows,
    seed,
    threshold,
  };
  const truth = await truthOf(order);
  for (let seen = -1; seen !== host.seen && host.seen < datagrams; ) {
    seen = host.seen;
    await sleep(SILENCE_MS);
  }
  const result = await host.stop();
  const { distributions, eventsRead, kernelDropped, overrun } = result;
  const first = SWITCHES[0];
  const compared = compareAll(
    (what) => (what === 'endToEnd' ? distributions.endToEnd() : distributions.histogram(first, what)!),
    truth,
  );
  const lostInKernel = kernelDropped * reportsPerDatagram;
  const lostInProgram = overrun * reportsPerDatagram;
  const eventsLost = result.flows.lostEvents;
  const lost = lostInKernel + lostInProgram;
  const closes =
    [compared.endToEnd, compared.queue, compared.utilization].every(
      ({ sent, counted, difference, tooMany }) => sent - counted === lost && difference === lost && tooMany === 0,
    ) &&
    result.flows.events === eventsRead &&
    (lost > 0 || truth.events === eventsRead + eventsLost);
  return {
    plan,
    reportRate: truth.reports / truth.seconds,
    eventRate: truth.events / truth.seconds,
    sent: truth.reports,
    lostInKernel,
    lostInProgram,
    eventsSent: truth.events,
    eventsRead,
    eventsLost,
    ...compared,
    closes,
  };
}
