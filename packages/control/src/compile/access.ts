import { type Prefix, prefixOf } from '@int/network';
import { commonPrefix, type FlowSpace, spaceOf, spaceText } from '../intents/flow-space.js';
import type { BlockIntent, Intent, LimitIntent } from '../intents/intent.js';
import { type Context, priorityOf, REPORTS_PRIORITY, STAGE } from './context.js';
import type { Piece, Unplaced } from './draft.js';
import { flowFields, tableEntry } from './entries.js';

/** Reasons in drop reports: int.p4's README. */
const DROP_DENIED = 3n;
const CELLS = 1024;
/** A meter lets so much through at once: what comes in a tenth of a second, at least two large packets. */
const BURST_S = 0.1;
const LEAST_BURST_BYTES = 3000;

/** Where packets of a match enter the network: at the switches of its sources, if those are known hosts, otherwise anywhere. */
export const ingressSwitches = (context: Pick<Context, 'graph'>, { source }: FlowSpace): readonly number[] =>
  hostSwitches(context, source);

/** Switches of hosts with an address in a prefix; all with hosts, if none is known or it is everything. */
export function hostSwitches({ graph }: Pick<Context, 'graph'>, range: Prefix | null): readonly number[] {
  if (range === null) return graph.edgeSwitches;
  const ids = new Set<number>();
  for (const { name, prefixes } of graph.hosts) {
    if (!prefixes.some((prefix) => commonPrefix(range, prefix) !== undefined)) continue;
    for (const { switchId } of graph.attachments(name)) ids.add(switchId);
  }
  return ids.size === 0 ? graph.edgeSwitches : [...ids].sort((a, b) => a - b);
}

export const familiesOf = ({ family }: FlowSpace): readonly (4 | 6)[] => (family === null ? [4, 6] : [family]);

/** Telemetry reports on their way to the collector. */
export function reportSpace({ network }: Pick<Context, 'network'>): FlowSpace | null {
  const destination = network.collector === null ? null : prefixOf(network.collector.address);
  if (network.collector === null || destination === null || destination.bytes.length !== 4) return null;
  const { port } = network.collector;
  return { family: 4, source: null, destination, protocol: 17, sourcePort: [0, 0xffff], destinationPort: [port, port] };
}

/** What an intent has a cell for: blocks that agree about the same flows are one entry, and share it. */
function cellName(intent: BlockIntent | LimitIntent): string {
  if (intent.kind === 'limit') return `limit ${intent.id}`;
  return `block ${intent.priority} ${intent.reportOneIn} ${spaceText(spaceOf(intent.match)!)}`;
}

/** Cells of the counters of dropped packets, by id of the intent. The same intents have the same cells. */
export function accessCells(intents: Iterable<Intent>): ReadonlyMap<string, number> {
  const access = [...intents].flatMap((each) =>
    each.kind === 'block' || each.kind === 'limit' ? [{ id: each.id, name: cellName(each) }] : [],
  );
  const cells = new Map<string, number>();
  const taken = new Set<number>();
  for (const name of [...new Set(access.map((each) => each.name))].sort()) {
    let cell = 0;
    for (const letter of name) cell = (Math.imul(cell, 31) + letter.codePointAt(0)!) >>> 0;
    cell %= CELLS;
    // Beyond the last cell intents share, and count together.
    while (taken.has(cell) && taken.size < CELLS) cell = (cell + 1) % CELLS;
    taken.add(cell);
    cells.set(name, cell);
  }
  return new Map(access.map(({ id, name }) => [id, cells.get(name)!]));
}

/** Entries that block or bound flows where they enter the network. */
export function placeAccess(
  context: Context,
  intent: BlockIntent | LimitIntent,
  cells: ReadonlyMap<string, number>,
): Unplaced | null {
  const space = spaceOf(intent.match)!;
  const cell = BigInt(cells.get(intent.id) ?? 0);
  const pieces: Piece[] = [];
  for (const switchId of ingressSwitches(context, space)) {
    for (const family of familiesOf(space)) {
      const entry = {
        table: `IntIngress.access_ipv${family}`,
        match: flowFields(space),
        priority: priorityOf(intent.priority, 0),
        owner: intent.id,
        stage: STAGE.access,
      };
      const entity =
        intent.kind === 'block'
          ? tableEntry({
              ...entry,
              action: 'IntIngress.deny',
              params: { reason: DROP_DENIED, reported: BigInt(intent.reportOneIn), place: cell },
            })
          : tableEntry({
              ...entry,
              action: `IntIngress.limit_ipv${family}`,
              params: { reported: 0n, place: cell },
              meter: ratesOf(intent.bitsPerSecond),
            });
      pieces.push({ switchId, entity, stage: STAGE.access });
    }
    // Telemetry itself passes.
    const reports = reportSpace(context);
    if (reports === null || space.family === 6) continue;
    const entity = tableEntry({
      table: 'IntIngress.access_ipv4',
      match: flowFields(reports),
      priority: REPORTS_PRIORITY,
      action: 'IntIngress.permit',
      params: {},
      owner: 'reports',
      stage: STAGE.settings,
    });
    pieces.push({ switchId, entity, stage: STAGE.settings });
  }
  return context.draft.place(pieces, intent.id);
}

function ratesOf(bitsPerSecond: number): NonNullable<Parameters<typeof tableEntry>[0]['meter']> {
  const rate = BigInt(Math.max(1, Math.floor(bitsPerSecond / 8)));
  const burst = BigInt(Math.max(LEAST_BURST_BYTES, Math.floor((bitsPerSecond / 8) * BURST_S)));
  return { cir: rate, cburst: burst, pir: rate, pburst: burst };
}
