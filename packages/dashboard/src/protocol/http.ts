import type { Problem } from '@int/codec';
import type { EventRecord, ReportRecord } from '@int/collector';
import type { MetricUnit } from '@int/network';
import type { EntityKey, SeriesMetric } from './entities.js';

/** Times of the interface are milliseconds since the epoch, of the telemetry's own clock (a capture's time in a replay). */
export type TimeMs = number;

/** Answer to every request that is refused: `code` is stable, `message` is for people. */
export interface ErrorAnswer {
  readonly error: {
    readonly code: string;
    readonly message: string;
    /** Where in the text that was sent, from 1; only for rules and filters. */
    readonly at?: { readonly line: number; readonly column: number };
  };
}

/** `GET /api/v1/status`: what runs, and how well the dashboard keeps up. */
export interface Status {
  readonly version: string;
  /** Time of the newest telemetry; `null` before the first. */
  readonly now: TimeMs | null;
  /** Clock of the server. */
  readonly wallMs: number;
  readonly readOnly: boolean;
  /** What can be asked besides the live network. */
  readonly has: {
    readonly topology: boolean;
    readonly rules: boolean;
    readonly history: boolean;
    readonly replay: boolean;
    /** Capture files that can be replayed. */
    readonly captures?: boolean;
    /** A controller that changes the network: see `ControlAnswer`. */
    readonly control: boolean;
  };
  /** Of the controller: incidents that are open, and proposals that wait for a person's approval. Missing: there is none. */
  readonly control?: { readonly incidents: number; readonly approvals: number };
  readonly retained: {
    readonly from: TimeMs | null;
    readonly to: TimeMs | null;
    readonly seconds: number;
    readonly bytes: number;
    readonly budgetBytes: number;
    readonly reports: number;
    readonly events: number;
  };
  /** Since the start; as `CollectorTotals` of @int/collector says them. */
  readonly totals: {
    readonly frames: number;
    readonly reports: number;
    readonly hops: number;
    readonly events: number;
  };
  /** Lost, by stage and reason; empty if nothing is. */
  readonly losses: readonly { readonly stage: string; readonly reason: string; readonly count: number }[];
  /** The newest annotations, newest first. */
  readonly annotations?: readonly Annotation[];
  /** Current degraded states of the pipeline. */
  readonly degraded: readonly { readonly part: string; readonly state: string }[];
  /** The dashboard's own health. */
  readonly dashboard: {
    readonly viewers: number;
    readonly framesSent: number;
    /** Frames that viewers missed because they were behind. */
    readonly framesSkipped: number;
    /** Age of the newest bucket when it was sent, in milliseconds. */
    readonly lagMs: number;
    /** Not retained, by reason: reports that the sample had no room for, entities beyond the table. */
    readonly notKept: Readonly<Record<string, number>>;
    readonly refused: Readonly<Record<string, number>>;
  };
}

/** What somebody has noted of a time. */
export interface Annotation {
  readonly id: string;
  readonly timeMs: TimeMs;
  readonly durationMs: number;
  readonly text: string;
  /** What it is about; `null`: the whole network. */
  readonly entity: EntityKey | null;
}

/** `GET /api/v1/annotations?from=&to=`: newest first. `POST /api/v1/annotations {text, timeMs?, durationMs?, entity?}` adds one. */
export interface AnnotationsAnswer {
  readonly annotations: readonly Annotation[];
}

/** A switch that is known from the topology file or seen in telemetry. */
export interface SwitchInfo {
  readonly id: number;
  readonly name: string | null;
  /** 0: next to hosts; each tier is one link further away. */
  readonly tier: number;
  readonly latencyUnit: string | null;
  readonly occupancyUnit: string | null;
  readonly utilizationUnit: string | null;
  /** The same, as numbers: what one unit of the switch is. `null`: nobody said. */
  readonly units?: {
    readonly hopLatency: MetricUnit | null;
    readonly queueOccupancy: MetricUnit | null;
    readonly egressUtilization: MetricUnit | null;
  };
  readonly ports: readonly {
    readonly number: number;
    readonly name: string | null;
    readonly speedBps: number | null;
  }[];
  readonly queues: readonly number[];
  readonly seen: boolean;
}

