import type { ControlAnswer, JournalRow } from './control.js';
import type { EntityKey, SeriesMetric } from './entities.js';
import type { EventRow, FlowsAnswer, ReportsAnswer, Status, TimeMs, TopologyAnswer } from './http.js';

/**
 * Messages of a viewer over `WebSocket /api/v1/live`, as JSON text. A subscription has a number that the viewer chooses, 1
 * to 65535; a new one with the number of an old one replaces it.
 */
export type ViewerMessage =
  | {
      readonly type: 'series';
      readonly id: number;
      readonly metric: SeriesMetric;
      readonly entities: readonly EntityKey[];
      /** The first frame begins at this time, as far as it is retained. Default: the newest bucket. */
      readonly from?: TimeMs;
    }
  | {
      readonly type: 'flows';
      readonly id: number;
      readonly filter: string;
      readonly sort: string;
      readonly limit: number;
    }
  | { readonly type: 'events'; readonly id: number; readonly filter: string }
  /** Packet by packet, as many as the viewer keeps up with: those it missed are counted. */
  | { readonly type: 'reports'; readonly id: number; readonly filter: string; readonly perSecond: number }
  | { readonly type: 'topology'; readonly id: number }
  | { readonly type: 'status'; readonly id: number }
  /** The state of the controller: when something happens, and each second. */
  | { readonly type: 'control'; readonly id: number }
  /** What the controller does from now on. */
  | { readonly type: 'journal'; readonly id: number }
  | { readonly type: 'end'; readonly id: number };

/** JSON messages of the server. Series come as binary frames instead, see {@link SeriesFrame}. */
export type ServerMessage =
  | { readonly type: 'flows'; readonly id: number; readonly data: FlowsAnswer }
  | { readonly type: 'events'; readonly id: number; readonly rows: readonly EventRow[]; readonly missed: number }
  | { readonly type: 'reports'; readonly id: number; readonly rows: ReportsAnswer['rows']; readonly missed: number }
  | { readonly type: 'topology'; readonly id: number; readonly data: TopologyAnswer }
  | { readonly type: 'status'; readonly id: number; readonly data: Status }
  | { readonly type: 'control'; readonly id: number; readonly data: ControlAnswer }
  /** The oldest first. */
  | { readonly type: 'journal'; readonly id: number; readonly rows: readonly JournalRow[]; readonly missed: number }
  /** The viewer was behind: `missed` binary frames of the subscription were not sent. */
  | { readonly type: 'behind'; readonly id: number; readonly missed: number }
  | { readonly type: 'refused'; readonly id: number | null; readonly code: string; readonly message: string };

/**
 * A binary frame, little endian: `u8 kind, u8 version, u16 subscription, u32 sequence, f64 t0, f32 dt, u32 n`, then a
 * column of n Float32 values per entity of the subscription, in its order. `t0` is the time of the first value and `dt` the
 * step, in milliseconds; NaN: nothing was seen. The sequence counts the frames of a subscription from 0; a gap is what a
 * viewer missed.
 */
export interface SeriesFrame {
  readonly id: number;
  readonly sequence: number;
  readonly t0: number;
  readonly dt: number;
  readonly n: number;
  /** Views of the frame's memory. */
  readonly columns: readonly Float32Array[];
}
