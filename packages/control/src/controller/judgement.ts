import { flowKey, flowTest, rateOf } from './flow-test.js';
import { hottestOf, type LinkMap, loadsOf } from './link-map.js';
import type { LiveProposal } from './live-proposal.js';
import type { Measurement } from './measurement.js';
import type { Effect } from './proposal.js';

/** Of what was dropped before, so much may still come through. */
const LEFT = 0.1;
/** A share of what was predicted must come true. */
const TRUE_SHARE = 0.5;
/** A load that grew by more than this was made worse. */
const WORSE = 0.05;

export interface Verdict {
  readonly verdict: 'helps' | 'no-effect' | 'hurts';
  readonly measured: Effect | null;
  readonly reason: string;
}

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
const rate = (bps: number): string => `${(bps / 1e6).toFixed(3)} Mbit/s`;

/** Compares what an installation has done with what it should do. */
export function judge(proposal: LiveProposal, measurement: Measurement, links: LinkMap, loadAbove: number): Verdict {
  const { predicted } = proposal;
  if (predicted === null) return { verdict: 'helps', measured: null, reason: 'it changes no traffic that is measured' };
  const after = measureEffect(proposal, predicted, measurement, links);
  const measured = { ...predicted, after };
  const { before } = predicted;
  if (predicted.metric === 'link-load') {
    const words = `highest load ${percent(before)} before, ${percent(after)} now, ${percent(predicted.after)} predicted`;
    if (after > before + WORSE) return { verdict: 'hurts', measured, reason: words };
    const needed = before - TRUE_SHARE * (before - predicted.after);
    return { verdict: after <= Math.max(needed, loadAbove) ? 'helps' : 'no-effect', measured, reason: words };
  }
  const words = `${rate(before)} before, ${rate(after)} now, ${rate(predicted.after)} predicted`;
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
  const { packetsPerSecond } = proposal.draft;
  return proposal.intents.some((intent) => {
    if (intent.kind === 'block') {
      if (intent.reportOneIn === 0) return false;
      const isMeant = flowTest(intent.match);
      const reports = dropped.reduce((sum, flow) => (isMeant(flow) ? sum + flow.packets : sum), 0);
      return reports > 0 && (reports * intent.reportOneIn) / seconds >= LEFT * packetsPerSecond;
    }
    if (intent.kind === 'limit') return rateOf(intent.match, flows, seconds) >= 0.5 * intent.bitsPerSecond;
    if (intent.kind !== 'path') return false;
    // On its path of before the flow would fill a link again.
    const isMeant = flowTest(intent.match);
    const flow = flows.find((each) => isMeant(each));
    const before = flow === undefined ? undefined : proposal.draft.flows.get(flowKey(flow));
    if (flow === undefined || before === undefined) return false;
    const bps = (8 * flow.bytes) / seconds;
    const loads = loadsOf(flows, seconds, links);
    return links.linksOf(before).some((link) => {
      const capacity = links.capacities.get(link);
      return capacity !== undefined && ((loads.get(link) ?? 0) + bps) / capacity > loadAbove;
    });
  });
}
