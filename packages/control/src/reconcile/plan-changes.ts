import type { Entity, p4config } from '@int/p4runtime';
import type { Change, ChangePlan } from '../change/change.js';
import type { DesiredState } from '../change/desired-state.js';
import { type Difference, differencesOf, type Obstacle } from './differences.js';
import type { Ownership } from './ownership.js';
import { type LeadsTo, removalSteps } from './removal-order.js';
import { revivalsOf } from './revivals.js';
import { crowdedNames } from './room.js';

export interface PlanOptions {
  /** The P4Info of each switch, by id. Switches that are missing here or in what was found are left out. */
  readonly switches: ReadonlyMap<number, { readonly p4info: p4config.P4Info }>;
  readonly ownership?: Ownership;
  /**
   * Names of intents and routes of which some switch has lost entries, or of which that is not known: what else is left of them
   * and no longer wanted goes before anything of larger stages comes, for packets might come to a switch that lost its part.
   */
  readonly suspect?: ReadonlySet<string> | 'all';
  /** Names that cannot be had whole now: what is left of them above the first gap goes before anything comes. */
  readonly givenUp?: ReadonlySet<string>;
  /** Entries that tables turned out to hold, by `<switch id> <table>`, if that is less than their program says. */
  readonly rooms?: ReadonlyMap<string, number>;
  /** Where entries send packets to. Without it their stages tell in which order they go. */
  readonly leadsTo?: LeadsTo;
}

/** A change of the network, in the order in which it is safe. */
export interface PlannedChanges {
  readonly plan: ChangePlan;
  /** Index of the first step that has to wait for packets that are on their way; the number of steps: none has. */
  readonly graceBefore: number;
  /** So many steps at the beginning remove what is left of broken paths, or make room. */
  readonly earlySteps: number;
  /** Changes that come later than the stages of their entries say, with the stages at which they come. */
  readonly delayed: ReadonlyMap<Change, number>;
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
  const { differences, obstacles, kept, gaps } = differencesOf(desired, found, options);
  const { suspect = new Set(), givenUp = new Set(), leadsTo } = options;
  const crowded = crowdedNames(differences, found, options);
  const down = crowded.size === 0 ? differences : takeDown(differences, kept, crowded);
  const isSuspect = (name: string): boolean => suspect === 'all' || suspect.has(name);
  const whole = leaveOut(down, kept, gapsOf(differences, gaps, givenUp));
  const delayed = leadsTo === undefined ? new Map() : revivalsOf(whole, found, isSuspect, leadsTo);
  const split = whole.map((each) => ({ ...each, stage: delayed.get(each.change) ?? each.stage }));
  const isEarly = ({ name, isGivenUp }: Difference): boolean => isGivenUp || crowded.has(name) || isSuspect(name);
  /** By name and place: the largest stage of what comes. */
  const lastStages = new Map<string, number>();
  const threadOf = ({ name, key }: Difference): string => `${name} ${key}`;
  for (const each of split) {
    if (each.change.type === 'delete' || each.isMarkOnly) continue;
    const thread = threadOf(each);
    lastStages.set(thread, Math.max(lastStages.get(thread) ?? each.stage, each.stage));
  }

  const early: Difference[] = [];
  const objects: Difference[] = [];
  const comes: Difference[] = [];
  /** What is left of a broken path whose packets others still send: it goes when these are changed, and before anything else comes. */
  const replaced = new Map<number, Difference[]>();
  const goes: Difference[] = [];
  const unreferenced: Difference[] = [];
  const marks: Difference[] = [];
  for (const each of split) {
    const { name, change, isObject, isMarkOnly, isGivenUp } = each;
    if (isMarkOnly) marks.push(each);
    else if (change.type !== 'delete') (isObject && change.type === 'insert' ? objects : comes).push(each);
    else if (isObject) unreferenced.push(each);
    else if (!isEarly(each)) goes.push(each);
    else {
      const stage = isGivenUp || crowded.has(name) ? undefined : lastStages.get(threadOf(each));
      const list = stage === undefined ? early : (replaced.get(stage) ?? []);
      if (stage !== undefined) replaced.set(stage, list);
      list.push(each);
    }
  }
  const remove = (list: readonly Difference[]): Change[][] => removalSteps(list, found, leadsTo);
  const first = remove(early);
  const byStage = groupsOf(comes);
  const steps: Change[][] = [...first, ...oneStep(objects)];
  for (const stage of [...byStage.keys()].sort((one, other) => one - other)) {
    steps.push(...oneStep(byStage.get(stage)!), ...remove(replaced.get(stage) ?? []));
  }
  const isLater = objects.length + comes.length > 0 && goes.length + unreferenced.length > 0;
  const plan = [...steps, ...remove(goes), ...oneStep(unreferenced.reverse()), ...oneStep(marks)];
  return { plan, graceBefore: isLater ? steps.length : plan.length, earlySteps: first.length, delayed, obstacles };
}

/** By name that cannot be had whole: the smallest stage of what is missing. */
function gapsOf(
  differences: readonly Difference[],
  gaps: ReadonlyMap<string, number>,
  givenUp: ReadonlySet<string>,
): ReadonlyMap<string, number> {
  const all = new Map(gaps);
  for (const { name, stage, change, isMarkOnly } of differences) {
    if (!givenUp.has(name) || change.type === 'delete' || isMarkOnly) continue;
    all.set(name, Math.min(all.get(name) ?? stage, stage));
  }
  return all;
}

/** Without what leads to a gap: it does not come, and what there is of it goes. */
function leaveOut(
  differences: readonly Difference[],
  kept: readonly Difference[],
  gaps: ReadonlyMap<string, number>,
): readonly Difference[] {
  if (gaps.size === 0) return differences;
  const isAbove = ({ name, stage, isEntry }: Difference): boolean =>
    isEntry && stage > (gaps.get(name) ?? Number.POSITIVE_INFINITY);
  const gone = (each: Difference): readonly Difference[] => {
    const { change, foundStage } = each;
    if (change.before === null) return [];
    const removal = { ...change, type: 'delete', after: null } as const;
    return [{ ...each, stage: foundStage, isMarkOnly: false, isKept: false, isGivenUp: true, change: removal }];
  };
  return [
    ...differences.flatMap((each) => {
      if (each.change.type === 'delete' && gaps.has(each.name)) return [{ ...each, isGivenUp: true }];
      return isAbove(each) ? gone(each) : [each];
    }),
    ...kept.filter(isAbove).flatMap(gone),
  ];
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

function groupsOf(differences: readonly Difference[]): ReadonlyMap<number, Difference[]> {
  const byStage = new Map<number, Difference[]>();
  for (const each of differences) {
    const group = byStage.get(each.stage);
    if (group === undefined) byStage.set(each.stage, [each]);
    else group.push(each);
  }
  return byStage;
}

/** Changes of one step, what others refer to before them. */
function oneStep(differences: readonly Difference[]): Change[][] {
  if (differences.length === 0) return [];
  return [[...differences].sort((one, other) => one.rank - other.rank).map(({ change }) => change)];
}
