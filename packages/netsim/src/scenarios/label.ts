/** What is true of a scenario: what a detector ought to find. */
import type { Flow } from '@int/codec';

/** Kinds of scenarios. */
export const SCENARIO_KINDS = [
  'calm',
  'link-failure',
  'black-hole',
  'loop',
  'path-change',
  'persistent-congestion',
  'report-loss',
] as const;
export type ScenarioKind = (typeof SCENARIO_KINDS)[number];

/** Kinds of labels, named as the immediate events are that should be raised. */
export const LABEL_KINDS = [
  'linkFailure',
  'blackHole',
  'loop',
  'pathChange',
  'persistentCongestion',
  'reportLoss',
] as const;
export type LabelKind = (typeof LABEL_KINDS)[number];

/** Something that happened, whom it happened to, and when. */
export interface Label {
  readonly kind: LabelKind;
  /** When it began, virtual nanoseconds. */
  readonly fromNs: number;
  /** When it was over: as it began, if it has no duration; the end of the scenario, if it was not over by then. */
  readonly toNs: number;
  /** `blackHole`, `loop`, `pathChange`: the flow. */
  readonly flow?: Flow;
  /** `linkFailure`: node ids of the link's ends, ascending. `loop`: the two nodes between which packets go to and fro. */
  readonly link?: readonly [number, number];
  /** `blackHole`: where packets vanish. `persistentCongestion`: whose queue. `reportLoss`: whose reports. */
  readonly nodeId?: number;
  /** `persistentCongestion`. */
  readonly queueId?: number;
  /** `reportLoss`: hardware id. */
  readonly hwId?: number;
  /** `reportLoss`: how many reports. */
  readonly lost?: number;
  /** `pathChange`: node ids before and after. */
  readonly before?: readonly number[];
  readonly after?: readonly number[];
}

/** A link that works and is silent, because the flows on it took another path from then on. A detector may mistake it. */
export interface DrainedLink {
  readonly fromNs: number;
  /** Node ids, from and to. */
  readonly link: readonly [number, number];
}
