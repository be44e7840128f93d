/** The faults of a scenario, and their labels. */
import type { Random } from '@int/random';
import type { FlowMatch } from '../switches/flow-match.js';
import type { SteeringRule } from '../switches/int-switch.js';
import type { Fabric } from './fabric.js';
import type { DrainedLink, Label } from './label.js';
import { BACKGROUND_BITS, type ScenarioFlow, sendBackground } from './traffic.js';

/** The environment of a fault. Its times are absolute. */
export interface Stage {
  readonly fabric: Fabric;
  readonly flows: readonly ScenarioFlow[];
  readonly random: Random;
  readonly startNs: number;
  readonly endNs: number;
  readonly rateBps: number;
  /** @param isTrue evaluated at the end of the scenario: whether the fault had visible effects. Default: it had */
  label(label: Label, isTrue?: () => boolean): void;
  drained(link: DrainedLink): void;
}

const MS = 1e6;

function between(random: Random, least: number, most: number): number {
  return Math.round(least + (most - least) * random.uniform());
}

function pick<T>(random: Random, list: readonly T[]): T {
  if (list.length === 0) throw new RangeError('nothing to choose from: the scenario has too few flows');
  return list[random.integer(list.length)]!;
}

function nodeIds(path: readonly number[]): number[] {
  return path.map((index) => index + 1);
}

function matchOf({ fabric }: Stage, { flow, from, to }: ScenarioFlow): FlowMatch {
  // Without the destination port, because inside the network it is INT's.
  return {
    source: { address: fabric.hosts[from]!.address },
    destination: { address: fabric.hosts[to]!.address },
    sourcePort: flow.sourcePort,
  };
}

/** Packets per second from which a flow's silence is noticed within a second. */
const STEADY_RATE = 10;

/** Flows that send often during a whole time span and the second before it. */
function steady({ flows }: Stage, fromNs: number, toNs: number): ScenarioFlow[] {
  return flows.filter(({ startNs, endNs, rate }) => rate >= STEADY_RATE && startNs <= fromNs - 1e9 && endNs >= toNs);
}

function switchesBetween({ fabric }: Stage, { from, to }: ScenarioFlow): number[] {
  return fabric.path(from, to);
}

/** Links in one direction, by the indices of their ends, with the number of paths that use them. */
function linksOf(paths: Iterable<readonly number[]>): Map<string, number> {
  const links = new Map<string, number>();
  for (const path of paths) {
    for (let i = 1; i < path.length; i++) {
      const link = `${path[i - 1]} ${path[i]}`;
      links.set(link, (links.get(link) ?? 0) + 1);
    }
  }
  return links;
}

/** Reports links that no flow uses any more, except those that are down. */
function tellDrained(stage: Stage, before: Iterable<readonly number[]>, after: Iterable<readonly number[]>): void {
  const { fabric } = stage;
  const left = linksOf(after);
  for (const link of linksOf(before).keys()) {
    const [from, to] = link.split(' ').map(Number) as [number, number];
    if (left.has(link) || !fabric.linkBetween(from, to).isUp) continue;
    stage.drained({ fromNs: fabric.network.nowNs, link: [from + 1, to + 1] });
  }
}

function activeFlows({ flows, fabric }: Stage): ScenarioFlow[] {
  const { nowNs } = fabric.network;
  return flows.filter(({ startNs, endNs }) => startNs < nowNs && endNs > nowNs);
}

/** Steers a flow's packets at a switch to a neighbour off their route. The returned function undoes it. */
function steer(stage: Stage, at: number, flow: ScenarioFlow, to: number): () => void {
  const each = stage.fabric.switches[at]!;
  const rule: SteeringRule = { match: matchOf(stage, flow), port: stage.fabric.portOf(at, to) };
  each.steering = [...each.steering, rule];
  return () => {
    each.steering = each.steering.filter((other) => other !== rule);
  };
}

/**
 * Fails a link that carries at least three flows in one direction. After 100 to 600 ms the routes avoid it, and its
 * flows change their paths. The link is not repaired.
 */
export function failLink(stage: Stage): void {
  const { fabric, random, startNs, endNs } = stage;
  const { network } = fabric;
  const failNs = startNs + between(random, 3000, 4000) * MS;
  network.at(failNs, () => {
    const flows = steady(stage, failNs, failNs + 2e9);
    const paths = flows.map((flow) => switchesBetween(stage, flow));
    const crosses = (path: readonly number[], a: number, b: number): boolean =>
      path.some((node, i) => node === a && path[i + 1] === b);
    const candidates = fabric.neighbours.flatMap((list, a) =>
      list
        .filter((b) => {
          if (paths.filter((path) => crosses(path, a, b)).length < 3) return false;
          // Both ends must still report.
          const others = paths.filter((path) => !crosses(path, a, b) && !crosses(path, b, a));
          return [a, b].every((end) => others.some((path) => path.includes(end)));
        })
        .map((b) => [a, b] as const),
    );
    const [a, b] = pick(random, candidates);
    fabric.linkBetween(a, b).fail();
    stage.label({ kind: 'linkFailure', fromNs: failNs, toNs: endNs, link: [Math.min(a, b) + 1, Math.max(a, b) + 1] });
    const convergedNs = failNs + between(random, 100, 600) * MS;
    network.at(convergedNs, () => {
      const active = activeFlows(stage);
      const before = active.map((flow) => switchesBetween(stage, flow));
      fabric.reroute();
      for (const [index, flow] of active.entries()) {
        labelPathChange(stage, flow, before[index]!, switchesBetween(stage, flow), failNs);
      }
      tellDrained(
        stage,
        before,
        active.map((flow) => switchesBetween(stage, flow)),
      );
    });
  });
}

