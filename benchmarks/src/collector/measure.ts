/** What each stage of the collector costs, and how many reports a second get to the end of it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { loss, pass } from '../afxdp/measure.js';
import { type Contender, nodeContender, type Receiver } from '../afxdp/programs.js';
import { type Bench, costs, startWarm } from '../afxdp/speed.js';
import { COMMON, REPORT_PORT, templateOf } from '../afxdp/template.js';
import { SOURCES, type SourceName, STAGES, type StageName } from './stages.js';

/** Where the last stages write to; null: left out. */
export interface Targets {
  readonly kafka: string | null;
  readonly parquet: string;
}

/** Of one source and stage: nanoseconds per report on the receiving core, kernel and process, a value per round. */
export interface StageCost {
  readonly source: SourceName;
  readonly stage: StageName;
  /** Frames a second that were sent. */
  readonly rate: number;
  readonly kernelNs: number[];
  readonly receiverNs: number[];
  readonly lost: number[];
}

/** With more than can be taken: reports a second that the target has confirmed. */
export interface Throughput {
  readonly source: SourceName;
  readonly stage: StageName;
  readonly perSecond: number[];
  readonly lost: number[];
}

/** Share of a core at a rate. */
export interface Load {
  readonly source: SourceName;
  readonly rate: number;
  readonly share: number;
  readonly lost: number;
}

/** Rates that the dearest stage bears on a core that it shares with the kernel's receiving thread. */
const RATE: Readonly<Record<SourceName, number>> = { udp: 40_000, afxdp: 60_000 };
const FLOOD_RATE = 400_000;
const FLOOD_SECONDS = 4;
const LOAD_RATES: readonly number[] = [2000, 5000, 10_000, 20_000, 40_000, 60_000, 80_000, 100_000];
/** The longest that records may be on their way. */
const DELIVERY_MS = 15_000;
const PAUSE_MS = 50;

function contender(source: SourceName, stage: StageName, { cable }: Bench, targets: Targets): Contender {
  const place = source === 'udp' ? String(REPORT_PORT) : cable.interface;
  const target = stage === 'kafka' ? (targets.kafka ?? '') : targets.parquet;
  return nodeContender(`${source}, ${stage}`, source, 'collector-receiver', source, place, target);
}

/** The short form shows that both ways to the end work. */
function stagesFor({ kafka }: Targets, isShort: boolean): StageName[] {
  const wanted = isShort ? STAGES.filter((stage) => ['detect', 'kafka', 'parquet'].includes(stage)) : STAGES;
  return wanted.filter((stage) => stage !== 'kafka' || kafka !== null);
}

export async function measureStages(bench: Bench, targets: Targets): Promise<StageCost[]> {
  const { cable, sender, rounds, duration, isShort } = bench;
  sender.use(templateOf(COMMON, cable));
  const results: StageCost[] = SOURCES.flatMap((source) =>
    stagesFor(targets, isShort).map((stage) => ({
      source,
      stage,
      rate: RATE[source],
      kernelNs: [],
      receiverNs: [],
      lost: [],
    })),
  );
  for (let round = 0; round < rounds; round++) {
    for (let k = 0; k < results.length; k++) {
      const result = results[(k + round) % results.length]!;
      const { source, stage, rate } = result;
      const receiver = await startWarm(bench, contender(source, stage, bench, targets), stage, rate);
      const passage = await pass(cable, receiver, sender, { frames: Math.ceil(rate * duration), rate });
      const { kernel, receiver: own } = costs(passage);
      result.kernelNs.push(kernel);
      result.receiverNs.push(own);
      result.lost.push(loss(passage));
      await receiver.stop();
    }
  }
  return results;
}

/** Reports a second through to Kafka and to Parquet, with more sent than can be taken. */
export async function measureThroughput(bench: Bench, targets: Targets): Promise<Throughput[]> {
  const { cable, sender, rounds, isShort } = bench;
  sender.use(templateOf(COMMON, cable));
  const ends: readonly StageName[] = targets.kafka === null ? ['parquet'] : ['kafka', 'parquet'];
  const results: Throughput[] = SOURCES.flatMap((source) =>
    ends.map((stage) => ({ source, stage, perSecond: [], lost: [] })),
  );
  const seconds = isShort ? FLOOD_SECONDS / 4 : FLOOD_SECONDS;
  for (let round = 0; round < rounds; round++) {
    for (const { source, stage, perSecond, lost } of results) {
      const receiver = await startWarm(bench, contender(source, stage, bench, targets), stage, RATE[source]);
      const before = await settled(receiver);
      const started = performance.now();
      await sender.send({ frames: FLOOD_RATE * seconds, rate: FLOOD_RATE });
      const after = await settled(receiver);
      const elapsed = (after.at - started) / 1000;
      perSecond.push((after.messages - before.messages) / elapsed);
      lost.push(1 - (after.messages - before.messages) / (FLOOD_RATE * seconds));
      await receiver.stop();
    }
  }
  return results;
}

/** Waits until nothing more is confirmed. @returns what has been, and when the last of it was */
async function settled(receiver: Receiver): Promise<{ messages: number; at: number }> {
  let { messages } = await receiver.answer();
  let at = performance.now();
  for (const began = at; performance.now() - began < DELIVERY_MS && performance.now() - at < 20 * PAUSE_MS; ) {
    await sleep(PAUSE_MS);
    const answer = await receiver.answer();
    if (answer.messages === messages) continue;
    messages = answer.messages;
    at = performance.now();
  }
  return { messages, at };
}

/** Figure 6 of the paper on knowledge-defined networking: share of a core against packets a second, up to Kafka. */
export async function measureLoad(bench: Bench, targets: Targets): Promise<Load[]> {
  if (targets.kafka === null) return [];
  const { cable, sender, duration, isShort } = bench;
  sender.use(templateOf(COMMON, cable));
  const list: Load[] = [];
  for (const source of SOURCES) {
    const receiver = await startWarm(bench, contender(source, 'kafka', bench, targets), 'kafka', RATE[source]);
    for (const rate of isShort ? LOAD_RATES.slice(0, 3) : LOAD_RATES) {
      const passage = await pass(cable, receiver, sender, { frames: Math.ceil(rate * duration), rate });
      const share = (passage.kernelNs + passage.receiverNs) / (duration * 1e9);
      list.push({ source, rate, share, lost: loss(passage) });
    }
    await receiver.stop();
  }
  return list;
}
