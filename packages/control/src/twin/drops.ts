import { flowTest } from '../controller/flow-test.js';
import type { FlowState } from './flow-state.js';
import type { DroppedFlow, Invariants } from './rehearsal.js';
import type { Ground } from './walk.js';

/** Whom a flow's packets fall victim to, at the last switch that they reach; `null`: they do not end in a switch. */
export function dropOf(
  ground: Ground,
  state: FlowState,
  { mayDrop }: Invariants,
): (DroppedFlow & { isMeant: boolean }) | null {
  const { end, hops } = state.now;
  const hop = hops.at(-1);
  const machine = hop && ground.switches.get(hop.switchId);
  if (end.kind !== 'drop' || hop === undefined || machine === undefined) return null;
  const { flow } = state;
  const hits = machine.hits(hop.port, hop.frame);
  const meaning = new Set(mayDrop.filter(({ match }) => flowTest(match)(flow)).map(({ id }) => id));
  const meant = hits.filter(({ intents }) => intents.some((id) => meaning.has(id)));
  // What an intent only happens to stand beside, as a limit at a switch without a route, is not meant.
  const isMeant = meant.length > 0 && machine.passesWithout(meant, hop.port, hop.frame);
  const intents = [...new Set((isMeant ? meant : hits).flatMap((hit) => hit.intents))];
  const tables = [...new Set(hits.map(({ table }) => table))];
  return { flow, share: 1, intents: isMeant ? intents : [], switchId: hop.switchId, tables, isMeant };
}