/** @param sinceNs time from which packets no longer take the old path */
function labelPathChange(
  stage: Stage,
  flow: ScenarioFlow,
  before: readonly number[],
  after: readonly number[],
  sinceNs: number = stage.fabric.network.nowNs,
): void {
  if (before.join() === after.join()) return;
  const { nowNs } = stage.fabric.network;
  const paths = { before: nodeIds(before), after: nodeIds(after) };
  // Only a flow that sent on both paths has changed its path.
  const tookBoth = (): boolean => flow.sent !== null && flow.sent.firstNs < sinceNs - MS && flow.sent.lastNs > nowNs;
  stage.label({ kind: 'pathChange', fromNs: nowNs, toNs: nowNs, flow: flow.flow, ...paths }, tookBoth);
}

/** One to three flows vanish for three seconds, each at a different switch after its first one. */
export function makeBlackHoles(stage: Stage): void {
  const { fabric, random, startNs } = stage;
  const fromNs = startNs + between(random, 3000, 4000) * MS;
  const toNs = fromNs + 3e9;
  const chosen = random.shuffle(steady(stage, fromNs, toNs)).slice(0, 1 + random.integer(3));
  for (const flow of chosen) {
    const path = switchesBetween(stage, flow);
    const at = path[1 + random.integer(path.length - 1)]!;
    const each = fabric.switches[at]!;
    const match = matchOf(stage, flow);
    fabric.network.at(fromNs, () => {
      each.discards = [...each.discards, match];
      stage.label({ kind: 'blackHole', fromNs, toNs, flow: flow.flow, nodeId: at + 1 });
    });
    fabric.network.at(toNs, () => {
      each.discards = each.discards.filter((other) => other !== match);
    });
  }
}

/** One or two flows loop between two switches of their path for two and a half seconds, and do not reach their sink. */
export function makeLoops(stage: Stage): void {
  const { fabric, random, startNs } = stage;
  const fromNs = startNs + between(random, 3000, 4000) * MS;
  const toNs = fromNs + 2_500 * MS;
  const chosen = random.shuffle(steady(stage, fromNs, toNs)).slice(0, 1 + random.integer(2));
  for (const flow of chosen) {
    const path = switchesBetween(stage, flow);
    // Not the last switch, which delivers the packets.
    const back = 1 + random.integer(path.length - 2);
    const at = path[back]!;
    const to = path[back - 1]!;
    fabric.network.at(fromNs, () => {
      const undo = steer(stage, at, flow, to);
      const link = [Math.min(at, to) + 1, Math.max(at, to) + 1] as const;
      stage.label({ kind: 'loop', fromNs, toNs, flow: flow.flow, link });
      stage.label({ kind: 'blackHole', fromNs, toNs, flow: flow.flow, nodeId: at + 1 });
      fabric.network.at(toNs, undo);
    });
  }
}

/** Moves four flows to another path of the same length, one after the other, and every second one back. */
export function changePaths(stage: Stage): void {
  const { fabric, random, startNs, endNs } = stage;
  const { network } = fabric;
  const steered = new Map<ScenarioFlow, readonly number[]>();
  const pathsNow = (): (readonly number[])[] =>
    activeFlows(stage).map((flow) => steered.get(flow) ?? switchesBetween(stage, flow));
  const movable = steady(stage, startNs + 2e9, endNs).filter((flow) =>
    switchesBetween(stage, flow).some((at) => fabric.alternatives(at, flow.to).length > 0),
  );
  for (const [index, flow] of random.shuffle(movable).slice(0, 4).entries()) {
    const changeNs = startNs + 2e9 + index * 1e9 + between(random, 0, 800) * MS;
    network.at(changeNs, () => {
      const before = switchesBetween(stage, flow);
      const at = pick(
        random,
        before.filter((one) => fabric.alternatives(one, flow.to).length > 0),
      );
      const to = pick(random, fabric.alternatives(at, flow.to));
      const after = [...before.slice(0, before.indexOf(at) + 1), ...fabric.pathFrom(to, flow.to)];
      const undo = steer(stage, at, flow, to);
      labelPathChange(stage, flow, before, after);
      const pathsBefore = pathsNow();
      steered.set(flow, after);
      tellDrained(stage, pathsBefore, pathsNow());
      if (index % 2 === 0) return;
      network.at(changeNs + 1_500 * MS, () => {
        undo();
        labelPathChange(stage, flow, after, before);
        const pathsSteered = pathsNow();
        steered.delete(flow);
        tellDrained(stage, pathsSteered, pathsNow());
      });
    });
  }
}

