import type { Intent, PathIntent } from '../intents/intent.js';
import type { Moves, PathMove } from './congestion.js';
import { flowKey } from './flow-test.js';
import type { LinkMap } from './link-map.js';
import type { Draft } from './live-proposal.js';
import type { ControlPolicy } from './policy.js';
import { flowsText, percentText, rateText } from './reason-text.js';

const TTL_MS = 60_000;
/** A flow alone goes before the aggregate that has it, too. */
const ALONE = 200;
const TOGETHER = 150;
/** Flows of an aggregate whose path before is remembered: the largest. */
const MOST_REMEMBERED = 64;

/** Whether an intent sends flows together over a path, and not one alone. */
export function isAggregatePath(intent: Intent): intent is PathIntent {
  return intent.kind === 'path' && intent.priority === TOGETHER;
}

/** Flows and aggregates that shall take other paths, as one proposal. */
export function pathDraft(
  { moves, stays, decision, left }: Moves,
  links: LinkMap,
  policy: ControlPolicy,
  subject: string,
): Draft {
  const aggregates = moves.filter(({ aggregate }) => aggregate !== null);
  const alone = moves.length - aggregates.length;
  const moved = [
    ...(alone === 0 ? [] : [flowsText(alone)]),
    ...(aggregates.length === 0 ? [] : [`${aggregates.length} aggregate${aggregates.length === 1 ? '' : 's'}`]),
  ].join(' and ');
  const summary = `load of link ${links.linkText(decision.hottest)} ${percentText(decision.load)}, ${percentText(decision.predicted)} with ${moved} moved`;
  const reason = [
    summary,
    ...aggregates.map((each) => arithmeticOf(each, links)),
    ...(aggregates.length === 0 ? [] : leftOf(left)),
  ].join('; ');
  const ttlMs = policy.ttlMs.path ?? TTL_MS;
  const flows = new Map(
    [...moves, ...stays].flatMap(({ flows }) =>
      [...flows]
        .sort((a, b) => b.bytes - a.bytes)
        .slice(0, MOST_REMEMBERED)
        .map((flow) => [flowKey(flow), flow.path] as const),
    ),
  );
  return {
    ...{ kind: 'path', subject, reason, incident: null, ttlMs, packetsPerSecond: 0, flows },
    autonomy: policy.autonomy.path ?? 'observe',
    effect: { metric: 'link-load', subject: decision.hottest, before: decision.load, after: decision.predicted },
    make: (id, fromMs) => {
      const terms = { owner: 'policy:load', fromMs, ttlMs };
      const intents = moves.map(
        (move, index): PathIntent => ({
          ...{ ...terms, id: `${id}.${index}`, kind: 'path', match: move.match, via: move.via },
          priority: move.aggregate === null ? ALONE : TOGETHER,
          reason: move.aggregate === null ? summary : `${summary}; ${arithmeticOf(move, links)}`,
        }),
      );
      const staying = stays.map(
        ({ match, via }, index): PathIntent => ({
          ...{ ...terms, id: `${id}.${moves.length + index}`, kind: 'path', match, via, priority: ALONE },
          reason: `${summary}; this flow alone is too large to go with its aggregate, and stays`,
        }),
      );
      return [...intents, ...staying];
    },
  };
}

/** What an aggregate is, and where it goes. */
function arithmeticOf({ aggregate, via }: PathMove, links: LinkMap): string {
  const pathText = (path: readonly number[]): string => path.map((id) => links.switchText(id)).join(', ');
  const { key, flows, bps, riseBps, variation } = aggregate!;
  const paths = new Map<string, number>();
  for (const { flow, bps: part } of flows) {
    const path = pathText(flow.path);
    paths.set(path, (paths.get(path) ?? 0) + part);
  }
  const from = [...paths].map(([path, part]) => `${percentText(part / bps)} over ${path}`).join(' and ');
  return `${key}: ${flowsText(flows.length)}, ${rateText(bps)} (expected to rise by ${rateText(riseBps)}, +-${percentText(variation)}); ${from}; from now on all over ${pathText(via)}`;
}

const LEFT: Readonly<Record<keyof Moves['left'], string>> = {
  unplaced: 'nobody knows where they enter and leave the network',
  full: 'there is no room for more aggregates',
  held: 'another intent sends them',
  restless: 'they vary too much',
};

function leftOf(left: Moves['left']): readonly string[] {
  return Object.entries(left)
    .filter(([, { flows }]) => flows > 0)
    .map(
      ([reason, { flows, bps }]) =>
        `${flowsText(flows)}, ${rateText(bps)}, in no aggregate: ${LEFT[reason as keyof Moves['left']]}`,
    );
}
