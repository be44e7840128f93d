import type { Entity, p4config } from '@int/p4runtime';
import type { Change, ChangePlan } from '../change/change.js';
import type { DesiredState } from '../change/desired-state.js';
import { type Difference, differencesOf, type Obstacle } from './differences.js';
import type { Ownership } from './ownership.js';
import { crowdedNames } from './room.js';

export interface PlanOptions {
  /** The P4Info of each switch, by id. Switches that are missing here or in what was found are left out. */
  readonly switches: ReadonlyMap<number, { readonly p4info: p4config.P4Info }>;
  readonly ownership?: Ownership;
  /**
   * Names of intents and routes of which some switch has lost entries, or of which that is not known: what else is left of them
   * and no longer wanted goes before anything comes, for packets might come to a switch that lost its part.
   */
  readonly suspect?: ReadonlySet<string> | 'all';
  /** Entries that tables turned out to hold, by `<switch id> <table>`, if that is less than their program says. */
  readonly rooms?: ReadonlyMap<string, number>;
}

/** A change of the network, in the order in which it is safe. */
export interface PlannedChanges {
  readonly plan: ChangePlan;
  /** Index of the first step that has to wait for packets that are on their way; the number of steps: none has. */
  readonly graceBefore: number;
  /** So many steps at the beginning remove what is left of broken paths, or make room. */
  readonly earlySteps: number;
  /** What is wanted and cannot be had, with the reason. Nothing of it is in the plan. */
  readonly obstacles: readonly Obstacle[];
}

/**
 * The changes that turn what switches have into what they shall have: as few as possible, MODIFY before a deletion and an
 * insertion, in an order for the whole network. What others refer to comes first; then entries by their stage, downstream before
 * ingress; and when all is there, what is no longer wanted goes in the opposite order. Where a table has no room for both, the
 * intents and routes in question are taken down before they are built anew. What is not the controller's own is neither changed
 * nor deleted.
 *
 * No packet can be sent in a circle between two updates if the found entries send none in a circle, and the stages of each intent
 * and route decrease along the path of its packets.
 *
 * @param found by id of the switch: all entities that it has, of others too
 */
export function planChanges(
  desired: DesiredState,
  found: ReadonlyMap<number, readonly Entity[]>,
  options: PlanOptions,
): PlannedChanges {
  const { differences, obstacles, kept } = differencesOf(desired, found, options);
  const crowded = crowdedNames(differences, found, options);
  const split = crowded.size === 0 ? differences : takeDown(differences, kept, crowded);
  const { suspect = new Set() } = options;
  const isEarly = ({ name }: Difference): boolean => crowded.has(name) || suspect === 'all' || suspect.has(name);

  const early: Difference[] = [];
  const objects: Difference[] = [];
  const comes: Difference[] = [];
  const goes: Difference[] = [];
  const unreferenced: Difference[] = [];
  const marks: Difference[] = [];
  for (const each of split) {
    if (each.isMarkOnly) marks.push(each);
    else if (each.change.type === 'delete') {
      if (each.isObject) unreferenced.push(each);
      else (isEarly(each) ? early : goes).push(each);
    } else (each.isObject && each.change.type === 'insert' ? objects : comes).push(each);
  }
  const first = stepsOf(early, (one, other) => other - one);
  const steps: Change[][] = [...first, ...stepsOf(objects, () => 0), ...stepsOf(comes, (one, other) => one - other)];
  const isLater = objects.length + comes.length > 0 && goes.length + unreferenced.length > 0;
  const last = [
    ...stepsOf(goes, (one, other) => other - one),
    ...stepsOf(unreferenced.reverse(), () => 0),
    ...stepsOf(marks, () => 0),
  ];
  const plan = [...steps, ...last];
  return { plan, graceBefore: isLater ? steps.length : plan.length, earlySteps: first.length, obstacles };
}

/** Names that go before they come again: their changes become deletions and insertions, of entries too that would have stayed. */
function takeDown(
  differences: readonly Difference[],
  kept: readonly Difference[],
  names: ReadonlySet<string>,
): readonly Difference[] {
  return [...differences, ...kept].flatMap((each): readonly Difference[] => {
    const { change } = each;
    if (!each.isEntry || each.foundName === null || !names.has(each.foundName)) {
      return each.isKept ? [] : [each];
    }
    if (change.before === null || change.after === null) return [each];
    const changed = { ...each, isMarkOnly: false, isKept: false };
    return [
      { ...changed, name: each.foundName, stage: each.foundStage, change: { ...change, type: 'delete', after: null } },
      { ...changed, change: { ...change, type: 'insert', before: null } },
    ];
  });
}

/** Groups by stage, in an order of stages; the order within a stage stays. */
function stepsOf(differences: readonly Difference[], compare: (one: number, other: number) => number): Change[][] {
  const isOne = compare(0, 1) === 0;
  const byStage = new Map<number, Difference[]>();
  for (const each of differences) {
    const stage = isOne ? 0 : each.stage;
    const group = byStage.get(stage);
    if (group === undefined) byStage.set(stage, [each]);
    else group.push(each);
  }
  return [...byStage]
    .sort(([one], [other]) => compare(one, other))
    .map(([, group]) => group.sort((one, other) => one.rank - other.rank).map(({ change }) => change));
}