/** `GET /api/v1/topology?at=`: the network, with loads as they were at a time. */
export interface TopologyAnswer {
  readonly at: TimeMs | null;
  readonly learnt: boolean;
  readonly switches: readonly SwitchInfo[];
  readonly hosts: readonly { readonly name: string; readonly switchId: number | null; readonly level: number }[];
  readonly links: readonly LinkInfo[];
  /** `history`: it is older than what is retained, and was read from the history. */
  readonly source?: 'history';
  /** Part of the reports of the history that was read; counts are of this part. */
  readonly share?: number;
  /** Why nothing is known of the time, for people; `null` or missing: something is. */
  readonly empty?: string | null;
}

export interface LinkInfo {
  readonly key: EntityKey;
  readonly from: number;
  readonly fromPort: number | null;
  readonly to: number;
  readonly toPort: number | null;
  readonly speedBps: number | null;
  /** Share of the speed that is used, 0 to 1; `null` if telemetry does not tell. */
  readonly load: number | null;
  readonly reportsPerSecond: number;
  /** `down`: it carried reports within the retained time and carries none now, while its switches do. */
  readonly state: 'up' | 'down' | 'unseen';
}

/** `GET /api/v1/series?metric=&entity=&from=&to=&step=`: at most 2,000 steps; `entity` may repeat. */
export interface SeriesAnswer {
  readonly metric: SeriesMetric;
  readonly unit: string | null;
  readonly from: TimeMs;
  readonly stepMs: number;
  /** A value per step; `null`: nothing was seen. Where the range is older than what is retained, `source` is `history`. */
  readonly series: readonly { readonly entity: EntityKey; readonly values: readonly (number | null)[] }[];
  /** The usual, where a rule has a baseline of the metric and entity. */
  readonly bands?: readonly {
    readonly entity: EntityKey;
    readonly low: readonly (number | null)[];
    readonly high: readonly (number | null)[];
  }[];
  readonly source: 'retained' | 'history' | 'none';
  /** Why there is nothing, for people; `null` if there is something. */
  readonly empty: string | null;
}

/**
 * `GET /api/v1/worst?metric=&kind=switch|queue|link&limit=&at=`: the entities with the largest values of ten seconds, the largest
 * first; those without any are left out. Values as those of `SeriesAnswer`.
 */
export interface WorstAnswer {
  readonly at: TimeMs | null;
  readonly rows: readonly { readonly entity: EntityKey; readonly value: number }[];
}

/** A hop of a flow in the table: the newest values, raw, with the names of the codec's fields. */
export type HopRow = Readonly<Record<string, number | string | null>>;

export interface FlowRow {
  /** Stable while the flow is retained. */
  readonly id: string;
  readonly source: string;
  readonly destination: string;
  readonly sourcePort: number | null;
  readonly destinationPort: number | null;
  readonly protocol: number;
  /** Of the newest report; `null` if that came without the packet's Ethernet header, or is from the history. */
  readonly dscp: number | null;
  readonly reports: number;
  /** Over the last second; `null` for a time that is past. */
  readonly reportsPerSecond: number | null;
  readonly events: number;
  readonly path: readonly (number | null)[];
  /** Sum of the hop latencies, in nanoseconds where all units are known. */
  readonly pathLatencyNs: number | null;
  readonly congested: boolean;
  readonly lastMs: TimeMs;
  readonly hops: readonly HopRow[];
}

/** `GET /api/v1/flows?filter=&sort=&limit=&at=` */
export interface FlowsAnswer {
  readonly at: TimeMs | null;
  readonly rows: readonly FlowRow[];
  readonly matched: number;
  /** Flows beyond the table of the sample, counted together. */
  readonly untracked: number;
  readonly empty: string | null;
  /** `history`: it is older than what is retained, and was read from the history. */
  readonly source?: 'history';
  /** Part of the reports of the history that was read; counts are of this part. */
  readonly share?: number;
}

/** An event in a list: the record that all sinks write, and what it leads to. */
export interface EventRow {
  /** `<report id>-<8 hexadecimal digits>`, a function of the report and the rule: a replay of the same frames gives the same. */
  readonly id: string;
  readonly timeMs: TimeMs;
  readonly record: EventRecord;
  readonly rule: string;
  readonly severity: string | null;
  readonly state: string;
  readonly switchId: number | null;
  /** `null`: the report that caused it is no longer retained. */
  readonly reportId: string | null;
}

