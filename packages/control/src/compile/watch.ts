import { type FlowSpace, spaceOf } from '../intents/flow-space.js';
import type { ProtectIntent, WatchIntent } from '../intents/intent.js';
import { familiesOf, ingressSwitches, reportSpace } from './access.js';
import { type Context, priorityOf, REPORTS_PRIORITY, STAGE } from './context.js';
import type { Piece, Unplaced } from './draft.js';
import { flowFields, tableEntry } from './entries.js';

/** Marks of INT in packets: by DSCP, or behind a UDP header that the source adds, for other protocols. */
const NPT_DSCP = 0n;
const NPT_NEW_UDP = 2n;
const PROTOCOLS_WITH_PORTS = [6, 17];
/** Paths are shorter; a loop ends a stack. */
const MAX_HOPS = 64n;
/** What a protected destination's flows tell: node, interfaces, latency, queue, times, utilization. */
const PROTECT_INSTRUCTIONS = 0xfd00;

interface Form {
  readonly protocol: number | null;
  readonly npt: bigint;
  readonly level: number;
}

/** INT-MD marks TCP and UDP by DSCP; what else there is, gets a UDP header. */
function formsOf({ protocol }: FlowSpace): readonly Form[] {
  if (protocol !== null) {
    return [{ protocol, npt: PROTOCOLS_WITH_PORTS.includes(protocol) ? NPT_DSCP : NPT_NEW_UDP, level: 1 }];
  }
  return [
    ...PROTOCOLS_WITH_PORTS.map((each) => ({ protocol: each, npt: NPT_DSCP, level: 1 })),
    { protocol: null, npt: NPT_NEW_UDP, level: 0 },
  ];
}

/** Entries with which INT begins where flows enter the network. */
export function placeWatch(context: Context, intent: WatchIntent | ProtectIntent): Unplaced | null {
  const { draft, graph, collectorPort } = context;
  const isWatch = intent.kind === 'watch';
  const space = spaceOf(isWatch ? intent.match : { destination: intent.destination })!;
  const instructions = BigInt(isWatch ? intent.instructions : PROTECT_INSTRUCTIONS);
  const oneIn = isWatch ? intent.oneIn : 1;
  const where = ingressSwitches(context, space);
  const deaf = where.find((switchId) => collectorPort(switchId) === null);
  if (deaf !== undefined) {
    const message = `switch ${deaf} has no way to a collector of reports`;
    return { intent: intent.id, switchId: deaf, code: 'NO_COLLECTOR', message };
  }
  const reports = reportSpace(context);
  const pieces: Piece[] = [];
  for (const switchId of where) {
    // A packet that the first switch left out of the sample is in no sample of a later one.
    const ports = oneIn === 1 ? [null] : graph.hostPorts(switchId).map(({ port }) => port);
    const common = { npt: 0n, instructions, max_hops: MAX_HOPS, discard: 0n, entropy_port: 0n };
    for (const family of familiesOf(space)) {
      for (const { protocol, npt, level } of formsOf(space)) {
        for (const port of ports) {
          const entity = tableEntry({
            table: `IntIngress.watch_ipv${family}`,
            match: flowFields({ ...space, protocol }, port),
            priority: priorityOf(intent.priority, level + (isWatch ? 2 : 0)),
            action: oneIn === 1 ? 'IntIngress.start_md' : 'IntIngress.start_md_sampled',
            params: { ...common, npt, ...(oneIn > 1 && { one_in: BigInt(oneIn) }) },
            owner: intent.id,
            stage: STAGE.watch,
          });
          pieces.push({ switchId, entity, stage: STAGE.watch });
        }
      }
    }
    // Reports are not watched: each would make another one.
    if (reports !== null && space.family !== 6) {
      const entity = tableEntry({
        table: 'IntIngress.watch_ipv4',
        match: flowFields(reports),
        priority: REPORTS_PRIORITY,
        action: 'IntIngress.ignore',
        params: {},
        owner: 'reports',
        stage: STAGE.settings,
      });
      pieces.push({ switchId, entity, stage: STAGE.settings });
    }
  }
  return draft.place(pieces, intent.id);
}