/**
 * For five seconds two sources together overload one link between switches; each alone stays well below its rate. The
 * queue in front of the link stays full.
 */
export function congest(stage: Stage): void {
  const { fabric, random, startNs } = stage;
  const fromNs = startNs + between(random, 2000, 3000) * MS;
  const toNs = fromNs + 5e9;
  const watched = linksOf(steady(stage, fromNs, toNs).map((flow) => switchesBetween(stage, flow)));
  const drawHost = (): number => random.integer(fabric.hosts.length);
  for (let tries = 0; tries < 10_000; tries++) {
    const [a, b, c, d] = [drawHost(), drawHost(), drawHost(), drawHost()];
    const meeting = meetingLink(fabric, a, b, c, d);
    if (meeting === null || (watched.get(meeting.join(' ')) ?? 0) < 2) continue;
    const rate = (0.65 * stage.rateBps) / BACKGROUND_BITS;
    const [at, to] = meeting;
    fabric.network.at(fromNs, () => {
      const times = { rate, startNs: fromNs, endNs: toNs };
      sendBackground(fabric, random.derive('overload', a), { from: a, to: b, ...times });
      sendBackground(fabric, random.derive('overload', c), { from: c, to: d, ...times });
      const queueId = fabric.portOf(at, to);
      stage.label({ kind: 'persistentCongestion', fromNs, toNs, nodeId: at + 1, queueId });
    });
    return;
  }
  throw new RangeError('nothing to choose from: the scenario has too few flows');
}

/**
 * The first link between switches that the paths from `a` to `b` and from `c` to `d` share, if it is the first link of
 * neither.
 */
function meetingLink(fabric: Fabric, a: number, b: number, c: number, d: number): [number, number] | null {
  const { attach } = fabric;
  if (attach[a] === attach[c] || attach[a] === attach[b] || attach[c] === attach[d]) return null;
  const one = fabric.path(a, b);
  const other = fabric.path(c, d);
  for (let i = 1; i + 1 < one.length; i++) {
    const at = other.indexOf(one[i]!);
    if (at <= 0 || other[at + 1] !== one[i + 1]) continue;
    // Together they would fill the next link as well, and two queues would be congested.
    const goOn = i + 2 < one.length || at + 2 < other.length;
    return goOn && one[i + 2] === other[at + 2] ? null : [one[i]!, one[i + 1]!];
  }
  return null;
}

/**
 * Drops reports of a switch on their way to the monitor, twice: once all of them for 100 to 300 ms, once one in five
 * for half a second.
 */
export function loseReports(stage: Stage): void {
  const { fabric, random, startNs } = stage;
  const reporters = random.shuffle([
    ...new Set(steady(stage, startNs + 2e9, stage.endNs).map(({ to }) => fabric.attach[to]!)),
  ]);
  const [outage, lossy] = reporters;
  if (outage === undefined || lossy === undefined)
    throw new RangeError('nothing to choose from: the scenario has too few flows');
  const { network, monitorLinks } = fabric;
  const first = startNs + between(random, 2000, 3000) * MS;
  network.at(first, () => monitorLinks[outage]!.fail());
  network.at(first + between(random, 100, 300) * MS, () => monitorLinks[outage]!.repair());
  const second = startNs + between(random, 5000, 6000) * MS;
  network.at(second, () => monitorLinks[lossy]!.configure({ loss: 0.2 }));
  network.at(second + 500 * MS, () => monitorLinks[lossy]!.configure({ loss: 0 }));
}

/**
 * Sends bursts in every scenario that are too short to count as persistent, as in real traffic: every three seconds one
 * source sends 1.5 times the rate of a link for 300 to 500 ms.
 */
export function sendBursts(stage: Stage): void {
  const { fabric, random, startNs, endNs } = stage;
  const hosts = fabric.hosts.map((_, host) => host);
  for (let fromNs = startNs + between(random, 500, 1500) * MS; fromNs < endNs - 1e9; fromNs += 3e9) {
    const from = pick(random, hosts);
    const to = pick(
      random,
      hosts.filter((host) => fabric.attach[host] !== fabric.attach[from]),
    );
    const toNs = fromNs + between(random, 300, 500) * MS;
    const rate = (1.5 * stage.rateBps) / BACKGROUND_BITS;
    sendBackground(fabric, random.derive('burst', fromNs), { from, to, rate, startNs: fromNs, endNs: toNs });
  }
}
