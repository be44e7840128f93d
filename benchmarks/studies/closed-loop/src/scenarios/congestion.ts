/** Large flows begin, which the hash of their leaf sends all over one link. */
import type { Proposal } from '@int/control';
import { HOSTS, type HostName, stream } from '@int/example-closed-loop';
import type { Random } from '@int/random';
import { LinkLoads } from './link-loads.js';
import { type Choice, dividedOptimum, undividedOptimum } from './optimum.js';
import { playScene, type Scene, type Values } from './scenario.js';
import { sourcePortOf } from './surroundings.js';

const SECONDS = 6;
const WINDOW_MS = 250;
const WINDOWS = (1000 * SECONDS) / WINDOW_MS;
/** Windows at the end of which loads are the mean. */
const LAST = 8;
const BOUND = 0.8;
/** Of large flows together, and of those on one link in the best case: with the rest, a place below the bound is there. */
const TOGETHER_BPS = [8.6e6, 11e6] as const;
const BEST_BPS = 6.2e6;
const SMALL_BPS = 40e3;
const FIRST_PORT = 40_000;
const LAST_PORT = 40_100;

export const congestion = (seed: number): Promise<Values> => playScene('congestion', seed, 2, play);

async function play(scene: Scene): Promise<Values> {
  const { loop, random } = scene;
  const { fabric } = loop;
  const from: HostName = random.integer(2) === 0 ? 'backup' : 'dave';
  const to: HostName = random.integer(2) === 0 ? 'web' : 'files';
  const leaves = [HOSTS[from].leaf, HOSTS[to].leaf] as const;
  const spine = 1 + random.integer(2);
  const sizes = sizesOf(random);
  const ports = await portsOver(scene, `leaf${leaves[0]}:spine${spine}`, from, to, sizes.length);
  const loads = new LinkLoads(fabric, WINDOW_MS, new Set(ports));
  for (const [k, port] of ports.entries()) stream(fabric, from, to, port, sizes[k]!);
  await loop.seconds(SECONDS);

  const highest = loads.highest(WINDOWS);
  const lastHot = highest.findLastIndex((load) => load >= BOUND);
  const { rest, flows } = loads.mean(WINDOWS - LAST, WINDOWS);
  const choice: Choice = {
    paths: [1, 2].map((each) => [`leaf${leaves[0]}:spine${each} ab`, `leaf${leaves[1]}:spine${each} ba`]),
    rest,
    flows: ports.map((port) => flows.get(port) ?? 0),
  };
  const reached = loads.highestMean(WINDOWS - LAST, WINDOWS);
  const moves = loop.controller.loop.proposals.filter(({ kind }) => kind === 'path');
  return {
    below: lastHot === WINDOWS - 1 ? null : (lastHot + 1) * WINDOW_MS,
    reached,
    ofDivided: reached / (await dividedOptimum(choice)),
    ofUndivided: reached / undividedOptimum(choice),
    movesInCycle: Math.max(0, ...moves.map(movesOf)),
    cycles: moves.length,
  };
}

/** Aggregates and flows that a proposal sends another way. A large flow within an aggregate has an intent, too, and stays. */
function movesOf({ intents, rehearsal }: Proposal): number {
  const moved = rehearsal?.movedFlows ?? [];
  return intents.filter((intent) => {
    if (intent.kind !== 'path') return false;
    const { source, destination, protocol, sourcePort, destinationPort } = intent.match;
    if (protocol === undefined) return true;
    return moved.some(
      ({ flow }) =>
        flow.source === source &&
        flow.destination === destination &&
        flow.sourcePort === sourcePort?.[0] &&
        flow.destinationPort === destinationPort?.[0],
    );
  }).length;
}

/** Source ports of small flows that the hash of their leaf sends over a link: they are those that grow. */
async function portsOver(
  { loop }: Scene,
  link: string,
  from: HostName,
  to: HostName,
  count: number,
): Promise<number[]> {
  const { fabric } = loop;
  const found = new Set<number>();
  const release = fabric.network.tap(fabric.links.get(link)!, 'ab', (frame) => {
    const port = sourcePortOf(frame);
    if (port >= FIRST_PORT && port < LAST_PORT) found.add(port);
  });
  for (let port = FIRST_PORT; found.size < count && port < LAST_PORT; port++) {
    stream(fabric, from, to, port, SMALL_BPS);
    await loop.seconds(0.01);
  }
  release();
  return [...found].slice(0, count);
}

/** Rates of two to four flows that are too much for one link, and not for two. */
function sizesOf(random: Random): readonly number[] {
  for (;;) {
    const sizes = Array.from({ length: 2 + random.integer(3) }, () => 1.6e6 + 3.6e6 * random.uniform());
    const together = sizes.reduce((sum, size) => sum + size, 0);
    if (together < TOGETHER_BPS[0] || together > TOGETHER_BPS[1]) continue;
    const none = { rest: new Map<string, number>(), paths: [['1'], ['2']], flows: sizes };
    if (undividedOptimum(none) <= BEST_BPS) return sizes;
  }
}
