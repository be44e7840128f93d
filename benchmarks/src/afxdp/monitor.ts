/** The monitor of the event detection paper (figure 3): receive, decode, build the message, drop it; by hops and items. */
import { median } from '../decode/statistics.js';
import { bearableRate, loss, pass } from './measure.js';
import type { Contender } from './programs.js';
import { type Bench, costs, DRIVER_RATES, flood, native, ours, startWarm } from './speed.js';
import { shapeOf, templateOf } from './template.js';

export interface MonitorCosts {
  readonly name: string;
  readonly hops: number;
  readonly items: number;
  readonly frameBytes: number;
  /** Nanoseconds per report. */
  readonly kernelNs: number[];
  readonly receiverNs: number[];
  readonly totalNs: number[];
  readonly lost: number[];
  /** Reports a second that were received when more were sent than could be, once. */
  readonly flooded: number[];
}

export interface Monitor {
  readonly rate: number;
  readonly hops: readonly number[];
  readonly items: readonly number[];
  readonly costs: readonly MonitorCosts[];
}

/** @param rate frames a second to try first */
export async function measureMonitor(bench: Bench, rate: number): Promise<Monitor> {
  const { cable, sender, rounds, duration, isShort } = bench;
  const hops = isShort ? [1, 4] : [1, 2, 3, 4];
  const items = isShort ? [1, 8] : [1, 2, 3, 4, 5, 6, 7, 8];
  const contenders: readonly Contender[] = [native(cable, 'driver', 'sleep'), ours(cable, 'driver', 'sleep')];
  let bearable = rate;
  sender.use(templateOf(shapeOf(hops.at(-1)!, items.at(-1)!), cable));
  for (const contender of isShort ? [] : contenders) {
    const receiver = await startWarm(bench, contender, 'message', bearable);
    bearable = await bearableRate(cable, receiver, sender, { most: bearable, least: DRIVER_RATES.least });
    await receiver.stop();
  }
  const shapes = hops.flatMap((h) => items.map((i) => ({ hops: h, items: i })));
  const results = contenders.map(({ name }) =>
    shapes.map(
      (shape): MonitorCosts => ({
        name,
        ...shape,
        frameBytes: templateOf(shapeOf(shape.hops, shape.items), cable).frame.length,
        kernelNs: [],
        receiverNs: [],
        totalNs: [],
        lost: [],
        flooded: [],
      }),
    ),
  );
  for (let round = 0; round < rounds; round++) {
    for (let k = 0; k < contenders.length; k++) {
      const turn = (k + round) % contenders.length;
      sender.use(templateOf(shapeOf(1, 1), cable));
      const receiver = await startWarm(bench, contenders[turn]!, 'message', bearable);
      for (const result of results[turn]!) {
        sender.use(templateOf(shapeOf(result.hops, result.items), cable));
        const passage = await pass(cable, receiver, sender, { frames: Math.ceil(bearable * duration), rate: bearable });
        const { kernel, receiver: own } = costs(passage);
        result.kernelNs.push(kernel);
        result.receiverNs.push(own);
        result.totalNs.push(kernel + own);
        result.lost.push(loss(passage));
        if (isShort || round > 0) continue;
        const much = await flood(bench, receiver);
        result.flooded.push((much.received / much.spanNs) * 1e9);
      }
      await receiver.stop();
    }
  }
  return { rate: bearable, hops, items, costs: results.flat() };
}

/** Reports a second that one core could do, by the median of what they take. */
export function reportsPerSecond({ totalNs }: MonitorCosts): number {
  return 1e9 / median(totalNs);
}
