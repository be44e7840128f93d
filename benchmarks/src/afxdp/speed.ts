/** Receiving and decoding: AF_XDP and sockets, here and in C. */
import { median } from '../decode/statistics.js';
import { bearableRate, loss, type Passage, pass } from './measure.js';
import type { Cable } from './network.js';
import { type Contender, nativeContender, nodeContender, Receiver, type Sender } from './programs.js';
import { COMMON, REPORT_PORT, templateOf } from './template.js';

/** What all parts of the benchmark share. */
export interface Bench {
  readonly cable: Cable;
  readonly sender: Sender;
  readonly isShort: boolean;
  readonly rounds: number;
  /** Seconds that a measurement sends for. */
  readonly duration: number;
}

export const MODES = ['driver', 'generic'] as const;
export type Mode = (typeof MODES)[number];

/** How a thread waits for frames: by a timer of 1 ms; asleep for 1 ms; until there is one. */
const WAITING = { tick: 'timer', sleep: 'sleep', wait: 'waitSync' } as const;

export function ours(cable: Cable, mode: Mode, waiting: keyof typeof WAITING, filter = 'none'): Contender {
  return nodeContender(
    `@int/afxdp, ${WAITING[waiting]}, ${mode}`,
    mode,
    'afxdp-receiver',
    cable.interface,
    mode,
    waiting,
    filter,
  );
}

export function native(cable: Cable, mode: Mode, waiting: 'sleep' | 'wait'): Contender {
  const name = waiting === 'wait' ? 'poll' : waiting;
  return nativeContender(`C, AF_XDP, ${name}, ${mode}`, mode, 'xsk_receive', cable.interface, mode, waiting);
}

/** Frames a second between which a group's rate is searched, and those of the short form, which does not search. */
export interface RateRange {
  readonly most: number;
  /** With fewer, it is not frames that cost most, but waiting for them. */
  readonly least: number;
  readonly short: number;
}
const RATES: Readonly<Record<string, RateRange>> = {
  driver: { most: 2e6, least: 5e5, short: 5e5 },
  generic: { most: 1e6, least: 2.5e5, short: 2.5e5 },
  recvmmsg: { most: 7e5, least: 1.2e5, short: 1.2e5 },
  dgram: { most: 2.5e5, least: 5e4, short: 5e4 },
  source: { most: 2.5e5, least: 5e4, short: 5e4 },
};
export const DRIVER_RATES: RateRange = RATES.driver!;

function contendersOf({ cable, isShort }: Bench): Contender[] {
  const list: Contender[] = [];
  for (const mode of MODES) {
    list.push(native(cable, mode, 'sleep'), ours(cable, mode, 'sleep'));
    if (!isShort) list.push(native(cable, mode, 'wait'), ours(cable, mode, 'tick'), ours(cable, mode, 'wait'));
  }
  const port = String(REPORT_PORT);
  list.push(nativeContender('C, recvmmsg', 'recvmmsg', 'mmsg_receive', port));
  list.push(nodeContender('node:dgram', 'dgram', 'afxdp-dgram', port, 'lean'));
  if (!isShort) list.push(nodeContender('UdpSource', 'source', 'afxdp-dgram', port, 'source'));
  return list;
}

/** A contender's rounds: nanoseconds per frame, shares, frames a second. */
export interface Rounds {
  readonly name: string;
  readonly group: string;
  /** Frames a second that the costs are of. */
  readonly rate: number;
  readonly kernelNs: number[];
  readonly receiverNs: number[];
  readonly systemShare: number[];
  readonly totalNs: number[];
  readonly lost: number[];
  /** With more frames than can be received: frames a second that were, and the share that was not. */
  readonly flooded: number[];
  readonly floodedLost: number[];
}

/** Before anything is timed: the engine compiles what is used often. */
const WARM_UP = { frames: 100_000, seconds: 0.5, shortSeconds: 0.1 } as const;
const FLOOD_SECONDS = 0.4;
const FLOOD_RATE = 4e6;

export async function startWarm(
  { cable, sender, isShort }: Bench,
  contender: Contender,
  work: string,
  rate: number,
): Promise<Receiver> {
  const receiver = await Receiver.start(contender, work);
  await cable.settle();
  const frames = Math.ceil(Math.min(WARM_UP.frames, rate * (isShort ? WARM_UP.shortSeconds : WARM_UP.seconds)));
  // With events, so that a filter lets something through.
  await pass(cable, receiver, sender, { frames, rate, period: 2 });
  return receiver;
}

