/** The ground truth of a scenario, for detectors. */
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

/** Kinds of labels. They have the names of the corresponding immediate events. */
export const LABEL_KINDS = [
  'linkFailure',
  'blackHole',
  'loop',
  'pathChange',
  'persistentCongestion',
  'reportLoss',
] as const;
export type LabelKind = (typeof LABEL_KINDS)[number];

/** A fault: its kind, its time, and its flow, link, node or reporter. */
export interface Label {
  readonly kind: LabelKind;
  /** Start in virtual nanoseconds. */
  readonly fromNs: number;
  /** End in virtual nanoseconds: `fromNs` if it has no duration, the end of the scenario if it lasts longer. */
  readonly toNs: number;
  /** `blackHole`, `loop`, `pathChange`: the flow. */
  readonly flow?: Flow;
  /** `linkFailure`: node ids of the link's ends, ascending. `loop`: the two nodes of the loop. */
  readonly link?: readonly [number, number];
  /**
   * `blackHole`: the node that drops packets. `persistentCongestion`: the node of the queue. `reportLoss`: the
   * reporter.
   */
  readonly nodeId?: number;
  /** `persistentCongestion`: id of the queue. */
  readonly queueId?: number;
  /** `reportLoss`: hardware id. */
  readonly hwId?: number;
  /** `reportLoss`: number of lost reports. */
  readonly lost?: number;
  /** `pathChange`: node ids before and after. */
  readonly before?: readonly number[];
  readonly after?: readonly number[];
}

/** A working link that becomes silent because its flows took another path. A detector may mistake it for a failure. */
export interface DrainedLink {
  readonly fromNs: number;
  /** Node ids, from and to. */
  readonly link: readonly [number, number];
}
