/** Proposals, as rows. */
import type { ControlLoop, ObservedFlow, Proposal } from '@int/control';
import type { LinkEffect, ProposalRow, ProposalStage, RehearsalAnswer } from '@int/dashboard';
import type { Topology } from '@int/network';
import { counted } from '../../output/numbers.js';
import { rowText } from './changes.js';
import { intentText, portOf } from './intent-text.js';

/** Rows of a list of a rehearsal. */
const MOST_ROWS = 64;
/** Intents of a proposal that are told in its text. */
const MOST_INTENTS = 3;

export const isOf = (intent: string, proposal: string): boolean =>
  intent === proposal || intent.startsWith(`${proposal}.`);

/** Its states, and its rehearsal, in the order of time. */
function stagesOf({ history, rehearsal }: Proposal): ProposalStage[] {
  const stages: ProposalStage[] = history.map(({ state, atMs, by, reason }) => ({
    ...{ stage: state, atMs, by: rowText(by), reason: rowText(reason) },
  }));
  if (rehearsal === null) return stages;
  const { isSafe, violations, moved, dropped, atMs } = rehearsal;
  const found = isSafe ? 'safe' : counted(violations.length, 'violation');
  const reason = `${found}: ${counted(moved, 'flow')} moved, ${dropped} dropped`;
  // What was decided by it, at the same time, comes behind it.
  const at = stages.findIndex((stage, index) => index > 0 && stage.atMs >= atMs);
  stages.splice(at === -1 ? stages.length : at, 0, { stage: 'rehearsed', atMs, by: 'loop', reason });
  return stages;
}

export function waitsFor({ state, pending, heldBy, autonomy }: Proposal, isStopped: boolean): ProposalRow['waitsFor'] {
  if (state === 'installed') return 'measurement';
  if (state !== 'proposed' && state !== 'approved') return null;
  if (pending === 'install') return 'switches';
  if (pending === 'rehearse') return 'rehearsal';
  if (isStopped) return 'resume';
  if (state === 'proposed') return autonomy === 'propose' ? 'approval' : null;
  return heldBy === null ? null : 'limit';
}

/** The orders that the loop would carry out now. */
function ordersOf({ state, pending, autonomy }: Proposal, isStopped: boolean): ProposalRow['orders'] {
  if (state === 'installed' || state === 'verified' || pending === 'install') return ['undo'];
  if (state !== 'proposed') return [];
  return autonomy === 'observe' || isStopped ? ['reject'] : ['approve', 'reject'];
}

export function proposalRow(proposal: Proposal, loop: Pick<ControlLoop, 'isStopped'>, topology: Topology): ProposalRow {
  const { id, kind, state, reason, autonomy, incident, predicted, measured, expiresMs, renewals } = proposal;
  const texts = proposal.intents.slice(0, MOST_INTENTS).map((intent) => intentText(intent, topology));
  const more = proposal.intents.length - texts.length;
  return {
    ...{ id, kind, state, text: rowText(`${texts.join('; ')}${more > 0 ? `; and ${more} more` : ''}`) },
    ...{ reason: rowText(reason), autonomy, incident: incident?.id ?? null, stages: stagesOf(proposal) },
    waitsFor: waitsFor(proposal, loop.isStopped),
    heldBy: state === 'approved' ? proposal.heldBy : null,
    orders: ordersOf(proposal, loop.isStopped),
    effect:
      predicted === null
        ? null
        : {
            ...{
              metric: predicted.metric,
              subject: subjectText(predicted.subject, topology),
              before: predicted.before,
            },
            ...{ predicted: predicted.after, measured: measured?.after ?? null },
          },
    ...{ expiresMs, renewals },
  };
}

const subjectText = (subject: string, topology: Topology): string =>
  /^\d+:\d+$/.test(subject) ? portOf(subject, topology).name : rowText(subject);

/** Newest first: by the time of the proposal. */
export function newestFirst(proposals: readonly Proposal[]): Proposal[] {
  return proposals
    .map((proposal, index) => ({ proposal, index, atMs: proposal.history[0]?.atMs ?? 0 }))
    .sort((a, b) => b.atMs - a.atMs || sequenceOf(b.proposal.id) - sequenceOf(a.proposal.id))
    .map(({ proposal }) => proposal);
}

/** The number that an id ends with. */
const sequenceOf = (id: string): number => Number(/-(\d+)$/.exec(id)?.[1] ?? 0);

export function rehearsalAnswer({ rehearsal }: Proposal, topology: Topology): RehearsalAnswer | null {
  if (rehearsal === null) return null;
  const { movedFlows, droppedFlows, seconds, tables, violations, steps, loads: _, ...rest } = rehearsal;
  const names = (path: readonly number[]): string[] => path.map((id) => topology.switchText(id));
  const flowRow = ({ source, destination, protocol, sourcePort, destinationPort, bytes }: ObservedFlow) => ({
    ...{ source, destination, protocol, sourcePort, destinationPort },
    bps: seconds > 0 ? (8 * bytes) / seconds : 0,
  });
  return {
    ...rest,
    violations: violations.slice(0, MOST_ROWS),
    movedFlows: movedFlows.map(({ flow, from, to }) => ({ ...flowRow(flow), from: names(from), to: names(to) })),
    droppedFlows: droppedFlows.map(({ flow, share, switchId, intents }) => ({
      ...{ ...flowRow(flow), share, switchId, switchName: topology.switchText(switchId), intents },
    })),
    steps: steps
      .slice(0, MOST_ROWS)
      .map(({ changes, delivered, lost, linkLoad }) => ({ changes, delivered, lost, linkLoad })),
    tables: tables.slice(0, MOST_ROWS).map(({ switchId, table, before, after, size }) => ({
      ...{ switchId, name: topology.switchText(switchId), table, before, after, size },
    })),
  };
}

/** Loads of links, measured ones beside those that were predicted. */
export function linkRows({ effects, rehearsal }: Proposal, topology: Topology): LinkEffect[] {
  if (effects !== null) {
    return effects.links.map(({ link, beforeBps, predictedBps, measuredBps, capacityBps }) => ({
      ...{ ...portOf(link, topology), capacityBps, beforeBps, predictedBps, measuredBps },
    }));
  }
  return (rehearsal?.loads ?? []).map(({ link, beforeBps, afterBps, capacityBps }) => ({
    ...{ ...portOf(link, topology), capacityBps, beforeBps, predictedBps: afterBps, measuredBps: null },
  }));
}
