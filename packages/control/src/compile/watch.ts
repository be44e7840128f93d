import { type FlowSpace, spaceOf } from '../intents/flow-space.js';
import type { ProtectIntent, WatchIntent } from '../intents/intent.js';
import { egressSwitches, ingressSwitches, reportSpace } from './access.js';
import { type Context, refused } from './context.js';
import type { Piece, Unplaced } from './draft.js';
import { isRefusal, type Refusal, type WatchRule } from './programs/switch-tables.js';

/** What a protected destination's flows tell: node, interfaces, latency, queue, times, utilization. */
const PROTECT_INSTRUCTIONS = 0xfd00;

/** Entries with which INT begins where flows enter the network, and what of the flows is left out. */
export function placeWatch(context: Context, intent: WatchIntent | ProtectIntent): readonly Unplaced[] {
  const { draft, tables } = context;
  const isWatch = intent.kind === 'watch';
  const space = spaceOf(isWatch ? intent.match : { destination: intent.destination })!;
  const rule: WatchRule = {
    owner: intent.id,
    space,
    priority: intent.priority,
    instructions: isWatch ? intent.instructions : PROTECT_INSTRUCTIONS,
    fields: isWatch ? (intent.fields ?? null) : null,
    isExplicit: isWatch,
    oneIn: isWatch ? intent.oneIn : 1,
    reports: reportSpace(context, space),
  };
  const where = ingressSwitches(context, space);
  const pieces: Piece[] = [];
  for (const switchId of where) {
    const why = unreadable(context, switchId, space) ?? unheard(context, switchId);
    const placed = why ?? tables(switchId).watch(switchId, rule);
    if (isRefusal(placed)) return [refused(intent.id, switchId, placed)];
    pieces.push(...placed);
  }
  const full = draft.place(pieces, intent.id);
  if (full !== null) return [full];
  const [first] = where.filter((switchId) => tables(switchId).unwatched(space) !== null);
  if (first === undefined) return [];
  return [{ intent: intent.id, switchId: first, code: 'PARTLY', message: tables(first).unwatched(space)! }];
}

/**
 * A switch takes only the INT of its own program out of packets, and hosts must not get any. So INT begins where all switches by
 * which the flows may leave run the same program. Switches of another program on the way pass it on as it is, and add nothing.
 */
function unreadable({ graph, tables }: Context, switchId: number, space: FlowSpace): Refusal | null {
  const { file } = tables(switchId);
  const other = egressSwitches({ graph }, space).find((id) => tables(id).file !== file);
  if (other === undefined) return null;
  const message = `runs ${file}, and switch ${other}, by which its flows may leave, ${tables(other).file}: hosts would get the INT`;
  return { code: 'MIXED_PROGRAMS', message };
}

/** Telemetry that comes to nobody is not begun. */
function unheard({ tables, collectorPort }: Context, switchId: number): Refusal | null {
  if (tables(switchId).reportsTo === 'controller' || collectorPort(switchId) !== null) return null;
  return { code: 'NO_COLLECTOR', message: 'has no way to a collector of reports' };
}