/** `GET /api/v1/events?from=&to=&filter=&limit=&before=`: newest first; `before` is the id of the last event that is known. */
export interface EventsAnswer {
  readonly rows: readonly EventRow[];
  readonly matched: number;
  /** Counts by rule and switch over the whole range. */
  readonly groups: readonly {
    readonly rule: string;
    readonly switchId: number | null;
    readonly count: number;
    readonly firstMs: TimeMs;
    readonly lastMs: TimeMs;
  }[];
  readonly empty: string | null;
  /** The filter looked at so many events only, the newest. */
  readonly cut?: number;
  /** `history`: a part of it is older than what is retained, and was read from the history. */
  readonly source?: 'history';
}

/**
 * `GET /api/v1/reports?from=&to=&filter=&limit=`: of the sample, newest first. The `id` of a report here is
 * `<time in nanoseconds>-<8 hexadecimal digits>`, a function of its frame and time.
 */
export interface ReportsAnswer {
  readonly rows: readonly ReportRecord[];
  readonly matched: number;
  readonly empty: string | null;
  /** The filter looked at so many reports only, the newest. */
  readonly cut?: number;
  /** `history`: it is older than what is retained, and was read from the history. */
  readonly source?: 'history';
  /** Part of the reports of the history that was read; counts are of this part. */
  readonly share?: number;
}

/** `GET /api/v1/events/ID` (or `/api/v1/reports/ID/biography`): the one packet that tells why. */
export interface Biography {
  readonly event: EventRow | null;
  readonly rule: {
    readonly name: string;
    readonly yaml: string;
    /** What was compared, for people and as numbers: `hopLatency of leaf-1 = 1,234 us`, `above 500 us`. */
    readonly operands: readonly {
      readonly name: string;
      readonly value: number | string;
      readonly unit: string | null;
      readonly switchId: number | null;
    }[];
    readonly threshold: string | null;
  } | null;
  readonly report: ReportRecord;
  /** One per hop, INT source first. */
  readonly hops: readonly BiographyHop[];
  readonly links: readonly {
    readonly from: number;
    readonly to: number /** `null`: clocks or items do not allow it. */;
    readonly timeNs: number | null;
    readonly doubt: string | null;
  }[];
  /** The same flow, by time, up to 50 on each side. */
  readonly before: readonly {
    readonly reportId: string;
    readonly timeMs: TimeMs;
    readonly pathLatencyNs: number | null;
    readonly isEvent: boolean;
  }[];
  readonly after: Biography['before'];
  /** The frame; the history holds none: `hex` is empty then. */
  readonly bytes: { readonly hex: string; readonly linkType: number };
  readonly fields: readonly FieldNode[];
  /** What is wrong with the frame, and where; bytes behind it are `undecoded`. */
  readonly problems?: readonly Problem[];
  /**
   * The event belongs to no report, because its rule looks at time: the report is the last one before it that its rule may have
   * counted.
   */
  readonly isExample?: boolean;
  /** `history`: it is older than what is retained. Its surroundings are the five seconds on either side. */
  readonly source?: 'history';
  /** Part of the reports of the history that was read; counts are of this part. */
  readonly share?: number;
}

export interface BiographyHop {
  readonly switchId: number | null;
  readonly values: HopRow;
  readonly latencyNs: number | null;
  /** This hop's usual, over the retained time before the packet; in nanoseconds where the unit is known, else raw. */
  readonly usual: { readonly p50: number; readonly p99: number; readonly samples: number } | null;
  readonly isCause: boolean;
  /** Flows of the sample in the same queue within 1 ms on either side. */
  readonly neighbours: readonly {
    readonly flow: string;
    readonly flowId: string;
    readonly reports: number;
    readonly occupancyMax: number | null;
  }[];
}

/** A field of the decoder's tree, with its place in the frame. */
export interface FieldNode {
  readonly name: string;
  readonly value: string;
  readonly offset: number;
  readonly length: number;
  /** In bits, for fields that share bytes. */
  readonly bits?: { readonly offset: number; readonly length: number };
  readonly children?: readonly FieldNode[];
}