export function flood({ cable, sender, isShort }: Bench, receiver: Receiver): Promise<Passage> {
  const seconds = isShort ? FLOOD_SECONDS / 8 : FLOOD_SECONDS;
  return pass(cable, receiver, sender, { frames: FLOOD_RATE * seconds, rate: FLOOD_RATE });
}

/** Nanoseconds per frame: of the kernel for each that reached the interface, of the receiver for each that it got. */
export function costs({ kernelNs, receiverNs, arrived, received }: Passage): { kernel: number; receiver: number } {
  return { kernel: kernelNs / Math.max(arrived, 1), receiver: receiverNs / Math.max(received, 1) };
}

/** The rate that all contenders of a group bear. */
async function ratesOf(bench: Bench, contenders: readonly Contender[]): Promise<Map<string, number>> {
  const rates = new Map<string, number>();
  for (const contender of contenders) {
    const { group } = contender;
    const range = RATES[group]!;
    const most = rates.get(group) ?? range.most;
    if (bench.isShort || most === range.least) {
      rates.set(group, bench.isShort ? range.short : most);
      continue;
    }
    const receiver = await startWarm(bench, contender, 'decode', range.least);
    rates.set(group, await bearableRate(bench.cable, receiver, bench.sender, { most, least: range.least }));
    await receiver.stop();
  }
  return rates;
}

export async function measureSpeed(bench: Bench): Promise<Rounds[]> {
  const { cable, sender, rounds, duration } = bench;
  sender.use(templateOf(COMMON, cable));
  const contenders = contendersOf(bench);
  const rates = await ratesOf(bench, contenders);
  const results = contenders.map(
    ({ name, group }): Rounds => ({
      name,
      group,
      rate: rates.get(group)!,
      kernelNs: [],
      receiverNs: [],
      systemShare: [],
      totalNs: [],
      lost: [],
      flooded: [],
      floodedLost: [],
    }),
  );
  for (let round = 0; round < rounds; round++) {
    for (let k = 0; k < contenders.length; k++) {
      const turn = (k + round) % contenders.length;
      const result = results[turn]!;
      const receiver = await startWarm(bench, contenders[turn]!, 'decode', result.rate);
      const passage = await pass(cable, receiver, sender, {
        frames: Math.ceil(result.rate * duration),
        rate: result.rate,
      });
      const { kernel, receiver: own } = costs(passage);
      result.kernelNs.push(kernel);
      result.receiverNs.push(own);
      result.systemShare.push(passage.systemShare);
      result.totalNs.push(kernel + own);
      result.lost.push(loss(passage));
      const much = await flood(bench, receiver);
      result.flooded.push((much.received / much.spanNs) * 1e9);
      result.floodedLost.push(loss(much));
      await receiver.stop();
    }
  }
  return results;
}

/** Something that was asked for. */
export interface Target {
  readonly what: string;
  readonly value: number;
  readonly limit: number;
  readonly isMet: boolean;
}

/** The median over the rounds of a ratio within a round. */
function ratio(above: Rounds, below: Rounds): number {
  return median(above.totalNs.map((ns, round) => ns / below.totalNs[round]!));
}

/** Of several contenders, the one that takes least. */
function best(list: readonly Rounds[]): Rounds {
  return list.reduce((least, each) => (median(each.totalNs) < median(least.totalNs) ? each : least));
}

export function speedTargets(results: readonly Rounds[]): Target[] {
  const dgram = best(results.filter(({ group }) => group === 'dgram' || group === 'source'));
  return MODES.flatMap((mode) => {
    const group = results.filter((each) => each.group === mode);
    const inC = best(group.filter(({ name }) => name.startsWith('C,')));
    const our = best(group.filter(({ name }) => !name.startsWith('C,')));
    const toC = ratio(our, inC);
    const toDgram = ratio(dgram, our);
    return [
      { what: `${our.name} / ${inC.name}, at most`, value: toC, limit: 1.3, isMet: toC <= 1.3 },
      { what: `${dgram.name} / ${our.name}, at least`, value: toDgram, limit: 10, isMet: toDgram >= 10 },
    ];
  });
}
