import type { Topology } from '@int/network';
import type { DesiredState } from '../change/desired-state.js';
import type { ReconcilerState } from '../reconcile/reconciler-state.js';

/** What has become of intents on the switches; `null`: it is not known yet. */
export function outcomeOf(
  ids: ReadonlySet<string>,
  state: ReconcilerState,
  desired: DesiredState,
  topology: Topology,
): 'done' | { readonly error: string } | null {
  const isMeant = (intents: readonly string[]): boolean => intents.some((id) => ids.has(id));
  const wrong =
    state.refusals.find(({ change }) => isMeant(change.intents)) ??
    state.obstacles.find(({ intents }) => isMeant(intents));
  if (wrong !== undefined) return { error: `${topology.switchText(wrong.switchId)}: ${wrong.message}` };
  // A switch that is not there, and has no part in it, does not matter.
  const isDone =
    state.isSettled ||
    state.switches.every(({ switchId, phase }) => {
      const isConcerned = desired.get(switchId)?.some(({ intents }) => isMeant(intents)) === true;
      return phase === 'settled' || (phase === 'absent' && !isConcerned);
    });
  return isDone ? 'done' : null;
}