/** `GET /api/v1/rules` */
export interface RulesAnswer {
  readonly yaml: string;
  readonly file: string | null;
  readonly revision: string;
  readonly rules: readonly {
    readonly name: string;
    readonly line: number;
    readonly matched: number;
    readonly events: number;
  }[];
  readonly versions: readonly {
    readonly revision: string;
    readonly appliedMs: number;
    readonly by: string;
    /** Its text, as long as it is held. */
    readonly yaml?: string;
  }[];
  /** For completion. */
  readonly words: {
    readonly metrics: readonly string[];
    readonly switches: readonly string[];
    readonly groups: readonly string[];
    readonly detectors: readonly string[];
  };
}

export interface RuleProblem {
  readonly severity: 'error' | 'warning';
  readonly message: string;
  readonly line: number;
  readonly column: number;
}

/** `POST /api/v1/rules/check {yaml}` */
export interface CheckAnswer {
  readonly problems: readonly RuleProblem[];
}

/** `POST /api/v1/rules/dry-run {yaml, seconds?}`: the rules over the retained reports, from an empty state. */
export interface DryRunAnswer {
  readonly problems: readonly RuleProblem[];
  readonly from: TimeMs | null;
  readonly to: TimeMs | null;
  readonly reports: number;
  /** Share of all reports of the range that are retained; below 1 the counts are of the sample. */
  readonly share: number;
  readonly nsPerReport: number;
  readonly byRule: readonly { readonly rule: string; readonly events: number; readonly running: number | null }[];
  readonly first: readonly EventRow[];
  /** Ids of all its events, in order, up to 10,000. */
  readonly eventIds: readonly string[];
}

/** `POST /api/v1/rules/tables {yaml}`: the rules as commands for P4 switches, in the language of simple_switch_CLI. */
export interface TablesAnswer {
  readonly problems: readonly RuleProblem[];
  readonly commands: readonly string[];
  /** Rules that a switch cannot decide: it reports what they match, and a host decides. */
  readonly refused: readonly { readonly rule: string; readonly reason: string }[];
}

/** `PUT /api/v1/rules {yaml, revision, save}`: 409 if `revision` is not the one that runs. */
export interface AppliedAnswer {
  readonly revision: string;
  readonly saved: boolean;
}

/** `POST /api/v1/query {sql, limit?}` */
export interface QueryAnswer {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly rows: readonly (readonly unknown[])[];
  readonly truncated: boolean;
  readonly ms: number;
}

/** A query with a name. */
export interface SavedQuery {
  readonly name: string;
  readonly sql: string;
}

/** `GET /api/v1/queries`; `PUT /api/v1/queries/NAME {sql}` and `DELETE /api/v1/queries/NAME` answer with those that are left. */
export interface SavedQueriesAnswer {
  readonly queries: readonly SavedQuery[];
}

/** Reports that a replay does not play, by reason. A reason that none has is missing. */
export interface LeftOutReports {
  /** Those of the history, or of the capture, were too many to be read: a part is played. */
  readonly sampled?: number;
  /** They are in the capture, but from before the range. */
  readonly early?: number;
  /** Their time had been played when the capture came to them. */
  readonly late?: number;
  /** The capture has them, but they cannot be decoded. */
  readonly undecoded?: number;
}

/**
 * `POST /api/v1/replays {from, to, speed}`: a range once more, at 0.1 to 100 times the speed: what is retained of it, or of older
 * ranges what the history has. `{capture, from?, to?, speed}`: a capture file that the configuration names. All requests, and
 * `/api/v1/live`, take `replay=ID` then. `PUT /api/v1/replays/ID {speed}` changes the speed, 0 pauses; `DELETE` ends it.
 */
export interface ReplayAnswer {
  readonly id: string;
  readonly from: TimeMs;
  readonly to: TimeMs;
  readonly speed: number;
  /** Where it is. */
  readonly at?: TimeMs;
  readonly isOver?: boolean;
  /** Where its reports come from. */
  readonly source: 'retained' | 'history' | 'capture';
  /** The name of the capture. */
  readonly capture?: string;
  /** Missing: every report of the range so far is played. */
  readonly leftOut?: LeftOutReports;
  /** Why it ends before its range does, for people. */
  readonly failure?: string;
}

/** `GET /api/v1/captures`: the capture files that can be replayed. */
export interface CapturesAnswer {
  /** `bytes`: `null` if the file is not there now. */
  readonly captures: readonly { readonly name: string; readonly bytes: number | null }[];
}

/** `GET /api/v1/replays` */
export interface ReplaysAnswer {
  readonly replays: readonly ReplayAnswer[];
}
