import { type Prefix, prefixOf } from '@int/network';
import { commonPrefix, type FlowSpace, spaceOf, spaceText } from '../intents/flow-space.js';
import type { BlockIntent, Intent, LimitIntent } from '../intents/intent.js';
import { type Context, refused } from './context.js';
import type { Piece, Unplaced } from './draft.js';

const CELLS = 1024;

/** Where packets of a match enter the network: at the switches of its sources, if those are known hosts, otherwise anywhere. */
export const ingressSwitches = (context: Pick<Context, 'graph'>, { source }: FlowSpace): readonly number[] =>
  hostSwitches(context, source);

/** Where packets of a match leave the network: at the switches of its destinations, or at any that has hosts. */
export const egressSwitches = (context: Pick<Context, 'graph'>, { destination }: FlowSpace): readonly number[] =>
  hostSwitches(context, destination);

/** Switches of hosts with an address in a prefix; all with hosts, if none is known or it is everything. */
function hostSwitches({ graph }: Pick<Context, 'graph'>, range: Prefix | null): readonly number[] {
  if (range === null) return graph.edgeSwitches;
  const ids = new Set<number>();
  for (const { name, prefixes } of graph.hosts) {
    if (!prefixes.some((prefix) => commonPrefix(range, prefix) !== undefined)) continue;
    for (const { switchId } of graph.attachments(name)) ids.add(switchId);
  }
  return ids.size === 0 ? graph.edgeSwitches : [...ids].sort((a, b) => a - b);
}

/** Telemetry reports on their way to the collector, among flows; `null`: there are none. */
export function reportSpace({ network }: Pick<Context, 'network'>, { family }: FlowSpace): FlowSpace | null {
  if (family === 6) return null;
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
  const reports = reportSpace(context, space);
  const pieces: Piece[] = [];
  for (const switchId of ingressSwitches(context, space)) {
    const { access, file } = context.tables(switchId);
    if (access === null) {
      return refused(intent.id, switchId, {
        code: 'NOT_SUPPORTED',
        message: `runs ${file}, which neither drops nor bounds flows`,
      });
    }
    pieces.push(...access(switchId, { intent, space, cell, reports }));
  }
  return context.draft.place(pieces, intent.id);
}
