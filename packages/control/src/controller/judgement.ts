import { compareEffect } from '../twin/compare-effect.js';
import type { LinkLoad } from '../twin/rehearsal.js';
import { flowKey, flowTest, rateOf } from './flow-test.js';
import { hottestOf, type LinkMap, loadsOf } from './link-map.js';
import type { LiveProposal } from './live-proposal.js';
import type { Measurement } from './measurement.js';
import type { Effect, LinkEffects } from './proposal.js';
import { percentText, rateText } from './reason-text.js';

/** Of what was dropped before, so much may still come through. */
const LEFT = 0.1;
/** A share of what was predicted must come true. */
const TRUE_SHARE = 0.5;
/** A load that grew by more than this was made worse. */
const WORSE = 0.05;
/** Loads of two seconds differ: by less than this share they are the same. */
const TOLERANCE = 0.25;
/** If less than this share of the predicted shift of loads is seen, another cause moves them. */
const MATCHING = 0.25;
/** Flows go back to a path if its load stays below this share of what is too high: else they would come and go. */
const BACK = 0.9;
/** Links that are kept of a comparison. */
const MOST_LINKS = 64;

/** Of proposals without a number to measure. */
export const UNMEASURED = 'it changes no traffic that is measured';

export interface Verdict {
  readonly verdict: 'helps' | 'no-effect' | 'hurts';
  readonly measured: Effect | null;
  readonly effects: LinkEffects | null;
  readonly reason: string;
}

/**
 * Compares what an installation has done with what it should do: the number that it is about, and the loads of all links. A change
 * whose loads do not go where its rehearsal said, or that fills a link which nobody expected to be full, is no good one, whatever
 * else has come of it.
 *
 * @param beside what else was installed since the loads before were measured, and shifts them too
 */
export function judge(
  proposal: LiveProposal,
  measurement: Measurement,
  links: LinkMap,
  loadAbove: number,
  beside: readonly LiveProposal[] = [],
): Verdict {
  const effects = effectsOf(proposal, measurement, links, beside);
  const aim = judgeAim(proposal, measurement, links, loadAbove);
  if (effects === null || aim.verdict === 'hurts') return { ...aim, effects };
  const full = effects.links.find(
    ({ beforeBps, predictedBps, measuredBps, capacityBps }) =>
      capacityBps !== null &&
      measuredBps > loadAbove * capacityBps &&
      measuredBps > Math.max(beforeBps, predictedBps) + WORSE * capacityBps,
  );
  if (full !== undefined) {
    const { link, predictedBps, measuredBps, capacityBps } = full;
    const reason = `load of link ${links.linkText(link)} ${percentText(measuredBps / capacityBps!)}, ${percentText(predictedBps / capacityBps!)} predicted`;
    return { verdict: 'hurts', measured: aim.measured, effects, reason };
  }
  const { achieved } = effects;
  const { kind } = proposal.draft;
  if (aim.verdict === 'helps' && (kind === 'path' || kind === 'avoid') && achieved !== null && achieved < MATCHING) {
    const reason = `loads are not as predicted, ${percentText(Math.max(0, achieved))} of the shift is seen; ${aim.reason}`;
    return { verdict: 'no-effect', measured: aim.measured, effects, reason };
  }
  return { ...aim, effects };
}

/** Loads as if those beside a proposal had been there before: what is left to see is its own. */
function shifted(own: ReadonlyMap<string, LinkLoad>, beside: readonly LiveProposal[]): ReadonlyMap<string, LinkLoad> {
  const loads = new Map(own);
  for (const { expected } of beside) {
    for (const [link, { beforeBps, afterBps, capacityBps }] of expected ?? []) {
      const load = loads.get(link) ?? { beforeBps: 0, afterBps: 0, capacityBps };
      const by = afterBps - beforeBps;
      loads.set(link, {
        ...load,
        beforeBps: Math.max(0, load.beforeBps + by),
        afterBps: Math.max(0, load.afterBps + by),
      });
    }
  }
  return loads;
}

function effectsOf(
  proposal: LiveProposal,
  measurement: Measurement,
  links: LinkMap,
  beside: readonly LiveProposal[],
): LinkEffects | null {
  if (proposal.expected === null) return null;
  const expected = shifted(proposal.expected, beside);
  const measured = loadsOf(measurement.flows, measurement.seconds, links);
  const { verdict, achieved, differences } = compareEffect({ loads: expected }, measured, TOLERANCE);
  const shifts = [...expected]
    .sort(([, a], [, b]) => Math.abs(b.afterBps - b.beforeBps) - Math.abs(a.afterBps - a.beforeBps))
    .map(([link]) => link);
  const names = new Set([...differences.map(({ link }) => link), ...shifts]);
  const kept = [...names].slice(0, MOST_LINKS).map((link) => {
    const { afterBps: predictedBps = 0 } = expected.get(link) ?? {};
    const { beforeBps = 0 } = proposal.expected!.get(link) ?? {};
    const capacityBps = links.capacities.get(link) ?? null;
    return { link, beforeBps, predictedBps, measuredBps: measured.get(link) ?? 0, capacityBps };
  });
  return { atMs: measurement.timeMs, verdict, achieved, links: kept };
}

