import { flowTest } from '../controller/flow-test.js';
import type { FlowState } from './flow-state.js';
import type { DroppedFlow, Invariants, ObservedFlow } from './rehearsal.js';
import type { HitEntry, TwinSwitch } from './twin-switch.js';
import type { End, Ground, Hop } from './walk.js';

/** Packets of a flow that a switch drops, and whether an intent wants that. */
export interface Drop extends DroppedFlow {
  readonly isMeant: boolean;
}

/** Whose packets switches drop, of a flow: whole treatments of it, or what meters hold back. */
export function dropsOfFlow(ground: Ground, state: FlowState, invariants: Invariants): Drop[] {
  const { flow, now } = state;
  const ended = now.ends.filter(({ kind }) => kind === 'drop');
  const dropped = ended.flatMap(({ hop, share }): Drop[] => {
    const machine = ground.switches.get(hop.switchId);
    return machine === undefined ? [] : [whole(machine, hop, flow, share, invariants)];
  });
  for (const [switchId, share] of state.metered) {
    const hop = now.hops.find((each) => each.switchId === switchId);
    const machine = ground.switches.get(switchId);
    if (share >= 1 || ended.some((end) => end.hop.switchId === switchId)) continue;
    if (hop === undefined || machine === undefined) continue;
    const hits = machine.hits(hop.port, hop.frame).filter(({ isMetered }) => isMetered);
    const meant = meantOf(hits, flow, invariants);
    dropped.push(dropOf(flow, 1 - share, switchId, hits, meant, meant.length > 0));
  }
  return dropped;
}

function whole(machine: TwinSwitch, hop: Hop, flow: ObservedFlow, share: End['share'], invariants: Invariants): Drop {
  const hits = machine.hits(hop.port, hop.frame);
  const meant = meantOf(hits, flow, invariants);
  // What an intent only happens to stand beside, as a limit at a switch without a route, is not meant.
  const isMeant =
    meant.length > 0 && machine.passesWithout((entries) => meantOf(entries, flow, invariants), hop.port, hop.frame);
  return dropOf(flow, share, hop.switchId, hits, meant, isMeant);
}

function dropOf(
  flow: ObservedFlow,
  share: number,
  switchId: number,
  hits: readonly HitEntry[],
  meant: readonly HitEntry[],
  isMeant: boolean,
): Drop {
  const intents = isMeant ? [...new Set(meant.flatMap((hit) => hit.intents))] : [];
  return { flow, share, intents, switchId, tables: [...new Set(hits.map(({ table }) => table))], isMeant };
}

/** The entries of intents that may drop this flow. */
function meantOf(hits: readonly HitEntry[], flow: ObservedFlow, { mayDrop }: Invariants): HitEntry[] {
  const meaning = new Set(mayDrop.filter(({ match }) => flowTest(match)(flow)).map(({ id }) => id));
  return hits.filter(({ intents }) => intents.some((id) => meaning.has(id)));
}