/** The number that a proposal is about. */
function judgeAim(
  proposal: LiveProposal,
  measurement: Measurement,
  links: LinkMap,
  loadAbove: number,
): Omit<Verdict, 'effects'> {
  const { predicted } = proposal;
  if (predicted === null) return { verdict: 'helps', measured: null, reason: UNMEASURED };
  const after = measureEffect(proposal, predicted, measurement, links);
  const measured = { ...predicted, after };
  const { before } = predicted;
  if (predicted.metric === 'link-load') {
    const words = `highest load ${percentText(before)} before, ${percentText(after)} now, ${percentText(predicted.after)} predicted`;
    if (after > before + WORSE) return { verdict: 'hurts', measured, reason: words };
    const needed = before - TRUE_SHARE * (before - predicted.after);
    return { verdict: after <= Math.max(needed, loadAbove) ? 'helps' : 'no-effect', measured, reason: words };
  }
  const words = `${rateText(before)} before, ${rateText(after)} now, ${rateText(predicted.after)} predicted`;
  const isGain = predicted.after > before;
  const helps = isGain
    ? after >= before + TRUE_SHARE * (predicted.after - before)
    : after <= Math.max(LEFT * before, 1.2 * predicted.after);
  return { verdict: helps ? 'helps' : 'no-effect', measured, reason: words };
}

function measureEffect(proposal: LiveProposal, predicted: Effect, measurement: Measurement, links: LinkMap): number {
  const { flows, seconds } = measurement;
  if (predicted.metric === 'link-load') return hottestOf(loadsOf(flows, seconds, links), links)?.load ?? 0;
  if (predicted.metric === 'link-bps') return loadsOf(flows, seconds, links).get(predicted.subject) ?? 0;
  const { flows: about } = proposal.draft;
  if (about.size > 0) {
    const bytes = flows.reduce((sum, flow) => (about.has(flowKey(flow)) ? sum + flow.bytes : sum), 0);
    return (8 * bytes) / seconds;
  }
  return proposal.intents.reduce((sum, intent) => {
    return 'match' in intent ? sum + rateOf(intent.match, flows, seconds) : sum;
  }, 0);
}

/** Whether what a proposal is there for is still seen in a window. */
export function stillFires(
  proposal: LiveProposal,
  measurement: Measurement,
  links: LinkMap,
  loadAbove: number,
): boolean {
  const { flows, dropped, seconds } = measurement;
  // A flood may be blocked by many prefixes, each of which has but a part of it: all of them count together.
  const blocked = proposal.intents.reduce((total, intent) => {
    if (intent.kind !== 'block' || intent.reportOneIn === 0) return total;
    const isMeant = flowTest(intent.match);
    const reports = dropped.reduce((sum, flow) => (isMeant(flow) ? sum + flow.packets : sum), 0);
    return total + reports * intent.reportOneIn;
  }, 0);
  if (blocked > 0 && blocked / seconds >= LEFT * proposal.draft.packetsPerSecond) return true;
  if (wouldFill(proposal, measurement, links, loadAbove)) return true;
  return proposal.intents.some(
    (intent) => intent.kind === 'limit' && rateOf(intent.match, flows, seconds) >= 0.5 * intent.bitsPerSecond,
  );
}

/**
 * Whether the flows that a proposal has moved would fill a link again if all of them went back to their paths of before. A flow that
 * was not there then would be spread over all paths.
 */
function wouldFill(
  { intents, draft }: LiveProposal,
  { flows, seconds }: Measurement,
  links: LinkMap,
  loadAbove: number,
): boolean {
  const changes = new Map<string, number>();
  const add = (path: readonly number[], bps: number): void => {
    for (const link of links.linksOf(path)) changes.set(link, (changes.get(link) ?? 0) + bps);
  };
  const done = new Set<string>();
  // A flow with an intent of its own does not go with an aggregate.
  const paths = intents.filter((intent) => intent.kind === 'path').sort((a, b) => b.priority - a.priority);
  for (const { match, via } of paths) {
    const isMeant = flowTest(match);
    const all = links.paths(via[0]!, via.at(-1)!);
    const shortest = all.filter(({ length }) => length === all[0]!.length);
    for (const flow of flows) {
      const { path } = flow;
      if (path[0] !== via[0] || path.at(-1) !== via.at(-1) || !isMeant(flow)) continue;
      const key = flowKey(flow);
      if (done.has(key)) continue;
      done.add(key);
      const bps = (8 * flow.bytes) / seconds;
      const old = draft.flows.get(key);
      add(path, -bps);
      const back = old === undefined ? shortest : [old];
      for (const each of back) add(each, bps / back.length);
    }
  }
  if (changes.size === 0) return false;
  const loads = loadsOf(flows, seconds, links);
  return [...changes].some(([link, change]) => {
    const capacity = links.capacities.get(link);
    return capacity !== undefined && change > 0 && ((loads.get(link) ?? 0) + change) / capacity > BACK * loadAbove;
  });
}
